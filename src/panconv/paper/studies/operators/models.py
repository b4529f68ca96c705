"""The six models as their own papers set them up, one row each, on PyG's layers.

`normalize` is the one thing that may differ between two operators: GCNConv and APPNP can be told to take the weights of
the edges as they stand. Everything else is the same on the usual operator and on M.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import APPNP, ChebConv, GATConv, GCNConv, Linear, SGConv, SSGConv


@dataclass(frozen=True)
class Settings:
    """How a model is trained, with Adam, until its validation loss has not fallen for `patience` epochs."""

    hidden: int
    lr: float
    weight_decay: float
    decay: str  # whose parameters decay: the "first" layer's, or "all"
    dropout: float
    epochs: int
    patience: int
    heads: int = 1  # GAT's output heads

    def plain(self) -> dict[str, Any]:
        return asdict(self)


class TwoLayers(nn.Module):
    """Dropout, a layer, an activation, dropout, a layer."""

    def __init__(
        self,
        first: nn.Module,
        second: nn.Module,
        activation: Callable[[Tensor], Tensor],
        p: float,
        weighted: bool = True,
    ) -> None:
        super().__init__()
        self.first, self.second, self.activation, self.p, self.weighted = first, second, activation, p, weighted

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        edges = (edge_index, edge_weight) if self.weighted else (edge_index,)
        x = self.activation(self.first(F.dropout(x, self.p, self.training), *edges))
        return self.second(F.dropout(x, self.p, self.training), *edges)


class Predicted(nn.Module):
    """A prediction from the node's own features, then propagated: APPNP's form."""

    def __init__(self, first: nn.Module, second: nn.Module, propagate: nn.Module, p: float) -> None:
        super().__init__()
        self.first, self.second, self.propagate, self.p = first, second, propagate, p

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        x = F.relu(self.first(F.dropout(x, self.p, self.training)))
        return self.propagate(self.second(F.dropout(x, self.p, self.training)), edge_index, edge_weight)


# What the operator alone decides is computed once per training: `cached`.


def _cheb(inputs: int, classes: int, how: Settings, normalize: bool) -> nn.Module:
    # PyG counts T₀ among its K: this is the second-order filter of Kipf & Welling's comparison.
    return TwoLayers(ChebConv(inputs, how.hidden, K=3), ChebConv(how.hidden, classes, K=3), F.relu, how.dropout)


def _gcn(inputs: int, classes: int, how: Settings, normalize: bool) -> nn.Module:
    first = GCNConv(inputs, how.hidden, cached=True, normalize=normalize)
    return TwoLayers(first, GCNConv(how.hidden, classes, cached=True, normalize=normalize), F.relu, how.dropout)


def _sgc(inputs: int, classes: int, how: Settings, normalize: bool) -> nn.Module:
    return SGConv(inputs, classes, K=2, cached=True)


def _appnp(inputs: int, classes: int, how: Settings, normalize: bool) -> nn.Module:
    # Without the paper's dropout on the adjacency: PyG's piles up, each of K steps dropping from what the last left.
    propagate = APPNP(K=10, alpha=0.1, cached=True, normalize=normalize)
    return Predicted(Linear(inputs, how.hidden), Linear(how.hidden, classes), propagate, how.dropout)


def _gat(inputs: int, classes: int, how: Settings, normalize: bool) -> nn.Module:
    # Without an edge_dim it weighs the edges by its attention alone: of M it takes the pattern.
    first = GATConv(inputs, how.hidden, heads=8, dropout=how.dropout)
    second = GATConv(8 * how.hidden, classes, heads=how.heads, concat=False, dropout=how.dropout)
    return TwoLayers(first, second, F.elu, how.dropout, weighted=False)


def _ssgc(inputs: int, classes: int, how: Settings, normalize: bool) -> nn.Module:
    return SSGConv(inputs, classes, alpha=0.05, K=16, cached=True)


@dataclass(frozen=True)
class Recipe:
    """A model: how it is made and trained, and what changes with the graph."""

    title: str
    make: Callable[[int, int, Settings, bool], nn.Module]
    settings: Settings
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    switch: bool = False  # whether it can be told to take the operator as it stands

    def on(self, dataset: str) -> Settings:
        return replace(self.settings, **self.changes.get(dataset, {}))


# SGC's tuned weight decays, from its repository. S²GC is built on that code, and gets the same.
_LINEAR = {"citeseer": {"weight_decay": 2.35e-5, "epochs": 150}, "pubmed": {"weight_decay": 7.4e-5}}
_GAT = {"pubmed": {"lr": 0.01, "weight_decay": 1e-3, "heads": 8}}
MODELS: dict[str, Recipe] = {
    # Defferrard, Bresson, Vandergheynst 2016, as Kipf & Welling 2017 train it.
    "cheb": Recipe("ChebNet", _cheb, Settings(16, 0.01, 5e-4, "first", 0.5, 200, 50)),
    # Kipf & Welling 2017, with more patience than their 10 epochs.
    "gcn": Recipe("GCN", _gcn, Settings(16, 0.01, 5e-4, "first", 0.5, 200, 50), switch=True),
    # Wu et al. 2019: K = 2, no hidden layer, no dropout.
    "sgc": Recipe("SGC", _sgc, Settings(0, 0.2, 1.3e-5, "all", 0.0, 100, 100), _LINEAR),
    # Klicpera, Bojchevski, Günnemann 2019: K = 10, α = 0.1.
    "appnp": Recipe("APPNP", _appnp, Settings(64, 0.01, 5e-3, "first", 0.5, 500, 100), switch=True),
    # Veličković et al. 2018: 8 heads of 8, one output head, on Pubmed 8.
    "gat": Recipe("GAT", _gat, Settings(8, 0.005, 5e-4, "all", 0.6, 500, 100), _GAT),
    # Zhu & Koniusz 2021: K = 16, α = 0.05.
    "ssgc": Recipe("S²GC", _ssgc, Settings(0, 0.2, 1.3e-5, "all", 0.0, 100, 100), _LINEAR),
}
