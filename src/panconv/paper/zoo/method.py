"""What is known of a method before it is trained, and the settings that many of them share. No torch here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from panconv.paper.published import TABLE2

# What trials that `fit` trains side by side may each have of their own, and what it is told only where it is said.
BY_TRIAL = ("lr", "weight_decay", "decay_others", "dropout", "dropout_scores")
UNSAID: dict[str, Any] = {"keep": "loss", "metric": "accuracy", "decay_others": 0.0}


@dataclass(frozen=True)
class Method:
    """A baseline: what is known of it before it is trained."""

    title: str  # as Table 2 has it, where it has it
    citation: str
    settings: dict[str, Any]
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)  # by graph
    met: str | None = None  # what M can be for it: its "operator", its "graph", its "walk"
    on_m: dict[str, dict[str, Any]] = field(default_factory=dict)  # what else changes there, by graph
    symmetric: bool = False  # whether its operator has to be symmetric
    one_split: bool = False  # whether trials side by side have to share a split: it takes no masks (N, S)
    own_epochs: bool = False  # whether it is trained by epochs of its own, and not by `fit`

    @property
    def in_table2(self) -> bool:
        """Whether it is one of the paper's 24, which alone are counted and ranked."""
        return self.title in TABLE2

    @property
    def by_fit(self) -> bool:
        """Whether `fit` trains it: it has scores then, and trials side by side may differ in the settings of
        `BY_TRIAL`."""
        return "decay" in self.settings and not self.own_epochs

    @property
    def known(self) -> dict[str, Any]:
        """All settings that it takes, with those that need not be named: what is never named is as it always was."""
        return {**(UNSAID if self.by_fit else {}), **self.settings}

    @property
    def paper(self) -> tuple[float | None, float | None, float | None]:
        """Its figures in Table 2, on Cora, Citeseer and Pubmed, in percent; None is the table's "-"."""
        return TABLE2.get(self.title, (None, None, None))

    def on(self, dataset: str, m: bool = False) -> dict[str, Any]:
        """Its settings on a graph, or on M of it; on a graph of the user's own, those it has everywhere."""
        return {**self.settings, **self.changes.get(dataset, {}), **(self.on_m.get(dataset, {}) if m else {})}


def stack(hidden: int | None = 16, lr: float = 0.01, weight_decay: float = 5e-4, **others: Any) -> dict[str, Any]:
    """The settings of what goes through `fit`; Kipf & Welling's where nothing else is said, with more patience.

    What a method has no use for is None, and left out: a record says what decided the outcome and nothing else.
    """
    plain = {"hidden": hidden, "lr": lr, "weight_decay": weight_decay, "decay": "first.", "dropout": 0.5}
    all_of_them = {**plain, "normalize": True, "epochs": 200, "patience": 50, **others}
    return {name: value for name, value in all_of_them.items() if value is not None}


def walks(loss: str, **others: Any) -> dict[str, Any]:
    """The settings of what learns from random walks."""
    walk = {"walk": "generic", "walks": 10, "length": 40, "window": 10}
    return {**walk, "loss": loss, "dimension": 128, "epochs": 1, "batch": 256, "lr": 0.01, "scale": "none", **others}


# SGC's, with the weight decays that its repository has. S²GC is built on that code, and gets the same.
LINEAR = stack(None, 0.2, 1.3e-5, decay="", dropout=None, epochs=100, patience=100)
LINEAR_BY_GRAPH = {"citeseer": {"weight_decay": 2.35e-5, "epochs": 150}, "pubmed": {"weight_decay": 7.4e-5}}
