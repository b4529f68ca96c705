"""What a training is measured by, by name: one function per metric, for all trials at once.

A metric takes scores (n, S, C), classes (n, S), or labels or numbers (n, S, C), and weights (n, S), or None for rows
that count alike; it gives (S,). No value is looked at from the host, so that an epoch with its metric can be replayed
on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from panconv.base.checks import shown
from panconv.base.near import meant

# What there is to learn, by the dtype of y, and how an error message calls that.
CLASSES, LABELS, NUMBERS = "classes", "labels", "numbers"
_HOLDS = {CLASSES: "class numbers", LABELS: "several labels per row", NUMBERS: "floating-point numbers"}


def kind_of_targets(y: Tensor) -> str:
    """Classes of integers, one per row; labels of booleans, several per row; or numbers of floating point."""
    if y.dtype == torch.bool:
        return LABELS
    return NUMBERS if y.is_floating_point() else CLASSES


def mean(each: Tensor, weight: Tensor | None = None) -> Tensor:
    """The mean over the rows (n, …) → (…), by their weights (n, S), if there are any."""
    if weight is None:
        return each.mean(0)
    weight = weight.reshape(*weight.shape, *[1] * (each.dim() - weight.dim()))
    return (each * weight).sum(0) / weight.sum(0)


def agreement(classes: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """The share of rows whose class is the right one: (n, …) → (…)."""
    return mean((classes == y).float(), weight)


def accuracy(scores: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """The share of rows whose highest score is that of their class."""
    return agreement(scores.argmax(-1), y, weight)


def macro_f1(scores: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """The mean over the classes, those that are there or predicted, of F₁ = 2·hits / (predicted + there)."""
    classes = torch.arange(scores.size(-1), device=y.device)
    there, predicted = (each.unsqueeze(-1) == classes for each in (y, scores.argmax(-1)))  # (n, S, C)
    hits, total = mean((there & predicted).double(), weight), mean(there.double() + predicted.double(), weight)
    return torch.where(total > 0, 2 * hits / total, torch.nan).nanmean(-1)


def auc(scores: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """The area under the ROC curve: of class 1 where there are two, otherwise the mean of each class against the rest.

    A class that all rows are of, or none, has no curve and is left out; NaN where that leaves no class.
    """
    C, wide = scores.size(-1), scores.double()
    if C == 2:
        levels, positive = (wide[..., 1:] - wide[..., :1]), (y == 1).unsqueeze(-1)
    else:
        levels, positive = wide.log_softmax(-1), y.unsqueeze(-1) == torch.arange(C, device=y.device)
    return area(levels, positive, weight).nanmean(-1)


def area(levels: Tensor, positive: Tensor, weight: Tensor | None = None) -> Tensor:
    """The chance that a positive's level is above a negative's, ties counted half: (n, …) → (…), NaN without a pair."""
    counts = torch.ones_like(levels, dtype=torch.float64)
    if weight is not None:
        counts = counts * weight.reshape(*weight.shape, *[1] * (levels.dim() - weight.dim()))
    level, count, up = (each.reshape(len(each), -1).T.contiguous() for each in (levels, counts, positive))  # (K, n)
    up, down = torch.where(up, count, 0), torch.where(up, 0, count)
    ranked, order = level.sort(-1)
    below = F.pad(down.gather(-1, order).cumsum(-1), (1, 0))  # the negatives among the lowest i
    beaten, met = (below.gather(-1, torch.searchsorted(ranked, level, right=tied)) for tied in (False, True))
    found = (up * (beaten + met)).sum(-1) / (2 * up.sum(-1) * down.sum(-1))
    return found.where(~level.isnan().any(-1), torch.nan).reshape(levels.shape[1:])


def label_accuracy(scores: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """The share of labels, each there or not, whose score is on the right side of 0."""
    return agreement(scores > 0, y, weight).mean(-1)


def label_auc(scores: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """The mean over the labels of the area under the ROC curve; one that all rows have, or none, is left out."""
    return area(scores.double(), y, weight).nanmean(-1)


def mae(scores: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """The mean absolute error."""
    return mean((scores - y).abs(), weight).mean(-1)


def r2(scores: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)², the mean over the columns; of a constant column 1 if it is met, otherwise 0."""
    wide = y.double()
    missed = mean((scores.double() - wide).square(), weight)  # (S, C)
    spread = mean((wide - mean(wide, weight)).square(), weight)
    return torch.where(spread > 0, 1 - missed / spread, (missed == 0).double()).mean(-1)


class Metric(NamedTuple):
    of: Callable[[Tensor, Tensor, Tensor | None], Tensor]
    kind: str  # what it is of: classes, labels or numbers
    worst: float  # what a trial has that never came to anything; inf where less is better

    @property
    def sign(self) -> int:
        """What makes the higher value the better one."""
        return -1 if self.worst == inf else 1


METRICS = {
    "accuracy": Metric(accuracy, CLASSES, 0.0),
    "macro_f1": Metric(macro_f1, CLASSES, 0.0),
    "auc": Metric(auc, CLASSES, 0.0),
    "label_accuracy": Metric(label_accuracy, LABELS, 0.0),
    "label_auc": Metric(label_auc, LABELS, 0.0),
    "mae": Metric(mae, NUMBERS, inf),
    "r2": Metric(r2, NUMBERS, -inf),
}
_USUAL = {CLASSES: "accuracy", LABELS: "label_accuracy", NUMBERS: "mae"}


def metrics_of(kind: str) -> list[str]:
    """The names of those that measure what is of a kind."""
    return [name for name, known in METRICS.items() if known.kind == kind]


def checked_metric(metric: str | None, kind: str) -> str:
    """The metric's own name, if it goes with what is to be learned; None stands for the usual one of that kind."""
    if metric is None:
        return _USUAL[kind]
    able = metrics_of(kind)
    if not isinstance(metric, str) or metric not in able:
        among = f"{', '.join(able)} where y holds {_HOLDS[kind]}"
        raise ValueError(f"metric must be one of {among}, got {shown(metric)}{meant(metric, able)}")
    return metric
