"""`PrepareGraph`: a graph's `Adjacency` beside its edges, prepared once and joined with others in a `Batch`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.data.storage import GlobalStorage
from torch_geometric.transforms import BaseTransform

from panconv.base.checks import checked_dtype, checked_length, kind_of, shown
from panconv.graph import Adjacency, block_diagonal
from panconv.graph.repeated import checked_reading
from panconv.met.methods import METHODS, checked_method
from panconv.paths import Walks


class _Storage(GlobalStorage):  # type: ignore[misc]  # PyG is untyped here
    """The attributes of a graph; in a batch, the graphs of all become one."""

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list) and value and isinstance(self._parent(), Batch):
            value = block_diagonal(value) if all(isinstance(each, Adjacency) for each in value) else value
        super().__setitem__(key, value)

    def values(self, *args: str) -> Any:
        """All values, or those of some names, under which PyG looks for sparse matrices of its own kind."""
        found = super().values(*args)
        return [value for value in found if not isinstance(value, Adjacency)] if args else found


class PreparedData(Data):  # type: ignore[misc]
    """A PyG `Data` that may hold an `Adjacency`: a `Batch` of such holds one, with the graphs block by block.

    PyG makes a list of whatever it does not know. Here the list is joined as it is put into the batch, in the worker
    of a loader where there are workers; ``batch[i]`` and ``batch.to_data_list()`` give each graph its own again. A
    class of your own that derives from this one in place of `Data` does the same.

    >>> edges = torch.tensor([[0, 1], [1, 0]])
    >>> data = PreparedData(x=torch.ones(2, 1), adj=Adjacency.from_edge_index(edges))
    >>> from torch_geometric.data import Batch
    >>> Batch.from_data_list([data, data]).adj
    Adjacency(num_nodes=4, num_edges=4, symmetric)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        given = self.__dict__["_store"]
        store = self.__dict__["_store"] = _Storage(_parent=self)
        store._mapping.update(given._mapping)


class PrepareGraph(BaseTransform):  # type: ignore[misc]
    """Puts a graph's `Adjacency` beside its edges, with all that a layer needs of it computed.

    As a dataset's ``pre_transform`` it prepares every graph once for all epochs; as its ``transform``, in the workers
    of the loader. A layer takes it in place of the edge_index, ``conv(batch.x, batch.adj)``, and prepares nothing.

    Args:
        method: of the layers that will use it, one or several (see `panconv.METHODS`).
        name: of the attribute.
        dtype: of the features; None for torch's default.
        L: with it, the walks of methods that divide by their number are counted as well, up to this length.
        edge_weight: the attribute that holds the weights of the edges, read where a graph has it; None for none.
        loops, repeats: as `Adjacency.from_edge_index` takes them, and the layers.

    A plain `Data` becomes a `PreparedData`, whose graphs are joined in a `Batch`; a class of your own is left as it is
    and should derive from that one.

    >>> data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> PrepareGraph(method=5)(data).adj
    Adjacency(num_nodes=3, num_edges=4, symmetric)
    """

    def __init__(
        self,
        method: int | Iterable[int] = 5,
        name: str = "adj",
        dtype: torch.dtype | None = None,
        L: int | None = None,
        edge_weight: str | None = "edge_weight",
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        several = method if isinstance(method, Iterable) and not isinstance(method, str) else (method,)
        self.methods = tuple(checked_method(each) for each in several)
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
            raise ValueError(f"name must be that of an attribute, such as 'adj', got {shown(name)}")
        self.name, self.edge_weight = name, edge_weight
        self.reading = checked_reading(loops, repeats)
        self.dtype, self.L = checked_dtype(dtype), None if L is None else checked_length(L)

    @torch.no_grad()
    def forward(self, data: Data) -> Data:
        if not isinstance(data, Data):
            raise TypeError(f"data must be a PyG Data with one kind of node and edge, got {kind_of(data)}")
        if data.edge_index is None:
            raise ValueError("data.edge_index is missing: PrepareGraph reads the graph from it")
        weight = None if self.edge_weight is None else data.get(self.edge_weight)
        adj = self.prepared(Adjacency.of(data.edge_index, weight, data.num_nodes, **self.reading._asdict()))
        if type(data) is Data:
            data = PreparedData.from_dict(data.to_dict())
        data[self.name] = adj
        return data

    def prepared(self, adj: Adjacency) -> Adjacency:
        """The graph with what the methods need, and nothing else that was computed on the way."""
        kept: dict[Any, Any] = {}
        for rule in map(METHODS.get, self.methods):
            assert rule is not None
            base = adj.base(rule.base)
            a, transposed = base.operands(self.dtype)
            needed: dict[Any, Any] = {self.dtype: a}
            if transposed is not a:
                needed["transposed", self.dtype] = transposed
            if rule.divides and self.L is not None:
                needed["walks", self.L] = Walks(base, self.L).counts()
            if base is adj:
                kept.update(needed)
            else:
                known = kept.setdefault(rule.base, base.copied())
                known._cache.update(needed)
        return adj.copied(_cache=kept)

    def __repr__(self) -> str:
        method = self.methods[0] if len(self.methods) == 1 else self.methods
        return (
            f"PrepareGraph(method={method}, name={self.name!r}, dtype={self.dtype}, L={self.L}{self.reading.words()})"
        )
