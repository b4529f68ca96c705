"""PAN and the fastest baselines on random splits: do methods differ by more than the choice of the split does?

Split s is drawn from seed s for every method, so that methods are compared split by split. Imports torch only where PAN
is trained.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from panconv.paper.settings import PAPER
from panconv.paper.tables import baselines
from panconv.paper.tables.cells import BEST_K, QUICK_EPOCHS
from panconv.paper.zoo.records import Record, Task
from panconv.paper.zoo.registry import METHODS

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

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


def pan_tasks(dataset: str, splits: int, quick: bool = False) -> list[Task]:
    """PAN with the paper's settings and k(n)."""
    how = {**PAPER[dataset].plain(), "k": BEST_K}
    how = {**how, "epochs": QUICK_EPOCHS} if quick else how
    return [Task("pan", dataset, "random", None, how, seed, True) for seed in range(splits)]


def tasks(names: Sequence[str], dataset: str, splits: int, quick: bool = False) -> list[Task]:
    """The baselines on a graph."""
    return [task for name in names for task in baselines.own_tasks(name, dataset, splits, quick, split="random")]


def train_pan(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Any = None
) -> Tensor:
    """PAN, as the methods of the zoo are trained: the class of each node by trial, (S, N)."""
    from panconv.training.fit import fit
    from panconv.training.models import PAN

    sparse = data.clone()
    sparse.x = data.x.to_sparse_csr()
    options = {name: how[name] for name in ("lr", "weight_decay", "epochs", "patience")}
    L, classes = len(how["k"]) - 1, int(data.y.max()) + 1
    model = PAN(
        data.x.size(1),
        how["hidden"],
        classes,
        how["layers"],
        L=L,
        weights=list(how["k"]),
        dropout=how["dropout"],
        trials=len(seeds),
    )
    told = None if tell is None else lambda progress: tell(progress.epoch / progress.epochs)
    return fit(model, sparse, seeds=seeds, device=device, callback=told, **options).predicted.T


def standings(
    records: Sequence[Record], dataset: str, public: Mapping[str, float | None], quick: bool = False
) -> list[Standing]:
    """Every method that was run on random splits of a graph, the best first; empty until PAN has been run."""
    by_seed: dict[str, dict[int, float]] = {}
    for name in ("pan", *METHODS):
        made = pan_tasks(dataset, 1, quick) if name == "pan" else tasks([name], dataset, 1, quick)
        alike = {task.alike() for task in made}
        found = [record for record in records if record.task().alike() in alike]
        if found:
            by_seed[name] = {record.seed: 100 * (record.test_accuracy or 0.0) for record in found}
    if "pan" not in by_seed:
        return []
    pan = by_seed["pan"]
    both = {name: figures for name, figures in by_seed.items() if figures.keys() & pan.keys()}
    rows = [_standing(name, figures, pan, public.get(name)) for name, figures in both.items()]
    return sorted(rows, key=lambda row: -row.mean)


def _standing(name: str, figures: dict[int, float], pan: dict[int, float], public: float | None) -> Standing:
    shared = sorted(figures.keys() & pan.keys())
    behind = [pan[seed] - figures[seed] for seed in shared]  # never empty: such a method is left out
    return Standing(
        name="PAN" if name == "pan" else METHODS[name].title,
        mean=statistics.fmean(figures[seed] for seed in shared),
        std=_std([figures[seed] for seed in shared]),
        behind=statistics.fmean(behind),
        behind_std=_std(behind),
        wins=sum(difference > 0 for difference in behind),
        splits=len(shared),
        public=public,
    )


def _std(values: Sequence[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0
