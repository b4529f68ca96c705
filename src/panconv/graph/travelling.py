"""How a graph travels: to another device, into pinned or shared memory, into a pickle, with what is prepared of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from panconv.base.checks import checked_device
from panconv.graph.blocks import Blocks, known_blocks

S = TypeVar("S", bound="Travelling")


class Travelling:
    """Base of `Adjacency`: what PyG asks of anything in a `Data`, on all tensors of a graph and of its bases."""

    crow: Tensor
    col: Tensor
    _transposed: tuple[Tensor, Tensor, Tensor] | None
    _cache: dict[Any, Any]
    blocks: tuple[Blocks | None, Blocks | None] = (None, None)  # parts known from the start, of A and of its transpose

    def to(self: S, device: torch.device | str, non_blocking: bool = False) -> S:
        """The same graph on another device, with the bases and operands that were computed."""
        device = checked_device(device, meta=True)
        if device == self.crow.device:
            return self
        return self.each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def cpu(self: S) -> S:
        return self.to("cpu")

    def cuda(self: S, device: torch.device | str | int | None = None, non_blocking: bool = False) -> S:
        place = torch.device("cuda", device) if isinstance(device, int) else torch.device(device or "cuda")
        return self.to(place, non_blocking=non_blocking)

    def pin_memory(self: S) -> S:
        """The same graph in memory from which a GPU copies by itself."""
        return self.each(lambda tensor: tensor.pin_memory())

    def share_memory_(self: S) -> S:
        """The graph itself, its tensors moved to memory that processes share."""
        self.each(lambda tensor: tensor.share_memory_())
        return self

    def record_stream(self, stream: Any) -> None:
        """Keeps the memory from being used again before a stream has done its work."""

        def record(tensor: Tensor) -> Tensor:
            tensor.record_stream(stream)
            return tensor

        self.each(record)

    def each(self: S, change: Callable[[Tensor], Tensor]) -> S:
        """A copy with every tensor changed, each once: those that were shared stay shared."""
        return _changed(self, change, {})

    def prepared_parts(self) -> dict[Any, Any]:
        """What was computed and goes along: bases, operands, and what tells how it joins, such as path counts."""
        return {key: kept for key, kept in list(self._cache.items()) if _lasts(key, kept)}

    def copied(self: S, **changes: Any) -> S:
        """A copy with other attributes, of which nothing is computed yet."""
        other = object.__new__(type(self))
        other.__dict__.update({**self.__dict__, "_cache": {}, **changes})
        return other

    def note_blocks(self) -> None:
        """Tells the kernels the parts that are known, so that they need not look for them."""
        for col, blocks in zip((self.col, (self._transposed or (None, None))[1]), self.blocks, strict=True):
            if col is not None and blocks is not None:
                known_blocks[col] = blocks

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": self.prepared_parts()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.note_blocks()


def _lasts(key: Any, kept: Any) -> bool:
    return isinstance(kept, Travelling) or isinstance(key, torch.dtype) or hasattr(kept, "part")


def _changed(thing: Any, change: Callable[[Tensor], Tensor], done: dict[int, tuple[Any, Any]]) -> Any:
    """A graph, a tensor or a tuple of them, each changed once and found again by identity, for which it is held."""
    if id(thing) in done:
        return done[id(thing)][1]
    made = thing
    if isinstance(thing, Tensor):
        made = change(thing)
    elif isinstance(thing, Travelling):
        state = {**thing.__dict__, "_cache": tuple(thing.prepared_parts().items())}
        state = {key: _changed(value, change, done) for key, value in state.items()}
        made = thing.copied(**{**state, "_cache": dict(state["_cache"])})
        made.note_blocks()
    elif isinstance(thing, tuple):
        parts = [_changed(part, change, done) for part in thing]
        made = type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    else:
        return thing
    done[id(thing)] = thing, made
    return made
