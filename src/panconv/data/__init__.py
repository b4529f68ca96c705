"""Graphs: the built-in ones, readers for a user's own, and batches of nodes of a large one."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from panconv.data.builtin import DATASETS as DATASETS
    from panconv.data.counted import counted_graphs as counted_graphs
    from panconv.data.edge_source import EdgeSource as EdgeSource
    from panconv.data.graph import Graph as Graph
    from panconv.data.graph_batches import GraphBatches as GraphBatches
    from panconv.data.graph_files import read_graphs as read_graphs
    from panconv.data.graph_folds import graph_folds as graph_folds
    from panconv.data.graph_folds import graph_split as graph_split
    from panconv.data.graph_set import GraphSet as GraphSet
    from panconv.data.load import load as load
    from panconv.data.points import point_patterns as point_patterns
    from panconv.data.read import read as read
    from panconv.data.seed_loader import SeedLoader as SeedLoader

# Loaded when first named, so that names of columns and graphs can be checked before torch is imported.
_HOME = {
    "DATASETS": "builtin",
    "EdgeSource": "edge_source",
    "Graph": "graph",
    "GraphBatches": "graph_batches",
    "GraphSet": "graph_set",
    "SeedLoader": "seed_loader",
    "counted_graphs": "counted",
    "graph_folds": "graph_folds",
    "graph_split": "graph_folds",
    "load": "load",
    "point_patterns": "points",
    "read": "read",
    "read_graphs": "graph_files",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'panconv.data' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"panconv.data.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(_HOME)


class _Package(ModuleType):
    """`load` and `read` are functions, and in modules of their own names, which Python would put in their place."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, getattr(value, name) if isinstance(value, ModuleType) and name in _HOME else value)


sys.modules[__name__].__class__ = _Package
