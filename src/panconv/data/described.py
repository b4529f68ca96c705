"""What there is to say of a graph before anything is learned from it, and what looks wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from panconv.data.graph import Graph

_MANY = 0.2  # a share that is worth a remark


def described(graph: Graph) -> dict[str, Any]:
    """Figures of a graph, as JSON has them."""
    N, adj = graph.num_nodes, graph.adjacency
    degree = np.bincount(graph.edge_index[1].numpy(), minlength=N)
    if graph.directed:
        degree = degree + np.bincount(graph.edge_index[0].numpy(), minlength=N)
    component = np.bincount(adj.components.numpy())
    found: dict[str, Any] = {
        "nodes": N,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "weighted": graph.edge_weight is not None,
        "components": len(component),
        "largest_component": int(component.max()),
        "isolated": int((degree == 0).sum()),
        "degree": _degrees(graph, degree),
        "classes": graph.counts(),
        "unlabelled": N - sum(graph.counts().values()),
        "columns": [
            {"name": each.name, "kind": each.kind, "missing": each.missing if each.kind != "unused" else None}
            for each in graph.columns.values()
        ],
        "features": 0 if graph.matrix is None else int(graph.matrix.shape[1]),
    }
    found["homophily"] = homophily(graph)
    found |= {"guessed": list(graph.guessed), "mended": list(graph.mended)}
    found["suspicious"] = _suspicious(found)
    return found


def _degrees(graph: Graph, degree: np.ndarray) -> dict[str, Any]:
    figures = {"least": int(degree.min()), "median": float(np.median(degree)), "mean": round(float(degree.mean()), 3)}
    return figures | {"most": int(degree.max()), "of": str(graph.ids[degree.argmax()])}


def homophily(graph: Graph) -> dict[str, float] | None:
    """Among edges between two labelled nodes, the share within a class, and what chance would give; None without any.

    Chance is Σ over classes of (share of ends in the class)².
    """
    if graph.labels is None or len(graph.classes) < 2:
        return None
    y = graph.y[graph.edge_index.numpy()]
    y = y[:, (y >= 0).all(0)]
    if not y.size:
        return None
    share = np.bincount(y.ravel(), minlength=len(graph.classes)) / y.size
    within, chance = float((y[0] == y[1]).mean()), float((share**2).sum())
    return {"within": round(within, 4), "chance": round(chance, 4), "edges": int(y.shape[1] // (2 - graph.directed))}


def _suspicious(found: dict[str, Any]) -> list[str]:
    """What may be so, and yet had better be looked at."""
    N, lines = found["nodes"], []
    if not found["edges"]:
        lines.append("there are no edges: a graph adds nothing here")
    elif found["isolated"] > _MANY * N:
        lines.append(f"{found['isolated']:,} of {N:,} nodes have no edge: are ids written alike in both tables?")
    if found["components"] > 1 and found["largest_component"] < 0.5 * N:
        lines.append(f"no component holds half of the nodes; the largest has {found['largest_component']:,} of {N:,}")
    if found["degree"]["most"] > 0.5 * N and N > 20:
        lines.append(f"{found['degree']['of']} is joined to half of all nodes: is it a placeholder?")
    mixed = found["homophily"]
    if mixed is not None and mixed["edges"] >= 30 and mixed["within"] < mixed["chance"]:
        lines.append("neighbours differ in class more than by chance: methods 8 and 9, without self-loops, suit that")
    counts = [*found["classes"].values()]
    if counts and max(counts) > 20 * min(counts):
        lines.append(f"classes are uneven: the largest has {max(counts):,} labels and the smallest {min(counts):,}")
    gaps = [each["name"] for each in found["columns"] if (each["missing"] or 0) > 0.5 * N]
    if gaps:
        lines.append(f"more than half is missing in {', '.join(gaps[:5])}{' …' * (len(gaps) > 5)}")
    return lines
