"""Records of baselines that nobody trained, for the tests of what is made of them."""

import math

from panconv.paper.published import GRAPHS
from panconv.paper.tables.baselines import NAMES, Baseline
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Record


def record(task, accuracy, **changes):
    """The record of a task, with an accuracy in percent."""
    values = {
        **vars(task),
        **{"val_accuracy": accuracy / 100, "test_accuracy": accuracy / 100 if task.tested else None, "seconds": 0.5},
        **{"device": "cpu", "versions": {"torch": "2"}, "command": f"panconv reproduce table2 --methods {task.model}"},
    }
    return Record(**{**values, **changes})


def own(name, dataset, accuracies, quick=False):
    """A method's own trainings, a seed for each accuracy."""
    tasks = Baseline(name, dataset, quick).own(len(accuracies))
    return [record(task, accuracy) for task, accuracy in zip(tasks, accuracies, strict=True)]


def on_m(name, dataset, accuracies, best=0):
    """A method's trainings on M: the choice, which falls on an entry of the menu, and what follows from it."""
    baseline = Baseline(name, dataset)
    tasks = baseline.choosing()
    seeds = len({task.seed for task in tasks}) or 1
    chose = [record(task, 75.0 if i // seeds == best else 70.0) for i, task in enumerate(tasks)]
    operator = baseline.chosen(chose)
    tasks = baseline.on_m(operator, len(accuracies))
    return chose + [record(task, accuracy) for task, accuracy in zip(tasks, accuracies, strict=True)]


def whole(trials=10):
    """All of Table 2, with and without M, near the paper's figures; what it has no figure of lies at 70."""
    found = []
    for i, name in enumerate(NAMES["table2"]):
        method = METHODS[name]
        for j, (dataset, paper) in enumerate(zip(GRAPHS, method.paper, strict=True)):
            middle = (70.0 if paper is None else paper) + 1.3 * math.sin(5 * i + j)
            spread = 0.2 + 0.8 * ((3 * i + j) % 7) / 7
            values = [middle + spread * math.sin(12.9 * (seed + 1) + i) for seed in range(trials)]
            found += own(name, dataset, values)
            if method.met:
                change = 0.8 * math.sin(3 * i + 2 * j)
                moved = [value + change + 0.4 * math.cos(7 * seed) for seed, value in enumerate(values)]
                found += on_m(name, dataset, moved, best=(i + j) % 3)
    return found
