"""From a model and a graph to weights: fit, its epochs, models, their files, searches."""
