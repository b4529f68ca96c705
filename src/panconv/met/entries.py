"""Some entries of M without the others, from those of each G(n), which stay what they are while weights are trained.

    M[i, j] = outer[i] · Σₙ leftₙ[i] · G(n)[i, j] · rightₙ[j]  (+ alone[i] where i = j)

So a gradient keeps nothing but a number per entry and length, unless edge weights ask for one: then it keeps every
product.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import free_bytes
from panconv.graph import Adjacency
from panconv.graph.induced import induced_edges
from panconv.met.columns import columns
from panconv.met.methods import check_one_trial
from panconv.met.operator import MET
from panconv.met.plan import Plan
from panconv.paths import Walks

_NARROW = 256  # columns that are taken without asking further
_ENTRIES = 2**24  # of M, bounded from above, up to which it may be formed by its lengths
_DENSE = 8  # zeros that a product with columns multiplies while a sparse one does with one entry
# What an entry takes while it is found, joined, weighed and sorted, and on top of that for each length, as measured.
_BYTES_PER_ENTRY, _BYTES_PER_LENGTH = 128, 24
_BYTES_HELD = 16  # for the gradient of edge weights, by a value of a column of a length
_SAMPLE = 256  # columns from which their number is estimated
_SHARE_OF_MEMORY = 0.75
_FEWER = "take fewer nodes, or a smaller L"


class Entries(NamedTuple):
    """Entries of a sparse matrix, by row, then column."""

    row: Tensor  # (nnz,)
    col: Tensor  # (nnz,)
    value: Tensor  # (nnz,) float64


def graph_of(M: MET) -> Adjacency:
    """The graph that an operator was made on, beneath its method's base."""
    return M._parts.given.adj


def closed(M: MET, group: Tensor, nodes: Tensor | None = None) -> Tensor:
    """Mᵢᵢ, what returns to a node along closed paths, (N,) or (N, S) for S trials, float64.

    Of walks on a graph whose edges nobody trains, the part of each length is found once, and kept with the graph.

    Args:
        group: the group of each node, (N,), of which M mixes no two.
        nodes: those that are asked for, (K,), each once; None for all.

    >>> M = MET(Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=2), [1.0, 1.0, 1.0], method=1)
    >>> closed(M, torch.zeros(3, dtype=torch.long))
    tensor([0.5000, 0.6000, 0.5000], dtype=torch.float64)
    """
    plan, every = M._plan(torch.float64), nodes is None
    nodes = torch.arange(M.shape[0], device=M.device) if nodes is None else nodes
    if every and type(M.paths) is Walks:
        key = "closed", M.paths.L, plan.family is M.paths
        return plan.entries(nodes, nodes, M.paths.adj.cached(key, lambda: _closed(plan, group, nodes)))
    with _gradients(plan):
        G = _closed(plan, group, nodes)
    return plan.entries(nodes, nodes, G)


def _closed(plan: Plan, group: Tensor, nodes: Tensor) -> Tensor:
    """G(n)ᵢᵢ, (L+1, K)."""
    lengths = plan.factors.left.size(0)
    found = torch.zeros(lengths, nodes.numel(), dtype=torch.float64, device=nodes.device)
    for block in columns(nodes, group, lengths):
        there = nodes[block.which], block.at
        found = found.index_copy(1, block.which, torch.stack([term[there] for term in plan.family.terms(block.unit)]))
    return found


def among(M: MET, nodes: Tensor, group: Tensor, remedy: str = _FEWER) -> Entries:
    """M[nodes][:, nodes] without the zeros in it, its rows and columns by the place of a node among them.

    Where path weights are trained, an entry that is 0 now stays if a path leads there. Columns are found some at a
    time; sparse matrices of the size of M are formed where they are small beside that. What memory would not hold is
    refused first, as a sample of the columns tells.

    Args:
        nodes: (K,), each once.
        group: the group of each node, (N,), of which M mixes no two.
        remedy: what to do where there may be too many, as the error says it.

    >>> M = MET(Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=2), [1.0, 1.0, 1.0], method=1)
    >>> among(M, torch.tensor([2, 0]), torch.zeros(3, dtype=torch.long)).value
    tensor([0.5000, 0.2500, 0.2500, 0.5000], dtype=torch.float64)
    """
    check_one_trial(M.weights)
    plan, transposed = M._plan(torch.float64), M._parts.transposed
    _check_memory(M, plan, nodes, group, remedy)
    row, col, G = _from_matrices(plan, nodes) if _are_few(M, nodes, group) else _from_columns(plan, nodes, group)
    value = plan.entries(nodes[row], nodes[col], G)
    row, col = (col, row) if transposed else (row, col)
    return _in_order(row, col, value, keep_zeros=any(p.requires_grad for p in M.weights.parameters()))


def _from_columns(plan: Plan, nodes: Tensor, group: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Row, column and G(n), (L+1, nnz), of what is not 0 in any G(n)[nodes][:, nodes]: by columns, some at a time."""
    lengths = plan.factors.left.size(0)
    nothing = nodes.new_empty(0)
    parts = [(nothing, nothing, nothing.double().expand(lengths, 0))]
    with _gradients(plan):
        for block in columns(nodes, group, lengths):
            terms = torch.stack([term[nodes] for term in plan.family.terms(block.unit)])  # (L+1, K, b)
            row, at = (terms.detach() != 0).any(0).nonzero(as_tuple=True)
            parts.append((row, block.whose(group[nodes[row]], at), terms[:, row, at]))
    row, col, G = (torch.cat(each, -1) for each in zip(*parts, strict=True))
    return row, col, G


@torch.no_grad()
def _from_matrices(plan: Plan, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same from sparse G(n)."""
    lengths, found = plan.factors.left.size(0), []
    for n, matrix in enumerate(plan.family.matrices(torch.float64)):
        (row, col), value = induced_edges(matrix.indices(), matrix.values(), nodes, plan.family.num_nodes)
        assert value is not None
        found.append((row * nodes.numel() + col, torch.full_like(row, n), value))
    key, length, value = (torch.cat(each) for each in zip(*found, strict=True))
    key, entry = torch.unique(key, return_inverse=True)
    G = value.new_zeros(lengths, key.numel()).index_put((length, entry), value, accumulate=True)
    return key // nodes.numel(), key % nodes.numel(), G


def _are_few(M: MET, nodes: Tensor, group: Tensor) -> bool:
    """Whether sparse G(n) are less work than columns of one: on a graph so large that most entries are 0."""
    if M.paths.adj.is_tracked or not M.paths.counts_steps or nodes.numel() <= _NARROW:
        return False
    width = int(torch.bincount(group[nodes]).max())
    return width > _NARROW and at_most(M.paths.adj, M.paths.L) < min(_ENTRIES, M.shape[0] * width / _DENSE)


@torch.no_grad()
def at_most(adj: Adjacency, L: int, nodes: Tensor | None = None, group: Tensor | None = None) -> float:
    """A bound on the entries of M: a node is reached by no more nodes than there are walks to it, or nodes at all.

    Args:
        adj: what the paths run on.
        L: the longest.
        nodes: between which, (K,), each once; None for all.
        group: the group of each node, (N,), of which M mixes no two; None for one of all.
    """
    N = adj.num_nodes
    nodes = torch.arange(N, device=adj.device) if nodes is None else nodes
    group = torch.zeros(N, dtype=torch.long, device=adj.device) if group is None else group
    most = torch.bincount(group[nodes], minlength=int(group.max()) + 1 if N else 0)[group].double()
    reached = total = torch.zeros(N, dtype=torch.float64, device=adj.device).index_fill(0, nodes, 1)
    for _ in range(L):
        reached = torch.zeros_like(total).index_add(0, adj.row, reached[adj.col.long()]).minimum(most)
        total = (total + reached).minimum(most)
    return float(total[nodes].sum())


def _check_memory(M: MET, plan: Plan, nodes: Tensor, group: Tensor, remedy: str) -> None:
    """Refuses to look for more entries than there is room for.

    Bounds come first, the cheapest one first. Where walks are many and lead to few nodes, they are far too high.
    """
    lengths, (N, _), K = plan.factors.left.size(0), M.shape, nodes.numel()
    each, limit = _BYTES_PER_ENTRY + _BYTES_PER_LENGTH * lengths, _SHARE_OF_MEMORY * free_bytes(M.device)
    held = _BYTES_HELD * N * lengths if plan.family.adj.is_tracked and torch.is_grad_enabled() else 0
    if each * K**2 + held * K <= limit:
        return
    held *= int(torch.bincount(group[nodes]).max())
    if each * at_most(M.paths.adj, M.paths.L, nodes, group) + held <= limit:
        return
    entries = _about(plan, nodes, group)
    if (needed := each * entries + held) > limit:
        raise ValueError(
            f"M of L = {M.paths.L} has about {entries:.3g} entries between {K:,} nodes, and finding them would take "
            f"{needed / 2**30:.3g} GiB, more than the {limit / 2**30:.3g} GiB that can be had: {remedy}"
        )


@torch.no_grad()
def _about(plan: Plan, nodes: Tensor, group: Tensor) -> float:
    """How many entries there are between the nodes, from some of the columns; if it errs, rather too many."""
    K, among_nodes = nodes.numel(), group[nodes]
    some = nodes[torch.linspace(0, K - 1, min(K, _SAMPLE), device=nodes.device).long().unique()]
    found = torch.zeros(some.numel(), dtype=torch.float64, device=nodes.device)
    for block in columns(some, group, plan.factors.left.size(0)):
        there = torch.zeros(K, block.unit.size(1), dtype=torch.bool, device=nodes.device)
        for term in plan.family.terms(block.unit):
            there |= term[nodes] != 0
        by_group = found.new_zeros(int(among_nodes.max()) + 1, there.size(1)).index_add(0, among_nodes, there.double())
        found[block.which] = by_group[group[some[block.which]], block.at]
    error = float(found.std()) / math.sqrt(some.numel()) if 1 < some.numel() < K else 0.0
    return min(K * (float(found.mean()) + 2 * error), float(K) ** 2)


def _in_order(row: Tensor, col: Tensor, value: Tensor, keep_zeros: bool) -> Entries:
    kept = torch.arange(row.numel(), device=row.device) if keep_zeros else (value.detach() != 0).nonzero().squeeze(1)
    key = row[kept] * (int(col.max()) + 1 if col.numel() else 1) + col[kept]
    kept = kept[key.argsort()]
    return Entries(row[kept], col[kept], value[kept])


def _gradients(plan: Plan) -> torch.set_grad_enabled:
    """A context in which products leave a trace only where edge weights are trained."""
    return torch.set_grad_enabled(torch.is_grad_enabled() and plan.family.adj.is_tracked)
