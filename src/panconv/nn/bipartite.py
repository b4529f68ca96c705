r"""`PANConv` between two kinds of nodes: from senders of one kind to receivers of another.

M is that of one graph that holds both kinds, the senders first, whose receivers' rows are what the layer gives:

    Â, D^−½AD^−½ and other scalings at both ends       [[0, Aᵀ], [A, 0]]: a sender's degree is what it sends
    scalings of rows alone                             [[0, 0], [A, 0]]

which are equal wherever both apply, and for L = 1 read x'ᵢ = M₀(i)·x_i W + Σⱼ M₁(i, j)·xⱼ W. So method 1 divides by
Zᵢ = w₀ + w₁dᵢ, and the loop that A+I adds to a receiver is its own features. Longer paths would go on from a receiver
as a sender of the other kind, which it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from panconv.base.checks import kind_of
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.masked import cover
from panconv.graph.prepared import prepared
from panconv.graph.reading import checked_edges
from panconv.graph.repeated import Reading
from panconv.met.methods import METHODS

if TYPE_CHECKING:
    from panconv.nn.pan_conv import PANConv

Features = Tensor | SparseRows


def between(conv: PANConv, x: Any, edge_index: Any, edge_weight: Tensor | None) -> Tensor:
    """What the receivers become, (N_dst, O), without the bias.

    Args:
        x: the features of senders and receivers, (N_src, F) and (N_dst, F').
        edge_index: the edges (2, E): sources number the senders, targets the receivers.
    """
    senders, receivers = _checked_pair(conv, x)
    _check_layer(conv)
    if not isinstance(edge_index, Tensor) or edge_index.layout != torch.strided:
        raise TypeError(
            f"the graph between two kinds of nodes must be an edge_index (2, E), got {kind_of(edge_index)}: give its "
            "edges, of a matrix with one row per receiver torch.stack([col, row])"
        )
    sizes = senders.shape[0], receivers.shape[0]
    both = _scales_senders(conv.method)
    reading = Reading(repeats=conv.reading.repeats)  # an edge between nodes of the same number is no loop
    adj = prepared(edge_index, edge_weight, max(sizes), reading)
    joint = adj.cached(("two kinds", sizes, both), lambda: _joint(adj, sizes, both))
    mask = conv.edge_mask
    if mask is not None:
        weight = None if edge_weight is None else torch.as_tensor(edge_weight)
        if both:
            mask, weight = mask.repeat(2), None if weight is None else weight.repeat(2)
        joint = cover(joint, mask, _joint_edges(checked_edges(edge_index)[0], sizes[0], both), weight)
    xW = torch.cat([conv.lin(senders), conv.lin_of_receivers(receivers)])
    return conv._weigh_then_sum(conv.met(joint), xW)[sizes[0] :]


def checked_kinds(in_channels: Any, L: int) -> tuple[Any, Any]:
    """The widths of senders and receivers: in_channels itself, where it is no pair of them."""
    if not isinstance(in_channels, (tuple, list)):
        return in_channels, None
    if len(in_channels) != 2:
        raise ValueError(
            f"in_channels must be a number, or a pair of them for senders and receivers, got {in_channels!r}"
        )
    _check_steps(L)
    return in_channels[0], in_channels[1]


def _checked_pair(conv: PANConv, x: Any) -> tuple[Features, Features]:
    pair = x if isinstance(x, tuple) else (x, x)
    if len(pair) != 2:
        raise ValueError(f"x must be a pair (x_src, x_dst) for two kinds of nodes, got {len(pair)} of them")
    if pair[1] is None:
        raise ValueError(
            "x_dst is None, so that nobody says how many receivers there are: give x_src.new_zeros(receivers, F), "
            "which leaves length 0 out"
        )
    widths = tuple(each.shape[-1] for each in pair if isinstance(each, (Tensor, SparseRows)) and len(each.shape) > 1)
    if not conv.two_kinds and len(set(widths)) == 2:
        raise ValueError(
            f"x_src and x_dst have {widths[0]} and {widths[1]} columns, but the layer has one matrix for both: give "
            f"PANConv in_channels={widths}"
        )
    return conv.lin.checked(pair[0]), conv.lin_of_receivers.checked(pair[1])


def _check_layer(conv: PANConv) -> None:
    """Refuses what has no meaning between two kinds of nodes."""
    _check_steps(conv.L)
    if conv.paths != "walks":
        raise ValueError(
            f"paths must be 'walks' between two kinds of nodes, got {conv.paths!r}: at L = 1 every path is a step"
        )


def _check_steps(L: int) -> None:
    if L > 1:
        raise ValueError(
            f"L must be 1 between two kinds of nodes, got {L}: a path cannot go on from a receiver, which is no sender "
            "here; use L=1, and as many layers, back and forth, as steps are wanted"
        )


def _scales_senders(method: int) -> bool:
    """Whether a method divides by something of the senders, too."""
    rule = METHODS[method]
    return rule.base in ("Â", "D^−½AD^−½") or "sym" in (rule.per_length, rule.overall)


def _joint(adj: Adjacency, sizes: tuple[int, int], both: bool) -> Adjacency:
    """The graph of both kinds, from one whose nodes are the senders by column and the receivers by row."""
    for index, size, name in ((adj.col, sizes[0], "source"), (adj.row, sizes[1], "target")):
        if index.numel() and int(index.max()) >= size:
            raise ValueError(
                f"edge_index names {name} {int(index.max())}, but there are only {size}: x must have a row for each"
            )
    edges = _joint_edges(torch.stack([adj.col.long(), adj.row]), sizes[0], both)
    value = adj.value
    if both and value is not None:
        value = value.repeat(2)
    return Adjacency.from_edge_index(edges, value, sum(sizes), is_undirected=both or None)


def _joint_edges(edges: Tensor, senders: int, both: bool) -> Tensor:
    edges = torch.stack([edges[0], edges[1] + senders])
    return torch.cat([edges, edges.flip(0)], 1) if both else edges
