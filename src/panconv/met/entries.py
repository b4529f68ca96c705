"""Some entries of M without the others, from those of each G(n), which stay what they are while weights are trained.

    M[i, j] = outer[i] · Σₙ leftₙ[i] · G(n)[i, j] · rightₙ[j]  (+ alone[i] where i = j)

So a gradient keeps nothing but a number per entry and length, unless edge weights ask for one: then it keeps every
product.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

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


def among(M: MET, nodes: Tensor, group: Tensor) -> Entries:
    """M[nodes][:, nodes] without the zeros in it, its rows and columns by the place of a node among them.

    Where path weights are trained, an entry that is 0 now stays if a path leads there. Columns are found some at a
    time; sparse matrices of the size of M are formed where they are small beside that.

    Args:
        nodes: (K,), each once.
        group: the group of each node, (N,), of which M mixes no two.

    >>> M = MET(Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=2), [1.0, 1.0, 1.0], method=1)
    >>> among(M, torch.tensor([2, 0]), torch.zeros(3, dtype=torch.long)).value
    tensor([0.5000, 0.2500, 0.2500, 0.5000], dtype=torch.float64)
    """
    check_one_trial(M.weights)
    plan, transposed = M._plan(torch.float64), M._parts.transposed
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


def at_most(adj: Adjacency, L: int) -> float:
    """A bound on the entries of M: a node is reached by no more nodes than there are walks to it, or nodes at all."""
    reached = total = torch.ones(adj.num_nodes, dtype=torch.float64, device=adj.device)
    for _ in range(L):
        reached = torch.zeros_like(total).index_add(0, adj.row, reached[adj.col.long()]).clamp(max=adj.num_nodes)
        total = (total + reached).clamp(max=adj.num_nodes)
    return float(total.sum())


def _in_order(row: Tensor, col: Tensor, value: Tensor, keep_zeros: bool) -> Entries:
    kept = torch.arange(row.numel(), device=row.device) if keep_zeros else (value.detach() != 0).nonzero().squeeze(1)
    key = row[kept] * (int(col.max()) + 1 if col.numel() else 1) + col[kept]
    kept = kept[key.argsort()]
    return Entries(row[kept], col[kept], value[kept])


def _gradients(plan: Plan) -> torch.set_grad_enabled:
    """A context in which products leave a trace only where edge weights are trained."""
    return torch.set_grad_enabled(torch.is_grad_enabled() and plan.family.adj.is_tracked)
