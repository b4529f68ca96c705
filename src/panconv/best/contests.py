"""Everyone tuned alike: models under one search, with the same numbers of settings, seeds and reruns.

`panconv reproduce alike` has twelve methods of the zoo beside PAN; `panconv reproduce heterophilous` has the peers for
graphs whose neighbours differ, on all ten of their splits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from panconv.best.presets import DIFFERING
from panconv.best.search import Search
from panconv.best.study import Row, Study
from panconv.data.heterophilous import METRIC_OF
from panconv.paper.published import GRAPHS
from panconv.paper.zoo.registry import METHODS
from panconv.records.ranking import Point
from panconv.records.record import Task

ALIKE = ("mlp", "chebnet", "gcn", "gln", "gat", "agnn", "monet", "sgc", "ssgc", "appnp", "ngcn", "gcnii")
PEERS = ("res_gcn", "res_sage", "res_gat", "gprgnn")
RANDOM, WARM = "PAN, random propagation", "PAN, warm"


def _alike(graph: str) -> dict[str, Search]:
    one = Search(graph, settings=32, seeds=2, finalists=5, reruns=5)
    pans = {RANDOM: one, WARM: replace(one, space="warm")}
    return {**pans, **{METHODS[name].title: replace(one, model=name) for name in ALIKE}}


def _differing(graph: str) -> dict[str, Search]:
    mine = DIFFERING[graph]
    return {"PAN": mine, **{METHODS[name].title: replace(mine, model=name) for name in PEERS}}


def _rows(searches: Callable[[str], dict[str, Search]], split: str) -> Callable[[str, Mapping[str, Point]], list[Row]]:
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


TUNED_ALIKE = Study("Everyone tuned alike", GRAPHS, _rows(_alike, "public"), _alike)
HETEROPHILOUS = Study("Where neighbours differ", tuple(METRIC_OF), _rows(_differing, "given"), _differing)
