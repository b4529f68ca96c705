"""The one search: many settings side by side, the best of them again, the choice, and what it is worth on fresh seeds.

It serves whatever a `Trainer` trains. Validation alone decides; the labels of the test nodes are handed over with the
last stage and not before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch_geometric.data import Data

from panconv.base.checks import checked_count, checked_device, checked_positive, checked_seed, kind_of, shown
from panconv.base.near import meant
from panconv.data.splits import with_splits
from panconv.records.ranking import Point, key_of, ranked
from panconv.records.record import PAN, UNSAID, Record, Results, Task
from panconv.records.schema import SPLITS
from panconv.training.budget import Counts, affordable, seconds
from panconv.training.halving import RUNGS
from panconv.training.pans import Pans, loaded, named_graph, with_masks
from panconv.training.runner import Step, Trainer, known, run
from panconv.training.space import Space, checked_space
from panconv.training.spaces import SPACES

_log = logging.getLogger(__name__)
SETTINGS = 32  # that are tried where neither their number nor the time is said
# The first seed of each stage, to which the search's own is added: no two stages share one.
_APART = 100_000
TRYING, AGAIN, FRESH = _APART, 2 * _APART, 3 * _APART
_MOST_SEED = 2**31  # of a search, so that all others are below 2^32
_PARENTS = 2  # of settings that are drawn near the best
_MOST_SETTINGS = 10_000  # within a budget
_IDLE = 100  # draws in a row that bring nothing new, after which a space counts as tried

Asked = tuple[dict[str, Any] | None, dict[str, Any]]  # the operator and the settings of a task


class Searcher(Trainer, Protocol):
    """A trainer whose settings can be searched."""

    def vectors(self, model: str) -> Collection[str]:
        """Names that may differ between settings side by side; none where only seeds may."""

    def spelt(self, drawn: dict[str, Any]) -> Asked:
        """What is drawn from a space, as the operator and the settings of a task."""


@dataclass(frozen=True)
class Found:
    """What a search found."""

    choice: Point
    ranking: list[Point]  # the finalists, best first, by their reruns
    fresh: list[Record]  # of the choice, tested, with seeds that chose nothing
    records: list[Record] = field(repr=False)  # of all stages


def search(
    data: str | Data,
    space: str | Space | dict[Any, Any] = "random-propagation",
    model: str = PAN,
    *,
    settings: int | None = None,
    near: int = 0,
    seeds: int = 2,
    finalists: int = 10,
    reruns: int = 10,
    fresh: int = 10,
    budget: float | None = None,
    seed: int = 0,
    split: str | None = None,
    halving: Sequence[float] = RUNGS,
    results: Results | None = None,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
    trainer: Searcher | None = None,
) -> Found:
    """Draws settings from a space, tries them side by side, reruns the best, chooses, and tests the choice alone.

    Settings are tried with `seeds` seeds, where the worse ones end early (`panconv.training.halving`); the best
    `finalists` are trained again, to their end, with `reruns` other seeds; the highest mean validation accuracy of
    these is the choice, and a tie goes to the lower loss; the choice is trained with `fresh` seeds more, whose models
    alone are tested. The same call with the same results goes on where it stopped.

    Args:
        data: the name of a graph, as `load` takes it, or a PyG `Data` as `fit` takes it.
        space: one of `panconv.training.spaces.SPACES` by its name, or a `Space`, or its values as a dict.
        model: "pan", or what the trainer's tasks name.
        settings: how many to draw, of which those that come again are tried once; None for 32, or with a budget for
            as many as fit.
        near: how many more to draw near the best of these; not within a budget.
        seeds, finalists, reruns, fresh: as above; fresh = 0 for no test.
        budget: about so many seconds of training. Half of it is for trying settings, of which there is at least one.
            What is left is for the rest: where it would take longer, there are fewer finalists, down to two, and if
            that is not enough, fewer reruns, down to two (one of a single finalist), and fresh seeds, down to one.
        seed: of what is drawn, and of all trainings.
        split: "public", "random" or "given"; None for the graph's own.
        halving: the shares of the epochs after which the worse half may end; () for never.
        results: a folder of records to go on from and to add to; for a graph with a name.
        device: where to train; "auto" is a GPU where there is one, else the CPU.
        command: what to write into the records as their origin.
        callback: called with a `Step` from time to time.
        trainer: how models of that name are trained; None for PAN's.
    """
    name, graph = named_graph(data, results)
    space = checked_space(space, SPACES)
    for argument, value in {"seeds": seeds, "finalists": finalists, "reruns": reruns}.items():
        checked_count(value, argument, most=_APART)
    checked_count(fresh, "fresh", least=0, most=_APART)
    device = str(checked_device(device))
    limit = _limit(settings, near, budget)
    if checked_seed(seed) >= _MOST_SEED:
        raise ValueError(f"seed must be below 2^31, so that those of the trainings are below 2^32, got {shown(seed)}")
    if trainer is None and model != PAN:
        raise ValueError(f"model must be {PAN!r} where no trainer is given, got {shown(model)}: give its trainer too")
    rungs, split = _checked_rungs(halving), _checked_split(split)
    graph = None if graph is None else with_masks(graph, split)
    trainer = Pans(graph) if trainer is None else trainer
    vectors = trainer.vectors(model)
    rungs = rungs if vectors else ()
    if graph is None and (split is None or fresh):
        first = space.settings([0], seed, vectors)[0]
        graph = loaded(name, bool(first.get("rows", UNSAID["rows"])))  # as it will be trained on
    split = split or _own_split(graph)
    _check_tested(graph, split, [FRESH + seed + i for i in range(fresh)])
    how = {"results": results, "device": device, "command": command, "callback": callback, "found": known(results)}
    stages = _Stages(name, model, split, trainer, seed, how)
    tried = stages.tried(space, limit, seeds, budget, rungs)
    tried += stages.near(space, ranked(tried), limit, near, seeds, rungs)
    best, counts = ranked(tried)[:finalists], Counts(finalists, reruns, fresh)
    if budget is not None:
        counts = affordable(tried, best, counts, budget)
    again = stages.again(best[: counts.finalists], AGAIN, counts.reruns, tested=False)
    ranking = ranked(again)
    _log.info("search: chose %s, by %.4f in validation", ranking[0].words(ranking[0].flat()), ranking[0].val_accuracy)
    last = stages.again(ranking[:1], FRESH, counts.fresh, tested=True)
    return Found(ranking[0], ranking, last, [*tried, *again, *last])


@dataclass(frozen=True)
class _Stages:
    """What all stages of a search share."""

    dataset: str
    model: str
    split: str
    trainer: Searcher
    seed: int
    how: dict[str, Any]  # what else the runner is told

    def tried(self, space: Space, limit: int, seeds: int, budget: float | None, rungs: Sequence[float]) -> list[Record]:
        """The first stage: settings as they are drawn, all at once, or within half of a budget: one, two, four … of the
        first group, since what a setting takes is known only once one has been trained, and then a group at a time.

        The time is that of the records, so that a search that goes on spends what it would have spent at once.
        """
        records: list[Record] = []
        asked: set[str] = set()
        kinds = self._drawn(space, [i for i in space.one_of_each() if i < limit], rungs)
        for task in self._tasks(kinds, TRYING, 1, tested=False):
            self.trainer.check(task)  # what a later group would be refused for is refused now
        start, end, each, idle = 0, limit if budget is None else 1, 0.0, 0
        while start < end and idle < _IDLE:
            drawn = self._drawn(space, range(start, end), rungs)
            own = {key_of(*one): one for one in drawn}
            new = [one for text, one in own.items() if text not in asked]
            asked |= own.keys()
            found = self._run(new, TRYING, seeds, tested=False)
            records += found
            each, idle = (seconds(found) / len(new), 0) if new else (each, idle + end - start)
            start = end
            if budget is not None:
                fitting = int((budget / 2 - seconds(records)) / (each or 1e-9))
                end = start + max(0, min(limit - start, start, space.next_group(start) - start, fitting))
        return records

    def near(
        self, space: Space, points: Sequence[Point], limit: int, count: int, seeds: int, rungs: Sequence[float]
    ) -> list[Record]:
        """More settings, near the best of those that were tried."""
        if not count:
            return []
        drawn = space.settings(range(limit), self.seed, vectors := self.trainer.vectors(self.model))
        by_key = {key_of(*asked): each for each, asked in zip(drawn, self._spelt(drawn, rungs), strict=True)}
        parents = [by_key[key_of(point.operator, point.settings)] for point in points[:_PARENTS]]
        asked = self._spelt(space.near(parents, count, self.seed, vectors), rungs)
        new = {key: each for each in asked if (key := key_of(*each)) not in by_key}
        return self._run(list(new.values()), TRYING, seeds, tested=False)

    def _drawn(self, space: Space, places: Sequence[int], rungs: Sequence[float]) -> list[Asked]:
        return self._spelt(space.settings(places, self.seed, self.trainer.vectors(self.model)), rungs)

    def _spelt(self, drawn: Sequence[dict[str, Any]], rungs: Sequence[float]) -> list[Asked]:
        asked = [self.trainer.spelt(each) for each in drawn]
        return [(operator, {**how, **_halved(how, rungs)}) for operator, how in asked]

    def again(self, points: Sequence[Point], first: int, trials: int, tested: bool) -> list[Record]:
        """Points trained to their end, with the seeds from `first` on."""
        whole = [{name: value for name, value in each.settings.items() if name != "halving"} for each in points]
        operators = [each.operator or None for each in points]
        return self._run(list(zip(operators, whole, strict=True)), first, trials, tested=tested)

    def _tasks(self, asked: Sequence[Asked], first: int, trials: int, *, tested: bool) -> list[Task]:
        seeds = range(first + self.seed, first + self.seed + trials)
        return [
            Task(self.dataset, self.model, operator, self.split, how, seed, tested)
            for operator, how in asked
            for seed in seeds
        ]

    def _run(self, asked: Sequence[Asked], first: int, trials: int, *, tested: bool) -> list[Record]:
        return run(self._tasks(asked, first, trials, tested=tested), trainer=self.trainer, **self.how)


def _halved(settings: dict[str, Any], rungs: Sequence[float]) -> dict[str, Any]:
    """The setting that asks for halving, in epochs; nothing where a model is not trained by epochs."""
    epochs = sorted({max(1, round(share * settings["epochs"])) for share in rungs}) if "epochs" in settings else []
    return {"halving": epochs} if epochs else {}


def _limit(settings: Any, near: Any, budget: Any) -> int:
    """How many settings are tried at most, before those near the best."""
    if checked_count(near, "near", least=0, most=_MOST_SETTINGS) and budget is not None:
        raise ValueError(
            f"near goes with a number of settings, not with a budget, got near={near}: leave one of them out"
        )
    if budget is not None:
        checked_positive(budget, "budget")
    if settings is not None:
        return checked_count(settings, "settings", most=_MOST_SETTINGS)
    return SETTINGS if budget is None else _MOST_SETTINGS


def _checked_rungs(halving: Any) -> Sequence[float]:
    if not isinstance(halving, (list, tuple)):
        raise TypeError(f"halving must be shares of the epochs, such as (0.25, 0.5), or (), got {kind_of(halving)}")
    if wrong := [each for each in halving if not isinstance(each, float) or not 0 < each < 1]:
        raise ValueError(f"halving must be shares of the epochs, above 0 and below 1, got {shown(wrong[0])}")
    return halving


def _checked_split(split: Any) -> str | None:
    if split is not None and split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, or None, got {shown(split)}{meant(split, SPLITS)}")
    return split


def _own_split(graph: Any) -> str:
    """The name of the split that a graph's masks are."""
    return "given" if graph.train_mask.dim() == 2 else "public"


def _check_tested(graph: Any, split: str, seeds: list[int]) -> None:
    """Refuses a test without test nodes, before anything is trained."""
    if not seeds:
        return
    some = seeds[:1] if split == "random" else seeds  # random ones all have as many nodes
    mask = getattr(with_splits(graph, split, some), "test_mask", None)
    if mask is None or not bool(mask.reshape(len(mask), -1).any(0).all()):
        raise ValueError(
            f"the graph has no test nodes in its split {split!r} for the fresh seeds, got fresh={len(seeds)}: give it "
            "some, or say fresh=0 for a search without a test"
        )
