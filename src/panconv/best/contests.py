"""Everyone tuned alike: models under one search, with the same numbers of settings, seeds and reruns.

`panconv reproduce alike` has twelve methods of the zoo beside PAN; `panconv reproduce heterophilous` has the peers for
graphs whose neighbours differ, on all ten of their splits.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from panconv.best.ladder import preset_row
from panconv.best.presets import DIFFERING
from panconv.best.search import Either, Search
from panconv.best.study import Line, Row, Study
from panconv.data.heterophilous import METRIC_OF
from panconv.paper.published import GRAPHS
from panconv.paper.zoo.registry import METHODS
from panconv.records.ranking import Point
from panconv.records.record import Task

ALIKE = ("mlp", "chebnet", "gcn", "gln", "gat", "agnn", "monet", "sgc", "ssgc", "appnp", "gprgnn", "gcnii")
PEERS = ("res_gcn", "res_sage", "gprgnn", "res_gat")
RANDOM, WARM = "PAN, random propagation", "PAN, warm"


# For all methods alike, whatever their own code has.
_LONG = {"epochs": 500, "patience": 50}


def _alike(graph: str) -> dict[str, Search]:
    one = Search(graph, settings=32, seeds=2, finalists=4, reruns=10, values=_LONG, group=4)
    pans = {RANDOM: one, WARM: replace(one, space="warm")}
    return {**pans, **{METHODS[name].title: one.of(name) for name in ALIKE}}


def _differing(graph: str) -> dict[str, Search | Either]:
    mine = DIFFERING[graph]
    return {"PAN": mine, **{METHODS[name].title: mine.of(name) for name in PEERS}}


def _rows(
    searches: Callable[[str], Mapping[str, Search | Either]], split: str
) -> Callable[[str, Mapping[str, Point]], list[Row]]:
    """A row per search, compared with PAN's, the first."""

    def rows(graph: str, chosen: Mapping[str, Point]) -> list[Row]:
        first, *_ = searches(graph)
        models = {name: each.model for name, each in searches(graph).items()}
        return [
            Row(
                name,
                Task(graph, models[name], point.operator or None, split, point.settings, 0, True),
                "" if name == first else first,
            )
            for name, point in chosen.items()
        ]

    return rows


def _differing_rows(graph: str, chosen: Mapping[str, Point]) -> list[Row]:
    """What the searches chose, and the preset that was chosen over all of these graphs."""
    shared = preset_row("PAN, preset heterophilous", graph, "heterophilous", "PAN", "given")
    metric = {"metric": METRIC_OF[graph]}
    return _rows(_differing, "given")(graph, chosen) + [
        replace(row, task=replace(row.task, settings={**row.task.settings, **metric})) for row in shared
    ]


def standing(found: Sequence[Line]) -> str:
    """PAN beside its best peer, in words: by how much it is ahead, in paired standard errors; nothing of a first look,
    where one trial says who is ahead."""
    peers = [line for line in found if not line.name.startswith("PAN") and len(line.changes) > 1]
    if not peers:
        return ""
    best = max(peers, key=lambda line: line.mean)
    ahead = -statistics.fmean(best.changes)
    side = "ahead of" if ahead >= 0 else "behind"
    errors = f"{abs(best.errors):.1f} paired standard errors"
    return f"{best.against} is {abs(ahead):.1f} {side} its best peer, {best.name}, {errors}."


TUNED_ALIKE = Study("Everyone tuned alike", GRAPHS, _rows(_alike, "public"), _alike)
HETEROPHILOUS = Study("Where neighbours differ", tuple(METRIC_OF), _differing_rows, _differing, most=10)
