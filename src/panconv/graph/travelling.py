"""How a graph travels: to another device, into pinned or shared memory, into a pickle, with what is prepared of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from panconv.base.checks import checked_device
from panconv.graph.csr import CSR
from panconv.graph.pattern import Pattern

S = TypeVar("S", bound="Travelling")


class Travelling:
    """Base of `Adjacency`: what PyG asks of anything in a `Data`, on all tensors of a graph and of its bases."""

    crow: Tensor
    col: Tensor
    pattern: Pattern
    _cache: dict[Any, Any]
    joins = True  # whether it may be a part of a larger graph, as of a batch

    def to(self: S, device: torch.device | str, non_blocking: bool = False) -> S:
        """The same graph on another device, with the bases and operands that were computed."""
        device = checked_device(device, meta=True)
        if device == self.crow.device:
            return self
        if device.type == "meta":
            self.pattern.settle()  # there is nothing to look at there
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
        return {key: kept for key, kept in list(self._cache.items()) if _lasts(kept)}

    def copied(self: S, **changes: Any) -> S:
        """A copy with other attributes, of which nothing is computed yet."""
        other = object.__new__(type(self))
        other.__dict__.update({**self.__dict__, "_cache": {}, **changes})
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": self.prepared_parts()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state if "pattern" in state else _of_old(state))


def _of_old(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a graph as 0.1 pickled it, when it held its transpose itself."""
    transposed, symmetric = state.pop("_transposed"), state.pop("is_symmetric")
    loops = state.pop("num_self_loops", state.pop("_num_self_loops", None))
    pattern = Pattern(state["crow"], state["col"], symmetric or None, loops)
    if transposed is not None:
        crow, col, perm = transposed
        pattern.know_transposed(Pattern(crow, col), perm)
    known = {"pattern": pattern, "_mirrored": symmetric, "_growth": state.pop("growth")}
    return {**state, **known, "_undirected": state.pop("is_undirected", None)}


def _lasts(kept: Any) -> bool:
    return isinstance(kept, (Travelling, CSR)) or hasattr(kept, "part")


def _changed(thing: Any, change: Callable[[Tensor], Tensor], done: dict[int, tuple[Any, Any]]) -> Any:
    """A graph, a tensor or a collection of them, each changed once and held, to be found by identity."""
    if id(thing) in done:
        return done[id(thing)][1]
    made = thing
    if isinstance(thing, Tensor):
        made = change(thing)
    elif isinstance(thing, Travelling):
        state = {**thing.__dict__, "_cache": thing.prepared_parts()}
        made = thing.copied(**{key: _changed(value, change, done) for key, value in state.items()})
    elif isinstance(thing, dict):
        made = {key: _changed(value, change, done) for key, value in thing.items()}
    elif isinstance(thing, Pattern):
        made = thing.changed(lambda part: _changed(part, change, done))
    elif isinstance(thing, tuple):
        parts = [_changed(part, change, done) for part in thing]
        made = type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    else:
        return thing
    done[id(thing)] = thing, made
    return made
