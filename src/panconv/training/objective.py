"""What a training goes down: the loss of each trial on some rows of its scores, and how well they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from panconv.training.metrics import LABELS, METRICS, NUMBERS, kind_of_targets, mean
from panconv.training.present import scores_of

# What a model that looks at several graphs at a time is told by this name: which of them are a trial's own.
GRAPH_WEIGHT = "graph_weight"


class Part(NamedTuple):
    """Some rows of the scores, and what is to be learned of them."""

    rows: Tensor | None  # (n,), or (n, S) where each trial has its own; None for all
    y: Tensor  # classes (n, 1) or (n, S), or labels or numbers (n, 1, C) or (n, S, C)
    weight: Tensor | None = None  # (n, 1) or (n, S), of each row: 0 for those that fill up, or are other trials'
    filled: bool = False  # whether there are such rows

    @staticmethod
    def of(y: Tensor, rows: Tensor | None = None, weight: Tensor | None = None, filled: bool = False) -> Part:
        """From the y of all rows, (N,) or (N, C)."""
        y = y if rows is None else y[rows]
        return Part(rows, y if rows is not None and rows.dim() == 2 else y.unsqueeze(1), weight, filled)

    def of_trials(self, which: Tensor | list[int]) -> Part:
        """What counts for some trials, in that order: their columns, where each has its own."""
        which = torch.as_tensor(which, device=self.y.device)
        if self.by_trial:
            return self._replace(weight=None if self.weight is None else self.weight.index_select(1, which))
        if self.rows is None or self.rows.dim() == 1:
            return self
        rows, y = self.rows.index_select(1, which), self.y.index_select(1, which)
        return self._replace(rows=rows, y=y, weight=None if self.weight is None else self.weight.index_select(1, which))

    @property
    def by_trial(self) -> bool:
        """Whether all trials have the same rows, and the weights tell which of them are a trial's own."""
        return self.filled and (self.rows is None or self.rows.dim() == 1)

    def size(self) -> int | Tensor:
        """How many rows count, of each trial, (S,), where they differ in that."""
        return self.weight.sum(0) if self.by_trial and self.weight is not None else len(self.y)


class Sample(NamedTuple):
    """What a model is called with, and the rows of its scores that count."""

    inputs: tuple[Any, ...]
    part: Part
    named: Mapping[str, Any] = {}
    step: Tensor | None = None  # the number of the step that is taken on it, from 1; (S,) where trials differ in that
    absent: Tensor | None = None  # (S,), the trials that have no row in it, where there are such; on the host

    def scores(self, model: Any) -> Tensor:
        """(N, C), or (N, S, C)."""
        return model(*self.inputs, **self.named)

    def picked(self, model: Any) -> Picked:
        """The scores that count; of a model that can find them alone (`takes_rows`), no others are found.

        Without a gradient likewise those of trials that have none, for a model that can narrow itself to the others.
        """
        some = self.absent is not None and not torch.is_grad_enabled() and not bool(self.absent.all())
        if some and self.absent is not None and hasattr(model, "narrowed"):
            return picked(scores_of(model, self.inputs, self.named, self.absent), self.part)
        if self.part.rows is None or not getattr(model, "takes_rows", False):
            return picked(self.scores(model), self.part)
        scores = model(*self.inputs, **self.named, rows=self.part.rows)
        return picked(scores, self.part._replace(rows=None))

    def of_trials(self, which: Tensor | list[int]) -> Sample:
        """The same for some of the trials alone."""
        found, named = self._replace(part=self.part.of_trials(which)), dict(self.named)
        if self.absent is not None:
            absent = self.absent[torch.as_tensor(which).cpu()]
            found = found._replace(absent=absent if bool(absent.any()) else None)
        if (weight := named.get(GRAPH_WEIGHT)) is not None and weight.dim() == 2:
            named[GRAPH_WEIGHT] = weight.index_select(1, torch.as_tensor(which, device=weight.device))
        return found._replace(named=named)


class Picked(NamedTuple):
    """Scores that count, and what they are to be; one trial has a dimension too."""

    scores: Tensor  # (n, S, C)
    y: Tensor  # (n, S), or labels or numbers (n, S, C)
    weight: Tensor | None  # (n, S)


def picked(scores: Tensor, part: Part) -> Picked:
    """The rows of scores (N, C) or (N, S, C) that count."""
    scores = scores.unsqueeze(1) if scores.dim() == 2 else scores
    if part.rows is None:
        if len(scores) != len(part.y):
            raise ValueError(f"the model gives {len(scores)} rows of scores, but y has {len(part.y)}: one for each")
    elif part.rows.dim() == 1:
        scores = scores.index_select(0, part.rows)
    else:
        scores = scores.gather(0, part.rows.unsqueeze(-1).expand(-1, -1, scores.size(-1)))
    S, weight = scores.size(1), part.weight
    return Picked(scores, part.y.expand(-1, S, *part.y.shape[2:]), None if weight is None else weight.expand(-1, S))


def losses(found: Picked) -> Tensor:
    """Of each trial, (S,): cross entropy of classes, or of each label, which are averaged; mean squared error of
    numbers."""
    kind, found = kind_of_targets(found.y), _heard(found)
    if kind == LABELS:
        y = found.y.to(found.scores.dtype)
        return _loss(F.binary_cross_entropy_with_logits(found.scores, y, reduction="none").mean(-1), found.weight)
    if kind == NUMBERS:
        return _loss((found.scores - found.y).square().mean(-1), found.weight)
    each = F.cross_entropy(found.scores.flatten(0, 1), found.y.flatten(), reduction="none")
    return _loss(each.reshape(found.y.shape), found.weight)


def _heard(found: Picked) -> Picked:
    """With scores of 0 where a row has no weight: one that is not finite there is of no account, nor is its slope."""
    if found.weight is None:
        return found
    return found._replace(scores=found.scores.masked_fill((found.weight == 0).unsqueeze(-1), 0))


def _loss(each: Tensor, weight: Tensor | None) -> Tensor:
    """The mean over the rows (n, S) → (S,); 0 for a trial that has none."""
    if weight is None:
        return mean(each)
    total = weight.sum(0)
    return (each * weight).sum(0) / total.where(total > 0, 1)


def measured(found: Picked, metric: str) -> tuple[Tensor, Tensor]:
    """The loss and the metric of each trial, (S,) each."""
    found = _heard(found)
    return losses(found), METRICS[metric].of(*found)


def gathered(model: Any, samples: Iterable[Sample]) -> Picked:
    """The rows that count of all samples, one behind the other."""
    found = [sample.picked(model) for sample in samples]
    if len(found) == 1:
        return found[0]
    weights = [each.weight if each.weight is not None else torch.ones_like(each.scores[..., 0]) for each in found]
    weight = None if all(each.weight is None for each in found) else torch.cat(weights)
    return Picked(torch.cat([each.scores for each in found]), torch.cat([each.y for each in found]), weight)
