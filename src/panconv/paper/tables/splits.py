"""PAN and the fastest baselines on random splits: do methods differ by more than the choice of the split does?

Split s is drawn from seed s for every method, so that methods are compared split by split. Never imports torch.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panconv.paper.tables import cells
from panconv.paper.tables.baselines import Baseline
from panconv.paper.zoo.registry import METHODS
from panconv.records.ranking import std
from panconv.records.record import PAN, Record, Task
from panconv.training.runner import alike

# The ten methods that took the least time over the three graphs (docs/zoo.md).
FASTEST = ("lp", "bootstrap", "manireg", "ica", "semiemb", "sgc", "mlp", "gln", "fastgcn", "gcn")


@dataclass(frozen=True)
class Standing:
    """A method on a graph, over the splits, in percent."""

    name: str
    mean: float
    std: float
    behind: float  # PAN's figure minus its own, the mean over the splits
    behind_std: float
    wins: int  # splits on which PAN is ahead
    splits: int
    public: float | None  # its mean on the public split


def tasks(names: Sequence[str], dataset: str, splits: int, quick: bool = False) -> list[Task]:
    """Methods on a graph, each on the same splits."""
    parts = (
        cells.pan_tasks(dataset, splits, quick, split="random")
        if name == PAN
        else Baseline(name, dataset, quick).own(splits, split="random")
        for name in names
    )
    return [task for tasks in parts for task in tasks]


def standings(
    records: Sequence[Record], dataset: str, public: Mapping[str, float | None], quick: bool = False
) -> list[Standing]:
    """Every method that was run on random splits of a graph, the best first; empty until PAN has been run."""
    by_seed: dict[str, dict[int, float]] = {}
    for name in (PAN, *METHODS):
        if found := alike(records, tasks([name], dataset, 1, quick)):
            by_seed[name] = {record.seed: 100 * (record.test_accuracy or 0.0) for record in found}
    if PAN not in by_seed:
        return []
    pan = by_seed[PAN]
    both = {name: figures for name, figures in by_seed.items() if figures.keys() & pan.keys()}
    rows = [_standing(name, figures, pan, public.get(name)) for name, figures in both.items()]
    return sorted(rows, key=lambda row: -row.mean)


def _standing(name: str, figures: dict[int, float], pan: dict[int, float], public: float | None) -> Standing:
    shared = sorted(figures.keys() & pan.keys())
    behind = [pan[seed] - figures[seed] for seed in shared]  # never empty: such a method is left out
    return Standing(
        name="PAN" if name == PAN else METHODS[name].title,
        mean=statistics.fmean(figures[seed] for seed in shared),
        std=std([figures[seed] for seed in shared]),
        behind=statistics.fmean(behind),
        behind_std=std(behind),
        wins=sum(difference > 0 for difference in behind),
        splits=len(shared),
        public=public,
    )
