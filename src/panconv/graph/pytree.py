"""`Adjacency` as a pytree, so that ``torch.export`` takes a graph as an input, and `tree_map` goes through one.

Its leaves are its tensors. What else an exported program depends on, such as whether the graph is directed, is part of
the tree's structure, which torch compares: a graph of another kind is refused. The bounds on row sums and weights, by
which a traced program chooses how to count paths, differ from graph to graph: they are a leaf, at which the program
looks itself. What a graph has cached stays behind, since it belongs to these very tensors.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

from panconv.graph.adjacency import Adjacency
from panconv.graph.degrees import Facts
from panconv.graph.pattern import Pattern
from panconv.graph.repeated import LOOPS

_HEADROOM = 4.0  # how many times larger the row sums of another graph may be, and how many times smaller its weights
_TRANSPOSED = ("transposed_crow", "transposed_col", "transposed_order")


@dataclass(frozen=True)
class Structure:
    """What a graph is besides its tensors. Of equal ones an exported program takes either."""

    names: tuple[str, ...]  # of the tensors that it has
    undirected: bool
    signed: bool
    num_self_loops: int
    loops: str  # as `Adjacency.from_edge_index` takes it
    positive: bool = field(compare=False)
    growth: float = field(compare=False)
    decay: float = field(compare=False)
    repeats: str | None = field(compare=False)
    source: weakref.ref[Adjacency] | None = field(compare=False, default=None)

    def dumped(self) -> list[Any]:
        """All but the source, as JSON takes it."""
        kind = (self.undirected, self.signed, self.num_self_loops, self.loops)
        return [list(self.names), *kind, self.positive, self.growth, self.decay, self.repeats]

    def __reduce__(self) -> tuple[Any, ...]:  # a weak reference is not pickled
        return load, (self.dumped(),)

    def __repr__(self) -> str:  # what torch shows where it refuses a graph
        signs = "with negative weights" if self.signed else "weighted" if "value" in self.names else "unweighted"
        words = ["undirected" if self.undirected else "directed", signs, f"{self.num_self_loops} self-loops"]
        words += [f"loops={self.loops!r}"] * (self.loops != LOOPS[0])
        return f"<{', '.join(words)}; tensors {', '.join(self.names)}>"


def load(dumped: list[Any]) -> Structure:
    names, *facts = dumped
    return Structure(tuple(names), *facts)


def flatten(adj: Adjacency) -> tuple[list[Tensor], Structure]:
    """The tensors of a graph, and the rest of it."""
    found = tensors(adj)
    kind = (adj.is_undirected, adj.is_signed, adj.num_self_loops, adj.loops)
    facts = (adj.is_positive, adj.growth, adj.decay, adj.repeats)
    return list(found.values()), Structure(tuple(found), *kind, *facts, source=weakref.ref(adj))


def unflatten(leaves: Iterable[Any], structure: Structure) -> Adjacency:
    """The graph of these tensors: the very one that they were taken from, if it is still there."""
    given = dict(zip(structure.names, leaves, strict=True))
    source = None if structure.source is None or torch.compiler.is_compiling() else structure.source()
    if source is not None and all(tensor is given.get(name) for name, tensor in tensors(source).items()):
        return source
    if not all(isinstance(leaf, Tensor) for leaf in given.values()):
        raise TypeError("a graph is made of tensors: map over torch.utils._pytree.tree_leaves(adj) instead")
    growth, decay = structure.growth, structure.decay
    if torch.compiler.is_compiling():
        growth, decay = _HEADROOM * growth, decay / _HEADROOM if "value" in given else decay
        _check_in_program(given["bounds"], growth, decay)
    symmetric = _TRANSPOSED[0] not in given
    pattern = Pattern(given["crow"], given["col"], symmetric or None, structure.num_self_loops)
    if not symmetric:
        crow, col, order = (given[name] for name in _TRANSPOSED)
        pattern.know_transposed(Pattern(crow, col), order)
    facts = Facts(growth, decay, structure.signed, structure.positive, given.get("magnitude"), structure.undirected)
    made = Adjacency(
        *(pattern, given.get("value")),
        mirrored=symmetric,
        sides=(given.get("left"), given.get("right")),
        entry_of_edge=given.get("entry_of_edge"),
        facts=facts,
    )
    made.loops, made.repeats, made._overruled = structure.loops, structure.repeats, given.get("overruled")
    made._cache["bounds"] = given["bounds"]
    return made


def tensors(adj: Adjacency) -> dict[str, Tensor]:
    """The tensors that a graph has, by name."""
    transposed = (None,) * 3 if adj.is_symmetric else adj.by_column()
    found = {"crow": adj.crow, "col": adj.col, "value": adj.value, "left": adj.left, "right": adj.right}
    found |= {**dict(zip(_TRANSPOSED, transposed, strict=True)), "entry_of_edge": adj._entry_of_edge}
    found |= {"overruled": adj._overruled, "magnitude": adj._magnitude}
    found |= {"bounds": adj.cached("bounds", lambda: _bounds(adj))}
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def _bounds(adj: Adjacency) -> Tensor:
    """Growth and decay, (2,), on the CPU, where a check that fails is an ordinary error."""
    return torch.tensor([adj.growth, adj.decay], dtype=torch.float64)


def _check_in_program(bounds: Tensor, growth: float, decay: float) -> None:
    """Makes the program that is being exported refuse a graph for which its way of counting paths is not safe."""
    largest, least = bounds.cpu().unbind()
    torch.ops.aten._assert_async.msg(
        (largest <= growth) & (least >= decay),
        f"this program was exported for graphs whose edge weights add up to at most {growth:.3g} at a node and, where "
        f"they are not 0, are at least {decay:.3g}: export it again, on a graph with as large a degree or as small a "
        "weight as are to come",
    )


def _flatten_with_keys(adj: Adjacency) -> tuple[list[tuple[_pytree.KeyEntry, Tensor]], Structure]:
    leaves, structure = flatten(adj)
    return [(_pytree.GetAttrKey(name), leaf) for name, leaf in zip(structure.names, leaves, strict=True)], structure


_pytree.register_pytree_node(
    Adjacency,
    flatten,
    unflatten,
    serialized_type_name="panconv.Adjacency",
    to_dumpable_context=Structure.dumped,
    from_dumpable_context=load,
    flatten_with_keys_fn=_flatten_with_keys,
)
