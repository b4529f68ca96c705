"""Some of many graphs that were joined, as one again, in any order: by arithmetic on indices, all at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from panconv.base.checks import INTEGERS, shown
from panconv.base.tracing import lasting
from panconv.graph.blocks import MOST_ROWS, Blocks, known_blocks
from panconv.graph.cutting import Span, Taking, check_joined
from panconv.graph.pattern import Pattern
from panconv.graph.pieces import Pieces, starts

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

_INT32_MAX = 2**31 - 1


def picked(joined: Adjacency, which: Tensor) -> Adjacency:
    """Some of the graphs that one was joined from, side by side as one: ``block_diagonal([joined[i] for i in which])``.

    Nothing is sorted, checked or computed again, and no graph is looked at by itself: whatever is prepared of the
    joined graph, such as bases, operands and path counts, is gathered at once. A GPU is waited for only where `which`
    itself is on it.

    Args:
        joined: as `block_diagonal` makes it, or a PyG `Batch` of prepared graphs.
        which: numbers of graphs, (b,), in any order; one that is named again is there again.

    >>> from panconv.graph import block_diagonal
    >>> one, two = (Adjacency.from_edge_index(torch.tensor([[0, n], [n, 0]])) for n in (1, 2))
    >>> picked(block_diagonal([one, two, one]), torch.tensor([1, 0]))
    Adjacency(num_nodes=5, num_edges=4, symmetric)
    """
    return Picking(joined, which).take(joined)


class Picking(Taking):
    """Takes out several graphs.

    Args:
        joined: from which.
        which: numbers of graphs, (b,).
    """

    nodes: Gather

    def __init__(self, joined: Adjacency, which: Tensor) -> None:
        check_joined(joined)
        assert joined.pieces is not None
        super().__init__(_checked(which, len(joined.pieces.sizes)))
        self.device = joined.device
        self.nodes = self.span(joined.pieces, 0)

    def span(self, pieces: Pieces, column: int) -> Gather:
        return Gather(pieces.first[column], self.which, self.device)

    def take(self, joined: Adjacency, of: Adjacency | None = None) -> Adjacency:
        with lasting():  # as what is joined
            return super().take(joined, of)

    def keep_pieces(self, made: Adjacency, taken: Pieces) -> None:
        made.pieces = taken

    def _pattern(self, joined: Pattern, entries: Span, taken: Pieces) -> Pattern:
        made = super()._pattern(joined, entries, taken)
        transposed, rows = made.known("transposed"), int(self.nodes.sizes.max())
        made.blocks = self.blocks(made, rows, made.longest), None
        if transposed is not None:
            made.blocks = made.blocks[0], self.blocks(made, rows, joined.longest_column)  # a bound
        if made.col.is_cuda and rows > MOST_ROWS:  # whether those fall into smaller ones, it would have to wait for
            made.blocks = None, None
            known_blocks.update(dict.fromkeys([made.col] if transposed is None else [made.col, transposed[1]]))
        return made.note_blocks()

    def blocks(self, pattern: Pattern, rows: int, longest: int) -> Blocks | None:
        """The graphs as the kernels take them: one without nodes is none."""
        if rows:
            return Blocks(self.once("blocks", self.nodes.distinct).to(pattern.crow.dtype), rows, longest)
        return None


class Gather:
    """The nodes, entries or edges of several graphs, each in one indexing.

    Args:
        first: which is the first of each of the joined graphs, and how many there are of all, (P + 1,).
        which: the graphs that are taken, (b,).
        device: of the joined graph.
    """

    def __init__(self, first: np.ndarray, which: np.ndarray, device: torch.device) -> None:
        begin, self.device, self.on_host = first.take(which), device, device.type == "cpu"
        self.sizes = first.take(which + 1) - begin
        self.first = starts(self.sizes)
        self.count, self.moved = int(self.first[-1]), self.first[:-1] - begin  # each, from where it stood

    @cached_property
    def graph(self) -> Tensor:
        """Which of the graphs that are taken each is of, (count,) int64."""
        if self.on_host:
            return torch.from_numpy(np.repeat(np.arange(len(self.sizes)), self.sizes))
        numbers = torch.arange(len(self.sizes), device=self.device)
        return torch.repeat_interleave(numbers, _on(self.sizes, self.device), output_size=self.count)

    @cached_property
    def places(self) -> Tensor:
        """Where each stands in the joined graph, (count,) int64."""
        return torch.arange(self.count, device=self.device) - self._each(self.moved)

    def of(self, tensor: Tensor) -> Tensor:
        return tensor.index_select(0, self.places)

    def renumbered(self, tensor: Tensor, among: Gather) -> Tensor:
        return self.of(tensor) + self._shift(among)

    def pointers(self, crow: Tensor, among: Gather) -> Tensor:
        return pad(self.of(crow[1:]) + self._shift(among), (1, 0))

    def distinct(self) -> Tensor:
        """Where those of each graph begin that has some, and where the last one ends."""
        return _on(self.first[np.append(self.sizes > 0, True)], self.device)

    def _shift(self, among: Gather) -> Tensor:
        """By how much the numbers of the nodes or entries change that each is told of, (count,)."""
        wide = max(self.count, among.count) > _INT32_MAX
        return self._each(among.moved.astype(np.int64 if wide else np.int32))

    def _each(self, values: np.ndarray) -> Tensor:
        """A value per graph for each of its nodes or entries."""
        if self.on_host:
            return torch.from_numpy(np.repeat(values, self.sizes))
        return _on(values, self.device).index_select(0, self.graph)


def _on(values: np.ndarray, device: torch.device) -> Tensor:
    """On a device, without waiting for it: what is not pinned has been read when this returns."""
    return torch.from_numpy(values).to(device, non_blocking=True)


def _checked(which: Tensor, count: int) -> np.ndarray:
    """The numbers of graphs, (b,), on the host."""
    if not isinstance(which, Tensor) or which.dtype not in INTEGERS or which.dim() != 1:
        raise TypeError(f"which must be a tensor (b,) of integers, the numbers of graphs, got {shown(which)}")
    if not which.numel():
        raise ValueError("which must name at least one graph, got none: leave out empty batches")
    numbers: np.ndarray = which.cpu().numpy().astype(np.int64)
    if numbers.min() < 0 or numbers.max() >= count:
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise IndexError(f"which must name graphs of 0 … {count - 1}, got {wrong}")
    return numbers
