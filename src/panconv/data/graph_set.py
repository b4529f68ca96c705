"""`GraphSet`: many graphs, each with a class or a number to learn, held as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.checks import checked_device
from panconv.data.graph_part import chosen, part_of
from panconv.data.graph_set_checks import checked_classes, checked_graphs, checked_nodes, checked_target
from panconv.data.remarks import counted
from panconv.graph import Adjacency
from panconv.graph.pieces import parted, pieces_of
from panconv.graph.reading import checked_weights


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """Many graphs with one target each, side by side as one graph that falls into them.

    Everything is checked here, once. Immutable. It is a sequence of PyG `Data`, so PyG's `DataLoader` takes it, and
    ``graphs[2:5]``, ``graphs[[0, 3]]`` or ``graphs[mask]`` is a set of some, whose name says that it is a part.
    `panconv.data.GraphBatches` makes batches of it many times faster. A graph may have no edges, and then layers give
    its nodes their own terms alone; or no nodes, and then the sum, mean and maximum of its nodes are 0.

    Args:
        x: features of the nodes, graph by graph, (ΣN, F); kept as float32.
        edge_index: (2, ΣE) of (source, target), of nodes as the rows of x are numbered; no edge leaves its graph.
        ptr: the first node of each graph, and ΣN at the end, (G + 1,).
        y: the class of each graph, (G,) of integers 0 … C − 1; or a number to learn, (G,) of floating point.
        edge_weight: (ΣE,), or None.
        name: of the set.
        classes: the names of the classes; left out, their numbers.
        features: what the columns of x are, in words.
        notes: what there is to say of how it was read, a line each.

    >>> edges = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])  # a pair of nodes, and a path of three
    >>> graphs = GraphSet(torch.ones(5, 1), edges, torch.tensor([0, 2, 5]), torch.tensor([0, 1]))
    >>> graphs
    GraphSet(2 graphs of 2 classes, 5 nodes, 3 edges, 1 feature)
    >>> graphs[1]
    Data(x=[3, 1], edge_index=[2, 4], y=[1])
    >>> graphs[[1, 0, 1]]
    GraphSet(3 graphs of 2 classes, 8 nodes, 5 edges, 1 feature)
    """

    x: Tensor
    edge_index: Tensor
    ptr: Tensor
    y: Tensor
    edge_weight: Tensor | None = None
    name: str = ""
    classes: tuple[str, ...] = ()
    features: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        x = checked_nodes(self.x)
        ptr, edges, order = checked_graphs(self.ptr, self.edge_index, x)
        y, weight = checked_target(self.y, len(ptr) - 1), self.edge_weight
        if weight is not None:
            weight = checked_weights(weight, edges.size(1)).detach().to(x.device)
            weight = weight if order is None else weight[order]
        found = {"x": x, "edge_index": edges, "ptr": ptr, "y": y.to(x.device), "edge_weight": weight}
        self.__dict__.update(found, classes=checked_classes(self.classes, y), notes=tuple(self.notes))

    @staticmethod
    def of(graphs: Iterable[Any], name: str = "") -> GraphSet:
        """From PyG's graphs: a list of `Data`, or a dataset, with x, edge_index, y and possibly edge_weight.

        Integers in y are classes, numbered anew where some are missing; floating point is a number to learn. Where no
        graph has an x, the features are the degrees, a column for each.

        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> GraphSet.of([Data(edge_index=edges, num_nodes=n, y=n % 2) for n in (2, 3)]).features
        'degrees, one-hot, 0 … 1'
        """
        from panconv.data.graph_list import joined_list  # which makes features, and needs no set

        return GraphSet(**joined_list(graphs, name))

    # ------------------------------------------------------------------ looking at it

    def __len__(self) -> int:
        return len(self.y)

    @overload
    def __getitem__(self, index: int) -> Data: ...

    @overload
    def __getitem__(self, index: Any) -> GraphSet: ...

    def __getitem__(self, index: Any) -> Data | GraphSet:
        """One of the graphs, as views of the set's tensors; or by a slice, integers or a mask some, as a set."""
        i = chosen(index, len(self))
        if isinstance(i, Tensor):
            return GraphSet(**part_of(self, i))
        begin, end = self._nodes[i : i + 2]
        first, last = self._edges[i : i + 2]
        data = Data(self.x[begin:end], self.edge_index[:, first:last] - begin, y=self.y[i : i + 1])
        if self.edge_weight is not None:
            data.edge_weight = self.edge_weight[first:last]
        return data

    def __iter__(self) -> Iterator[Data]:
        return (self[i] for i in range(len(self)))

    @property
    def device(self) -> torch.device:
        return self.x.device

    @property
    def num_features(self) -> int:
        return self.x.size(1)

    @property
    def num_classes(self) -> int:
        """C, or 0 where numbers are to be learned."""
        return len(self.classes)

    @cached_property
    def sizes(self) -> Tensor:
        """Nodes of each graph, (G,)."""
        return self.ptr.diff()

    @cached_property
    def adjacency(self) -> Adjacency:
        """All graphs as one `Adjacency`, of which ``adjacency[i]`` and `panconv.graph.picked` take some."""
        adj = Adjacency.from_edge_index(self.edge_index, self.edge_weight, num_nodes=len(self.x))
        return parted(adj, self.sizes)

    def to(self, device: torch.device | str) -> GraphSet:
        """The same graphs on another device, with what is prepared of them."""
        device = checked_device(device)
        if device == self.device:
            return self
        moved = object.__new__(GraphSet)
        for name, value in self.__dict__.items():
            there = value.to(device) if isinstance(value, (Tensor, Adjacency)) else value
            moved.__dict__[name] = there
        return moved

    def counts(self) -> dict[str, int]:
        """How many graphs each class has; empty where numbers are to be learned."""
        if self.y.is_floating_point():
            return {}
        return dict(zip(self.classes, torch.bincount(self.y, minlength=self.num_classes).tolist(), strict=True))

    def describe(self) -> dict[str, Any]:
        """Figures of the set, as JSON has them. Both directions of an edge are one, unless a graph has one alone."""
        pieces = pieces_of(self.adjacency, self.adjacency)
        nodes, entries, _ = pieces.sizes.T
        directed, loops = not self.adjacency.is_symmetric, pieces.patterns[:, 1].astype(int)
        found: dict[str, Any] = {
            "name": self.name,
            "graphs": len(self),
            "classes": self.counts(),
            "target": _spread(self.y.cpu().numpy()) if self.y.is_floating_point() else None,
            "nodes": _spread(nodes),
            "edges": _spread(entries if directed else (entries + loops) // 2),
            "directed": directed,
            "weighted": self.edge_weight is not None,
            "columns": self.num_features,
            "features": self.features,
            "without_nodes": int((nodes == 0).sum()),
            "without_edges": int((entries == 0).sum()),
        }
        return found | {"notes": list(self.notes)}

    def __repr__(self) -> str:
        adj = self.adjacency
        edges = adj.num_edges if not adj.is_symmetric else (adj.num_edges + adj.num_self_loops) // 2
        kind = f" of {self.num_classes} classes" if self.classes else " with a number each"
        words = [f"{self.name}{': ' * bool(self.name)}{counted(len(self), 'graph')}{kind}"]
        words += [counted(len(self.x), "node"), counted(edges, f"{'directed ' * (not adj.is_symmetric)}edge")]
        words += ["weighted"] * (self.edge_weight is not None) + [counted(self.num_features, "feature")]
        return f"GraphSet({', '.join(words)})"

    @cached_property
    def _nodes(self) -> list[int]:
        return self.ptr.tolist()

    @cached_property
    def _edges(self) -> list[int]:
        """The first edge of each graph, and how many there are."""
        graph = torch.bucketize(self.edge_index[0], self.ptr[1:], right=True)
        return [0, *torch.bincount(graph, minlength=len(self)).cumsum(0).tolist()]


def _spread(values: np.ndarray) -> dict[str, float]:
    return {"least": values.min().item(), "mean": round(float(values.mean()), 4), "most": values.max().item()}
