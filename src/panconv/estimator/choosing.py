"""Which head: as asked, or whichever loses less on labels that it did not see."""

from __future__ import annotations

import logging
import time
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_integer, checked_positive, shown
from panconv.base.near import meant
from panconv.estimator.base import LinearModel, terms_of
from panconv.estimator.calibration import log_loss, temperature
from panconv.estimator.deep import SEEDS, DeepHead, DeepTraining
from panconv.estimator.labels import Labels
from panconv.estimator.linear import fit_linear
from panconv.estimator.nodes import Matrix, Nodes
from panconv.estimator.penalties import Task
from panconv.estimator.terms import Paths
from panconv.training.models import PAN

HEADS = ("linear", "pan", "auto")
_log = logging.getLogger(__name__)


class Choice(NamedTuple):
    """A head, and how it was come by."""

    name: str  # "linear" or "pan"
    model: LinearModel | DeepHead
    scores: Tensor  # (n, C) of the labelled rows, out of fold; NaN for a row that was never held out
    losses: dict[str, float]  # of what was tried, out of fold


def chosen_head(asked: Any, nodes: Nodes | Matrix, labels: Labels, task: Task, seed: int) -> Choice:
    """The head that an estimator asks for by its `head`, `L`, `method`, `paths`, `cv`, `seeds`, `epochs` and `budget`.

    Args:
        asked: the estimator.
        nodes: what it learns from: the features alone, where there is no graph.
        labels: what is known.
        task: the same for the linear head, with weights and folds.
        seed: of all that is drawn.
    """
    if asked.head not in HEADS:
        raise ValueError(f"head must be one of {', '.join(HEADS)}, got {shown(asked.head)}{meant(asked.head, HEADS)}")
    began = time.perf_counter()
    end = None if asked.budget is None else began + checked_positive(asked.budget, "budget")
    # The deep head deals parts of its own, which keep to no splitter.
    able = isinstance(nodes, Nodes) and as_integer(asked.cv) is not None
    if asked.head == "pan" and not able:
        raise ValueError("head='pan' needs a graph, and a number for cv: set head='linear'")
    found: dict[str, tuple[LinearModel | DeepHead, Tensor]] = {}
    if asked.head != "pan":
        found["linear"] = _linear(asked, nodes, labels, task)
    if asked.head == "pan" or (asked.head == "auto" and able and _enough(labels, asked.seeds)):
        assert isinstance(nodes, Nodes)
        training = DeepTraining(nodes, labels, task.weight, [seed % 2**31 + s for s in range(asked.seeds)])
        recipe = PAN.preset("general")
        held = training.held(recipe if asked.epochs is None else recipe.but(epochs=asked.epochs), end)
        found["pan"] = training.finished(held, end), held.scores
    losses = {name: told(scores, task) for name, (_, scores) in found.items()}
    name = min(found, key=losses.__getitem__)
    lost = ", ".join(f"{each} {loss:.3f}" for each, loss in losses.items())
    _log.info("head: chose %s (lost out of fold: %s), in %.2f s", name, lost, time.perf_counter() - began)
    return Choice(name, *found[name], losses)


def _linear(asked: Any, nodes: Nodes | Matrix, labels: Labels, task: Task) -> tuple[LinearModel, Tensor]:
    paths = Paths(asked.L, asked.method, asked.paths) if isinstance(nodes, Nodes) else None
    head = fit_linear((block[labels.rows] for block in terms_of(nodes, paths)), task)
    return LinearModel(head, paths), head.chosen.scores


def _enough(labels: Labels, seeds: int) -> bool:
    """Whether there are labels for the parts that the seeds leave out."""
    if labels.kind != "softmax":
        return len(labels.rows) >= 2 * max(seeds, SEEDS)
    counts = np.bincount(labels.y[labels.known])
    return int(counts[counts > 1].sum()) >= max(seeds, SEEDS)


def told(scores: Tensor, task: Task) -> float:
    """What is lost out of fold: the log loss, each head at its own best temperature; of numbers the square, where each
    column's variance is 1. NaN where nothing was held out."""
    known = scores.isfinite().all(1)
    if not bool(known.any()):
        return float("nan")
    scores, targets, weight = scores[known], task.targets[known], task.weight[known]
    if task.loss == "squared":
        return float(_squared(scores, targets, weight))
    return float(log_loss(scores / temperature(scores, targets, weight, task.loss), targets, weight, task.loss))


def _squared(scores: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    share = (weight / weight.sum()).unsqueeze(1)
    spread = (share * (targets - (share * targets).sum(0)).square()).sum(0)
    lost = (share * (scores - targets).square()).sum(0)
    return (lost / torch.where(spread > 0, spread, 1.0)).mean()
