"""From the paper's PAN to the best, a step at a time: `panconv reproduce best`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from panconv.best.study import Row, Study
from panconv.paper.published import GRAPHS
from panconv.paper.tables.cells import pan_tasks
from panconv.records.ranking import Point
from panconv.records.record import PAN, Task
from panconv.training.presets import entries, preset
from panconv.training.recipe import Recipe
from panconv.training.spaces import PUBLISHED, pan_operator

PAPER, WARM, RANDOM, BEST, HOT = "the paper's PAN", "warm", "random propagation", "preset", "preset at T = ∞"
GENERAL, DEEP = "general, graph unseen", "deep, 64 layers"


def row(name: str, graph: str, recipe: Recipe, against: str = "", split: str = "public") -> Row:
    """A row of a PAN's recipe."""
    return Row(name, Task(graph, PAN, recipe.operator, split, recipe.settings, 0, True), against)


def preset_row(name: str, graph: str, of: str, against: str = "", split: str = "public") -> Iterator[Row]:
    """A row of a preset, where there is one of that name."""
    if of in entries():
        yield row(name, graph, preset(of), against, split)


def published(graph: str) -> Recipe:
    """Random propagation as published for a graph: method 5, all lengths alike."""
    return Recipe(*pan_operator(PUBLISHED[graph]))


def at_infinite_temperature(recipe: Recipe) -> Recipe:
    """The same, with all lengths alike."""
    L = recipe.operator["L"]
    return Recipe({**recipe.operator, "weights": [1 / (L + 1)] * (L + 1)}, recipe.settings)


def _rows(graph: str, _: Mapping[str, Point]) -> list[Row]:
    rows = [Row(PAPER, pan_tasks(graph, 1)[0])]
    rows += preset_row(WARM, graph, f"{graph}-warm", PAPER)
    rows += [row(RANDOM, graph, published(graph), PAPER)]
    rows += preset_row(BEST, graph, graph, RANDOM)
    if graph in entries() and (hot := at_infinite_temperature(preset(graph))) != preset(graph):
        rows += [row(HOT, graph, hot, BEST)]
    rows += preset_row(GENERAL, graph, f"general-without-{graph}", RANDOM)
    if (name := f"{graph}-deep") in entries():
        rows += [row(DEEP, graph, preset(name).but(layers=64), RANDOM)]
    return rows


LADDER = Study("From the paper's PAN to the best", GRAPHS, _rows)
