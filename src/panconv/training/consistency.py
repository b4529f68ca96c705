"""Consistency: what a model says of a node should not hang on which nodes and features were dropped just now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from panconv.base import by_trial, random
from panconv.base.by_trial import Numbers, Placed, checked_by_trial
from panconv.base.checks import checked_count
from panconv.training.draws import drawn
from panconv.training.metrics import CLASSES, kind_of_targets
from panconv.training.objective import Part, Sample, losses, picked


class Regularizer(Protocol):
    """What `fit` takes as `regularizer`: any function of the model and a sample that gives the loss of each trial,
    (S,), the whole of what a step goes down. For the plain one write ``losses(picked(sample.scores(model),
    sample.part))`` with the two functions of `panconv.training.objective`.

    It looks at no value from the host, so that an epoch can be recorded on a GPU. With `narrowed`, `fit` may go on with
    some of the trials alone; without it all are trained until the last has ended.
    """

    def __call__(self, model: Any, sample: Sample) -> Tensor: ...
    def narrowed(self, rows: Sequence[int]) -> Regularizer: ...


class Consistency:
    """Random propagation's loss (Feng et al., 2020): several draws of the dropout at each step, which are to agree.

    The loss of a trial is the mean over the draws of its cross entropy, plus `weight` times the mean over draws and
    nodes of ‖p − p'‖², where p are the probabilities of a draw and p' ∝ p̄^(1/sharpening) those of their mean p̄,
    sharpened, through which no gradient goes.

    Args:
        draws: how many.
        weight: of the consistency, a number or one per trial.
        sharpening: a temperature, a number or one per trial: below 1 it makes p' surer than p̄.
        confidence: a number or one per trial: nodes of which no class has a p̄ that high are left alone (Feng et al.,
            2022). A model that is held to its own first guesses may never leave them: all nodes are of one class then,
            and agree.
        nodes: how many nodes the consistency is measured on beside the training nodes, drawn anew at each step, each
            trial its own; None for all. For `PAN`: one of one layer that propagates first, with the option ``nearest``
            of its `inputs`, then costs little more than these and the training nodes.
        ramp: steps over which the weight grows from 0 to its own: against the same end as `confidence`.
        labelled: how many of the training nodes the cross entropy is that of, drawn anew at each step, each trial its
            own; None, or as many as there are, for all. A few at a time let what is agreed on count for more than what
            is known by heart.

    >>> half_and_whole = Consistency(weight=[0.5, 1.0])  # fit(PAN(…, trials=2), data, seeds=[0, 1], regularizer=…)
    >>> half_and_whole.narrowed([1]).weight
    1.0
    """

    def __init__(
        self,
        draws: int = 4,
        weight: float | Sequence[float] = 1.0,
        sharpening: float | Sequence[float] = 0.5,
        confidence: float | Sequence[float] = 0.0,
        nodes: int | None = None,
        ramp: int = 0,
        labelled: int | None = None,
    ) -> None:
        self.draws = checked_count(draws, "draws")
        self.nodes = None if nodes is None else checked_count(nodes, "nodes")
        self.ramp = checked_count(ramp, "ramp", least=0)
        self.labelled = None if labelled is None else checked_count(labelled, "labelled")
        least = (lambda each: 0 <= each < math.inf, "at least 0 and finite")
        self.weight: Numbers = checked_by_trial(weight, "weight", *least)
        self.confidence: Numbers = checked_by_trial(
            confidence, "confidence", lambda each: 0 <= each <= 1, "a number of 0 … 1"
        )
        self.sharpening: Numbers = checked_by_trial(
            sharpening, "sharpening", lambda each: 0 < each < math.inf, "positive and finite"
        )
        self._placed = {name: Placed() for name in ("weight", "sharpening", "confidence")}

    def __call__(self, model: Any, sample: Sample) -> Tensor:
        if (kind := kind_of_targets(sample.part.y)) != CLASSES:
            raise ValueError(f"Consistency goes with classes, but y holds {kind}, {sample.part.y.dtype}: leave it out")
        named = sample.named
        if self.labelled is not None:
            sample = sample._replace(part=_some(model, sample, self.labelled))
        if self.nodes is not None:
            named = {**named, "rows": _with_drawn(model, sample, self.nodes)}
        scores = drawn(model, sample.inputs, named, self.draws)  # (N, S, draws, C)
        S, counted = scores.size(1), scores
        part = sample.part.of_trials(torch.arange(S * self.draws, device=scores.device) // self.draws)
        if self.nodes is not None:
            counted, part = scores[: len(part.y)], part._replace(rows=None)
        entropy = losses(picked(counted.flatten(1, 2), part)).unflatten(0, (S, self.draws))
        weight = self._number("weight", scores)
        if self.ramp and sample.step is not None:
            weight = weight * (sample.step.to(scores.dtype) / self.ramp).clamp(max=1)
        return entropy.mean(1) + weight * self._distance(scores.softmax(-1))

    def _distance(self, p: Tensor) -> Tensor:
        """The mean over nodes and draws of ‖p − p'‖², 0 where p̄ is unsure, (N, S, draws, C) → (S,)."""
        mean, sharpening = p.detach().mean(2, keepdim=True), self._number("sharpening", p)
        sharpening = sharpening.reshape(-1, 1, 1) if isinstance(sharpening, Tensor) else sharpening
        target = (mean.log() / sharpening).softmax(-1)
        apart = (p - target).square().sum(-1)  # (N, S, draws)
        if self.confidence != 0:
            sure = mean.amax((2, 3)) >= self._number("confidence", p)  # (N, S)
            apart = apart * sure.unsqueeze(-1)
        return apart.mean((0, 2))

    def _number(self, name: str, like: Tensor) -> float | Tensor:
        """A setting as a number, or as a tensor (S,) like another tensor (N, S, …)."""
        numbers = getattr(self, name)
        if isinstance(numbers, tuple) and len(numbers) != like.size(1):
            raise ValueError(f"{name} must be a number, or {like.size(1)}, one per trial, got {len(numbers)} of them")
        found = self._placed[name](numbers, like.device)
        return found.to(like.dtype) if isinstance(found, Tensor) else found

    def narrowed(self, rows: Sequence[int]) -> Consistency:
        """The same for some of the trials alone."""
        weight, sharpening, confidence = (
            by_trial.picked(each, rows) for each in (self.weight, self.sharpening, self.confidence)
        )
        return Consistency(self.draws, weight, sharpening, confidence, self.nodes, self.ramp, self.labelled)


_OF_LABELS = 1  # the stream of what is learned of, beside that of what is to agree


def _with_drawn(model: Any, sample: Sample, nodes: int) -> Tensor:
    """The training nodes of each trial, and behind them those that are drawn for this step, (n, S)."""
    if not hasattr(model, "takes_rows"):
        raise ValueError(f"nodes goes with a PAN, got nodes = {nodes} with another module: leave it out")
    if sample.part.filled:
        raise ValueError(f"nodes goes with splits of one size for all trials, got nodes = {nodes}: leave it out")
    N, S, device = sample.inputs[0].shape[0], model.trials or 1, sample.part.y.device
    rows = torch.arange(N, device=device) if sample.part.rows is None else sample.part.rows
    now = _words(model, nodes, S, device) % N
    return torch.cat([rows if rows.dim() == 2 else rows.unsqueeze(1).expand(-1, S), now])


def _some(model: Any, sample: Sample, count: int) -> Part:
    """So many of the rows of each trial that are to be learned of, drawn for this step without repeats."""
    part = sample.part
    if part.filled:
        raise ValueError(f"labelled goes with splits of one size for all trials, got labelled = {count}: leave it out")
    n, S, device = len(part.y), getattr(model, "trials", None) or 1, part.y.device
    if count >= n:
        return part
    place = _words(model, n, S, device, _OF_LABELS).argsort(0)[:count]  # (count, S)
    rows = torch.arange(n, device=device) if part.rows is None else part.rows
    rows = (rows if rows.dim() == 2 else rows.unsqueeze(1).expand(-1, S)).gather(0, place)
    weight = None if part.weight is None else _gathered(part.weight, place)
    return part._replace(rows=rows, y=_gathered(part.y, place), weight=weight)


def _gathered(values: Tensor, place: Tensor) -> Tensor:
    """Rows of values (n, 1, …) or (n, S, …), each trial's own, (k, S) → (k, S, …)."""
    values = values.expand(-1, place.size(1), *values.shape[2:])
    return torch.take_along_dim(values, place.reshape(*place.shape, *[1] * (values.dim() - 2)), 0)


def _words(model: Any, count: int, S: int, device: torch.device, *stream: int) -> Tensor:
    """Random words, (count, S), by the keys of the step, each trial's own; of torch's generator outside of `fit`."""
    keys = getattr(model, "row_keys", None)
    if keys is None:
        return torch.randint(2**31, (count, S), device=device)
    return random.words(random.keys(keys.reshape(-1), *stream) if stream else keys.reshape(-1), (count,)).T
