"""Draws docs/images/point-patterns.png, and writes what docs/point_patterns.md measures of the graphs. Takes minutes.

python tools/point_patterns.py [--picture]

With --picture the tables stay as they are.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor
from zoo_tables import DOCS, filled, table

from panconv.base.files import replacing
from panconv.data.points import PointPatterns, pair_correlation, point_patterns
from panconv.paper.figures.palette import BLUE, GREY, ORANGE, PALE_BLUE
from panconv.paper.figures.style import SMALL, bare, canvas, save

PAGE, PICTURE = DOCS / "point_patterns.md", DOCS / "images/point-patterns.png"
FRACTIONS = (0.3, 0.35, 0.4)
_INKS = (BLUE, GREY, ORANGE)


# ---------------------------------------------------------------------- the picture


def draw(path: Path) -> None:
    """A square of each class with its disks and its edges, and g(r) of the three."""
    graphs = point_patterns(0.35, graphs=3000)
    N = graphs.points.size(1)
    diameter = 2 * math.sqrt(0.35 / (N * math.pi))
    figure = canvas(11.0, 2.9)
    *squares, last = figure.subplots(1, 4)
    for axis, name, data in zip(squares, graphs.classes, graphs[:3], strict=True):
        _draw_square(axis, data.pos, data.edge_index, diameter)
        axis.set_title(name, fontsize=SMALL + 2)
    step = diameter / 16
    distances = step * np.arange(74)  # with a bound at the contact of two disks
    for c, (name, ink) in enumerate(zip(graphs.classes, _INKS, strict=True)):
        g = pair_correlation(graphs.points[c::3].numpy(), distances).mean(0)
        bare(last).plot((distances[1:] - step / 2) * math.sqrt(N), g, color=ink, label=name, linewidth=1.4)
    last.axvline(1.3, color="black", linewidth=0.8, linestyle=":")
    last.set_title("pair correlation g(r)", fontsize=SMALL + 2)
    last.set_xlabel("r √ρ (dotted: the threshold)", fontsize=SMALL)
    last.legend(fontsize=SMALL - 1, facecolor="white", edgecolor="none", framealpha=1, loc="lower right")
    save(figure, path)
    with replacing(path) as temporary:  # in few colours, which is a quarter of the size
        Image.open(path).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            temporary, "PNG", optimize=True
        )


def _draw_square(axis: Axes, points: Tensor, edges: Tensor, diameter: float) -> None:
    """Edges that leave the square come back on its other side."""
    x = points.double().numpy()
    apart = x[edges[1]] - x[edges[0]]
    apart -= np.rint(apart)
    begin = x[edges[0]]
    axis.add_collection(LineCollection(np.stack([begin, begin + apart / 2], 1), colors=GREY, linewidths=0.6))
    images = np.concatenate([x + shift for shift in np.stack(np.meshgrid([-1, 0, 1], [-1, 0, 1]), -1).reshape(-1, 2)])
    size = np.full(len(images), diameter)
    disks = EllipseCollection(
        size, size, np.zeros(len(images)), units="xy", offsets=images, offset_transform=axis.transData
    )
    disks.set(facecolor=PALE_BLUE, edgecolor=BLUE, linewidth=0.5)
    axis.add_collection(disks)
    axis.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")


# ---------------------------------------------------------------------- the tables


def tables() -> dict[str, str]:
    """What a linear model tells from degrees, from triangles besides, and from all distances; and what degrees are."""
    told, degrees = [], []
    for fraction in FRACTIONS:
        begun = time.process_time()
        graphs = point_patterns(fraction)
        seconds = time.process_time() - begun
        degree, triangles = histograms(graphs)
        distances = pair_correlation(graphs.points.numpy(), np.linspace(0, 0.3, 61))
        y = graphs.y.numpy()
        two = y != 1
        inputs = ((degree, y), (degree[two], y[two]), (np.hstack([degree, triangles]), y), (distances, y))
        told.append([f"{fraction:g}", *(accuracy(x, of) for x, of in inputs), f"{seconds:.0f} s"])
        by_class = graphs.x.view(-1, 3, 200).transpose(0, 1).flatten(1)
        figures = [f"{each.mean():.2f} ± {each.std():.2f}" for each in by_class]
        degrees.append([f"{fraction:g}", *figures])
    head = [
        "fraction",
        "degrees",
        "hard disks or adsorption, by degrees",
        "degrees and triangles",
        "distances",
        "made in",
    ]
    return {
        "accuracy": table(head, told),
        "degrees": table(["fraction", "hard disks", "Poisson", "adsorption"], degrees),
    }


def histograms(graphs: PointPatterns) -> tuple[np.ndarray, np.ndarray]:
    """How many of a graph's nodes have each degree, and how many each number of triangles, as shares."""
    G, N, _ = graphs.points.shape
    degree, triangles = graphs.x.view(G, N).long(), torch.empty(G, N, dtype=torch.long)
    for i in range(0, G, 500):
        first, last = graphs.edge_ptr[i], graphs.edge_ptr[min(i + 500, G)]
        source, target = graphs.edge_index[:, first:last] - i * N
        dense = torch.zeros(min(500, G - i), N, N)
        dense[source // N, source % N, target % N] = 1
        triangles[i : i + 500] = ((dense @ dense) * dense).sum(2).long() // 2
    return _shares(degree), _shares(triangles)


def _shares(counts: Tensor) -> np.ndarray:
    G, N = counts.shape
    wide = int(counts.max()) + 1
    place = torch.arange(G).unsqueeze(1) * wide + counts
    return torch.bincount(place.flatten(), minlength=G * wide).view(G, wide).double().numpy() / N


def accuracy(x: np.ndarray, y: np.ndarray) -> str:
    """Of a logistic regression, on ten random fifths that it has not seen."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    found = 100 * cross_val_score(model, x, y, cv=StratifiedShuffleSplit(10, test_size=0.2, random_state=0))
    return f"{found.mean():.1f} ± {found.std():.1f}"


if __name__ == "__main__":
    draw(PICTURE)
    if "--picture" not in sys.argv:
        PAGE.write_text(filled(PAGE.read_text(), tables()))
