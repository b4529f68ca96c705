"""The trainings behind the baselines' cells of Tables 1 and 2, on their own operator and on M. Never imports torch.

Which M a method gets on a graph is chosen from a short menu by the validation nodes alone, with seeds that the table
does not use and without a look at the test nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from panconv.paper.published import TABLE1
from panconv.paper.zoo.menu import menu
from panconv.paper.zoo.registry import METHODS
from panconv.paper.zoo.settings import merged
from panconv.records.ranking import ranked
from panconv.records.record import Record, Task
from panconv.training import runner

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


@dataclass(frozen=True)
class Baseline:
    """A method on a graph, and its trainings."""

    name: str
    dataset: str
    quick: bool = False
    given: dict[str, Any] = field(default_factory=dict)  # settings in place of the table's
    seed: int = 0  # of the first trial

    def settings(self, m: bool = False) -> dict[str, Any]:
        how = METHODS[self.name].on(self.dataset, m)
        if self.quick:
            how |= {key: min(most, how[key]) for key, most in QUICK.items() if key in how}
        return merged(how, self.given)

    def own(self, trials: int, split: str = "public") -> list[Task]:
        """As its own paper has it."""
        return self._tasks(None, range(self.seed, self.seed + trials), split=split)

    def on_m(self, operator: dict[str, Any], trials: int) -> list[Task]:
        """On the operator that was chosen."""
        return self._tasks(operator, range(self.seed, self.seed + trials))

    def choosing(self) -> list[Task]:
        """What an operator is chosen by; nothing where the menu is empty or has one entry."""
        offered = menu(METHODS[self.name])
        if len(offered) < 2:
            return []
        first = self.seed + CHOOSING_SEED
        seeds = range(first, first + (1 if self.quick else CHOOSING_TRIALS))
        offered = offered[:2] if self.quick else offered
        return [task for operator in offered for task in self._tasks(operator, seeds, tested=False)]

    def chosen(self, records: Sequence[Record]) -> dict[str, Any] | None:
        """The operator of the highest mean validation accuracy; None until all of the menu has been tried."""
        tasks = self.choosing()
        if not tasks:
            return next(iter(menu(METHODS[self.name])), None)
        tried = {record.key(): record for record in runner.alike(records, tasks)}
        if any(task.key() not in tried for task in tasks):
            return None
        return ranked([tried[task.key()] for task in tasks])[0].operator

    def wanted(self, records: Sequence[Record], trials: int, met: bool) -> tuple[list[Task], int]:
        """The trainings of its cell, and how many more there will be once its M is known."""
        if not (met and METHODS[self.name].met):
            return self.own(trials), 0
        operator = self.chosen(records)
        tasks = self.own(trials) + self.choosing()
        return (tasks, trials) if operator is None else (tasks + self.on_m(operator, trials), 0)

    def _tasks(
        self, operator: dict[str, Any] | None, seeds: range, tested: bool = True, split: str = "public"
    ) -> list[Task]:
        how = self.settings(m=operator is not None)
        how = {name: value for name, value in how.items() if name not in (operator or ())}  # which the operator says
        return [Task(self.dataset, self.name, operator, split, how, seed, tested) for seed in seeds]
