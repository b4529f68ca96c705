"""Families whose G(n) must be formed: a path that has to know where it has been is no power of a matrix.

G(n) is built once per graph and kept with it, for a block of receivers at a time, so that what is held besides the
result stays small. The memory of the result is estimated first, from a sample of the receivers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice, pairwise

import torch
from torch import Tensor
from tqdm import tqdm

from panconv.base.checks import checked_count, checked_length, free_bytes
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR, compress, narrow
from panconv.graph.degrees import LARGEST, SMALLEST
from panconv.graph.pattern import Pattern
from panconv.paths.family import Counts, PathFamily, counts_of, identity
from panconv.weights import PathWeights

_SAMPLE = 256  # receivers from which the size of the result is estimated
_BLOCK = 2**21  # extensions of paths that are held at once
_BYTES_PER_EXTENSION = 64  # node, value, key, and what sorting them takes; a node per step comes on top
_BYTES_PER_ENTRY = 40  # column and value, twice while blocks are joined, and the copy in x's dtype
_SHARE_OF_MEMORY = 0.75


# Row (from 0 in its block), column, value; of a graph with negative weights (…, 2): the value, and without its signs.
Entries = tuple[Tensor, Tensor, Tensor]


class FormedPaths(PathFamily):
    """Base of the families that keep G(1) … G(L) as sparse matrices; a family says how paths grow.

    Args:
        adj: the graph, or anything an `Adjacency` is made from.
        L: the longest length, at least 0.
        memory_limit: bytes that building and holding G(n) may take; None for three quarters of what is free.
    """

    name: str  # in messages
    merges: bool  # whether paths that meet are one entry from there on: then a step is at most the edges per receiver

    def __init__(self, adj: Adjacency, L: int, memory_limit: int | None = None) -> None:
        self.adj = Adjacency.of(adj)
        self.L, self.num_nodes = checked_length(L), self.adj.num_nodes
        if memory_limit is not None:
            checked_count(memory_limit, "memory_limit", most=None)
        self.memory_limit = memory_limit

    def on(self, base: str) -> FormedPaths:
        """The same paths, their weights multiplied along another base: A, A+I, Â …"""
        return type(self)(self.adj.base(base), self.L, self.memory_limit)

    def summands(self, weights: PathWeights) -> tuple[FormedTerms, PathWeights]:
        """G(n) itself, built where it was not yet."""
        return self.formed(), weights

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """G(0)x, G(1)x … G(L)x for x (N, …)."""
        return self.formed().terms(x)

    def counts(self) -> Counts:
        """D_n = G(n)·1, kept with the graph."""
        return self.formed().counts()

    def formed(self) -> FormedTerms:
        """G(1) … G(L), kept with the graph."""
        key = (self.name, self.L)
        if torch.compiler.is_compiling() and key not in self.adj._cache:
            remedy = "call the layer once on this Adjacency before compiling it"
            if self.adj.is_tracked:
                remedy = "edge weights that ask for a gradient have them built anew each time, which cannot be compiled"
            raise ValueError(f"{self.name} paths are built in eager mode: {remedy}")
        return self.adj.cached(key, self._build)

    def mean_log_product(self, share: Tensor) -> Tensor:
        raise ValueError(
            "the entropy of shortest or self-avoiding paths is that of paths that weigh alike: use an unweighted "
            "graph and a method on A (1, 2, 3 or 6), or walks"
        )

    # ------------------------------------------------------------------ building

    def grow(self, edges: CSR, receivers: Tensor) -> Iterator[Entries]:
        """The entries of G(1), G(2) … in the rows of some receivers, until no path is left: by row, then column."""
        raise NotImplementedError

    def _build(self) -> FormedTerms:
        edges, N = _without_loops(self.adj), self.num_nodes
        walks = _most_at_once(edges, self.L, self.merges)
        self._check_memory(edges, walks)
        parts: list[list[Entries]] = [[] for _ in range(self.L)]
        with tqdm(total=N, desc=f"{self.name} paths", unit="nodes", delay=1, disable=None, leave=False) as bar:
            for start, end in _blocks(walks):
                receivers = torch.arange(start, end, device=self.adj.device)
                for part, (row, col, value) in zip(parts, self.grow(edges, receivers), strict=False):
                    part.append((narrow(row + start, N), narrow(col, N), value))
                bar.update(end - start)
        nothing, joined = _join([], N, self.adj), []
        for part in parts:  # one length at a time, each let go before the next is joined
            self._check_products(part)
            joined.append(_join(part, N, self.adj) if any(len(row) for row, _, _ in part) else nothing)
            part.clear()
        return FormedTerms(self.adj, [matrix for matrix, _ in joined], self._count(joined))

    def _count(self, joined: list[tuple[Adjacency, Tensor]]) -> Counts:
        """D_n from G(n), and B_n from what the same paths weigh without their signs."""
        ones = torch.ones(self.num_nodes, dtype=torch.float64, device=self.adj.device)
        D = torch.stack([ones, *(spmm(*matrix.operands(torch.float64), ones) for matrix, _ in joined)])
        if not self.adj.is_signed:
            return counts_of(D)._replace(without_zeros=True)
        rows = (torch.zeros_like(ones).index_add(0, matrix.row, size) for matrix, size in joined)
        B = torch.stack([ones, *rows]).detach()
        return counts_of(B, D / B.where(B > 0, 1))._replace(without_zeros=True)

    def _check_products(self, part: list[Entries]) -> None:
        """Refuses paths whose weight float64 does not hold: they would count as none, or as infinitely many."""
        for _, _, value in part:
            size = value.detach()[..., -1].abs() if value.dim() == 2 else value.detach()
            if bool(((size < SMALLEST) | (size > LARGEST)).any()):
                raise ValueError(
                    f"{self.name} paths up to L = {self.L} multiply edge weights to less than {SMALLEST:g} or more "
                    f"than {LARGEST:g}: use a smaller L, or divide edge_weight by a common factor"
                )

    def _check_memory(self, edges: CSR, walks: Tensor) -> None:
        """Refuses a graph whose G(n), or whose widest block, would not fit."""
        N, limit = self.num_nodes, self.memory_limit
        if limit is None:
            limit = int(_SHARE_OF_MEMORY * free_bytes(self.adj.device))
        signs = 8 if self.adj.is_signed else 0  # the same value without its sign
        each = (_BYTES_PER_ENTRY + signs) * (1 if self.adj.is_symmetric else 2)
        at_once = max(min(_BLOCK, float(walks.sum())), float(walks.max())) if N else 0.0
        needed = at_once * (_BYTES_PER_EXTENSION + 2 * signs + (0 if self.merges else 8 * self.L))
        if needed <= limit and N:
            spread = torch.linspace(0, N - 1, min(N, _SAMPLE), device=self.adj.device).long().unique()
            sizes = torch.zeros(len(spread), dtype=torch.float64, device=self.adj.device)
            for start, end in _blocks(walks[spread]) if N * N * self.L * each > limit else ():
                for row, _, _ in islice(self.grow(edges, spread[start:end]), self.L):
                    sizes += torch.bincount(row + start, minlength=len(spread))
            error = float(sizes.std()) / math.sqrt(len(spread)) if len(spread) > 1 else 0.0
            needed += N * (float(sizes.mean()) + 2 * error) * each
        if needed > limit:
            raise ValueError(
                f"{self.name} paths up to L = {self.L} on {N:,} nodes would take about {needed / 2**30:.1f} GiB, more "
                f"than the {limit / 2**30:.1f} GiB allowed: use a smaller L, walks (which are never formed), or raise "
                "memory_limit"
            )


class FormedTerms:
    """G(1) … G(L) as matrices, applied."""

    steps = None

    def __init__(self, adj: Adjacency, G: list[Adjacency], counts: Counts) -> None:
        self.adj, self.num_nodes, self.G, self._counts = adj, adj.num_nodes, G, counts
        self._scaled: FormedTerms | None = None

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        return (self.term(n, x) for n in range(len(self.G) + 1))

    def term(self, n: int, x: Tensor) -> Tensor:
        return x if n == 0 else spmm(*self.G[n - 1].operands(x.dtype), x)

    def adjoint(self, v: Sequence[Tensor | None]) -> Tensor:
        sent = ((n, term) for n, term in enumerate(v) if term is not None)
        return reduce(torch.add, (spmm(*self.G[n - 1].operands(y.dtype)[::-1], y) if n else y for n, y in sent))

    def matrices(self, dtype: torch.dtype) -> Iterator[Tensor]:
        yield identity(self.num_nodes, dtype, self.adj.device)
        for G in self.G:
            yield G.operands(dtype)[0].to_coo((self.num_nodes, self.num_nodes))

    def counts(self) -> Counts:
        return self._counts

    def scaled(self) -> FormedTerms:
        """The twin 2^−exponent G(n), whose rows sum to 1 or so, signs aside."""
        if self._scaled is None:
            exponent = self._counts.frexp().exponent
            assert exponent is not None
            # Kept, and so for any mode: what is made at inference must serve training later.
            with torch.inference_mode(False), torch.set_grad_enabled(torch.is_grad_enabled() and self.adj.is_tracked):
                scaled = [_scale_rows(G, e) for G, e in zip(self.G, exponent[1:], strict=True)]
            self._scaled = FormedTerms(self.adj, scaled, self._counts)
        return self._scaled


def extend(edges: CSR, last: Tensor) -> tuple[Tensor, Tensor]:
    """Every step on from where paths stand: which path, and along which edge."""
    degree = edges.crow.diff()[last].long()
    path = torch.repeat_interleave(torch.arange(len(last), device=last.device), degree)
    first = torch.repeat_interleave(edges.crow[last].long() - (degree.cumsum(0) - degree), degree)
    return path, first + torch.arange(len(path), device=last.device)


def merge(row: Tensor, col: Tensor, value: Tensor, N: int) -> Entries:
    """Paths between the same two nodes as one entry, in the order of row, column."""
    key, entry = torch.unique(row * N + col, return_inverse=True)
    total = value.new_zeros(len(key), *value.shape[1:]).index_add(0, entry, value)
    return key // max(N, 1), key % max(N, 1), total


def _without_loops(adj: Adjacency) -> CSR:
    """The edges a path may take, with float64 values: no self-loops, and none of weight 0, which join nothing.

    Where weights are negative the values are (nnz, 2), the second without its sign.
    """
    a, _ = adj.operands(torch.float64)
    keep = (adj.row != adj.col) & (a.value.detach() != 0)
    value = torch.stack([a.value, a.value.detach().abs()], dim=1) if adj.is_signed else a.value
    return CSR(compress(adj.row[keep], adj.num_nodes), a.col[keep].long(), value[keep])


def _most_at_once(edges: CSR, L: int, merges: bool) -> Tensor:
    """An upper bound on the paths to each receiver that grow by a step at once, (N,): walks that never turn back."""
    N, row = edges.crow.numel() - 1, edges.row()
    key, back = row * N + edges.col, edges.col * N + row
    at = torch.searchsorted(key, back).clamp(max=max(len(key) - 1, 0))
    turns = key[at] == back  # whether the way back exists
    first = torch.ones(len(key), dtype=torch.float64, device=key.device)  # walks that begin with an edge
    most = torch.zeros(N, dtype=torch.float64, device=key.device)
    for _ in range(L):
        total = torch.zeros_like(most).index_add(0, row, first)
        most = torch.maximum(most, total)
        if not bool(total.any()):
            break
        first = (total[edges.col] - first[at].where(turns, 0.0)).clamp(0, 1e15)
    return most.clamp(max=len(key)) if merges else most


def _blocks(walks: Tensor) -> Iterator[tuple[int, int]]:
    """Receivers in blocks that grow by about `_BLOCK` steps at most, as (start, end)."""
    block = (walks.cumsum(0) / _BLOCK).floor()
    changes = (block.diff() > 0).nonzero().squeeze(1) + 1
    return pairwise([0, *changes.tolist(), len(walks)] if len(walks) else [])


def _join(parts: list[Entries], N: int, adj: Adjacency) -> tuple[Adjacency, Tensor]:
    """The matrix whose rows came in blocks, symmetric to rounding where the graph is, and its entries without signs."""
    none = torch.empty(0, dtype=torch.long, device=adj.device)
    row, col, value = (torch.cat(part) for part in zip(*parts, strict=True)) if parts else (none, none, none.double())
    crow = narrow(compress(row, N), max(N, len(col)))
    col, size = col.to(crow.dtype), value
    if value.dim() == 2:
        value, size = value[:, 0].contiguous(), value[:, 1].contiguous()
    return Adjacency(Pattern(crow, col, adj.is_symmetric or None), value, mirrored=adj.is_symmetric), size


def _scale_rows(G: Adjacency, exponent: Tensor) -> Adjacency:
    a, _ = G.operands(torch.float64)
    value = a.value * torch.exp2(-exponent)[G.row]
    return Adjacency(G.pattern, value, mirrored=False)
