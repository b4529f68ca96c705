"""The bases whose paths are counted: A, A+I, Â, and those of the generic random walk."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from panconv.base.tracing import may_look
from panconv.graph.blocks import known_blocks
from panconv.graph.csr import CSR, narrow, on_host, rows_of
from panconv.graph.degrees import Facts, inverse_degrees
from panconv.graph.pattern import Pattern
from panconv.graph.sorting import triton_kernels

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

_LONG = 1024  # entries of a row that one thread of a GPU goes through


def with_self_loops(adj: Adjacency) -> Adjacency:
    """A+I, with shapes that do not depend on the data, so that it can be traced.

    A self-loop that is there gets 1 more, or with ``loops="remaining"`` nothing.
    """
    loops, adds = adj.num_self_loops, adj.loops == "add"
    pattern, place = _around(adj, loops)
    value = magnitude = None
    if adj.value is not None or (loops and adds):
        ones = torch.ones(adj.num_edges, device=adj.device) if adj.value is None else adj.value
        more: Tensor | float = 0.0
        if loops and adds:
            ones, more = ones.double(), (adj.row == adj.col).double()  # float32 would round A_ii + 1
        blank = ones.new_ones(pattern.col.numel())
        value = blank.scatter(0, place, ones + more)
        if adj.is_signed and adds:
            magnitude = blank.scatter(0, place, ones.detach().abs() + more)
    growth = None if adj._growth is None and loops == 0 else adj.growth + 1
    return type(adj)(
        *(pattern, value),
        mirrored=adj._mirrored,
        # What arrives at a node is never 0 but where a self-loop of weight 0 was left as it is.
        facts=Facts(growth, min(adj.decay, 1.0), adj.is_signed, adds or adj.is_positive, magnitude),
    )


def _around(adj: Adjacency, loops: int) -> tuple[Pattern, Tensor]:
    """The pattern of A+I, without a sort, and where each entry of A goes.

    Each row without a loop grows by one entry, before which its smaller columns stay; what is not filled is the
    diagonal.
    """
    if loops == 0 and on_host(adj.crow):
        return _around_on_host(adj)
    N, nnz, row = adj.num_nodes, adj.num_edges, adj.row
    after, longest = adj.col > row, adj.pattern.known("longest")
    if loops == 0:
        more, before = torch.arange(N + 1, device=adj.device), row
    else:
        bare = torch.ones(N, dtype=torch.long, device=adj.device).index_add(0, row, -(adj.col == row).long())
        more, longest = torch.nn.functional.pad(bare.cumsum(0), (1, 0)), None
        before, after = more.index_select(0, row), after & bare.bool().index_select(0, row)
    total = N + nnz - loops
    crow = narrow(adj.crow + more, max(N, total))
    place = torch.arange(nnz, device=adj.device) + before + after
    rows = rows_of(crow, total)
    col = rows.to(crow.dtype).scatter_(0, place, adj.col.to(crow.dtype))
    longest = None if longest is None else longest + 1
    return Pattern(crow, col, loops=N, longest=longest, row=rows, like=adj.pattern), place


def _around_on_host(adj: Adjacency) -> tuple[Pattern, Tensor]:
    """The same where A has no loop, in NumPy: a third of the time on a small graph."""
    crow, col, row, nodes = adj.crow.numpy(), adj.col.numpy(), adj.row.numpy(), np.arange(adj.num_nodes + 1)
    index = crow.dtype if len(col) + len(nodes) < 2**31 else np.dtype(np.int64)
    place = np.arange(len(col)) + row + (col > row)
    rows = np.repeat(nodes[:-1], crow[1:] - crow[:-1] + 1)
    cols = rows.astype(index)
    cols[place] = col
    longest = adj.pattern.known("longest")
    made = Pattern(
        torch.from_numpy((crow + nodes).astype(index)),
        torch.from_numpy(cols),
        loops=adj.num_nodes,
        longest=None if longest is None else longest + 1,
        row=torch.from_numpy(rows),
        like=adj.pattern,
    )
    return made, torch.from_numpy(place)


def over_degrees(adj: Adjacency, how: str, name: str) -> Adjacency:
    """The matrix divided by its row sums: on the left ("row"), or by their roots on both sides ("sym")."""
    inverse = _inverse(adj, -1.0 if how == "row" else -0.5, name)
    # Its n-th power is D^½ Pⁿ D^−½, or Pⁿ, with P stochastic: row sums neither grow nor vanish, whatever n; but on a
    # directed graph without loops a walk may come to nodes that nothing reaches.
    decay = 1.0 if (name == "A+I" and adj.is_positive) or adj.is_symmetric else adj.decay / max(adj.growth, 1.0)
    undirected = adj.is_symmetric if how == "row" else None
    made = type(adj)(
        *(adj.pattern, adj.value),
        mirrored=how == "sym" and adj._mirrored,
        sides=(inverse, inverse if how == "sym" else None),
        facts=Facts(1.0, decay, adj.is_signed, adj.is_positive, adj._magnitude, undirected),
    )
    if not may_look(inverse):
        made._growth = math.inf if adj.is_signed else 1.0  # without signs it is similar to D⁻¹A, which stays
    elif adj.num_nodes and (adj.is_signed or how == "sym"):
        made._growth = math.nan  # negative or one-way weights can grow
        if adj.pattern.known("longest") is not None:  # it is settled, and so are its bases
            made.settle()
    return made


def found_growth(adj: Adjacency) -> float:
    """The largest row sum of a matrix that `over_degrees` made, signs aside."""
    if adj.is_symmetric and not adj.is_signed:
        return 1.0
    return float(adj.absolute().row_sums().max())


def _inverse(adj: Adjacency, power: float, name: str) -> Tensor:
    """A power of the row sums, (N,) float64."""
    degree = adj.row_sums()
    if adj.value is not None:
        return inverse_degrees(degree, adj.absolute().row_sums() if adj.is_signed else None, power, name)
    power_of = degree**power  # of whole numbers, which is in range
    return power_of if name == "A+I" else power_of.masked_fill(degree == 0, 0)


def without_signs(adj: Adjacency) -> Adjacency:
    """The matrix of the sizes of what each entry is the sum of."""
    assert adj.value is not None
    value = adj.value.detach().abs() if adj._magnitude is None else adj._magnitude
    left, right = (None if f is None else f.detach() for f in (adj.left, adj.right))
    return type(adj)(adj.pattern, value, mirrored=adj._mirrored, sides=(left, right))


def normalised(adj: Adjacency) -> Adjacency:
    """Â = D̃^−½ (A+I) D̃^−½."""
    gpu = triton_kernels() if adj.device.type == "cuda" and may_look() else None
    plain = adj.value is None and adj.left is None and adj.right is None and adj.num_edges + adj.num_nodes < 2**31
    if gpu is None or not plain or not adj.is_symmetric or adj.num_self_loops or adj.pattern.longest > _LONG:
        return over_degrees(adj.base("A+I"), "sym", "A+I")
    crow, col, value, inverse = gpu.normalise(adj.crow, adj.col, adj.pattern.longest)  # in one launch
    pattern = Pattern(crow, col, True, adj.num_nodes, adj.pattern.longest + 1)
    made = type(adj)(pattern, None, sides=(inverse, inverse), facts=Facts(1.0, 1.0))
    made._cache[torch.float32] = CSR(crow, col, value)
    blocks = known_blocks.get(adj.col)
    if adj.col in known_blocks:
        known_blocks[col] = None if blocks is None else blocks._replace(entries=pattern.longest)
    return made


BASES: dict[str, Callable[[Adjacency], Adjacency]] = {
    "A": lambda adj: adj,
    "A+I": with_self_loops,
    "Â": normalised,
    "D⁻¹A": lambda adj: over_degrees(adj, "row", "A"),
    "D^−½AD^−½": lambda adj: over_degrees(adj, "sym", "A"),
}
