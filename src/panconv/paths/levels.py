"""Walks by their effective length: a G for every length that a walk of up to L steps can have.

The edges fall into classes of equal length c, with the 0/1 matrices A_c. A walk of length l is one of length l − c and
an edge of class c, so the sums by step and length obey Y(n, l) = Σ_c A_c Y(n−1, l−c), and the term of a length is
Σₙ Y(n, l).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.paths.family import Counts, Terms, counts_of, identity, within_range
from panconv.spmm import spmm

_MOST_LEVELS = 2048
_SAME = 1e-9  # lengths within this share of the longest edge are one


class Levels:
    """The terms G(l)x for the distinct effective lengths l, shortest first.

    Args:
        adj: the graph, with weights > 0.
        L: the largest number of steps.
        width: each edge's length is rounded to a multiple of it; None keeps the lengths as they are.
    """

    def __init__(self, adj: Adjacency, L: int, width: float | None) -> None:
        self.adj, self.num_nodes = adj, adj.num_nodes
        value = torch.ones(adj.num_edges, device=adj.device) if adj.value is None else adj.value.detach()
        length = 1 / value.double()
        unit = width or _SAME * float(length.max() if len(length) else 1.0)
        cells, edge_class = torch.unique((length / unit).round().long(), return_inverse=True)
        # What each number of steps can reach, in whole units, until all have their place in one ladder of levels.
        reached = [torch.zeros(1, dtype=torch.long, device=adj.device)]
        for _ in range(L):
            reached.append(torch.unique(reached[-1].unsqueeze(1) + cells))
            self._check_number(len(reached[-1]), L, width, float(length.max()) if len(length) else 1.0)
        ladder = torch.unique(torch.cat(reached))
        self._check_number(len(ladder), L, width, float(length.max()) if len(length) else 1.0)
        self.lengths = ladder.double() * unit  # (K,)
        self._levels = [torch.searchsorted(ladder, sums) for sums in reached]  # level of each sum, by steps
        # From a sum after n steps and an edge of class c to the place of their sum after n + 1 steps, (sums, classes).
        self._next = [torch.searchsorted(after, before.unsqueeze(1) + cells) for before, after in pairwise(reached)]
        edges = torch.stack([adj.col.long(), adj.row])
        self._classes = [
            Adjacency.from_edge_index(edges[:, edge_class == c], num_nodes=self.num_nodes) for c in range(len(cells))
        ]
        D = torch.stack(list(self.terms(torch.ones(self.num_nodes, dtype=torch.float64, device=adj.device))))
        self._counts = counts_of(D, signed=False, fit=within_range(D))

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        Y = x.unsqueeze(1)  # (N, sums, …)
        total = x.new_zeros(len(x), len(self.lengths), *x.shape[1:]).index_add(1, self._levels[0], Y)
        for place, levels in zip(self._next, self._levels[1:], strict=True):
            after = x.new_zeros(len(x), len(levels), *x.shape[1:])
            for c, edges in enumerate(self._classes):
                after = after.index_add(1, place[:, c], spmm(*edges.operands(x.dtype), Y))
            Y = after
            total = total.index_add(1, levels, Y)
        return iter(total.unbind(1))

    def term(self, n: int, x: Tensor) -> Tensor:
        return list(self.terms(x))[n]

    def adjoint(self, v: Sequence[Tensor | None]) -> Tensor:
        """Σ_l G(l)ᵀ v_l, by Horner's scheme from the most steps to none."""
        like = v[-1]
        assert like is not None
        nothing = torch.zeros_like(like)
        V = torch.stack([nothing if term is None else term for term in v], dim=1)  # (N, K, …)
        U = V[:, self._levels[-1]]
        for place, levels in zip(self._next[::-1], self._levels[-2::-1], strict=True):
            before = V[:, levels]
            for c, edges in enumerate(self._classes):
                a, a_t = edges.operands(like.dtype)
                before = before + spmm(a_t, a, U[:, place[:, c]])
            U = before
        return U[:, 0]

    def matrices(self, dtype: torch.dtype) -> Iterator[Tensor]:
        N, none = self.num_nodes, torch.zeros(2, 0, dtype=torch.long, device=self.adj.device)
        empty = torch.sparse_coo_tensor(none, torch.zeros(0, dtype=dtype, device=self.adj.device), (N, N)).coalesce()
        total = [empty] * len(self.lengths)
        Y = [identity(N, dtype, self.adj.device)]
        total[int(self._levels[0])] = Y[0]
        for place, levels in zip(self._next, self._levels[1:], strict=True):
            after = [empty] * len(levels)
            for c, edges in enumerate(self._classes):
                a, _ = edges.operands(dtype)
                A = torch.sparse_coo_tensor(torch.stack([edges.row, a.col.long()]), a.value, (N, N))
                for s, to in enumerate(place[:, c].tolist()):
                    after[to] = after[to] + torch.sparse.mm(A, Y[s])
            Y = after
            for level, matrix in zip(levels.tolist(), Y, strict=True):
                total[level] = total[level] + matrix
        yield from (matrix.coalesce() for matrix in total)

    def counts(self) -> Counts:
        return self._counts

    def scaled(self) -> Terms:
        raise ValueError("the walks are too many to be counted by effective length: use a smaller L")

    @staticmethod
    def _check_number(levels: int, L: int, width: float | None, longest: float) -> None:
        if levels > _MOST_LEVELS:
            remedy = f"set width, such as {L * longest / 200:.2g}" if width is None else f"raise width, now {width:g}"
            raise ValueError(
                f"walks of {L} steps have more than {_MOST_LEVELS} distinct effective lengths for alpha > 1: {remedy}"
            )
