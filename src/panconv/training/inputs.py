"""What `fit` learns from: features, graph, labels and the nodes of each part, checked and on their device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.checks import INTEGERS, check_real, check_values, kind_of, shown
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.repeated import Reading

_MASKS = ("train_mask", "val_mask", "test_mask")


class Inputs(NamedTuple):
    """A graph whose nodes are to be classified."""

    x: Tensor | SparseRows  # (N, F)
    adj: Adjacency
    y: Tensor  # (N,)
    train: Tensor  # (n,), or (n, S) where each trial has a split of its own
    val: Tensor
    test: Tensor


def checked_inputs(data: Data, model: Any, device: torch.device) -> Inputs:
    """What data holds for a model, in its dtype, on the device."""
    x, y = checked_parts(data)
    N, sparse = x.size(0), x.layout != torch.strided
    masks = _checked_masks(data, N, model.trials)
    _check_fit(model, x.size(1), y[torch.stack([m.reshape(N, -1).any(1) for m in masks]).any(0)])
    dtype = next(p.dtype for p in reversed(list(model.parameters())))
    cast = x.to(dtype)
    if x.dtype == torch.float64 != dtype and not torch.equal(_stored(cast).double(), _stored(x)):
        raise ValueError(
            f"data.x is float64 and would be rounded to the model's {dtype}: round it yourself, data.x = "
            "data.x.float(), or train in float64, model.double()"
        )
    features = SparseRows.of(cast).to(device) if sparse else cast.to(device)
    weight = getattr(data, "edge_weight", None)
    weight = weight.detach() if isinstance(weight, Tensor) else weight
    reading = getattr(model, "reading", Reading())  # of self-loops and repeated edges, where a model has a say in it
    adj = Adjacency.of(data.edge_index, weight, N, **reading._asdict()).to(device)
    return Inputs(features, adj, y.to(device).long(), *(_nodes(mask.to(device)) for mask in masks))


def _stored(x: Tensor) -> Tensor:
    return x if x.layout == torch.strided else x.to_sparse_csr().values()


def _check_disjoint(masks: Sequence[Tensor]) -> None:
    """No node learns and is looked at, nor chooses and is tested; test_mask = val_mask says that no node is tested."""
    for (first, a), (second, b) in combinations(zip(_MASKS, masks, strict=True), 2):
        shared = (a & b).any(1).nonzero()
        if shared.numel() and not (first == "val_mask" and torch.equal(a, b)):
            raise ValueError(
                f"data.{first} and data.{second} share {shared.numel()} nodes, such as {int(shared[0])}: "
                f"take them out of one of the two, as in data.{first} &= ~data.{second}"
            )


def checked_parts(data: Any) -> tuple[Tensor, Tensor]:
    """The features, real and finite, and the labels."""
    for name in ("x", "edge_index", "y", *_MASKS):
        if getattr(data, name, None) is None:
            raise ValueError(
                f"data.{name} is missing: fit needs x, edge_index, y and the three masks, got {kind_of(data)}"
            )
        if name != "edge_index" and not isinstance(getattr(data, name), Tensor):
            raise TypeError(f"data.{name} must be a tensor, got {kind_of(getattr(data, name))}")
    x, y = data.x, data.y
    if x.dim() != 2:
        raise ValueError(f"data.x must be (N, F), a row per node, got shape {tuple(x.shape)}")
    check_real(x, "data.x")
    for name in ("x", "y", *_MASKS):
        check_values(getattr(data, name), f"data.{name}")
    if not bool(torch.isfinite(_stored(x)).all()):
        raise ValueError("data.x holds NaN or infinite features: mend or remove them")
    if y.shape != (x.size(0),) or y.dtype not in INTEGERS:
        raise ValueError(
            f"data.y must be {x.size(0)} class numbers, (N,) of integers, got {tuple(y.shape)} of {y.dtype}"
        )
    return x, y


def _checked_masks(data: Any, N: int, trials: int | None) -> list[Tensor]:
    """The three masks, which share no node."""
    masks = [getattr(data, name) for name in _MASKS]
    for name, mask in zip(_MASKS, masks, strict=True):
        if mask.dtype != torch.bool or mask.shape not in ((N,), (N, trials)) or not bool(mask.any()):
            kind = "empty" if mask.dtype == torch.bool and not bool(mask.any()) else mask.dtype
            raise ValueError(f"data.{name} must be boolean, ({N},), with a node in it; got {tuple(mask.shape)}, {kind}")
        if mask.dim() == 2 and len(mask.sum(0).unique()) > 1:
            numbers = mask.sum(0).tolist()
            raise ValueError(f"data.{name} must hold as many nodes for one trial as for another, got {shown(numbers)}")
    _check_disjoint([mask.reshape(N, -1) for mask in masks])
    return masks


def _check_fit(model: Any, F: int, known: Tensor) -> None:
    C, width = model.out_channels, model.in_channels
    if width not in (-1, F):
        raise ValueError(f"data.x has {F} columns, but the model takes {width} (in_channels)")
    low, high = int(known.min()), int(known.max())
    if low < 0 or high >= C:
        raise ValueError(f"data.y names class {low if low < 0 else high}, but the model has {C} classes, 0 … {C - 1}")


def _nodes(mask: Tensor) -> Tensor:
    """The nodes of a mask (N,), or of each column of one (N, S), whose numbers are alike."""
    return mask.nonzero().squeeze(1) if mask.dim() == 1 else mask.T.nonzero()[:, 1].reshape(mask.size(1), -1).T
