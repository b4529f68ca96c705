"""Draws docs/images/pool-scores.png: what `PANPool` sees in graphs whose nodes have no features, by each centrality.

python tools/pool_picture.py
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from zoo_tables import DOCS

from panconv import PANPool
from panconv.paper.figures.palette import BLUE, GREY, ORANGE
from panconv.paper.figures.style import SMALL, canvas, save

PICTURE = DOCS / "images/pool-scores.png"
POOL = {"ratio": 0.5, "L": 4, "method": 2}
WORDS = {"rows": "what arrives, row sums of M", "diagonal": "what comes back, diag(M)"}
_INKS = LinearSegmentedColormap.from_list("scores", ["#ffffff", BLUE])


def graphs() -> dict[str, nx.Graph]:
    """Caffeine without its hydrogens, a square of points that hear who is near, and a tree with a ring and a clique."""
    rings = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (3, 6), (6, 7), (7, 8), (8, 4)]
    caffeine = nx.Graph([*rings, (0, 9), (2, 10), (6, 11), (1, 12), (5, 13)])
    near = nx.random_geometric_graph(40, 0.24, seed=5)
    near = nx.convert_node_labels_to_integers(near.subgraph(max(nx.connected_components(near), key=len)))
    tree = nx.Graph([(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6), (5, 7), (7, 8)])
    ring, clique = (
        nx.relabel_nodes(nx.cycle_graph(6), lambda i: i + 9),
        nx.relabel_nodes(nx.complete_graph(4), lambda i: i + 15),
    )
    both = nx.compose_all([tree, ring, clique])
    both.add_edges_from([(3, 9), (8, 15)])
    return {"caffeine": caffeine, "points that are near": near, "a tree, a ring and a clique": both}


def draw(path: Path) -> None:
    """A column per graph, a row per centrality; the nodes that are kept have an orange rim."""
    found = graphs()
    figure = canvas(9.6, 5.6)
    axes = figure.subplots(len(WORDS), len(found))
    for column, (name, graph) in enumerate(found.items()):
        torch.manual_seed(0)
        places = nx.kamada_kawai_layout(graph)
        for row, (centrality, words) in enumerate(WORDS.items()):
            _draw_graph(axes[row, column], graph, places, centrality)
            if row == 0:
                axes[row, column].set_title(name, fontsize=SMALL + 2)
            if column == 0:
                axes[row, column].set_ylabel(words, fontsize=SMALL + 1)
    save(figure, path)


def _draw_graph(axis: Axes, graph: nx.Graph, places: dict[int, np.ndarray], centrality: str) -> None:
    edges = torch.tensor(list(graph.edges)).T
    edges, x = torch.cat([edges, edges.flip(0)], 1), torch.zeros(len(graph), 1)
    pool = PANPool(1, centrality=centrality, **POOL)
    with torch.no_grad():
        scores, kept = pool.scores(x, edges), pool(x, edges)[4]
    shade = (scores - scores.min()) / (scores.max() - scores.min()).clamp(min=1e-9)
    rims = [ORANGE if i in set(kept.tolist()) else GREY for i in range(len(graph))]
    nx.draw_networkx_edges(graph, places, ax=axis, edge_color=GREY, width=0.9)
    nx.draw_networkx_nodes(
        graph,
        places,
        nodelist=range(len(graph)),
        ax=axis,
        node_color=shade.tolist(),
        cmap=_INKS,
        vmin=0,
        vmax=1,
        node_size=110,
        edgecolors=rims,
        linewidths=1.6,
    )
    axis.spines[:].set_visible(False)
    axis.margins(0.08)


if __name__ == "__main__":
    draw(PICTURE)
