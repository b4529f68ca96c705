"""Past the paper: what its framework reaches. A study per file, each the trainings behind some tables."""

# Of the studies, as `panconv reproduce` takes them; here, where the command line's help need not wait for torch.
NAMES = ("best", "elsewhere", "ablation", "depth", "heterophilous", "alike")
