"""Walks counted between every two nodes: Aⁿ itself, for what needs to know where its entries stand."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import checked_length, free_bytes
from panconv.graph import Adjacency
from panconv.graph.csr import compress, narrow
from panconv.graph.pattern import Pattern
from panconv.paths.walks import Walks

_BYTES_PER_ENTRY = 64  # two nodes and a value, as the product leaves them and in order, and what ordering them takes
_SHARE_OF_MEMORY = 0.75


class FormedWalks(NamedTuple):
    """A⁰ … A^L on the pattern of their sum: an entry wherever a walk of up to L steps leads."""

    pattern: Pattern
    counts: Tensor  # (nnz, L+1) float64: (Aⁿ)ᵢⱼ, 0 where no walk of n steps leads from j to i

    @property
    def reached(self) -> Tensor:
        """From how many nodes a walk leads to each, itself among them: the entries of its row, (N,)."""
        return self.pattern.crow.diff().long()

    @property
    def reaches(self) -> Tensor:
        """To how many nodes a walk leads from each, itself among them: the entries of its column, (N,)."""
        return torch.bincount(self.pattern.col, minlength=self.pattern.crow.numel() - 1)

    def sum(self, coefficients: Tensor) -> Tensor:
        """The entries of Σ cₙ Aⁿ, (nnz,) float64, for c (L+1,)."""
        return self.counts @ coefficients.double()


def formed_walks(adj: Adjacency, L: int) -> FormedWalks:
    """Counts the walks of a graph, once: they are kept with it, unless its weights ask for a gradient.

    Weights multiply along a walk, and an entry stands wherever edges lead, whatever they weigh.

    >>> path = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> walks = formed_walks(path, L=2)
    >>> walks.sum(torch.tensor([0.0, 0.0, 1.0]))  # A², by rows; the zeros are where A has its entries
    tensor([1., 0., 1., 0., 2., 0., 1., 0., 1.], dtype=torch.float64)
    """
    checked_length(L)
    return adj.cached(("formed walks", L), lambda: _form(adj, L))


def _form(adj: Adjacency, L: int) -> FormedWalks:
    N, powers = adj.num_nodes, []
    for power in Walks(adj, L).matrices(torch.float64):  # each made when it is asked for
        powers.append(power)
        if len(powers) <= L:
            _check_memory(adj, power, L)
    keys, entry = torch.unique(torch.cat([_keys(power) for power in powers]), return_inverse=True)
    sizes = torch.tensor([power._nnz() for power in powers], device=adj.device)
    length = torch.repeat_interleave(torch.arange(L + 1, device=adj.device), sizes)
    value = torch.cat([power.values() for power in powers])
    counts = value.new_zeros(len(keys), L + 1).index_put((entry, length), value)
    row, col, bound = keys // max(N, 1), keys % max(N, 1), max(N, len(keys))
    crow = narrow(compress(row, N), bound)
    return FormedWalks(Pattern(crow, narrow(col, bound), adj.pattern.is_symmetric or None, row=row), counts)


def _keys(matrix: Tensor) -> Tensor:
    """A number for each place where a sparse matrix (N, N) has an entry, by row, then column."""
    row, col = matrix.indices()
    return row * matrix.size(1) + col


def _check_memory(adj: Adjacency, power: Tensor, L: int) -> None:
    """Refuses a further step that may not fit: of a row it makes as many entries as edges lead on, N at most."""
    limit = _SHARE_OF_MEMORY * free_bytes(adj.device)
    if _BYTES_PER_ENTRY * adj.num_nodes**2 <= limit:
        return
    (row, col), edges = power.indices(), adj.crow.diff().double()
    most = torch.zeros_like(edges).index_add(0, row, edges[col]).clamp(max=adj.num_nodes).sum()
    needed = _BYTES_PER_ENTRY * float(most)
    if needed > limit:
        raise ValueError(
            f"the sum of A^n up to n = {L} on {adj.num_nodes:,} nodes may take up to {needed / 2**30:.1f} GiB, more "
            f"than the {limit / 2**30:.1f} GiB that can be had: choose fewer steps, or PANConv, which forms no matrix"
        )
