"""M·x that is the same in every epoch, found once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.base.tracing import is_recorded, is_tracked, lasting, may_look
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.seen import Seen, same
from panconv.met import MET


class _Kept(NamedTuple):
    of: tuple[weakref.ref[Any], weakref.ref[Adjacency]]  # the features and the graph
    seen: list[Seen | None]  # of all numbers that it was made from
    product: Tensor


class KeptProduct:
    """M·x as it was last found, for as long as the features, the graph and the path weights stay the same and none of
    them is trained. Changes in place are noticed as in `prepared`.

    On a GPU it is kept while `features_stay` says so, and no longer: a call that is replayed there (a CUDA graph) may
    find other features in the same memory.

    Of S trials M·x is kept for each, (N, S, F), also where they share the features and the path weights.

    Threads share it without a lock: an entry is read once, and put in as a whole.
    """

    def __init__(self) -> None:
        self._found: dict[str, _Kept] = {}

    def __call__(self, x: Tensor | SparseRows, adj: Adjacency, M: MET, product: Callable[[], Tensor]) -> Tensor:
        """`product()`, or what it gave before."""
        numbers = _numbers(x, adj, M)
        if numbers is None:
            return product()
        kept = self._found.get("last")
        if kept is not None and kept.of[0]() is x and kept.of[1]() is adj and all(map(same, kept.seen, numbers)):
            return kept.product
        if is_recorded():  # what is found while a GPU records is there when it is replayed, and not now
            return product()

        def forget(_: Any, found: dict[str, _Kept] = self._found) -> None:
            found.pop("last", None)

        seen = [Seen.of(each, forget) for each in numbers]  # copied before it is used: a change in between shows later
        with lasting(), torch.no_grad():
            found = product()
        if (stays := _stays()) is not None and numbers[0].is_cuda:
            stays.append((self, found))
        self._found["last"] = _Kept((weakref.ref(x, forget), weakref.ref(adj, forget)), seen, found)
        return found

    def forget(self) -> None:
        """Keeps nothing."""
        self._found.clear()

    def __reduce__(self) -> tuple[type[KeptProduct], tuple[()]]:
        return KeptProduct, ()  # copies find their own


_THREAD = threading.local()


def _stays() -> list[tuple[KeptProduct, Tensor]] | None:
    """What is kept on a GPU while features stay, and by whom; None where nobody says that they do."""
    return getattr(_THREAD, "stays", None)


@contextmanager
def features_stay() -> Iterator[None]:
    """Within it features, graphs and fixed path weights stay what and where they are, as in a training on one graph.
    What is kept on a GPU stays there to its end, or until `forget_what_stays`, whatever the model is called with in
    between: what a GPU has recorded goes on reading it. Then it is forgotten."""
    before, _THREAD.stays = _stays(), []
    try:
        yield
    finally:
        forget_what_stays()
        _THREAD.stays = before


def forget_what_stays() -> None:
    """Lets go of what is kept on a GPU: nothing that was recorded is to be replayed after that."""
    while stays := _stays():
        stays.pop()[0].forget()


def _numbers(x: Tensor | SparseRows, adj: Adjacency, M: MET) -> list[Tensor] | None:
    """What M·x depends on beside the graph; None where it must not be kept."""
    devices = ("cpu",) if _stays() is None else ("cpu", "cuda")
    if not (may_look() or (is_recorded() and _stays() is not None)):
        return None
    if type(adj) is not Adjacency or adj.is_tracked or type(x) not in (Tensor, SparseRows):
        return None
    values = [x.value if isinstance(x, SparseRows) else x, *M.weights.parameters(), *M.weights.buffers()]
    plain = all(each.device.type in devices and not each.is_inference() and not is_tracked(each) for each in values)
    return values if plain else None
