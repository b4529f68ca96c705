"""The contest over a set of graphs: each model's settings are chosen fold by fold, and the choice is tested there.

For each model every setting of its grid is trained once on every fold. Of a fold the highest validation accuracy is the
choice, and a tie goes to the lower loss; the choice is trained again from fresh seeds, and these alone are tested. What
a model is worth on a fold is their mean. All models have the same folds, so that two are compared fold by fold. Imports
no torch.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from panconv.records.compared import Compared
from panconv.records.ranking import Point, ranked, std
from panconv.records.record import Record, Results, Task
from panconv.training import runner
from panconv.training.runner import Diverged, Step, Trainer
from panconv.whole_graphs.menu import MENU, QUICK, entry_of, recorded

FOLDS, RUNS, RERUNS = 10, 10, 3
MARK = "@"  # between a set's name and the digits of what is in it, in the name that records have for it


@dataclass(frozen=True)
class Contest:
    """What is trained.

    Args:
        dataset: the name that records have for the set of graphs (`panconv.whole_graphs.parts.recorded_name`).
        models: names of the menu.
        folds: stratified ones, of which each is tested once.
        runs: in their place so many random splits of 80, 10 and 10 %; None for folds.
        reruns: fresh seeds for the choice of each fold.
        quick: few settings and epochs, and one rerun: a first look.
    """

    dataset: str
    models: tuple[str, ...] = ("pan", "gin", "structure-free")
    folds: int = FOLDS
    runs: int | None = None
    reruns: int = RERUNS
    quick: bool = False

    @property
    def title(self) -> str:
        """The name of the set alone."""
        return self.dataset.partition(MARK)[0]

    @property
    def splits(self) -> int:
        """How many folds or runs there are."""
        return self.folds if self.runs is None else self.runs

    def tried(self, model: str) -> list[Task]:
        """The trainings that choose: none where there is nothing to choose from."""
        points = self._points(model)
        return [self._task(model, how, k, False) for how in points for k in range(self.splits) if len(points) > 1]

    def choices(self, model: str, records: Iterable[Record]) -> dict[int, Point]:
        """By fold, what its validation chooses; a fold whose trainings are not all there is left out."""
        points = self._points(model)
        if len(points) == 1:
            return {k: Point({}, 0.0, 0.0, 0.0, self._settings(points[0])) for k in range(self.splits)}
        found = {record.key(): record for record in records if record.model == recorded(model)}
        chosen: dict[int, Point] = {}
        for k in range(self.splits):
            mine = [found.get(self._task(model, how, k, False).key()) for how in points]
            there = [each for each in mine if each is not None]
            if len(there) == len(mine):
                chosen[k] = ranked(there)[0]
        return chosen

    def tested(self, model: str, chosen: dict[int, Point]) -> dict[int, list[Task]]:
        """By fold, the trainings of its choice from fresh seeds: fold k has the seeds k + n, k + 2n …"""
        reruns = 1 if self.quick else self.reruns
        return {
            k: [self._task(model, each.settings, k + self.splits * (r + 1), True) for r in range(reruns)]
            for k, each in chosen.items()
        }

    @property
    def trainings(self) -> int:
        """How many there are in all."""
        reruns = self.splits * (1 if self.quick else self.reruns)
        return sum(len(self.tried(model)) + reruns for model in self.models)

    def train(
        self,
        trainer: Trainer,
        results: Results | None = None,
        *,
        device: str = "cpu",
        command: str = "",
        callback: Callable[[Step], None] | None = None,
    ) -> list[Record]:
        """Trains what has no record yet, and returns the records of this contest.

        A choice that never has a finite loss again leaves its fold without a figure, and does not stop the others.

        Args:
            trainer: `panconv.whole_graphs.trainer.WholeGraphs`.
            results: a folder to go on from and to add to.
            device: where to train.
            command: what to write into the records as their origin.
            callback: called with a `Step` from time to time.
        """
        how: dict[str, Any] = {"trainer": trainer, "device": device, "command": command, "callback": callback}
        how |= {"results": results, "found": runner.known(results)}
        for model in self.models:  # what cannot be trained is refused before anything is
            for task in self.tried(model)[:1]:
                trainer.check(task)
        records: list[Record] = []
        for model in self.models:
            tried = runner.run(self.tried(model), **how)
            by_fold = self.tested(model, self.choices(model, tried)).values()
            records += tried
            try:
                records += runner.run([task for tasks in by_fold for task in tasks], **how)
            except Diverged:
                for tasks in by_fold:
                    with suppress(Diverged):
                        records += runner.run(tasks, **how)
        return records

    def _points(self, model: str) -> list[dict[str, Any]]:
        return MENU[model].points(self.dataset, self.quick)

    def _settings(self, how: dict[str, Any]) -> dict[str, Any]:
        return {**how, **({"folds": self.folds} if self.runs is None else {"runs": self.runs})}

    def _task(self, model: str, how: dict[str, Any], seed: int, tested: bool) -> Task:
        split = "given" if self.runs is None else "random"
        return Task(self.dataset, recorded(model), None, split, self._settings(how), seed, tested)


# ---------------------------------------------------------------------- what came of it


@dataclass(frozen=True)
class Standing(Compared):
    """A model's row, in percent."""

    name: str
    by_fold: dict[int, float]  # the mean of the reruns
    seconds: float  # of a training, beside others
    trainings: int
    chosen: dict[int, Point]
    against: str = ""
    changes: tuple[float, ...] = ()  # over that model, fold by fold

    @property
    def title(self) -> str:
        return MENU[self.name].title

    @property
    def mean(self) -> float:  # type: ignore[override]
        return statistics.fmean(self.by_fold.values())

    @property
    def std(self) -> float:  # type: ignore[override]
        return std(list(self.by_fold.values()))

    @property
    def count(self) -> int:
        return len(self.by_fold)


def standings(contest: Contest, records: Iterable[Record]) -> list[Standing]:
    """The models that were tested on some fold, each compared with the first, fold by fold."""
    known = {record.key(): record for record in records if record.dataset == contest.dataset}
    found: list[Standing] = []
    for model in contest.models:
        one = _standing(contest, model, known, found[0] if found else None)
        found += [one] if one is not None else []
    return found


def _standing(contest: Contest, model: str, known: dict[str, Record], first: Standing | None) -> Standing | None:
    chosen = contest.choices(model, known.values())
    asked = {k: _sound(_among(known, tasks)) for k, tasks in contest.tested(model, chosen).items()}
    tested = {k: records for k, records in asked.items() if records}
    if not tested:
        return None
    by_fold = {k: 100 * statistics.fmean(each.test_accuracy or 0.0 for each in mine) for k, mine in tested.items()}
    mine = sum(tested.values(), _among(known, contest.tried(model)))
    there = {} if first is None else first.by_fold
    changes = tuple(by_fold[k] - there[k] for k in by_fold if k in there)
    return Standing(
        name=model,
        by_fold=by_fold,
        seconds=statistics.median(record.seconds for record in mine),
        trainings=len(mine),
        chosen={k: chosen[k] for k in tested},
        against=first.name if first is not None and changes else "",
        changes=changes,
    )


def _sound(records: list[Record]) -> list[Record]:
    """Those whose loss was finite at some epoch: beside others a training that never had one has a record too."""
    return [record for record in records if record.best_epoch != 0]


def _among(known: dict[str, Record], tasks: Iterable[Task]) -> list[Record]:
    """The records of some tasks, of those that have one."""
    keys = (task.key() for task in tasks)
    return [known[key] for key in keys if key in known]


def contests_in(records: Sequence[Record]) -> list[Contest]:
    """What some records are of: the contests with a tested model, by set and splits; of a set's first looks and whole
    contests on the same splits the latter, if there is one."""
    models: dict[tuple[str, str, int, bool], dict[str, int]] = {}
    for record in records:
        if not record.tested or entry_of(record.model) is None:
            continue
        count = record.settings.get("folds" if record.split == "given" else "runs")
        if not isinstance(count, int) or count < 1:
            continue
        key = (record.dataset, record.split, count, record.settings.get("epochs") == QUICK["epochs"])
        name = record.model.partition(":")[2]
        reruns = models.setdefault(key, {})
        reruns[name] = max(reruns.get(name, 1), record.seed // count)
    found = []
    for (dataset, split, count, quick), reruns in sorted(models.items()):
        if quick and (dataset, split, count, False) in models:
            continue
        names = tuple(name for name in MENU if name in reruns)
        counts = {"folds": count} if split == "given" else {"runs": count}
        found.append(Contest(dataset, names, reruns=max(reruns.values()), quick=quick, **counts))
    return found
