"""Other splits of the same graphs: `panconv reproduce elsewhere`."""

from __future__ import annotations

from collections.abc import Mapping

from panconv.best.ladder import BEST, GENERAL, PAPER, RANDOM, preset_row, published, row
from panconv.best.study import Row, Study
from panconv.paper.published import GRAPHS
from panconv.paper.tables.baselines import Baseline
from panconv.paper.tables.cells import pan_tasks
from panconv.paper.zoo.registry import METHODS
from panconv.records.ranking import Point

PEERS = ("gcn", "gat", "appnp")
_SPLIT = "random"  # seed s draws split s, for every row


def _rows(graph: str, _: Mapping[str, Point]) -> list[Row]:
    rows = [*preset_row(BEST, graph, graph, split=_SPLIT)]
    rows += preset_row(GENERAL, graph, f"general-without-{graph}", BEST, _SPLIT)
    rows += [row(RANDOM, graph, published(graph), BEST, _SPLIT)]
    rows += [Row(PAPER, pan_tasks(graph, 1, split=_SPLIT)[0], BEST)]
    return rows + [Row(METHODS[name].title, Baseline(name, graph).own(1, _SPLIT)[0], BEST) for name in PEERS]


ELSEWHERE = Study("Twenty random splits", GRAPHS, _rows, trials=20, seed=0)
