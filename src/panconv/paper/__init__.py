"""All that exists for the paper's sake: its baselines, tables, figures, studies and report."""
