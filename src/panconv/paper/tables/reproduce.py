"""Trains what the paper's tables and figures need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from panconv.paper.published import GRAPHS
from panconv.paper.tables import cells, further, splits
from panconv.paper.tables.baselines import Baseline
from panconv.paper.zoo.runner import Baselines
from panconv.records.record import PAN, Record, Results, Task
from panconv.training import runner
from panconv.training.pans import Pans
from panconv.training.runner import Step


@dataclass(frozen=True)
class Asked:
    """What is to be reproduced.

    Args:
        experiments: of `panconv.paper.tables.cells.EXPERIMENTS`, PAN's part of them, and of `further.FURTHER`.
        baselines: methods of the zoo, for Tables 1 and 2.
        datasets: built-in graphs.
        trials: of each cell.
        quick: few epochs.
        met: the baselines a second time where M has a place in them, with the M that validation chooses.
        random_splits: so many random splits, PAN beside the baselines, in place of the tables.
    """

    experiments: Sequence[str] = ()
    baselines: Sequence[str] = ()
    datasets: Sequence[str] = GRAPHS
    trials: int = 10
    quick: bool = False
    met: bool = False
    random_splits: int = 0

    def wanted(self, records: Sequence[Record]) -> tuple[list[Task], int]:
        """The trainings, and how many more there will be once what the records miss has been chosen."""
        if self.random_splits:
            names = [PAN, *self.baselines]
            drawn = (splits.tasks(names, dataset, self.random_splits, self.quick) for dataset in self.datasets)
            return [task for tasks in drawn for task in tasks], 0
        parts = [
            (further if each in further.FURTHER else cells).wanted(
                each, records, self.datasets, self.trials, self.quick
            )
            for each in self.experiments
        ]
        others = (Baseline(name, dataset, self.quick) for dataset in self.datasets for name in self.baselines)
        parts += [each.wanted(records, self.trials, self.met) for each in others]
        return [task for tasks, _ in parts for task in tasks], sum(later for _, later in parts)

    def missing(self, records: Sequence[Record]) -> int:
        """How many trainings have no record yet."""
        tasks, later = self.wanted(records)
        return runner.missing(tasks, records) + later


def reproduce(
    asked: Asked,
    results: Results,
    *,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
) -> None:
    """Trains what has no record yet: what is chosen by validation, and then what was chosen."""
    options: dict[str, Any] = {"device": device, "command": command, "callback": callback}
    later = 1
    while later:
        tasks, later = asked.wanted(results.read())
        pans, others = ([task for task in tasks if (task.model == PAN) is ours] for ours in (True, False))
        runner.run(pans, results, trainer=Pans(), **options)
        runner.run(others, results, trainer=Baselines(), **options)
