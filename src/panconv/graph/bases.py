"""The bases whose paths are counted: A, A+I, Â, and those of the generic random walk."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from panconv.base.tracing import may_look
from panconv.graph.csr import compress, narrow, order_by_column
from panconv.graph.degrees import Facts, inverse_degrees

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency


def with_self_loops(adj: Adjacency) -> Adjacency:
    """A+I, with shapes that do not depend on the data, so that it can be traced."""
    N, loop, loops = adj.num_nodes, adj.row == adj.col, adj.num_self_loops
    has_loop = torch.zeros(N, dtype=torch.int32, device=adj.device).index_add(0, adj.row, loop.int())
    new = torch.argsort(has_loop, stable=True)[: N - loops]  # nodes without a loop, in order
    row, col = torch.cat([adj.row, new]), torch.cat([adj.col.long(), new])
    order = torch.argsort(row * N + col)
    crow = narrow(compress(row[order], N), max(N, row.numel()))
    col = col[order].to(crow.dtype)
    value = magnitude = None
    if adj.value is not None or loops:
        ones = torch.ones(adj.num_edges, device=adj.device) if adj.value is None else adj.value
        ones = ones.double() if loops else ones  # float32 would round A_ii + 1
        value = torch.cat([ones + loop, ones.new_ones(new.numel())])[order]
        if adj.is_signed:
            magnitude = torch.cat([ones.detach().abs() + loop, ones.new_ones(new.numel())])[order]
    return type(adj)(
        *(crow, col, value),
        transposed=None if adj.is_symmetric else order_by_column(crow, col, N),
        facts=Facts(adj.growth + 1, min(adj.decay, 1.0), adj.is_signed, num_self_loops=N, magnitude=magnitude),
    )


def over_degrees(adj: Adjacency, how: str, name: str) -> Adjacency:
    """The matrix divided by its row sums: on the left ("row"), or by their roots on both sides ("sym")."""
    bulk = adj.absolute().row_sums() if adj.is_signed else None
    inverse = inverse_degrees(adj.row_sums(), bulk, -1.0 if how == "row" else -0.5, name)
    # Its n-th power is D^½ Pⁿ D^−½, or Pⁿ, with P stochastic: row sums neither grow nor vanish, whatever n; but on a
    # directed graph without loops a walk may come to nodes that nothing reaches.
    decay = 1.0 if adj.is_symmetric or name == "A+I" else adj.decay / max(adj.growth, 1.0)
    made = type(adj)(
        *(adj.crow, adj.col, adj.value),
        transposed=adj.by_column() if how == "row" else adj._transposed,
        sides=(inverse, inverse if how == "sym" else None),
        facts=Facts(1.0, decay, adj.is_signed, adj.is_positive, adj.num_self_loops, adj._magnitude, adj.is_symmetric),
    )
    if not may_look():
        made.growth = math.inf if adj.is_signed else 1.0  # without signs it is similar to D⁻¹A, which stays
    elif (adj.is_signed or (how == "sym" and not adj.is_symmetric)) and adj.num_nodes:
        made.growth = float(made.absolute().row_sums().max())  # negative or one-way weights can grow
    return made


BASES: dict[str, Callable[[Adjacency], Adjacency]] = {
    "A": lambda adj: adj,
    "A+I": with_self_loops,
    "Â": lambda adj: over_degrees(adj.base("A+I"), "sym", "A+I"),
    "D⁻¹A": lambda adj: over_degrees(adj, "row", "A"),
    "D^−½AD^−½": lambda adj: over_degrees(adj, "sym", "A"),
}
