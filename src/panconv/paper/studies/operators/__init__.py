"""Six rows of the zoo on their usual operator and on M, under the names they had before: a door that will go."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from panconv.base.checks import checked_count
from panconv.base.files import check_writable
from panconv.data import DATASETS, load
from panconv.paper.tables import baselines
from panconv.paper.tables.reproduce import reproduce_baselines
from panconv.paper.zoo.menu import in_words
from panconv.paper.zoo.operator import dropped
from panconv.paper.zoo.records import Record, Records, Task
from panconv.paper.zoo.runner import Step

# The names of before, and the rows of the zoo.
MODELS = {"cheb": "chebnet", **{name: name for name in ("gcn", "sgc", "appnp", "gat", "ssgc")}}
WILL_GO = "it will go: the six models are rows of the zoo, and panconv zoo NAME GRAPH --met trains them"


@dataclass(frozen=True)
class Cell:
    """A model on a graph: test accuracies by trial on the usual operator and on M, 0 … 1."""

    dataset: str
    model: str
    usual: list[float]
    met: list[float]
    chosen: dict[str, Any]  # the operator that validation chose
    words: str  # the same in words
    dropped: float  # the share of |M| that its sparsification took
    candidates: list[dict[str, Any]]  # each operator of the menu with its mean validation accuracy

    @property
    def difference(self) -> float:
        return statistics.fmean(self.met) - statistics.fmean(self.usual)


def run(
    folder: str | Path,
    *,
    datasets: Sequence[str] = ("cora", "citeseer", "pubmed"),
    models: Sequence[str] = tuple(MODELS),
    trials: int = 10,
    quick: bool = False,
    device: str = "cpu",
    callback: Callable[[Step], None] | None = None,
) -> list[Cell]:
    """Trains what has no record in the folder yet, and returns a cell for each graph and model.

    Args:
        folder: where the record of each training goes, and what to go on from.
        datasets: built-in graphs.
        models: names in `MODELS`.
        trials: trainings on each operator.
        quick: a single trial of a few epochs and a menu of two, to see it run.
        device: where to train.
        callback: called with a `Step` of the zoo's runner from time to time.
    """
    warnings.warn(f"panconv.experiments.operators.run: {WILL_GO}", DeprecationWarning, stacklevel=2)
    names = checked(datasets, models)
    trials = 1 if quick else checked_count(trials, "trials")
    records = Records(folder)
    check_writable(records.folder / "new.jsonl")
    options: dict[str, Any] = {"device": device, "callback": callback, "command": "panconv operators"}
    reproduce_baselines(names, records, datasets=datasets, trials=trials, met=True, quick=quick, **options)
    found = {record.task().key(): record for record in records.read()}
    return [_cell(found, dataset, model, trials, quick) for dataset in datasets for model in models]


def checked(datasets: Sequence[str], models: Sequence[str]) -> list[str]:
    """The rows of the zoo of some models; a name that is none is refused."""
    for names, known, what in ((datasets, DATASETS, "datasets"), (models, MODELS, "models")):
        odd = [each for each in names if each not in known]
        if odd or not names:
            raise ValueError(f"{what} must be of {', '.join(known)}, got {', '.join(map(repr, odd)) or 'none'}")
    return [MODELS[model] for model in models]


def _cell(found: dict[str, Record], dataset: str, model: str, trials: int, quick: bool) -> Cell:
    name = MODELS[model]
    chosen = baselines.chosen(list(found.values()), name, dataset, quick)
    assert chosen is not None  # all of the menu has been tried

    def figures(tasks: Sequence[Task], field: str = "test_accuracy") -> list[float]:
        return [getattr(found[task.key()], field) for task in tasks]

    tried: dict[str, list[Task]] = {}
    for task in baselines.choosing_tasks(name, dataset, quick):
        tried.setdefault(task.alike(), []).append(task)
    return Cell(
        dataset=dataset,
        model=model,
        usual=figures(baselines.own_tasks(name, dataset, trials, quick)),
        met=figures(baselines.met_tasks(name, dataset, chosen, trials, quick)),
        chosen=chosen,
        words=in_words(chosen),
        dropped=dropped(load(dataset), chosen),
        candidates=[
            {**(tasks[0].operator or {}), "val_accuracy": statistics.fmean(figures(tasks, "val_accuracy"))}
            for tasks in tried.values()
        ],
    )
