"""Training: `fit` and its epochs, the models and their files, searches."""
