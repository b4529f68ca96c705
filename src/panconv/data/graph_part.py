"""Some graphs of a `GraphSet`, named as those of PyG's datasets are, as a set of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from panconv.base.checks import INTEGERS, as_integer, shown
from panconv.graph.picking import Gather

if TYPE_CHECKING:
    from panconv.data.graph_set import GraphSet

_PART = "part of "  # in front of the name of the set


def chosen(index: Any, G: int) -> int | Tensor:
    """The number of one graph of G, or those of some, (b,) on the CPU, from what stands in brackets.

    A slice, also one by shares such as ``[:0.9]``, integers in a tensor, array or list, or a mask of all graphs.
    Negative numbers count from the end.

    >>> chosen(-1, 5), chosen(slice(2, None), 5), chosen([True, False, False, True], 4)
    (4, tensor([2, 3, 4]), tensor([0, 3]))
    """
    if isinstance(index, slice):
        return _in_slice(index, G)
    if getattr(index, "ndim", 0) == 0 and not isinstance(index, (list, tuple, range)):
        i = as_integer(index)
        if i is None or not -G <= i < G:
            raise _wrong(f"an integer from {-G} to {G - 1}", index)
        return i % G
    which = _numbers(index)
    if which is None:
        raise _wrong("one integer, or for some of them a slice, a list or tensor (b,) of integers, or a mask", index)
    if which.dtype == torch.bool:
        if len(which) != G:
            raise _wrong(f"True or False for each of {G} graphs where it is a mask", index)
        return _some(which.nonzero().squeeze(1))
    outside = ((which < -G) | (which >= G)).nonzero()
    if len(outside):
        raise IndexError(f"the indices of graphs must be integers from {-G} to {G - 1}, got {which[outside[0, 0]]}")
    return _some(which % G)


def part_of(graphs: GraphSet, which: Tensor) -> dict[str, Any]:
    """What a `GraphSet` of some of the graphs is made of, (b,) in any order: one that is named again is there again.

    It says by its name that it is a part, as long as it is not all of the set.
    """
    name = graphs.name
    if name and not name.startswith(_PART) and not torch.equal(which, torch.arange(len(graphs))):
        name = _PART + name
    numbers, first = which.numpy(), graphs.ptr.cpu().numpy()
    nodes = Gather(first, numbers, graphs.device)
    edges = Gather(np.asarray(graphs._edges), numbers, graphs.device)
    weight = graphs.edge_weight
    return {
        "x": nodes.of(graphs.x),
        "edge_index": torch.stack([edges.renumbered(ends, nodes) for ends in graphs.edge_index]),
        "ptr": pad(torch.from_numpy(nodes.sizes).cumsum(0), (1, 0)),
        "y": graphs.y[which.to(graphs.device)],
        "edge_weight": None if weight is None else edges.of(weight),
        "name": name,
        **{each: getattr(graphs, each) for each in ("classes", "features", "notes")},
    }


def _in_slice(index: slice, G: int) -> Tensor:
    """The numbers that a slice names; a share stands for so many of all graphs, as in PyG."""
    shares = [each for each in (index.start, index.stop) if isinstance(each, float)]
    if index.step == 0 or not all(-1 <= each <= 1 for each in shares):
        raise _wrong("a slice whose step is not 0, of integers, or of shares of all graphs up to 1", index)
    begin, end = (round(each * G) if isinstance(each, float) else each for each in (index.start, index.stop))
    try:
        return _some(torch.tensor(range(G)[begin : end : index.step], dtype=torch.long))
    except TypeError:
        raise _wrong("a slice of integers, or of shares of all graphs", index) from None


def _numbers(index: Any) -> Tensor | None:
    """Integers or a mask, (b,) on the CPU, from a tensor, array or list; None where it is neither."""
    if isinstance(index, (list, tuple, range)) and not len(index):
        return torch.empty(0, dtype=torch.long)
    try:
        found = index.cpu() if isinstance(index, Tensor) else torch.from_numpy(np.array(index, order="C"))
    except (TypeError, ValueError):  # texts, or numbers in rows of different lengths
        return None
    if found.dtype == torch.bool:
        return found if found.dim() == 1 else None
    known = found.dtype in INTEGERS and found.dtype != torch.uint8  # of which torch makes a mask and NumPy numbers
    return found.flatten().long() if known else None  # as PyG has it


def _some(which: Tensor) -> Tensor:
    if not len(which):
        raise ValueError("the indices of graphs must name at least one, got none: a set without graphs teaches nothing")
    return which


def _wrong(what: str, index: Any) -> IndexError:
    return IndexError(f"the index of a graph must be {what}, got {shown(index)}")
