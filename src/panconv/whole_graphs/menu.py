"""The models of the contest over whole graphs, by name: what each is, and the settings it is chosen from.

All have the same width, depth, batches, epochs and patience, and the same grid of eight settings; the authors' network
alone has its own. Never imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from panconv.base.near import meant
from panconv.records.schema import GRAPHS

# What is the same for all that have it, where a model or its grid says nothing else. The best epoch is that of the
# highest validation accuracy, the last of several: this is what the grid is chosen by as well, and what is tested; the
# lowest loss comes early, where a model is not yet sure of what it has right, and on such sets it ends trainings whose
# accuracy still rises.
COMMON: dict[str, Any] = {
    **{"hidden": 64, "layers": 4, "readout": "sum", "dropout": 0.0},
    **{"lr": 0.001, "weight_decay": 0.0, "batch": 128, "epochs": 250, "patience": 50, "keep": "accuracy"},
}
# What trials side by side may each have of their own; all else shapes the model, or its training.
VECTORS = ("lr", "weight_decay", "dropout")
QUICK = {"epochs": 10}
_QUICK_SETTINGS = 2

# What all models but the authors' choose from.
_GRID: dict[str, Sequence[Any]] = {"readout": ("sum", "mean"), "dropout": (0.0, 0.5), "lr": (0.001, 0.01)}
# Where PyG's benchmarks have theirs: behind every second layer but the last.
_POOL = {"ratio": 0.8}


@dataclass(frozen=True)
class Entry:
    """A model of the menu.

    Args:
        title: as tables have it.
        words: what it is, in a line.
        kind: how it is made, by `panconv.whole_graphs.models`.
        settings: what it has beside `COMMON`, or otherwise.
        grid: the values that are tried of some settings, each with each.
        beside: whether trials train side by side, in one set of tensors.
        apart: whether it has none of `COMMON`, but all settings of its own.
    """

    title: str
    words: str
    kind: str = "graph"
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    beside: bool = True
    apart: bool = False

    def points(self, dataset: str = "", quick: bool = False) -> list[dict[str, Any]]:
        """The settings that are tried on a set of graphs; two of them and few epochs for a first look."""
        own = dict(self.settings) if self.apart else {**COMMON, **self.settings}
        own |= _of_authors(dataset) if self.kind == "authors" else {}
        made = [{**own, **dict(zip(self.grid, values, strict=True))} for values in product(*self.grid.values())]
        return [{**each, **QUICK} for each in made[:_QUICK_SETTINGS]] if quick else made


# What the README of the authors' repository says, and its scripts where that says nothing. They train for all epochs.
_AUTHORS: dict[str, Any] = {
    **{"hidden": 64, "L": 3, "ratio": 0.5, "dropout": 0.5, "lr": 0.005, "weight_decay": 0.001},
    **{"batch": 32, "epochs": 100, "patience": 100, "keep": "loss"},
}
_OF_AUTHORS: dict[str, dict[str, Any]] = {
    f"point-patterns-{fraction}": {"L": 4, "batch": 64} for fraction in ("0.3", "0.35", "0.4")
}


def _of_authors(dataset: str) -> dict[str, Any]:
    """Their settings for a set, however many graphs of it were generated."""
    return next((how for name, how in _OF_AUTHORS.items() if f"{dataset}-".startswith(f"{name}-")), {})


# docs/graphs.md says how L and method were chosen.
_PAN: dict[str, Any] = {"conv": "pan", "method": 9, "L": 3}


def _pan(title: str, words: str, beside: bool = True, **changes: Any) -> Entry:
    return Entry(title, words, settings={**_PAN, **changes}, grid=_GRID, beside=beside)


def _pan_pool(title: str, words: str, centrality: str) -> Entry:
    return _pan(title, words, beside=False, centrality=centrality, **_POOL)


def _peer(title: str, words: str, conv: str) -> Entry:
    return Entry(title, words, settings={"conv": conv}, grid=_GRID)


MENU: dict[str, Entry] = {
    "pan": _pan("PAN", "PANGraph: a matrix per length of walks, up to three steps"),
    "gin": _peer("GIN", "the same body on sums over neighbours", "gin"),
    "gcn": _peer("GCN", "the same body on Â", "gcn"),
    "sage": _peer("GraphSAGE", "the same body on means of neighbours", "sage"),
    "structure-free": _peer("structure-free", "the same body without the edges", "none"),
    "sagpool": Entry(
        "SAGPool", "PyG's GCNConv and SAGPooling", "pooled", dict(pool="sag", **_POOL), _GRID, beside=False
    ),
    "topk": Entry(
        "TopKPool", "PyG's GCNConv and TopKPooling", "pooled", dict(pool="topk", **_POOL), _GRID, beside=False
    ),
    # What each part of PAN brings.
    "pan-1": _pan("PAN, L = 1", "the same with neighbours alone", L=1),
    "pan-2": _pan("PAN, L = 2", "the same with walks of up to two steps", L=2),
    "pan-walk": _pan("PAN, method 8", "the same with averages over walks, D⁻¹A in place of D^−½AD^−½", method=8),
    "pan-sum": _pan(
        "PAN, Σ k(n)", "a trained number per length in place of a matrix, method 5", method=5, concat=False
    ),
    "pan-pool": _pan_pool("PAN, PANPool", "with a pool that keeps the nodes that most paths run to", "rows"),
    "pan-pool-diagonal": _pan_pool("PAN, PANPool, diagonal", "the nodes that most paths come back to", "diagonal"),
    "authors": Entry(
        "AuthorsPAN",
        "the network of the authors' second paper, under their settings",
        "authors",
        _AUTHORS,
        beside=False,
        apart=True,
    ),
}


def recorded(name: str) -> str:
    """A model's name as records have it."""
    return GRAPHS + name


def entry_of(model: str) -> Entry | None:
    """The model of a record; None of one that is no model of whole graphs."""
    return MENU.get(model.removeprefix(GRAPHS)) if model.startswith(GRAPHS) else None


def checked(name: str) -> str:
    """A model's name itself, if it is on the menu, capitals aside."""
    plain = name.strip().lower()
    if plain not in MENU:
        raise ValueError(f"model must be one of {', '.join(MENU)}, got {name!r:.60}{meant(plain, MENU)}")
    return plain
