"""The graphs that layers were given last, each prepared once for all of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

from torch import Tensor
from torch.compiler import is_compiling

from panconv.base.tracing import outside_a_trace
from panconv.graph.adjacency import Adjacency
from panconv.graph.batching import block_diagonal
from panconv.graph.repeated import AS_USUAL, Reading
from panconv.graph.seen import Seen, same

T = TypeVar("T")

_SOURCES, _FORMS = 16, 8  # graphs, and forms of each, that are remembered: those asked for least recently go first


class _Form(NamedTuple):
    """A graph prepared in one way: with some weights, for a number of nodes, under some options."""

    seen: Seen | None  # the weights it has; None for none
    adj: Adjacency


class _Source(NamedTuple):
    """What someone handed in as it was, and what was made of it."""

    seen: Seen
    forms: dict[Hashable, _Form]


# By the identity of what was handed in. Threads share it without a lock: an entry is read once, put in as a whole, and
# compared with what it was made from before it is used. At worst two threads prepare the same graph.
_sources: dict[int, _Source] = {}
_batches: dict[tuple[int, ...], tuple[Sequence[weakref.ref[Adjacency]], Adjacency]] = {}  # by the graphs joined


def prepared(graph: Any, edge_weight: Tensor | None, num_nodes: int, reading: Reading = AS_USUAL) -> Adjacency:
    """What a layer is called with as an `Adjacency`: the one made before, while the very same objects come again.

    All layers share what is remembered. It is let go with the edge_index it was made from. What was changed in place is
    noticed, by a tensor's version and, since memory shared with NumPy changes without one, by comparing it with a copy
    on the CPU. On a GPU nothing tells of a write through ``.data``, nor of a CUDA graph that is replayed: give a tensor
    of its own, or an `Adjacency`, which avoids all of this.
    """
    if isinstance(graph, Adjacency):
        return Adjacency._of(graph, edge_weight, num_nodes, reading)
    return outside_a_trace(_settled if is_compiling() else _prepare, graph, edge_weight, num_nodes, reading)


def _settled(graph: Any, edge_weight: Tensor | None, num_nodes: int, reading: Reading) -> Adjacency:
    """For a trace, which goes on with it and cannot look at it."""
    return _prepare(graph, edge_weight, num_nodes, reading).settle()


def _prepare(graph: Any, edge_weight: Tensor | None, num_nodes: int, reading: Reading) -> Adjacency:
    if isinstance(graph, (list, tuple)) and graph and all(isinstance(each, Adjacency) for each in graph):
        return Adjacency._of(_joined(graph), edge_weight, num_nodes, reading)  # as a PyG batch may hold them
    source = _recall(_sources, id(graph))
    if source is None or not same(source.seen, graph):
        # What is compared later is copied before it is read: a change in between then comes to light.
        seen = Seen.of(graph, _forgetter(id(graph)))
        if seen is None:
            return Adjacency._of(graph, edge_weight, num_nodes, reading)
        source = _Source(seen, {})
    adj = _form_of(source, graph, edge_weight, num_nodes, reading)
    _keep(_sources, id(graph), source, _SOURCES)
    return adj


def _joined(graphs: Sequence[Adjacency]) -> Adjacency:
    """Graphs that a batch holds as a list, joined once while the very same ones come again."""
    key = tuple(map(id, graphs))
    refs, joined = _recall(_batches, key) or ((), None)
    if joined is None or any(ref() is not graph for ref, graph in zip(refs, graphs, strict=True)):
        joined, kept = block_diagonal(graphs), _batches
        refs = (weakref.ref(graphs[0], lambda _: kept.pop(key, None)), *map(weakref.ref, graphs[1:]))
        _keep(_batches, key, (refs, joined), _FORMS)
    return joined


def _form_of(source: _Source, graph: Any, edge_weight: Tensor | None, num_nodes: int, reading: Reading) -> Adjacency:
    forms, setting = source.forms, (num_nodes, reading)
    key = (*setting, None if edge_weight is None else id(edge_weight))
    trained = isinstance(edge_weight, Tensor) and edge_weight.requires_grad
    found = None if trained else _recall(forms, key)
    if found is not None and same(found.seen, edge_weight):
        return found.adj
    if edge_weight is None:
        seen, adj = None, Adjacency._of(graph, None, num_nodes, reading)
    else:
        seen = None if trained else Seen.of(edge_weight, _forgetter(id(graph), key))
        pattern = _recall(forms, (*setting, "pattern"))
        if pattern is not None:
            adj = pattern.adj.reweight(edge_weight)  # the same edges: they stay sorted
        else:
            adj = Adjacency._of(graph, edge_weight, num_nodes, reading)
            _keep(forms, (*setting, "pattern"), _Form(None, adj.detach() if adj.is_tracked else adj), _FORMS)
    # Trained weights are taken up anew each time: a second backward must not run into a freed graph.
    if not adj.is_tracked and (seen is not None or edge_weight is None):
        _keep(forms, key, _Form(seen, adj), _FORMS)
    return adj


def _recall(kept: dict[Any, T], key: Hashable) -> T | None:
    """What is kept under a key, which is then the last to go."""
    found = kept.pop(key, None)
    if found is not None:
        kept[key] = found
    return found


def _keep(kept: dict[Any, T], key: Hashable, value: T, most: int) -> None:
    kept[key] = value
    for old in list(kept)[:-most]:
        kept.pop(old, None)


def _forgetter(source: int, form: Hashable = None) -> Callable[[weakref.ref[Any]], None]:
    """Lets a graph go that has died, or the form whose weights have; it holds nothing but their names."""

    def forget(dead: weakref.ref[Any], kept: dict[Any, Any] = _sources) -> None:
        name: Hashable = source  # nothing global is named here: at the interpreter's end there is none
        found = kept.get(source)
        if found is not None and form is not None:
            kept, name = found.forms, form
            found = kept.get(form)
        if found is not None and found.seen is not None and found.seen.ref is dead:  # not one that took its place
            kept.pop(name, None)

    return forget


class PreparedGraph:
    """What a layer of a former version held: here so that its pickle loads, and of no use."""
