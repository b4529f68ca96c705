"""Which nodes of a graph are for training, validation and test: masks or node numbers, for all trials or for each."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import index_to_mask

from panconv.base.checks import INTEGERS, check_values, kind_of
from panconv.training.objective import Part

# The name of a part, and what the numbers of its nodes may be called: OGB says valid.
_INDICES = {"train": ("train_idx",), "val": ("val_idx", "valid_idx"), "test": ("test_idx",)}


def checked_masks(data: Any, N: int, trials: int | None) -> dict[str, Tensor]:
    """The masks of the parts, (N,) or (N, S), which share no node; those of the test are left out where there are
    none."""
    found = {name: _checked_mask(data, name, N, trials) for name in _INDICES}
    masks = {name: mask for name, mask in found.items() if mask is not None}
    for (first, a), (second, b) in combinations(masks.items(), 2):
        shared = (a.reshape(N, -1) & b.reshape(N, -1)).any(1).nonzero()
        # A test that is the validation says that no node is tested, as it had to be said when it could not be left out.
        if shared.numel() and not (first == "val" and torch.equal(a, b)):
            raise ValueError(
                f"data.{first}_mask and data.{second}_mask share {shared.numel()} nodes, such as {int(shared[0])}: "
                f"take them out of one of the two, as in data.{first}_mask &= ~data.{second}_mask"
            )
    return masks


def part_of(y: Tensor, mask: Tensor, weight: Tensor | None = None) -> Part:
    """The nodes of a mask (N,), or of each column of one (N, S), and what each node weighs, (N,), where they differ.

    Shorter columns are filled up with a node of their own, whose weight is 0: its label and score are as sound as any.
    """
    if mask.dim() == 1:
        rows = mask.nonzero().squeeze(1)
        return Part.of(y, rows, None if weight is None else weight[rows].unsqueeze(1))
    counts = mask.sum(0)
    trial, node = mask.T.nonzero().unbind(1)
    place = torch.arange(len(node), device=node.device) - (counts.cumsum(0) - counts)[trial]
    rows = node.new_zeros(len(counts), int(counts.max()))  # (S, n)
    rows[trial, place] = node
    real = torch.arange(rows.size(1), device=node.device) < counts.unsqueeze(1)
    rows = torch.where(real, rows, rows[:, :1]).T
    if bool(real.all()):
        return Part.of(y, rows, None if weight is None else weight[rows])
    return Part.of(y, rows, real.T.float() if weight is None else real.T * weight[rows], filled=True)


def checked_weight(data: Any, N: int, masks: dict[str, Tensor]) -> Tensor | None:
    """What each node weighs, (N,); None where the data does not say."""
    weight = getattr(data, "sample_weight", None)
    if weight is None:
        return None
    if not isinstance(weight, Tensor) or not weight.is_floating_point() or weight.shape != (N,):
        raise ValueError(f"data.sample_weight must be a floating-point tensor ({N},), a weight per node")
    if not bool((weight.isfinite() & (weight >= 0)).all()):
        raise ValueError("data.sample_weight must be finite and at least 0: mend it, or take it out of data")
    for name in ("train", "val"):
        each = masks[name].reshape(N, -1).to(weight.dtype).T @ weight.cpu().to(masks[name].device)
        if not bool((each > 0).all()):
            raise ValueError(f"data.sample_weight is 0 for all nodes of data.{name}_mask: leave some with a weight")
    return weight


def _checked_mask(data: Any, name: str, N: int, trials: int | None) -> Tensor | None:
    """The mask of a part, from itself or from node numbers."""
    names = [each for each in (f"{name}_mask", *_INDICES[name]) if getattr(data, each, None) is not None]
    if not names and name == "test":
        return None
    if not names:
        raise ValueError(
            f"data.{name}_mask is missing: fit needs train_mask and val_mask, or train_idx and val_idx, and may have "
            f"test_mask or test_idx; got {kind_of(data)}"
        )
    if len(names) > 1:
        raise ValueError(f"data has both {names[0]} and {names[1]}: remove one of the two, as in del data.{names[1]}")
    given, called = getattr(data, names[0]), f"data.{names[0]}"
    if not isinstance(given, Tensor):
        raise TypeError(f"{called} must be a tensor, got {kind_of(given)}")
    check_values(given, called)
    if not called.endswith("_mask"):
        return _from_numbers(given, called, N)
    empty = given.dtype == torch.bool and not bool(given.reshape(len(given), -1).any(0).all())
    if given.dtype != torch.bool or given.shape not in ((N,), (N, trials)) or empty:
        kind = "empty" if empty else given.dtype
        shapes = f"({N},)" if trials is None else f"({N},) or ({N}, {trials})"
        raise ValueError(
            f"{called} must be boolean, {shapes}, with a node in it for each trial; got {tuple(given.shape)}, {kind}"
        )
    return given


def _from_numbers(nodes: Tensor, called: str, N: int) -> Tensor:
    """The mask (N,) of node numbers (n,)."""
    if nodes.dtype not in INTEGERS or nodes.dim() != 1 or not nodes.numel():
        raise ValueError(
            f"{called} must be node numbers, (n,) of integers, at least one; got {tuple(nodes.shape)} of {nodes.dtype}"
        )
    nodes = nodes.long()
    if int(nodes.min()) < 0 or int(nodes.max()) >= N:
        wrong = int(nodes.min()) if int(nodes.min()) < 0 else int(nodes.max())
        raise ValueError(f"{called} names node {wrong}, but the nodes are 0 … {N - 1}")
    mask = index_to_mask(nodes, N)
    if int(mask.sum()) < len(nodes):
        raise ValueError(f"{called} names {len(nodes) - int(mask.sum())} nodes twice: use {called}.unique()")
    return mask
