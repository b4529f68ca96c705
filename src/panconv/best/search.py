"""The searches of our own: what was asked of `panconv.training.search`, so that its records are found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from panconv.data.heterophilous import METRIC_OF
from panconv.paper.tables.cells import QUICK_EPOCHS
from panconv.paper.zoo.runner import Baselines
from panconv.paper.zoo.spaces import space as space_of
from panconv.records.ranking import Point
from panconv.records.record import PAN, Record, Results, Task
from panconv.training.pans import Pans
from panconv.training.runner import Tell
from panconv.training.search import Found, Searcher, search
from panconv.training.space import Space
from panconv.training.spaces import SPACES


class Missing(ValueError):
    """A search is not complete in the records at hand."""


@dataclass(frozen=True)
class Search:
    """A model's search on a graph.

    Args:
        graph: by its name.
        model: PAN, or a baseline as the zoo names it.
        space: one of `panconv.training.spaces.SPACES` for PAN; a baseline has its own.
        settings, near, seeds, finalists, reruns: as in `panconv.training.search.search`.
        values: what the space is to have in place of its own; of what a baseline does not have nothing.
        group: the space's, in place of its own; more train side by side, and what they share is drawn less often.
    """

    graph: str
    model: str = PAN
    space: str = "random-propagation"
    settings: int = 32
    near: int = 0
    seeds: int = 2
    finalists: int = 10
    reruns: int = 10
    values: dict[str, Any] = field(default_factory=dict)
    group: int | None = None

    def quick(self) -> Search:
        """A first look: few settings, few epochs."""
        values = {**self.values, "epochs": QUICK_EPOCHS}
        return replace(self, settings=2, near=0, seeds=1, finalists=1, reruns=1, values=values)

    def of(self, model: str) -> Search:
        """The same for another model."""
        return replace(self, model=model)

    @property
    def searches(self) -> tuple[Search, ...]:
        """Itself: a choice may be made of several."""
        return (self,)

    @property
    def tried(self) -> int:
        """How many settings it is chosen from."""
        return self.settings + self.near

    @property
    def trainings(self) -> int:
        """How many there are."""
        return self.tried * self.seeds + self.finalists * self.reruns

    def drawn_from(self) -> Space:
        """The space, with what the graph and this search ask for."""
        found = SPACES[self.space] if self.model == PAN else space_of(self.model, self.graph)
        has = None if self.model == PAN else {name for values in (found.values, *found.either) for name in values}
        given = {name: value for name, value in self.values.items() if has is None or name in has}
        if self.graph in METRIC_OF:
            given["metric"] = METRIC_OF[self.graph]
        found = found.with_values(**given)
        return found if self.group is None else replace(found, group=self.group)

    def trainer(self) -> Searcher:
        return Pans() if self.model == PAN else Baselines()

    def run(self, results: Results, trainer: Searcher | None = None, **how: Any) -> Found:
        """Trains what has no record yet. No test: what is chosen is trained again in the tables.

        Args:
            results: a folder to go on from and to add to.
            trainer: None for the model's own.
            how: device, command and callback, as in `panconv.training.search.search`.
        """
        return search(
            self.graph,
            self.drawn_from(),
            self.model,
            settings=self.settings,
            near=self.near,
            seeds=self.seeds,
            finalists=self.finalists,
            reruns=self.reruns,
            fresh=0,
            split="given" if self.graph in METRIC_OF else "public",  # said, so that a look-up needs no graph
            results=results,
            trainer=trainer or self.trainer(),
            **how,
        )

    def found(self, records: Sequence[Record]) -> Found:
        """What the search found, from records alone; `Missing` where some are not there."""
        mine = [each for each in records if each.dataset == self.graph and each.model == self.model]
        return looked_up(self, mine, self.trainer())

    def choice(self, records: Sequence[Record]) -> Point:
        return self.found(records).choice


@dataclass(frozen=True)
class Either:
    """The better of what some searches on one graph chose, by the validation of their reruns, of which all have as
    many."""

    searches: tuple[Search, ...]

    @property
    def model(self) -> str:
        return self.searches[0].model

    def of(self, model: str) -> Either:
        """The same for another model."""
        return Either(tuple(each.of(model) for each in self.searches))

    def quick(self) -> Search:
        """A first look, by the first of them."""
        return self.searches[0].quick()

    @property
    def trainings(self) -> int:
        """How many there are."""
        return sum(each.trainings for each in self.searches)

    @property
    def tried(self) -> int:
        return sum(each.tried for each in self.searches)

    def run(self, results: Results, trainer: Searcher | None = None, **how: Any) -> Point:
        """Trains what has no record yet; `how` as in `Search`."""
        return _best([each.run(results, trainer, **how).choice for each in self.searches])

    def choice(self, records: Sequence[Record]) -> Point:
        return _best([each.choice(records) for each in self.searches])


def _best(points: Sequence[Point]) -> Point:
    return min(points, key=lambda point: (-point.val_accuracy, point.val_loss))


def looked_up(search: Any, records: list[Record], trainer: Searcher) -> Any:
    """What a search's `run` gives from records alone."""
    return search.run(_Kept(records), trainer=_Untrained(trainer))


class _Kept(Results):
    """Records in memory."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records

    def read(self) -> list[Record]:
        return self.records


@dataclass(frozen=True)
class _Untrained:
    """A trainer that only looks records up."""

    of: Searcher

    def check(self, task: Task) -> None:
        self.of.check(task)

    def beside(self, task: Task) -> str:
        return task.dataset

    def at_once(self, task: Task, device: str) -> int:
        return 1

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        raise Missing(f"the search of {tasks[0].model} on {tasks[0].dataset} is not complete in these records")

    def vectors(self, model: str) -> Any:
        return self.of.vectors(model)

    def spelt(self, drawn: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        return self.of.spelt(drawn)
