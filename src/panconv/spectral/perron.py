"""The Perron vector of an undirected graph, component by component, by Lanczos: nothing dense of the graph's size."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR

_SPACE, _KEPT, _CYCLES = 32, 10, 300  # vectors held at most, those of them that go into the next cycle, cycles
_RESIDUAL = 1e-10  # of the eigenvalue
_BREAKDOWN = 1e-13  # of the largest row sum: below this a vector is rounding
_NOISE = 1e-10  # of the component's largest entry: below it an entry that Lanczos found is thrown away
_TOLERANCE, _SWEEPS = 1e-12, 1000


class Perron(NamedTuple):
    """The leading eigenstate of each connected component: A ψ = λ ψ, ψ > 0, of norm 1 on each component."""

    vector: Tensor  # (N,) float64
    value: Tensor  # (N,) float64: λ of the node's component


def perron(adj: Any) -> Perron:
    """The Perron vector and eigenvalue of A, for each connected component by itself.

    On a disconnected graph the leading eigenvector of A is that of one component and 0 elsewhere, and it is not unique
    where two components have the same eigenvalue. So it is defined per component here: on the nodes of a component
    stand the component's own Perron vector, of norm 1, and its own eigenvalue. A node without edges has 1 and 0.

    All components are treated at once by Lanczos with full re-orthogonalisation and a thick restart, until the
    residual is below 1e-10 λ. Where the eigenvalues of a component crowd (a path of thousands of nodes) a warning says
    what residual was reached. Small entries are exact to themselves too (see `log_perron`); those below the smallest
    normal number of float64 are that number: all are positive.

    Args:
        adj: an undirected graph with weights of at least 0, or anything an `Adjacency` is made from.

    >>> star = torch.tensor([[0, 0, 0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 0, 0, 0, 0]])
    >>> vector, value = perron(star)
    >>> vector ** 2
    tensor([0.5000, 0.1250, 0.1250, 0.1250, 0.1250], dtype=torch.float64)
    >>> round(float(value[0]), 6)
    2.0
    """
    return _kept(adj)[1]


def log_perron(adj: Any) -> Tensor:
    """log ψ of the same ψ, (N,) float64, right to about 1e-10 of ψ however small it is; 0 on an isolated node.

    ψ falls by a factor of about λ with each step away from the densest part of a graph: on Citeseer it goes down to
    2·10⁻²⁰. Lanczos finds it to an absolute error of about 10⁻¹⁵, so that far away its entries are noise. They are set
    to 0, and sweeps ψᵢ ← Σⱼ Aᵢⱼψⱼ/λ in logarithms bring them back. Only positive numbers are added, so nothing cancels,
    and the relative error e of ψ goes to P·e in a sweep, with P the transition matrix of the walk of maximal entropy:
    it dies out as fast as a walker finds the way to where ψ is large. The sweeps end when no entry moves by more than
    10⁻¹² of itself, or 1,000 sweeps after ψ has reached all nodes.
    """
    return _kept(adj)[0]


def row_log_sum(a: CSR, row: Tensor, log: Tensor) -> Tensor:
    """log Σⱼ Aᵢⱼ exp(logⱼ) of each row, shifted by the row's largest term; −∞ for a row without any. (N,)"""
    sent = a.value.log() + log[a.col]
    largest = torch.full_like(log, -torch.inf).scatter_reduce(0, row, sent, "amax")
    shift = largest.masked_fill(largest == -torch.inf, 0)
    return shift + torch.zeros_like(log).index_add(0, row, (sent - shift[row]).exp()).log()


def checked_undirected(graph: Any) -> Adjacency:
    """The graph, if it has a Perron vector by the theorem of Perron and Frobenius."""
    adj = Adjacency.of(graph)
    if adj.is_tracked:
        raise ValueError("edge_weight asks for a gradient, which the Perron vector does not give: pass it detached")
    if not adj.is_symmetric:
        raise ValueError(
            "adj is directed, but the Perron vector is taken of an undirected graph: add the reverse edges"
        )
    if adj.is_signed:
        raise ValueError("adj has negative edge weights, which leave no Perron vector: use weights of at least 0")
    return adj


def _kept(graph: Any) -> tuple[Tensor, Perron]:
    """log ψ, and the same as ψ with λ, found once per graph."""
    adj = checked_undirected(graph)
    return adj.cached("perron", lambda: _states(adj))


def _states(adj: Adjacency) -> tuple[Tensor, Perron]:
    component = adj.components
    a, sums = adj.operands(torch.float64)[0], adj.row_sums()
    size = torch.bincount(component)
    if int(size.max() if size.numel() else 0) <= 1:  # self-loops at most
        return torch.zeros_like(sums), Perron(torch.ones_like(sums), sums)
    # Nodes that are a component by themselves share a group, whose result is not used: there can be millions.
    alone = size == 1
    group = (torch.cumsum(~alone, 0) * ~alone)[component]
    space = Segments(group, int((~alone).sum()) + 1)
    scale = torch.zeros(space.count, dtype=torch.float64, device=adj.device).scatter_reduce(0, group, sums, "amax")
    scale = scale.where(scale > 0, 1.0)[group]
    alone = alone[component]

    def step(x: Tensor) -> Tensor:
        return spmm(a, a, x) / scale

    vector, value = _leading_eigenpairs(step, space, ~alone, int(size.max()))
    value = (value[group] * scale).where(~alone, sums)
    log = _polish(adj, vector.abs().where(~alone, 1.0), value)
    return log, Perron(log.exp().clamp(min=torch.finfo(torch.float64).tiny), value)


class Segments:
    """Inner products and norms of node vectors, segment by segment."""

    def __init__(self, segment: Tensor, count: int) -> None:
        self.segment, self.count = segment, count

    def sums(self, x: Tensor) -> Tensor:
        """Σ x over the nodes of each segment: (C, …) of x (N, …)."""
        return x.new_zeros(self.count, *x.shape[1:]).index_add(0, self.segment, x)

    def norms(self, x: Tensor) -> Tensor:
        """(C,) of x (N,)."""
        return self.sums(x * x).sqrt()

    def combine(self, Q: Tensor, h: Tensor) -> Tensor:
        """Σⱼ Q[:, j] hⱼ with the coefficients (C, m) of each node's segment: (N,)."""
        return (Q * h[self.segment]).sum(1)


def _leading_eigenpairs(step: Any, space: Segments, used: Tensor, largest: int) -> tuple[Tensor, Tensor]:
    """The leading eigenvector (N,) and eigenvalue (C,) of each segment, by thick-restart Lanczos.

    The projected matrix T = QᵀAQ is taken from the very coefficients of the orthogonalisation, so that a restart
    needs no case of its own. Where a Krylov space is exhausted its further vectors are 0 and their place on the
    diagonal of T is −2, below any eigenvalue of a matrix scaled to row sums of at most 1.
    """
    N, m = space.segment.numel(), min(_SPACE, largest)
    kept = min(_KEPT, m - 1)
    Q = torch.zeros(N, m, dtype=torch.float64, device=space.segment.device)
    T = torch.zeros(space.count, m, m, dtype=torch.float64, device=Q.device)
    start = torch.ones_like(Q[:, 0])  # positive, so never orthogonal to what is sought
    q, first = start / space.norms(start)[space.segment], 0
    for _ in range(_CYCLES):
        for j in range(first, m):
            Q[:, j] = q
            w = step(q)
            h = space.sums(Q[:, : j + 1] * w[:, None])
            w = w - space.combine(Q[:, : j + 1], h)
            more = space.sums(Q[:, : j + 1] * w[:, None])
            w, h = w - space.combine(Q[:, : j + 1], more), h + more
            empty = space.sums(q * q) < 0.5
            T[:, : j + 1, j] = T[:, j, : j + 1] = h.masked_fill(empty[:, None], 0)
            T[:, j, j] = torch.where(empty, -2.0, h[:, j])
            norm = space.norms(w)
            q = (w / norm[space.segment]).where((norm > _BREAKDOWN)[space.segment], 0.0)
        values, vectors = torch.linalg.eigh(T)
        vector, value = space.combine(Q, vectors[:, :, -1]), values[:, -1]
        error = space.norms((step(vector) - value[space.segment] * vector).where(used, 0.0))
        if bool((error <= _RESIDUAL * value.abs()).all()):
            return vector, value
        Q[:, :kept] = torch.stack([space.combine(Q, vectors[:, :, i]) for i in range(m - kept, m)], 1)
        Q[:, kept:] = 0
        T = torch.diag_embed(torch.cat([values[:, m - kept :], T.new_zeros(space.count, m - kept)], 1))
        first = kept
    worst = float((error / value.abs().clamp(min=1e-300)).max())
    warnings.warn(
        f"the Perron vector is known to a residual of {worst:.1g} λ only, not {_RESIDUAL:.0g} λ", stacklevel=4
    )
    return vector, value


def _polish(adj: Adjacency, vector: Tensor, value: Tensor) -> Tensor:
    """log ψ, of norm 1 on each component, by the sweeps of `log_perron`."""
    a, _ = adj.operands(torch.float64)
    largest = torch.zeros_like(vector).scatter_reduce(0, adj.components, vector, "amax")
    log = vector.where(vector > _NOISE * largest[adj.components], 0).log()
    isolated = value == 0
    log_value = value.masked_fill(isolated, 1).log()
    left = _SWEEPS
    for _ in range(_SWEEPS + adj.num_nodes):  # a sweep carries ψ one step further, and that may be a long way
        before, log = log, (row_log_sum(a, adj.row, log) - log_value).masked_fill(isolated, 0)
        moved = float((log - before).abs().max())  # nan or ∞ as long as a node is not reached
        left -= moved < torch.inf
        if moved <= _TOLERANCE or left == 0:
            break
    norms = Segments(adj.components, adj.num_nodes).norms(log.exp())
    return log - norms.log()[adj.components]
