"""The Perron vector by its logarithm, with a relative precision that an eigensolver does not have.

ψ falls by a factor of about λ with each step away from the densest part of a graph: on Citeseer it goes down to
2·10⁻²⁰. An eigensolver finds it to an absolute error of about 10⁻¹⁵, so that far away its entries are noise. The walk
of maximal entropy needs the ratio of neighbouring entries there as well.
"""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.spectral import perron

_NOISE = 1e-10  # of the component's largest entry: below it an eigensolver's entry is thrown away
_TOLERANCE = 1e-12
_SWEEPS = 1000


def log_perron(adj: Adjacency) -> Tensor:
    """log ψ, (N,) float64, for ψ of each connected component with unit norm; 0 on an isolated node.

    The eigensolver's ψ is the start, its noise set to 0, of sweeps ψᵢ ← Σⱼ Aᵢⱼψⱼ/λ in logarithms. Only positive
    numbers are added, so nothing cancels, and the relative error e of ψ goes to P·e in a sweep, with P the transition
    matrix of the walk itself: it dies out as fast as a walker finds the way to where ψ is large. The sweeps end when no
    entry moves by more than 10⁻¹² of itself, or 1,000 sweeps after it has reached all nodes.
    """
    return adj.cached("log_perron", lambda: _find(adj))


def row_log_sum(a: CSR, row: Tensor, log: Tensor) -> Tensor:
    """log Σⱼ Aᵢⱼ exp(logⱼ) of each row, shifted by the row's largest term; −∞ for a row without any. (N,)"""
    sent = a.value.log() + log[a.col]
    largest = torch.full_like(log, -torch.inf).scatter_reduce(0, row, sent, "amax")
    shift = largest.masked_fill(largest == -torch.inf, 0)
    return shift + torch.zeros_like(log).index_add(0, row, (sent - shift[row]).exp()).log()


def _find(adj: Adjacency) -> Tensor:
    vector, value = perron(adj)
    if not adj.num_nodes:
        return vector
    a, _ = adj.operands(torch.float64)
    largest = torch.zeros_like(vector).scatter_reduce(0, adj.components, vector, "amax")
    log = vector.where(vector > _NOISE * largest[adj.components], 0).log()
    alone = value == 0
    log_value = value.masked_fill(alone, 1).log()
    left = _SWEEPS
    for _ in range(_SWEEPS + adj.num_nodes):  # a sweep carries ψ one step further, and that may be a long way
        before, log = log, (row_log_sum(a, adj.row, log) - log_value).masked_fill(alone, 0)
        moved = float((log - before).abs().max())  # nan or ∞ as long as a node is not reached
        left -= moved < torch.inf
        if moved <= _TOLERANCE or left == 0:
            break
    return log
