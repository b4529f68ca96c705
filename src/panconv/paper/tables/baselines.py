"""The trainings behind the baselines' cells of Tables 1 and 2, on their own operator and on M. Never imports torch.

Which M a method gets on a graph is chosen from a short menu by the validation nodes alone, with seeds that the table
does not use and without a look at the test nodes.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from panconv.paper.published import TABLE1
from panconv.paper.zoo.menu import menu
from panconv.paper.zoo.records import Record, Task
from panconv.paper.zoo.registry import METHODS

CHOOSING_SEED = 1000  # an operator is chosen with the seeds from here on, the table trained with those from 0 on
CHOOSING_TRIALS = 2
REPRODUCED = 1.5  # points below the paper's figure that still count as reproduced
EXPLAIN = 3.0  # points above it that ask for an explanation
# A quick look: at most so much of each of these settings, where a method has it.
QUICK: dict[str, int] = {"epochs": 5, "passes": 1, "pretrain": 3, "rounds": 3, "steps": 20, "walks": 1}
NAMES: dict[str, tuple[str, ...]] = {
    "table1": tuple(name for name, method in METHODS.items() if method.title in TABLE1),
    "table2": tuple(name for name, method in METHODS.items() if method.in_table2),
}


def settings(name: str, dataset: str, quick: bool = False, m: bool = False) -> dict[str, Any]:
    how = METHODS[name].on(dataset, m)
    return {**how, **{key: min(most, how[key]) for key, most in QUICK.items() if key in how}} if quick else how


def own_tasks(name: str, dataset: str, trials: int, quick: bool = False, split: str = "public") -> list[Task]:
    """A method as its own paper has it."""
    return _tasks(name, dataset, None, range(trials), quick, split=split)


def choosing_tasks(name: str, dataset: str, quick: bool = False) -> list[Task]:
    """What an operator is chosen by; nothing where the menu is empty or has one entry."""
    offered = menu(METHODS[name])
    seeds = range(CHOOSING_SEED, CHOOSING_SEED + (1 if quick else CHOOSING_TRIALS))
    return [
        task for operator in _offered(offered, quick) for task in _tasks(name, dataset, operator, seeds, quick, False)
    ]


def chosen(records: Sequence[Record], name: str, dataset: str, quick: bool = False) -> dict[str, Any] | None:
    """The operator of the highest mean validation accuracy; None until all of the menu has been tried."""
    offered = menu(METHODS[name])
    tasks = choosing_tasks(name, dataset, quick)
    if not tasks:
        return offered[0] if offered else None
    mine = [record for record in records if record.method == name and record.dataset == dataset and not record.tested]
    found = {record.task().key(): record.val_accuracy for record in mine}
    if any(task.key() not in found for task in tasks):
        return None
    means = {}
    for i, operator in enumerate(_offered(offered, quick)):
        means[i] = statistics.fmean(found[task.key()] for task in tasks if task.operator == operator)
    return offered[max(means, key=means.__getitem__)]


def met_tasks(name: str, dataset: str, operator: dict[str, Any], trials: int, quick: bool = False) -> list[Task]:
    """A method on the operator that was chosen."""
    return _tasks(name, dataset, operator, range(trials), quick)


def missing(
    records: Sequence[Record], names: Sequence[str], datasets: Sequence[str], trials: int, quick: bool, met: bool
) -> int:
    """How many trainings the rows of a table still need."""
    done, count = {record.task().key() for record in records}, 0
    for dataset in datasets:
        for name in names:
            tasks = own_tasks(name, dataset, trials, quick)
            if met and METHODS[name].met:
                tasks += choosing_tasks(name, dataset, quick)
                operator = chosen(records, name, dataset, quick)
                if operator is None:
                    count += trials
                else:
                    tasks += met_tasks(name, dataset, operator, trials, quick)
            count += sum(task.key() not in done for task in tasks)
    return count


def found(records: Sequence[Record], tasks: Callable[[bool], Sequence[Task]]) -> list[Record]:
    """The records of a cell: alike in everything but the seed; with the full settings where there are any."""
    return alike(records, tasks(False)) or alike(records, tasks(True))


def alike(records: Sequence[Record], tasks: Sequence[Task]) -> list[Record]:
    """The records that differ from one of the tasks by the seed alone."""
    wanted = {task.alike() for task in tasks}
    return [record for record in records if record.task().alike() in wanted]


def _offered(offered: list[dict[str, Any]], quick: bool) -> list[dict[str, Any]]:
    """What there is to choose from: nothing where there is no choice."""
    return [] if len(offered) < 2 else offered[:2] if quick else offered


def _tasks(
    name: str,
    dataset: str,
    operator: dict[str, Any] | None,
    seeds: range,
    quick: bool,
    tested: bool = True,
    split: str = "public",
) -> list[Task]:
    how = settings(name, dataset, quick, m=operator is not None)
    return [Task(name, dataset, split, operator, how, seed, tested) for seed in seeds]
