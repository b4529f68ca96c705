"""What each edge carries of a score: what a path adds is split evenly among the edges that it takes.

Let s(t) be what features add to the score where every edge weighs t times as much, between degrees and sums as they
are, and at the gates of t = 1. A path that takes n edges adds tⁿ times its part, so s is a polynomial, and

    ∫₀¹ ∂s/∂m_e dt,    m_e = t the mask of edge e,

gives each of the n edges 1/n of the part. Gauss's rule finds the integral of a polynomial exactly. Over all edges these
are s(1) − s(0): what all paths add that take an edge.

The same integral with gates that follow t is known as integrated gradients; a path split evenly among its edges is the
Shapley value of each, where it takes none twice.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.explain.algorithm.utils import set_masks

from panconv.estimator.explaining.unrolled import check_explainable
from panconv.nn.explainable import Explainable
from panconv.training.models import PAN


def edge_parts(model: nn.Module, x: Tensor, edge_index: Tensor, node: int, c: int) -> Tensor:
    """What each edge carries of the score of a class at a node, (E,), float64; of several trials of their mean.

    Args:
        model: a `PAN` on walks, whose gates are ReLU's, or what `layer_of` gives.
        x, edge_index: as it is called with.
        node, c: the number of the node, and of the class.
    """
    x, nothing, E = x.double(), torch.zeros_like(x, dtype=torch.float64), edge_index.size(1)
    model = _held(model, x, edge_index)

    def slopes(t: float) -> Tensor:
        mask = torch.full((E,), t, dtype=torch.float64, requires_grad=True)
        set_masks(model, mask, edge_index, apply_sigmoid=False)
        scores = (model(x, edge_index) - model(nothing, edge_index))[node]  # biases are no paths
        return torch.autograd.grad(scores.reshape(-1, scores.size(-1)).mean(0)[c], mask)[0]

    steps = sum(isinstance(layer, Explainable) for layer in model.modules())  # a layer shows up once per step
    places, weights = np.polynomial.legendre.leggauss(math.ceil(steps / 2))
    found = x.new_zeros(E)
    for place, weight in zip(places, weights, strict=True):  # of −1 … 1
        found += weight / 2 * slopes((1 + place) / 2)
    return found


class _Held(nn.Module):
    """An activation, whose gates can be held as they have been found."""

    def __init__(self, act: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._act, self._found = act, list[Tensor]()
        self._held: itertools.cycle[Tensor] | None = None  # in the order in which layers ask for them

    def hold(self) -> None:
        self._held = itertools.cycle(self._found)

    def forward(self, z: Tensor) -> Tensor:
        if self._held is not None:
            return z * next(self._held)
        out = self._act(z)
        self._found.append(torch.where(z == 0, 0.0, out / z))
        return out


def _held(model: nn.Module, x: Tensor, edge_index: Tensor) -> nn.Module:
    """A copy in float64 whose gates stay as they are."""
    model = copy.deepcopy(model).double().eval().requires_grad_(False)
    if not isinstance(model, PAN):
        return model
    check_explainable(model)
    if model.jk_mode == "max":
        raise ValueError("edge_parts holds the gates of activations alone, and jk='max' chooses too: use 'cat', 'last'")
    if model.act is not None:
        act = model.act = _Held(model.act)
        model(x, edge_index)
        act.hold()
    return model
