"""One choice for several graphs: of settings that were tried on all of them, the best in the mean."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from panconv.best.search import Search, looked_up
from panconv.records.ranking import Point, key_of, ranked
from panconv.records.record import Record, Results, Task
from panconv.training.runner import run
from panconv.training.search import AGAIN, Searcher
from panconv.training.spaces import PUBLISHED, WARMED, pan_operator

# Settings that are no part of a choice: one belongs to the first stage, the other to the graph.
_OF_A_GRAPH = ("halving", "metric")


@dataclass(frozen=True)
class Across:
    """A choice over the searches of some graphs, all in one space, among the settings that all of them tried.

    Args:
        searches: one per graph.
        finalists: how many of the best in the mean are trained again on every graph.
        reruns: how often.
        left_out: a graph that must have no part in it: what was published for it is not chosen either.
    """

    searches: tuple[Search, ...]
    finalists: int = 5
    reruns: int = 5
    left_out: str = ""

    @property
    def tried(self) -> int:
        """How many settings it is chosen from: those that all of them tried."""
        return min(each.settings for each in self.searches)

    def run(self, results: Results, trainer: Searcher | None = None, **how: Any) -> list[Point]:
        """Trains what has no record yet, and ranks the finalists by their reruns everywhere; `how` as in `Search`."""
        found = {each.graph: each.run(results, trainer, **how).records for each in self.searches}
        tried = {graph: [each for each in records if each.seed < AGAIN] for graph, records in found.items()}
        again: dict[str, list[Record]] = {}
        best = [point for point in shared(tried) if not self._published(point)][: self.finalists]
        for each in self.searches:
            tasks = self._again(best, tried[each.graph][0])
            again[each.graph] = run(tasks, results, trainer=trainer or each.trainer(), **how)
        return shared(again)

    def found(self, records: Sequence[Record]) -> list[Point]:
        """The finalists from records alone; `Missing` where some are not there."""
        graphs = {each.graph for each in self.searches}
        return looked_up(self, [each for each in records if each.dataset in graphs], self.searches[0].trainer())

    def choice(self, records: Sequence[Record]) -> Point:
        return self.found(records)[0]

    def _published(self, point: Point) -> bool:
        """Whether these settings were published for the graph that is left out, or are those warmed, but for what the
        searches have in place of all such values."""
        own = self.searches[0].values
        known = [pan_operator({**each[self.left_out], **own}) for each in (PUBLISHED, WARMED) if self.left_out in each]
        return (point.operator, point.settings) in known

    def _again(self, points: Sequence[Point], like: Record) -> list[Task]:
        """The reruns of some points on the graph of a record."""
        of_graph = {"metric": like.settings["metric"]} if "metric" in like.settings else {}
        seeds = range(AGAIN, AGAIN + self.reruns)
        how = [(each.operator or None, like.split, {**each.settings, **of_graph}) for each in points]
        return [Task(like.dataset, like.model, *each, seed, False) for each in how for seed in seeds]


def shared(records: Mapping[str, Sequence[Record]]) -> list[Point]:
    """The settings that have records on all graphs, the best mean validation accuracy over the graphs first."""
    by_graph = [{key_of(point.operator, _chosen(point)): point for point in ranked(each)} for each in records.values()]
    common = [key for key in by_graph[0] if all(key in each for each in by_graph)]
    points = [_mean([each[key] for each in by_graph]) for key in common]
    return sorted(points, key=lambda point: (-point.val_accuracy, point.val_loss))


def _chosen(point: Point) -> dict[str, Any]:
    return {name: value for name, value in point.settings.items() if name not in _OF_A_GRAPH}


def _mean(points: Sequence[Point]) -> Point:
    """The same settings on several graphs; one that fails on a graph is nothing."""
    failed = any(point.val_accuracy == 0 for point in points)
    return Point(
        operator=points[0].operator,
        val_accuracy=0.0 if failed else statistics.fmean(point.val_accuracy for point in points),
        val_loss=statistics.fmean(point.val_loss for point in points),
        std=statistics.fmean(point.std for point in points),
        settings=_chosen(points[0]),
        trials=sum(point.trials for point in points),
    )
