"""Six models on their usual operator and on M, everything else the same.

Which M a model gets on a graph is chosen from a short menu by the validation nodes alone, with seeds that the table
does not use and without a look at the test nodes. The usual operator is the one of the model's paper.
"""

from __future__ import annotations

import copy
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch_geometric
from torch_geometric.data import Data

from panconv.base.checks import checked_count
from panconv.data import DATASETS, load
from panconv.paper.studies.operators.models import MODELS, Settings
from panconv.paper.studies.operators.records import Record, Records, Trial
from panconv.paper.studies.operators.training import train
from panconv.paper.zoo.menu import AS_IT_STANDS, MENU, Operator
from panconv.transforms import METTransform

CHOOSING_SEED = 1000  # an operator is chosen with the seeds from here on, the table trained with those from 0 on
CHOOSING_TRIALS = 2
QUICK_EPOCHS = 5


@dataclass(frozen=True)
class Step:
    """What a callback is told before each training."""

    done: int  # trainings, those with a record among them
    total: int
    dataset: str
    model: str
    what: str  # "usual", "choosing M", "M"


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
    candidates: list[dict[str, Any]]  # each operator of the menu with its mean validation accuracy and loss

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
        callback: called with a `Step` before each training.
    """
    for names, known, what in ((datasets, DATASETS, "datasets"), (models, MODELS, "models")):
        odd = [each for each in names if each not in known]
        if odd or not names:
            raise ValueError(f"{what} must be of {', '.join(known)}, got {', '.join(map(repr, odd)) or 'none'}")
    trials = 1 if quick else checked_count(trials, "trials")
    cells = [(dataset, model) for dataset in datasets for model in models]
    total = sum(2 * trials + len(menu(model, quick)) * _choosing_trials(quick) for _, model in cells)
    trainer = _Trainer(Records(folder), device, total, callback)
    return [_cell(trainer, dataset, model, trials, quick) for dataset, model in cells]


def menu(model: str, quick: bool = False) -> tuple[Operator, ...]:
    """What a model's M is chosen from."""
    return MENU[:2] if quick else MENU + AS_IT_STANDS * MODELS[model].switch


def _choosing_trials(quick: bool) -> int:
    return 1 if quick else CHOOSING_TRIALS


def _cell(trainer: _Trainer, dataset: str, model: str, trials: int, quick: bool) -> Cell:
    seeds, choosing = range(trials), range(CHOOSING_SEED, CHOOSING_SEED + _choosing_trials(quick))
    how = MODELS[model].on(dataset)
    how = replace(how, epochs=QUICK_EPOCHS) if quick else how
    usual = trainer.records(dataset, model, None, how, seeds, "usual")
    candidates = {
        operator: trainer.records(dataset, model, operator, how, choosing, "choosing M", tested=False)
        for operator in menu(model, quick)
    }
    chosen = min(candidates, key=lambda operator: _rank(candidates[operator]))
    met = trainer.records(dataset, model, chosen, how, seeds, "M")
    return Cell(
        dataset=dataset,
        model=model,
        usual=[run.test_accuracy or 0.0 for run in usual],
        met=[run.test_accuracy or 0.0 for run in met],
        chosen=chosen.plain(),
        words=chosen.words(),
        dropped=met[0].dropped,
        candidates=[
            {**operator.plain(), "val_accuracy": -rank[0], "val_loss": rank[1] if math.isfinite(rank[1]) else None}
            for operator, rank in ((operator, _rank(runs)) for operator, runs in candidates.items())
        ],
    )


def _rank(runs: Sequence[Record]) -> tuple[float, float]:
    """Highest mean validation accuracy first; a tie goes to the lower loss."""
    losses = [math.inf if run.val_loss is None else run.val_loss for run in runs]
    return -statistics.fmean(run.val_accuracy for run in runs), statistics.fmean(losses)


def transform_of(operator: Operator) -> METTransform:
    """What writes an operator into a graph."""
    return METTransform(operator.L, operator.method, list(operator.weights), ("top_k", operator.top_k))


class _Trainer:
    """Trains what has no record, and says how far it is."""

    def __init__(self, records: Records, device: str, total: int, callback: Callable[[Step], None] | None) -> None:
        self.device, self._records, self._callback = device, records, callback
        self._done, self._total = 0, total
        self._name, self._graph = "", Data()
        self._on: dict[Operator | None, tuple[Data, float]] = {}  # the graph on the device, by operator

    def records(
        self,
        dataset: str,
        model: str,
        operator: Operator | None,
        how: Settings,
        seeds: range,
        what: str,
        tested: bool = True,
    ) -> list[Record]:
        """The record of each seed, trained where there is none."""
        plain = None if operator is None else operator.plain()
        found = []
        for seed in seeds:
            if self._callback is not None:
                self._callback(Step(self._done, self._total, dataset, model, what))
            trial = Trial(dataset, model, plain, how.plain(), seed, tested)
            record = self._records.get(trial)
            if record is None:
                record = self._trained(trial, operator, how)
                self._records.add(record)
            found.append(record)
            self._done += 1
        return found

    def _trained(self, trial: Trial, operator: Operator | None, how: Settings) -> Record:
        data, dropped = self._data(trial.dataset, operator)
        began = time.perf_counter()
        torch.manual_seed(trial.seed)
        make, classes = MODELS[trial.model].make, DATASETS[trial.dataset].classes
        model = make(data.num_features, classes, how, operator is None or operator.normalize)
        outcome = train(model.to(self.device), data, how, test=trial.tested)
        return Record(
            **vars(trial),
            best_epoch=outcome.best_epoch,
            val_loss=outcome.val_loss if math.isfinite(outcome.val_loss) else None,
            val_accuracy=outcome.val_accuracy,
            test_accuracy=outcome.test_accuracy,
            dropped=dropped,
            seconds=round(time.perf_counter() - began, 3),
            device=self.device,
            versions={"torch": torch.__version__, "torch_geometric": torch_geometric.__version__},
        )

    def _data(self, dataset: str, operator: Operator | None) -> tuple[Data, float]:
        """A graph with an operator for edges, on the device, and the share of |M| that is missing."""
        if dataset != self._name:
            self._name, self._graph, self._on = dataset, load(dataset), {}
        key = None if operator is None else replace(operator, normalize=True)
        if key not in self._on:
            data, dropped = copy.copy(self._graph), 0.0
            if key is not None:  # M is made on the CPU, so that it is the same everywhere
                transform = transform_of(key)
                data = transform(data)
                assert transform.dropped is not None
                dropped = transform.dropped.share
            self._on[key] = data.to(self.device), dropped
        return self._on[key]
