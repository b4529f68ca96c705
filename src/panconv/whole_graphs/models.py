"""How the models of the contest are made, from the settings of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from panconv.data import GraphSet
from panconv.training.authors_pan import AuthorsPAN
from panconv.training.graph_models import PANGraph
from panconv.whole_graphs.menu import Entry
from panconv.whole_graphs.pooled import PooledGCN

Make = Callable[[int, int, Mapping[str, Any], "int | None"], nn.Module]
_OF_PANGRAPH = ("conv", "L", "method", "concat", "readout", "dropout")
_OF_POOL = ("ratio", "centrality")


def _graph(features: int, classes: int, how: Mapping[str, Any], trials: int | None) -> nn.Module:
    options = {name: how[name] for name in _OF_PANGRAPH if name in how}
    pool = {name: how[name] for name in _OF_POOL if name in how}
    if pool:
        options["pool"] = {"layers": list(range(2, how["layers"], 2)), **pool}
    return PANGraph(features, how["hidden"], classes, how["layers"], trials=trials, **options)


def _pooled(features: int, classes: int, how: Mapping[str, Any], trials: int | None) -> nn.Module:
    options = {name: how[name] for name in ("layers", "pool", "ratio", "readout", "dropout")}
    return PooledGCN(features, how["hidden"], classes, **options)


def _authors(features: int, classes: int, how: Mapping[str, Any], trials: int | None) -> nn.Module:
    options = {name: how[name] for name in ("L", "ratio", "dropout")}
    return AuthorsPAN(features, classes, hidden_channels=how["hidden"], **options)


MAKERS: dict[str, Make] = {"graph": _graph, "pooled": _pooled, "authors": _authors}


def made(entry: Entry, graphs: GraphSet, how: Mapping[str, Any], trials: int | None) -> nn.Module:
    """A model for a set of graphs.

    Args:
        entry: which.
        graphs: whose features it takes, and whose classes it tells.
        how: its settings; of those in `menu.VECTORS` a list where the trials differ.
        trials: S side by side; None for one alone.
    """
    return MAKERS[entry.kind](graphs.num_features, graphs.num_classes, how, trials)
