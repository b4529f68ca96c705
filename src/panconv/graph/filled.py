"""Some of many graphs that were joined, filled up to one size whichever they are, so that a GPU can replay a step.

Behind the nodes of the graphs stand others that are in none of them, and entries that fill up those of the graphs and
weigh 0.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from panconv.graph.blocks import known_blocks
from panconv.graph.csr import known_longest
from panconv.graph.cutting import Span, Taking, check_joined
from panconv.graph.pattern import Pattern
from panconv.graph.pieces import Pieces

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

_DEVIATIONS = 4  # of the size of a batch, for which there is room beyond its mean
_ROUND = 64


class Room:
    """How much room b graphs of a joined one are given: that of b usual ones, and somewhat more.

    Args:
        joined: the graphs.
        count: b.
    """

    def __init__(self, joined: Adjacency, count: int) -> None:
        check_joined(joined)
        self.joined, self.count = joined, count
        self._known: dict[tuple[int, int], tuple[np.ndarray, int, Tensor]] = {}

    def of(self, pieces: Pieces, column: int) -> tuple[int, Tensor]:
        """For the nodes, entries or edges of b graphs; and which is the first of each graph, (P + 2,), on the device,
        the last one of a graph that has none."""
        key = id(pieces.sizes), column
        if key not in self._known:
            first = torch.from_numpy(np.append(pieces.first[column], pieces.first[column][-1]))
            sizes = pieces.sizes[:, column]
            self._known[key] = sizes, _room(sizes, self.count), first.to(self.joined.device)
        return self._known[key][1:]

    def fits(self, which: np.ndarray) -> bool:
        """Whether some graphs, at most b, have room, of all that was asked for so far."""
        return all(sizes[which].sum() < room for sizes, room, _ in self._known.values())


def _room(sizes: np.ndarray, count: int) -> int:
    """At least one more than there is of b usual graphs, and no more than b of the largest would take."""
    usual = count * sizes.mean() + _DEVIATIONS * sizes.std() * count**0.5
    most = np.sort(sizes)[-count:].sum()
    return int(-(-int(min(usual, most) + 1) // _ROUND) * _ROUND)


class Filled(Taking):
    """Takes out several graphs, by arithmetic on the device alone: nothing depends on which they are but values.

    Args:
        room: of the joined graph.
        which: numbers of graphs, (b,) int64, on its device; P, the number of graphs there are, for none.
    """

    nodes: Filling
    with_mirrors = True  # to find the transpose of a pattern takes a look at it

    def __init__(self, room: Room, which: Tensor) -> None:
        pieces = room.joined.pieces
        assert pieces is not None
        super().__init__(np.arange(len(pieces.sizes)))  # what holds for all of the graphs holds for any
        self.room, self.numbers_of_graphs = room, which
        self.nodes = self.span(pieces, 0)

    def span(self, pieces: Pieces, column: int) -> Filling:
        return Filling(*self.room.of(pieces, column), self.numbers_of_graphs)

    def _take(self, joined: Adjacency, pieces: Pieces) -> Adjacency:
        made = super()._take(joined, pieces)
        if made.value is None and made.left is None and made.right is None:
            # Without weights, what fills up would be heard as an edge is.
            entries: Filling = self.made[id(joined.pattern), "entries"]
            made.value = self.once((id(joined.pattern), "there"), lambda: entries.there.double())
        return made

    def _pattern(self, joined: Pattern, entries: Span, taken: Pieces) -> Pattern:
        made = super()._pattern(joined, entries, taken)
        for crow, col, *_ in filter(None, ((made.crow, made.col), made.known("transposed"))):
            known_blocks[col] = None
            known_longest[crow] = 0  # no row is cut into chunks: which are long a GPU would have to be asked
        return made


class Filling:
    """The nodes, entries or edges of several graphs, and behind them those that fill up.

    Args:
        count: how many there are of both.
        first: as `Room.of` gives it.
        which: the graphs, (b,).
    """

    def __init__(self, count: int, first: Tensor, which: Tensor) -> None:
        begin = first.index_select(0, which)
        ends = (first.index_select(0, which + 1) - begin).cumsum(0)
        self.count, self._ends, self.real = count, ends, ends[-1]
        self.place = torch.arange(count, device=which.device)
        self.moved = pad(pad(ends[:-1], (1, 0)) - begin, (0, 1))  # (b + 1,): each graph, from where it stood

    @cached_property
    def there(self) -> Tensor:
        """Which are of the graphs, (count,)."""
        return self.place < self.real

    @cached_property
    def graph(self) -> Tensor:
        """Which of the graphs each is of, (count,) int64: b for what fills up."""
        return torch.searchsorted(self._ends, self.place, right=True)

    @cached_property
    def places(self) -> Tensor:
        """Where each stands in the joined graph, (count,) int64: 0 for what fills up."""
        return self._or(self.place - self.moved.index_select(0, self.graph), torch.zeros_like(self.place))

    def of(self, tensor: Tensor) -> Tensor:
        found = self._at(tensor)
        return self._or(found, torch.zeros_like(found))

    def renumbered(self, tensor: Tensor, among: Filling) -> Tensor:
        moved = self._at(tensor) + among.moved.index_select(0, self.graph)
        return self._or(moved, self.place if among is self else self._spread(among))

    def pointers(self, crow: Tensor, among: Filling) -> Tensor:
        ends = self._at(crow[1:]) + among.moved.index_select(0, self.graph)
        extra, nodes = among.count - among.real, self.count - self.real
        return pad(self._or(ends, among.real - (self.real - 1 - self.place) * extra // nodes), (1, 0))

    def _at(self, tensor: Tensor) -> Tensor:
        """Anything for what fills up."""
        if not tensor.size(0):
            return tensor.new_zeros(self.count, *tensor.shape[1:])
        return tensor.index_select(0, self.places)

    def _spread(self, among: Filling) -> Tensor:
        """Of what fills up here that among others which each is of, in equal shares."""
        extra = (self.count - self.real).clamp(min=1)
        found = among.real + (self.place - self.real) * (among.count - among.real) // extra
        return found.clamp(max=among.count - 1)

    def _or(self, real: Tensor, other: Tensor) -> Tensor:
        """Values of the graphs, and others for what fills up."""
        return torch.where(self.there.reshape(-1, *[1] * (real.dim() - 1)), real, other)
