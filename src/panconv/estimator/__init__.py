"""scikit-learn's conventions: what a person with a table of nodes meets first."""

from panconv.estimator.path_features import PathFeatures as PathFeatures

__all__ = ["PathFeatures"]
