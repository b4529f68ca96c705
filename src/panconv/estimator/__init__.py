"""scikit-learn's conventions: what a person with a table of nodes meets first."""

from panconv.estimator.classifier import PANClassifier as PANClassifier
from panconv.estimator.path_features import PathFeatures as PathFeatures
from panconv.estimator.regressor import PANRegressor as PANRegressor
from panconv.estimator.saving import load_model as load_model

__all__ = ["PANClassifier", "PANRegressor", "PathFeatures", "load_model"]
