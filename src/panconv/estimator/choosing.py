"""Which head: as asked, or whichever loses less on labels that it did not see."""

from __future__ import annotations

import logging
import time
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from panconv.base.checks import as_integer, shown
from panconv.base.heads import HEADS
from panconv.base.near import meant
from panconv.base.times import checked_seconds
from panconv.estimator.base import LinearModel
from panconv.estimator.deep import SEEDS, DeepHead, DeepTraining
from panconv.estimator.labels import Labels
from panconv.estimator.lost import Lost, least
from panconv.estimator.nodes import Matrix, Nodes
from panconv.estimator.penalties import Task
from panconv.estimator.recipes import held_recipes
from panconv.estimator.terms import Paths
from panconv.estimator.weighed import Weighed, best_linear, linear_head

_log = logging.getLogger(__name__)
PRESETS = ("general", "heterophilous")  # of the deep head; the second within a budget alone, since it takes minutes
_SPENT = 0.95  # of a budget; the rest is for what comes after the trainings
_LEAST = 0.1  # of a budget: with less left after the linear heads there is no deep one
_PATIENCE = 600.0  # seconds for a deep head that nobody asked for, where no budget was given


class Choice(NamedTuple):
    """A head, and how it was come by."""

    head: str  # "linear" or "pan"
    name: str  # which candidate it was, of `losses`
    model: LinearModel | DeepHead
    scores: Tensor  # (n, C) of the labelled rows, out of fold; NaN for a row that was never held out
    losses: dict[str, float]  # of what was tried, out of fold


def chosen_head(asked: Any, nodes: Nodes | Matrix, labels: Labels, task: Task, seed: int, began: float) -> Choice:
    """The head that an estimator asks for by its `head`, `L`, `method`, `paths`, `cv`, `seeds`, `epochs` and `budget`.

    Args:
        asked: the estimator.
        nodes: what it learns from: the features alone, where there is no graph.
        labels: what is known.
        task: the same for the linear head, with weights and folds.
        seed: of all that is drawn.
        began: when the budget began, by `time.perf_counter`.
    """
    if asked.head not in HEADS:
        raise ValueError(f"head must be one of {', '.join(HEADS)}, got {shown(asked.head)}{meant(asked.head, HEADS)}")
    end = None if asked.budget is None else began + _SPENT * checked_seconds(asked.budget, "budget")
    linear = None if asked.head == "pan" else _linear(asked, nodes, labels, task)
    left = end is None or linear is None or time.perf_counter() + _LEAST * (end - began) < end
    training = _deep(asked, nodes, labels, task, seed) if left else None
    presets, searching = (PRESETS[:1], False) if end is None else (PRESETS, True)
    end = _limit(end, asked.head)
    deep = {} if training is None else held_recipes(training, task, asked.epochs, presets, end, searching)
    lost = {} if linear is None else {linear.name: Lost.of(linear.scores, task)}
    lost |= {name: Lost.of(held.scores, task, held.elsewhere) for name, held in deep.items()}
    losses = ({} if linear is None else linear.losses) | {name: each.mean for name, each in lost.items()}
    name = least(lost)
    told = ", ".join(f"{each} {loss:.3f}" for each, loss in losses.items())
    _log.info("head: chose %s (lost out of fold: %s), in %.2f s", name, told, time.perf_counter() - began)
    if training is not None and name in deep:
        return Choice("pan", name, training.finished(deep[name], end), deep[name].scores, losses)
    assert linear is not None
    return Choice("linear", name, linear.model, linear.scores, losses)


def _limit(end: float | None, head: str) -> float | None:
    """When the deep head has to be done, from now on: one that nobody asked for does not take for ever."""
    return time.perf_counter() + _PATIENCE if end is None and head == "auto" else end


def _linear(asked: Any, nodes: Nodes | Matrix, labels: Labels, task: Task) -> Weighed:
    if not isinstance(nodes, Nodes):
        return linear_head(None, nodes, labels.rows, task)
    head = best_linear if asked.head == "auto" else linear_head
    return head(Paths(asked.L, asked.method, asked.paths), nodes, labels.rows, task)


def _deep(asked: Any, nodes: Nodes | Matrix, labels: Labels, task: Task, seed: int) -> DeepTraining | None:
    """Where the deep head is asked for, or may be tried."""
    # It deals parts of its own, which keep to no splitter.
    able = isinstance(nodes, Nodes) and as_integer(asked.cv) is not None
    if asked.head == "pan" and not able:
        raise ValueError("head='pan' needs a graph, and a number for cv: set head='linear'")
    if asked.head == "linear" or not able or (asked.head == "auto" and not _enough(labels, asked.seeds)):
        return None
    return DeepTraining(nodes, labels, task.weight, [seed % 2**31 + s for s in range(asked.seeds)])


def _enough(labels: Labels, seeds: int) -> bool:
    """Whether there are labels for the parts that the seeds leave out."""
    if labels.kind != "softmax":
        return len(labels.rows) >= 2 * max(seeds, SEEDS)
    counts = np.bincount(labels.y[labels.known])
    return int(counts[counts > 1].sum()) >= max(seeds, SEEDS)
