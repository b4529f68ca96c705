"""The linear heads that `head="auto"` weighs against each other: what they see differs, and nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from panconv.estimator.base import LinearModel, terms_of
from panconv.estimator.linear import LinearHead, fit_linear, some_rows
from panconv.estimator.lost import Lost, least
from panconv.estimator.nested import without_say
from panconv.estimator.nodes import Matrix, Nodes
from panconv.estimator.penalties import Task
from panconv.estimator.terms import Paths, blocks
from panconv.met import METHODS

ALONE = {"linear, no edges": Paths(0)}
# Paths without the self-loops of Â, which mix what a node is with what its neighbours are; and long ones, by which few
# labels reach many nodes.
OTHERS = {"linear, method 9, L = 5": Paths(5, 9), "linear, L = 10": Paths(10)}
_MOST = 2**28  # values of all terms together, from which on longer paths than those that are asked for are not tried


class Weighed(NamedTuple):
    """The best of some linear heads."""

    name: str
    model: LinearModel
    scores: Tensor  # (n, C) of the labelled rows, out of fold, of which none had a say in the choice
    losses: dict[str, float]  # of each, out of fold, on as many rows as they were compared on


def linear_head(paths: Paths | None, nodes: Nodes | Matrix, rows: np.ndarray, task: Task) -> Weighed:
    """The head on the paths that are asked for alone; without a graph on the features."""
    head = fit_linear(terms_of(nodes, paths, rows), task)
    return Weighed("linear", _kept(LinearModel(head, paths)), head.unflattered(task), {})


def best_linear(paths: Paths, nodes: Nodes, rows: np.ndarray, task: Task) -> Weighed:
    """The best of the head that is asked for, of `ALONE` and of `OTHERS`, compared on some rows and fitted on all."""
    asked = {**ALONE, "linear": paths, **(OTHERS if _able(paths, nodes) else {})}
    few = some_rows(len(rows), max(each.L + 1 for each in asked.values()) * nodes.x.shape[1])
    compared, its = (rows, task) if few is None else (rows[few.numpy()], task.of(few))
    found: dict[str, LinearModel] = {}
    for alike in _by_method(asked):
        longest = max(alike.values(), key=lambda each: each.L)
        terms = list(blocks(nodes, longest, compared))
        for name, each in alike.items():
            found[name] = LinearModel(fit_linear(terms[: each.L + 1], its), each)
    heads = {name: found[name].head for name in asked}
    lost = {name: Lost.of(head.unflattered(its), its) for name, head in heads.items()}
    best = least(lost)
    losses = {name: each.mean for name, each in lost.items()}
    if few is None:
        return Weighed(best, _kept(found[best]), without_say(lambda weight: _picked(heads, its, weight), its), losses)
    return linear_head(asked[best], nodes, rows, task)._replace(name=best, losses=losses)


def _kept(model: LinearModel) -> LinearModel:
    """Without what it was chosen from."""
    return model._replace(head=model.head._replace(tried=None))


def _picked(heads: dict[str, LinearHead], task: Task, weight: Tensor) -> Tensor:
    """The scores, out of fold, of the head that rows with some weights choose."""
    task = task._replace(weight=weight)
    scores = {name: head.picked(weight).scores for name, head in heads.items()}
    return scores[least({name: Lost.of(each, task) for name, each in scores.items()})]


def _by_method(asked: dict[str, Paths]) -> list[dict[str, Paths]]:
    """Those whose terms are the same as far as they go, together: of a method without Z, which adds up all lengths."""
    groups: dict[Any, dict[str, Paths]] = {}
    for name, each in asked.items():
        # Of options or a function nothing is known, as in `TermStore.blocks`.
        alike = isinstance(each.kind, str) and METHODS[each.method].overall is None
        key = (each.method, each.kind) if alike else name
        groups.setdefault(key, {})[name] = each
    return list(groups.values())


def _able(paths: Paths, nodes: Nodes) -> bool:
    """Whether others are worth a trial: not where paths of another kind are asked for, whose number grows with their
    length; nor where edges repel, which few methods can take; nor where their terms would fill the memory."""
    if paths.kind != "walks" or (nodes.adj.value is not None and bool((nodes.adj.value < 0).any())):
        return False
    return max(each.L + 1 for each in OTHERS.values()) * nodes.x.shape[0] * nodes.x.shape[1] <= _MOST
