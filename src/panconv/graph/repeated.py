"""Self-loops and edges that a graph names more than once: how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import shown

if TYPE_CHECKING:
    from panconv.graph.adjacency import Adjacency

LOOPS = ("add", "remaining")
REPEATS = ("one", "sum")


class Reading(NamedTuple):
    """How a graph is to be read; None is for what an `Adjacency` says, and for the first of the words elsewhere."""

    loops: str | None = None
    repeats: str | None = None

    def filled(self) -> dict[str, str]:
        """What an edge_index is read with."""
        return {"loops": self.loops or LOOPS[0], "repeats": self.repeats or REPEATS[0]}

    def words(self) -> str:
        """What was chosen, as a repr shows it."""
        return "".join(f", {name}={word!r}" for name, word in self._asdict().items() if word is not None)


AS_USUAL = Reading()


def checked_reading(loops: str | None, repeats: str | None) -> Reading:
    """The two words, if they are known or None."""
    for name, word, known in (("loops", loops, LOOPS), ("repeats", repeats, REPEATS)):
        if word is not None and (not isinstance(word, str) or word not in known):
            raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, got {shown(word)}")
    return Reading(loops, repeats)


def check_agreement(adj: Adjacency, reading: Reading) -> None:
    """Refuses a graph that was read in another way than is asked for: what it was made from is gone.

    One that is known to have no self-loop reads the same in every way of reading them.
    """
    for name, word in reading._asdict().items():
        found = None if name == "loops" and adj.pattern.known("loops") == 0 else getattr(adj, name)
        if word is not None and found not in (word, None):
            raise ValueError(
                f"{name} is {word!r}, but the Adjacency was made with {name}={found!r}: make it with "
                f"Adjacency.from_edge_index(edge_index, …, {name}={word!r})"
            )


def read_repeated(
    pattern: Adjacency,  # with an entry for each edge, however often it is named
    edge_index: Tensor,  # (2, E)
    edge_weight: Tensor | None,
    reading: Reading,
) -> Tensor | None:
    """Notes in a pattern how its edges are read, and gives the weights they have by that, (E,) or None."""
    pattern.loops, repeated = reading.filled()["loops"], pattern.num_edges < edge_index.size(1)
    if edge_weight is None and repeated:
        pattern.repeats = reading.filled()["repeats"]
        edge_weight = torch.ones(edge_index.size(1), device=edge_index.device) if pattern.repeats == "sum" else None
    if edge_weight is not None and repeated and pattern.loops == "remaining":
        pattern._overruled = _overruled(edge_index, pattern.num_nodes)
    return edge_weight


def _overruled(edge_index: Tensor, num_nodes: int) -> Tensor:
    """The self-loops that a later one of the same node replaces, (E,), as PyG's `add_remaining_self_loops` has it."""
    sender, receiver = edge_index
    place = torch.arange(sender.numel(), device=sender.device).where(sender == receiver, -1)
    last = place.new_full((num_nodes,), -1).scatter_reduce(0, sender, place, "amax")
    return (sender == receiver) & (place < last[sender])
