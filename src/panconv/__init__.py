"""Path-integral graph convolution: a node averages over every path that reaches it, weighted by the path's length."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from panconv import moved

if TYPE_CHECKING:
    from panconv.data import load as load
    from panconv.data import read as read
    from panconv.estimator import PANClassifier as PANClassifier
    from panconv.estimator import PANRegressor as PANRegressor
    from panconv.estimator import PathFeatures as PathFeatures
    from panconv.estimator import load_model as load_model
    from panconv.graph import Adjacency as Adjacency
    from panconv.met import MET as MET
    from panconv.met import METHODS as METHODS
    from panconv.nn import PANConv as PANConv
    from panconv.nn import PANPool as PANPool
    from panconv.paths import EffectiveWalks as EffectiveWalks
    from panconv.paths import SelfAvoidingPaths as SelfAvoidingPaths
    from panconv.paths import ShortestPaths as ShortestPaths
    from panconv.paths import Walks as Walks
    from panconv.spectral import eigs as eigs
    from panconv.spectral import lanczos as lanczos
    from panconv.training.fit import fit as fit
    from panconv.training.graph_models import PANGraph as PANGraph
    from panconv.training.grid import grid_search as grid_search
    from panconv.training.models import PAN as PAN
    from panconv.transforms import METTransform as METTransform
    from panconv.weights import Boltzmann as Boltzmann
    from panconv.weights import Fixed as Fixed
    from panconv.weights import Free as Free
    from panconv.weights import PowerLaw as PowerLaw

__version__ = "0.1.0"  # pyproject.toml takes it from here

# Loaded when first named, so that the report and the command line's help need not wait for torch.
_HOME = {
    "Adjacency": "graph",
    "Boltzmann": "weights",
    "EffectiveWalks": "paths",
    "Fixed": "weights",
    "Free": "weights",
    "MET": "met",
    "METHODS": "met",
    "METTransform": "transforms",
    "PAN": "training.models",
    "PANConv": "nn",
    "PANGraph": "training.graph_models",
    "PANPool": "nn",
    "PANClassifier": "estimator",
    "PANRegressor": "estimator",
    "PathFeatures": "estimator",
    "PowerLaw": "weights",
    "SelfAvoidingPaths": "paths",
    "ShortestPaths": "paths",
    "Walks": "paths",
    "eigs": "spectral",
    "fit": "training.fit",
    "grid_search": "training.grid",
    "lanczos": "spectral",
    "load": "data",
    "load_model": "estimator",
    "read": "data",
}
__all__ = list(_HOME)
moved.install()
logging.getLogger(__name__).addHandler(logging.NullHandler())  # whoever wants to hear it adds another


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'panconv' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"panconv.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(_HOME)
