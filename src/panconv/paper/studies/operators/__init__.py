"""Six rows of the zoo on their usual operator and on M, under the names they had before: a door that will go."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from panconv.base.checks import checked_count
from panconv.data import DATASETS, load
from panconv.paper.tables.baselines import Baseline
from panconv.paper.tables.reproduce import Asked, reproduce
from panconv.paper.zoo.menu import in_words
from panconv.paper.zoo.operator import dropped
from panconv.records.ranking import ranked
from panconv.records.record import Record, Results
from panconv.training.runner import Step

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
    candidates: list[dict[str, Any]]  # each operator of the menu with its mean validation accuracy, best first

    @property
    def difference(self) -> float:
        return statistics.fmean(self.met) - statistics.fmean(self.usual)


def run(
    folder: str | Path,
    *,
    datasets: Sequence[str] = tuple(DATASETS),
    models: Sequence[str] = tuple(MODELS),
    trials: int = 10,
    quick: bool = False,
    device: str = "cpu",
    command: str = "panconv operators",
    callback: Callable[[Step], None] | None = None,
) -> list[Cell]:
    """Trains what has no record in the folder yet, and returns a cell for each graph and model of `MODELS`."""
    warnings.warn(f"panconv.experiments.operators.run: {WILL_GO}", DeprecationWarning, stacklevel=2)
    trainings, results = asked(datasets, models, trials, quick), Results(folder)
    results.check_writable()
    reproduce(trainings, results, device=device, command=command, callback=callback)
    return table(trainings, results.read())


def asked(datasets: Sequence[str], models: Sequence[str], trials: int, quick: bool) -> Asked:
    """What is to be trained; a name that is none is refused."""
    for names, known, what in ((datasets, DATASETS, "datasets"), (models, MODELS, "models")):
        odd = [each for each in names if each not in known]
        if odd or not names:
            raise ValueError(f"{what} must be of {', '.join(known)}, got {', '.join(map(repr, odd)) or 'none'}")
    trials = 1 if quick else checked_count(trials, "trials")
    return Asked((), [MODELS[model] for model in models], datasets, trials, quick, met=True)


def table(trainings: Asked, records: Sequence[Record]) -> list[Cell]:
    """The cells of what was trained."""
    found = {record.key(): record for record in records}
    old_names = {name: model for model, name in MODELS.items()}
    cells = []
    for dataset, name in product(trainings.datasets, trainings.baselines):
        baseline = Baseline(name, dataset, trainings.quick)
        tried = ranked([found[task.key()] for task in baseline.choosing()])
        chosen = tried[0].operator
        both = (baseline.own(trainings.trials), baseline.on_m(chosen, trainings.trials))
        usual, met = ([found[task.key()].test_accuracy or 0.0 for task in tasks] for tasks in both)
        candidates = [{**point.operator, "val_accuracy": point.val_accuracy} for point in tried]
        share = dropped(load(dataset), chosen)
        cells.append(Cell(dataset, old_names[name], usual, met, chosen, in_words(chosen), share, candidates))
    return cells
