"""Graphs whose classes are planted: how much their edges and their features tell of them is said, not found."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from panconv.base.checks import as_number, checked_count, checked_seed, shown

PREFERS = {"same": 0, "next": 1}  # which class a node looks for its neighbours in, counted from its own


def planted(
    num_nodes: int = 2000,
    classes: int = 4,
    degree: float = 6.0,
    share: float = 0.7,
    prefers: str = "same",
    features: int = 16,
    signal: float = 1.0,
    seed: int = 0,
) -> Data:
    """A planted partition into classes of one size, with features that are noise about the centre of a class.

    Args:
        num_nodes: N.
        classes: C.
        degree: what nodes have on the average; a little less, since loops and repeated edges are left out.
        share: of the edges that lead into the preferred class; the others lead anywhere, that class included.
        prefers: "same", a node's own class; "next", the one after it, so that neighbours differ and yet tell.
        features: F; 0 for none.
        signal: how far a centre is from 0, in standard deviations of the noise in one column.
        seed: of all that is drawn.

    Returns:
        ``edge_index`` both ways, ``y`` (N,), and ``x`` (N, F) unless there are no features.

    >>> graph = planted(100, classes=2, prefers="next", share=1.0)
    >>> bool((graph.y[graph.edge_index[0]] != graph.y[graph.edge_index[1]]).all())
    True
    """
    N, C = checked_count(num_nodes, "num_nodes", 2), checked_count(classes, "classes", 2)
    F = checked_count(features, "features", 0)
    _check(degree, share, prefers, signal)
    draw = torch.Generator().manual_seed(checked_seed(seed))
    y = torch.randperm(N, generator=draw) % C
    made = Data(edge_index=_edges(y, C, round(degree * N / 2), share, PREFERS[prefers], draw), y=y, num_nodes=N)
    if F:
        centres = torch.nn.functional.normalize(torch.randn(C, F, generator=draw), dim=1)
        made.x = torch.randn(N, F, generator=draw) + signal * centres[y]
    return made


def _check(degree: float, share: float, prefers: str, signal: float) -> None:
    for name, value in (("degree", degree), ("signal", signal)):
        if (number := as_number(value)) is None or not 0 <= number < float("inf"):
            raise ValueError(f"{name} must be at least 0 and finite, got {shown(value)}")
    if (number := as_number(share)) is None or not 0 <= number <= 1:
        raise ValueError(f"share must be a share of the edges, 0 … 1, got {shown(share)}")
    if prefers not in PREFERS:
        raise ValueError(f"prefers must be one of {', '.join(PREFERS)}, got {shown(prefers)}")


def _edges(y: Tensor, C: int, count: int, share: float, ahead: int, draw: torch.Generator) -> Tensor:
    """So many edges drawn anew, both ways, each once, without loops."""
    N, by_class = y.numel(), y.argsort(stable=True)
    size = torch.bincount(y, minlength=C)
    start, sought = size.cumsum(0) - size, (y + ahead) % C
    source = torch.randint(N, (count,), generator=draw)
    within = (torch.rand(count, generator=draw, dtype=torch.float64) * size[sought[source]]).long()
    preferred = by_class[start[sought[source]] + within]
    anywhere = torch.randint(N, (count,), generator=draw)
    target = torch.where(torch.rand(count, generator=draw) < share, preferred, anywhere)
    edges = torch.stack([source, target])
    return to_undirected(edges[:, source != target], num_nodes=N)
