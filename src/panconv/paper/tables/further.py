"""The trainings behind what the paper says beside its tables and figures. Never imports torch.

Each is named after its question and asked by `panconv reproduce NAME`; `panconv claims` gives the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from panconv.paper.published import GRAPHS, TABLE3
from panconv.paper.settings import GCN, PAPER, UNDER_Z, settings
from panconv.paper.tables.cells import BEST_K, GRID_TRIALS, ranked_grid, trials_of, winner_or_later
from panconv.records.ranking import Point
from panconv.records.record import Record, Task

# Table 3 by the letter of the paper, E(n) = 0 and its weight decay for every method, and what it leaves unsaid: the
# start of k(n), the matrices that decay, the scale of the features, and the epoch that is tested.
STATED: dict[str, dict[str, Any]] = {
    "as stated": {},
    "from k(n) = 1": {},
    "all matrices decay": {"decay": "all"},
    "features as they are": {"rows": False},
    "the last epoch": {"keep": "last"},  # and GCN's own rule for when to stop
    "features as they are, the last epoch": {"rows": False, "keep": "last"},
}
_FREE: dict[str, Any] = {"from k(n) = 1": {"kind": "free", "k": [1.0, 1.0, 1.0]}}  # where trained k(n) start otherwise
SCALES = (1.0, 2.0)  # the sum of k(n)
DECAYS = {"PAN's": PAPER["cora"].weight_decay, "GCN's": GCN.weight_decay}
LENGTHS = range(7)
ALPHAS = (1.0, 2.0, 3.0)
LAW_LENGTHS = range(1, 5)
# k⁽ʰ⁾(n) of two layers: 18² points.
_OF_A_LAYER = [[k0, k1, k2] for k0 in (0.0, 1.0) for k1 in (0.5, 1.0, 2.0) for k2 in (0.5, 1.0, 2.0)]
PER_LAYER = [{"kind": "layers", "of": list(pair)} for pair in product(_OF_A_LAYER, repeat=2)]


def stated_tasks(dataset: str, method: int | None, version: str, trials: int, quick: bool = False) -> list[Task]:
    """A cell of Table 3 by the letter of the paper, in one version of what it leaves unsaid.

    Without a method it is the last row's: method 5 with k(0) = 0, k(1) = k(2).
    """
    weights = BEST_K if method is None else "boltzmann" if method in UNDER_Z else _FREE.get(version, "free")
    return trials_of(dataset, method or 5, weights, PAPER[dataset], trials, quick, **STATED[version])


def scale_tasks(model: str, scale: float, decay: str, trials: int, quick: bool = False) -> list[Task]:
    """A cell of Figure 2's second panel: GCN's Â or PAN's Â + Â², times a scale, under the decay of either."""
    k = [0.0, scale] if model == "GCN" else [0.0, scale / 2, scale / 2]
    how = replace(GCN, weight_decay=DECAYS[decay])
    return trials_of("cora", 5, k, how, trials, quick, L=len(k) - 1)


def length_tasks(dataset: str, L: int, trials: int, quick: bool = False) -> list[Task]:
    """Method 5 with k(n) trained, of a length."""
    return trials_of(dataset, 5, "free", PAPER[dataset], trials, quick, L)


def law_tasks(dataset: str, L: int, alpha: float | None, trials: int, quick: bool = False) -> list[Task]:
    """Method 2 with E(n) = n^α and T alone trained, or without an α with every E(n) trained."""
    law = {"kind": "power-law", "alpha": alpha, "temperature": 1.0, "trained": True}
    return trials_of(dataset, 2, "boltzmann" if alpha is None else law, settings(dataset, 2), trials, quick, L)


def per_layer_tasks(dataset: str, quick: bool = False) -> list[Task]:
    """The grid with a k(n) for each layer, of which no point is tested."""
    points = PER_LAYER[:: len(PER_LAYER) // 2] if quick else PER_LAYER
    trials = 1 if quick else GRID_TRIALS
    return [task for k in points for task in trials_of(dataset, 5, k, PAPER[dataset], trials, quick, tested=False)]


def per_layer_points(records: Sequence[Record], dataset: str, quick: bool = False) -> list[Point]:
    """That grid, ranked by validation; empty until all of it has been trained."""
    return ranked_grid([record for record in records if not record.tested], per_layer_tasks(dataset, quick))


def _stated(datasets: Sequence[str], trials: int, quick: bool) -> Iterator[Task]:
    for name, method, version in product(datasets, (*TABLE3, None), STATED):
        yield from stated_tasks(name, method, version, trials, quick)


def _scale(datasets: Sequence[str], trials: int, quick: bool) -> Iterator[Task]:
    for model, scale, decay in product(("GCN", "PAN"), SCALES, DECAYS) if "cora" in datasets else ():
        yield from scale_tasks(model, scale, decay, trials, quick)


def _lengths(datasets: Sequence[str], trials: int, quick: bool) -> Iterator[Task]:
    for name, L in product(datasets, LENGTHS):
        yield from length_tasks(name, L, trials, quick)


def _law(datasets: Sequence[str], trials: int, quick: bool) -> Iterator[Task]:
    for name, L, alpha in product(datasets, LAW_LENGTHS, (None, *ALPHAS)):
        yield from law_tasks(name, L, alpha, trials, quick)


def _per_layer(datasets: Sequence[str], trials: int, quick: bool) -> Iterator[Task]:
    for name in datasets:
        yield from per_layer_tasks(name, quick)


FURTHER = {"stated": _stated, "scale": _scale, "lengths": _lengths, "law": _law, "per-layer": _per_layer}


def wanted(
    question: str, records: Sequence[Record], datasets: Sequence[str] = GRAPHS, trials: int = 10, quick: bool = False
) -> tuple[list[Task], int]:
    """The trainings of a question, and how many more there will be once the winners of its grid are known."""
    tasks, later = list(FURTHER[question](datasets, trials, quick)), 0
    for name in datasets if question == "per-layer" else ():
        winner, more = winner_or_later(name, per_layer_points(records, name, quick), trials, quick)
        tasks, later = tasks + winner, later + more
    return list({task.key(): task for task in tasks}.values()), later
