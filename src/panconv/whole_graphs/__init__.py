"""The contest over whole graphs: models under one protocol, on the same folds, from grids of the same size."""
