"""Figure 1: the simplified layer (eq. 10) on a square lattice, as a convolution filter, for the three kinds of path."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import NamedTuple

import torch
from scipy import sparse
from torch import Tensor

from panconv.base.checks import checked_length
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paper.figures.style import canvas, save
from panconv.paths import PATHS

FAMILIES = {"walks": "maximal entropy", "shortest": "shortest paths", "self_avoiding": "self-avoiding"}
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_IN_WORDS, _IN_NUMBERS = 3, 8  # the longest L whose cells hold words, or numbers: beyond, only their shade is left


class Filter(NamedTuple):
    """What the centre of a lattice receives from each cell around it."""

    coefficients: Tensor  # (L + 1, 2L + 1, 2L + 1): that of k(n) in each cell
    counts: list[int]  # D_n: how many paths of each length arrive

    def cell(self, row: int, column: int) -> str:
        """A cell in words: the paths from there among all, times k(n)."""
        words = []
        for n, (c, D) in enumerate(zip(self.coefficients[:, row, column].tolist(), self.counts, strict=True)):
            if paths := round(c * D):
                share = "" if paths == D else f"{paths}/{D} "
                words.append(f"{share}k{str(n).translate(_SUBSCRIPTS)}")
        return " + ".join(words)


def lattice_filter(paths: str, L: int) -> Filter:
    """The row of the operator (method 3) at the centre of a square lattice, one for each k(n) that is 1 alone."""
    side = 2 * checked_length(L) + 1  # no path of L steps from the centre leaves it
    line = sparse.eye(side, k=1) + sparse.eye(side, k=-1)
    family = PATHS[paths](Adjacency.from_sparse(sparse.kronsum(line, line)), L)
    centre = torch.zeros(side * side, dtype=torch.float64)
    centre[side * side // 2] = 1
    lengths = torch.eye(L + 1, dtype=torch.float64)
    rows = torch.stack([MET(family, k, method=3).T @ centre for k in lengths])
    counts = family.counts().log[:, side * side // 2].exp().round().long().tolist()
    return Filter(rows.reshape(L + 1, side, side), counts)


def draw_figure1(L: int, path: Path) -> None:
    """Draws the three filters side by side, in the format of the path's ending."""
    filters = {title: lattice_filter(paths, L) for paths, title in FAMILIES.items()}
    side = 2 * L + 1
    figure = canvas(4.6 * len(filters), 5.2)
    for axis, letter, (title, each) in zip(figure.subplots(1, len(filters)), "abc", filters.items(), strict=True):
        shade = each.coefficients.mean(0)
        axis.imshow(shade.where(shade > 0, torch.nan).numpy(), cmap="Blues", vmin=0, vmax=1.6 * float(shade.max()))
        for row, column in product(range(side), repeat=2) if L <= _IN_NUMBERS else ():
            text = each.cell(row, column) if L <= _IN_WORDS else _number(float(shade[row, column]))
            size = min(12.0, 60 / side)
            axis.text(column, row, text.replace(" + ", "\n+ "), ha="center", va="center", fontsize=size)
        axis.set_title(f"({letter}) {title}")
        axis.set_xticks([i + 0.5 for i in range(side - 1)], [""] * (side - 1))
        axis.set_yticks([i + 0.5 for i in range(side - 1)], [""] * (side - 1))
        axis.grid(color="0.75", linewidth=0.8)
        axis.tick_params(length=0)
    what = "paths of each length from there, among all that arrive" if L <= _IN_WORDS else "k(n) = 1/(L+1)"
    figure.suptitle(f"Eq. 10 on a square lattice as a filter, L = {L}: {what}")
    save(figure, path)


def _number(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value else ""
