"""What `fit` and `predict` are given, sorted out: features, labels and a graph, by row and by id."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from panconv.data.splits import known_labels_of


class Given(NamedTuple):
    """Features, labels and a graph, each None where it was not given."""

    X: Any
    y: Any
    graph: Any

    @staticmethod
    def of(X: Any, y: Any, graph: Any, numbers: bool = False) -> Given:
        """A graph that was read, or a PyG `Data`, may stand in place of X, and brings its labels along, or `numbers`.

        Labels that are indexed by its ids are put into their order; so does `Nodes.of` with features.
        """
        if graph is None and is_graph(X):
            graph, X = X, None
        if y is None and graph is not None:
            return Given(X, _labels_of(graph, numbers), graph)
        return Given(X, by_id(y, getattr(graph, "ids", None), "y"), graph)


def is_graph(X: Any) -> bool:
    """Whether it holds nodes and edges, and not features alone."""
    return hasattr(X, "adjacency") or isinstance(getattr(X, "edge_index", None), Tensor)


def _labels_of(graph: Any, numbers: bool) -> Any:
    """The labels that a graph holds; of a `Data` with masks, those that are not for testing."""
    if hasattr(type(graph), "targets"):  # a graph that was read, whose classes are names
        return graph.targets if numbers else graph.y
    y = getattr(graph, "y", None)
    return known_labels_of(graph, numbers) if isinstance(y, Tensor) else y


def by_id(values: Any, ids: Any, name: str) -> Any:
    """A frame or a series whose index holds ids, in their order; all else as it is, which is by row.

    Args:
        values: a row per id.
        ids: (n,), of the nodes that it is about; None where they have none.
        name: of the argument.
    """
    index = getattr(values, "index", None)
    if ids is None or index is None or callable(index) or not hasattr(values, "iloc") or _counts_rows(index):
        return values
    there, wanted = [str(each) for each in index], [str(each) for each in ids]
    place = {each: row for row, each in enumerate(there)}
    if there == wanted or not any(each in place for each in wanted):  # or an index that has nothing to do with ids
        return values
    missing = next((each for each in wanted if each not in place), None)
    if missing is None and len(place) == len(wanted) == len(there):
        return values.iloc[[place[each] for each in wanted]]
    what = f"has no row for {missing!r}" if missing is not None else "has rows for other ids too, or twice for one"
    raise ValueError(f"{name} is indexed by ids, but {what}: give a row for each of the {len(wanted)} nodes")


def _counts_rows(index: Any) -> bool:
    """Whether it is what pandas counts rows by where nobody has given it an index: numbers that are no ids."""
    return type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)
