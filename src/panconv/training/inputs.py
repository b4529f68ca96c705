"""What `fit` learns from: features, graph and labels, checked, as the model is called with them, on its device."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.data.data import BaseData

from panconv.base.checks import INTEGERS, check_real, check_values, kind_of
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.repeated import AS_USUAL, Reading
from panconv.nn.hops import reading_of
from panconv.training.objective import GRAPH_WEIGHT, Part, Sample
from panconv.training.parts import checked_masks, checked_weight, part_of

# What a module gets where its forward has an argument of that name: None where the graph has no such thing.
_EXTRAS = ("edge_weight", "edge_attr", "batch")


class Inputs(NamedTuple):
    """What a model is called with."""

    args: tuple[Any, ...]
    named: Mapping[str, Any]

    @property
    def width(self) -> int:
        return self.args[0].shape[-1]

    def with_part(self, part: Part) -> Sample:
        return Sample(self.args, part, self.named)


class Reader(NamedTuple):
    """Makes the inputs of a model from a graph.

    What is made for `fit` is called with x, which may be `SparseRows`, and an `Adjacency`; any other module with x and
    edge_index, or an `Adjacency` if that argument is called adj, and by name with the edge weights, edge attributes,
    batch vector and number of graphs that it has arguments for.
    """

    dtype: torch.dtype
    device: torch.device
    takes: frozenset[str] | None  # of any other module: the names of its arguments
    reading: Reading = AS_USUAL  # of self-loops and repeated edges, where a model has a say in it
    by_graph: bool = False  # whether what is made for `fit` looks at whole graphs, and is told which node is in which
    of_graphs: bool = False  # whether it gives scores of these, and is told how many there are
    weighs: bool = False  # whether a model is told which graphs are its own

    @staticmethod
    def of(model: nn.Module, native: bool, device: torch.device) -> Reader:
        dtypes = [p.dtype for p in model.parameters()]
        if not dtypes:
            raise ValueError(f"model must have parameters to train, got {kind_of(model)}, which has none")
        of_graphs = native and getattr(model, "of_graphs", False)
        by_graph = of_graphs or (native and getattr(model, "supports_norm_batch", False))
        weighs = of_graphs or GRAPH_WEIGHT in inspect.signature(model.forward).parameters
        takes = None if native else _arguments(model)
        return Reader(dtypes[-1], device, takes, reading_of(model), by_graph, of_graphs, weighs)

    def __call__(self, data: Any) -> Inputs:
        x, edges = self._features(data.x).to(self.device), getattr(data, "edge_index", None)
        wanted = self.takes or (("batch",) if self.by_graph else ())
        named = {name: getattr(data, name, None) for name in _EXTRAS if name in wanted}
        named = {name: None if each is None else each.to(self.device) for name, each in named.items()}
        counts = self.of_graphs or (self.takes is not None and "batch_size" in self.takes)
        if counts and named.get("batch") is not None:
            named["batch_size"] = getattr(data, "num_graphs", None)
        if self.takes is None or edges is None or "adj" in self.takes:
            return Inputs((x, self._adjacency(data)), named)
        if not isinstance(edges, Tensor):
            raise TypeError(f"data.edge_index must be a tensor (2, E), got {kind_of(edges)}")
        if getattr(data, "edge_weight", None) is not None and "edge_weight" not in self.takes:
            raise ValueError(
                "data.edge_weight is there, but the model's forward has no argument edge_weight: add one, or remove "
                "the weights, del data.edge_weight"
            )
        return Inputs((x, edges.to(self.device)), named)

    def _adjacency(self, data: Any) -> Adjacency:
        """The graph, prepared beforehand or now."""
        adj, weight = getattr(data, "adj", None), getattr(data, "edge_weight", None)
        if not isinstance(adj, Adjacency):
            weight = weight.detach() if isinstance(weight, Tensor) else weight
            adj = Adjacency.of(data.edge_index, weight, data.x.size(0), **self.reading._asdict())
        return adj.to(self.device)

    def _features(self, x: Tensor) -> Tensor | SparseRows:
        if self.takes is None:
            return self._cast(x) if x.layout == torch.strided else SparseRows.of(self._cast(x))
        x = x.to_dense()  # as PyG's layers take it; integers may be numbers to look up
        return self._cast(x) if x.is_floating_point() or x.dtype == torch.bool else x

    def _cast(self, x: Tensor) -> Tensor:
        """In the model's dtype."""
        cast = x.to(self.dtype)
        if x.dtype == torch.float64 != self.dtype and not torch.equal(_stored(cast).double(), _stored(x)):
            raise ValueError(
                f"data.x is float64 and would be rounded to the model's {self.dtype}: round it yourself, data.x = "
                "data.x.float(), or train in float64, model.double()"
            )
        return cast


def _arguments(model: nn.Module) -> frozenset[str]:
    """The names of what a module's forward takes, if that can be x and a graph."""
    model = getattr(model, "_orig_mod", model)  # what torch.compile has wrapped
    signature = inspect.signature(model.forward)
    try:
        signature.bind(None, None, **{name: None for name in _EXTRAS if name in signature.parameters})
    except TypeError:
        raise TypeError(
            f"model must be one that is called with x and edge_index, got {kind_of(model)}, whose forward takes "
            f"{signature}"
        ) from None
    return frozenset(signature.parameters)


# ---------------------------------------------------------------------- one graph


def is_graph(data: Any) -> bool:
    """Whether data is one graph, and not a loader."""
    return isinstance(data, (BaseData, str, bytes, Tensor, Mapping)) or not isinstance(data, Iterable)


def checked_parts(data: Any) -> tuple[Tensor, Tensor]:
    """The features, real and finite, and the labels or numbers to learn."""
    has_graph = isinstance(getattr(data, "adj", None), Adjacency)
    for name in ("x", "y") if has_graph else ("x", "edge_index", "y"):
        if getattr(data, name, None) is None:
            raise ValueError(
                f"data.{name} is missing: fit needs x, edge_index, y and masks, or a loader of such graphs, got "
                f"{kind_of(data)}"
            )
        if name != "edge_index" and not isinstance(getattr(data, name), Tensor):
            raise TypeError(f"data.{name} must be a tensor, got {kind_of(getattr(data, name))}")
    x, y = data.x, data.y
    if x.dim() != 2:
        raise ValueError(f"data.x must be (N, F), a row per node, got shape {tuple(x.shape)}")
    check_real(x, "data.x")
    check_values(x, "data.x")
    check_values(y, "data.y")
    if not bool(torch.isfinite(_stored(x)).all()):
        raise ValueError("data.x holds NaN or infinite features: mend or remove them")
    return x, checked_targets(y)


def checked_targets(y: Tensor) -> Tensor:
    """Class numbers (n,), or labels or numbers (n, C)."""
    if y.dtype in INTEGERS and (y.dim() == 1 or (y.dim() == 2 and y.size(1) == 1)):
        return y.reshape(-1).long()
    if y.is_floating_point() and y.dim() in (1, 2):
        return y.reshape(len(y), -1)
    if y.dtype == torch.bool and y.dim() == 2:
        return y
    raise ValueError(
        "data.y must be class numbers, (N,) or (N, 1) of integers, or numbers to learn, (N,) or (N, C) of floating "
        f"point, or several labels per node, (N, C) of booleans, got {tuple(y.shape)} of {y.dtype}"
    )


def as_learned(y: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Targets on their device: numbers in the model's dtype, classes and labels in their own."""
    return y.to(device, dtype if y.is_floating_point() else y.dtype)


def _stored(x: Tensor) -> Tensor:
    return x if x.layout == torch.strided else x.to_sparse_csr().values()


def check_known(y: Tensor, C: int) -> None:
    """Refuses what a model of C scores cannot learn."""
    if y.dtype == torch.bool:
        if y.size(1) != C:
            raise ValueError(
                f"data.y has {y.size(1)} labels per row, but the model gives {C} (out_channels): make them equal"
            )
    elif y.is_floating_point():
        if y.size(1) != C:
            raise ValueError(
                f"data.y is of {y.dtype} and so has {y.size(1)} numbers per row to learn, but the model gives {C} "
                "(out_channels): make them equal, or for classes use data.y.long()"
            )
        if not bool(torch.isfinite(y).all()):
            raise ValueError("data.y holds NaN or infinite numbers among those to learn: take them out of the masks")
    elif len(y) and (int(y.min()) < 0 or int(y.max()) >= C):
        wrong = int(y.min()) if int(y.min()) < 0 else int(y.max())
        remedy = "take such nodes out of the masks" if wrong < 0 else "give it an output per class"
        raise ValueError(f"data.y names class {wrong}, but the model has {C} classes, 0 … {C - 1}: {remedy}")


class Task(NamedTuple):
    """What to learn from, to choose by, and to look at once, at the end."""

    train: Iterable[Sample]
    val: Iterable[Sample]
    test: Iterable[Sample] | None
    is_one: bool  # whether it is one graph, the same sample in every epoch


def graph_task(data: Any, y: Tensor, inputs: Inputs, model: Any, dtype: torch.dtype) -> Task:
    """One graph with masks, whose checked labels are y."""
    N, device = inputs.args[0].shape[0], inputs.args[1].device
    if len(y) != N:
        raise ValueError(f"data.y must have a row per node, {N}, got {tuple(data.y.shape)}")
    masks = checked_masks(data, N, model.trials)
    known = torch.stack([mask.reshape(N, -1).any(1) for mask in masks.values()]).any(0)
    check_known(y[known.to(y.device)], model.out_channels)
    y, weight = as_learned(y, device, dtype), checked_weight(data, N, masks)
    weight = None if weight is None else weight.to(device, dtype)
    found = {
        name: [inputs.with_part(part_of(y, mask.to(device), None if name == "test" else weight))]
        for name, mask in masks.items()
    }
    return Task(found["train"], found["val"], found.get("test"), True)
