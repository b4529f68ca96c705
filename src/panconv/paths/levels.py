"""Walks by their effective length: a G for every length that a walk of up to L steps can have.

The edges fall into classes of equal length c. A walk of length l is one of length l − c and an edge of class c, so the
sums by step and length obey Y(n, l)ᵢ = Σ_e Y(n−1, l−c(e))ⱼ over the edges e from j to i, and the term of a length is
Σₙ Y(n, l).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.paths.family import Counts, align, counts_of, identity

_MOST_LEVELS = 2048
_ROUNDING = 4 * torch.finfo(torch.float64).eps  # lengths that differ by less than this share per step are the same
_CHUNK = 2**22  # values that are gathered at once


class Levels:
    """The terms G(l)x for the distinct effective lengths l, shortest first.

    Args:
        adj: the graph, with weights > 0.
        L: the largest number of steps.
        width: each edge's length is rounded to a multiple of it; None keeps the lengths as they are.
    """

    steps = None

    def __init__(self, adj: Adjacency, L: int, width: float | None) -> None:
        self.adj, self.num_nodes = adj, adj.num_nodes
        length = edge_lengths(adj).detach()
        longest = float(length.max()) if len(length) else 1.0
        each, self._class = _distinct(_on_grid(length, width) if width else length, _ROUNDING)  # (classes,)
        # What each number of steps can reach, until all have their place in one ladder of levels; and the place after
        # n + 1 steps of a sum after n and an edge of class c, (classes, sums).
        reached, self._next = [torch.zeros(1, dtype=torch.float64, device=adj.device)], []
        for _ in range(L if adj.num_edges else 0):
            after, place = _distinct(each.unsqueeze(1) + reached[-1], _ROUNDING * (L + 1))
            _check_number(len(after), L, width, longest)
            reached.append(after)
            self._next.append(place)
        self.lengths, level = _distinct(torch.cat(reached), _ROUNDING * (L + 1))  # (K,)
        _check_number(len(self.lengths), L, width, longest)
        self._levels = list(level.split([len(sums) for sums in reached]))  # level of each sum, by steps
        D = torch.stack(list(self.terms(torch.ones(self.num_nodes, dtype=torch.float64, device=adj.device))))
        if not bool(D.isfinite().all()):
            raise ValueError(
                f"L = {L} is too long to count the walks by effective length: their numbers leave the range of "
                "floating point; take a smaller L, or alpha = 1"
            )
        self._counts = counts_of(D)

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        Y = x.unsqueeze(1)  # (N, sums, …)
        total = x.new_zeros(len(x), len(self.lengths), *x.shape[1:]).index_add_(1, self._levels[0], Y)
        for place, levels in zip(self._next, self._levels[1:], strict=True):
            after = x.new_zeros(len(x) * len(levels), *x.shape[1:])
            for row, col, at in self._chunks(place, len(levels), x):
                after.index_add_(0, (row.unsqueeze(1) * len(levels) + at).flatten(), Y[col].flatten(0, 1))
            Y = after.unflatten(0, (len(x), len(levels)))
            total.index_add_(1, levels, Y)
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
            before, flat = V[:, levels], U.flatten(0, 1)
            for row, col, at in self._chunks(place, U.size(1), like):
                before = before.index_add_(0, col, flat[row.unsqueeze(1) * U.size(1) + at])
            U = before
        return U[:, 0]

    def _chunks(self, place: Tensor, width: int, x: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """The edges, some at a time: receiver, sender, and where each of the sender's sums goes, (edges, sums)."""
        size = max(1, _CHUNK // max(1, place.size(1) * x[0].numel() if len(x) else 1))
        for part in torch.arange(self.adj.num_edges, device=place.device).split(size):
            yield self.adj.row[part], self.adj.col[part].long(), place[self._class[part]]

    def matrices(self, dtype: torch.dtype) -> Iterator[Tensor]:
        N, device = self.num_nodes, self.adj.device
        empty = torch.zeros(N, N, dtype=dtype, device=device, layout=torch.sparse_coo)
        total = [empty] * len(self.lengths)
        Y = [identity(N, dtype, device)]
        total[int(self._levels[0])] = Y[0]
        for place, levels in zip(self._next, self._levels[1:], strict=True):
            after = [empty] * len(levels)
            for c in range(len(place)):
                mine = self._class == c
                index = torch.stack([self.adj.row[mine], self.adj.col[mine].long()])
                A = torch.sparse_coo_tensor(index, torch.ones(index.size(1), dtype=dtype, device=device), (N, N))
                for s, to in enumerate(place[c].tolist()):
                    after[to] = after[to] + torch.sparse.mm(A, Y[s])
            Y = after
            for level, matrix in zip(levels.tolist(), Y, strict=True):
                total[level] = total[level] + matrix
        yield from (matrix.coalesce() for matrix in total)

    def counts(self) -> Counts:
        return self._counts

    def scaled(self) -> Levels:
        return _ScaledLevels(self)


class _ScaledLevels(Levels):
    """The twin 2^−exponent G(l), counted in float64, for counts that float32 does not hold."""

    def __init__(self, levels: Levels) -> None:
        self.__dict__.update(levels.__dict__)
        exponent = levels.counts().frexp().exponent
        assert exponent is not None
        self._inverse = torch.exp2(-exponent)  # (K, N)

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        scaled = zip(self._inverse, super().terms(x.double()), strict=True)
        return ((align(d, term) * term).to(x.dtype) for d, term in scaled)

    def adjoint(self, v: Sequence[Tensor | None]) -> Tensor:
        like = v[-1]
        assert like is not None
        scaled = [None if term is None else align(d, term) * term for d, term in zip(self._inverse, v, strict=False)]
        return super().adjoint(scaled).to(like.dtype)

    def matrices(self, dtype: torch.dtype) -> Iterator[Tensor]:
        for d, matrix in zip(self._inverse, super().matrices(torch.float64), strict=True):
            value = (matrix.values() * d[matrix.indices()[0]]).to(dtype)
            yield torch.sparse_coo_tensor(matrix.indices(), value, matrix.shape, is_coalesced=True)


def edge_lengths(adj: Adjacency) -> Tensor:
    """1/w of every stored edge, (nnz,) float64."""
    if adj.value is None:
        return torch.ones(adj.num_edges, dtype=torch.float64, device=adj.device)
    return 1 / adj.value.double()


def _on_grid(length: Tensor, width: float) -> Tensor:
    """Lengths in whole multiples of a width; where float64 has no such multiples left, as they are."""
    steps = length / width
    return (steps.round() * width).where(steps < 2**53, length)


def _distinct(values: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """The distinct values in order, and the place of each; values that are nearly equal count as one."""
    ordered, order = values.flatten().sort()
    new = torch.ones_like(order, dtype=torch.bool)
    new[1:] = ordered.diff() > share * ordered[1:]
    place = torch.empty_like(order)
    place[order] = new.cumsum(0) - 1
    return ordered[new], place.view(values.shape)


def _check_number(levels: int, L: int, width: float | None, longest: float) -> None:
    if levels > _MOST_LEVELS:
        remedy = f"set width, such as {L * longest / 200:.2g}" if width is None else f"raise width, now {width:g}"
        raise ValueError(
            f"walks of {L} steps have more than {_MOST_LEVELS} distinct effective lengths, which alpha > 1, or a "
            f"trained one, counts: {remedy}"
        )
