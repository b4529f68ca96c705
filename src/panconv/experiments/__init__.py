"""The paper's settings, figures and plots."""
