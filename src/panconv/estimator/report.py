"""What a head is worth beside less: the majority class, the features without the graph, the graph without features."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.estimator.linear import fit_linear
from panconv.estimator.nodes import Nodes
from panconv.estimator.penalties import Task
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paths import Walks

_REACH, _KEPT = 20, 0.9  # label propagation: how many steps, and how much of a label goes on at each
_STRUCTURE = "node structure"  # degrees, positions and the like, which are no features that anybody gave
_WIDE = 1.96  # standard errors on either side of an interval of 95 %


class Gain(NamedTuple):
    """How many more rows are right, a share, with an interval of 95 %."""

    mean: float
    low: float
    high: float

    @staticmethod
    def of(right: Tensor, other: Tensor) -> Gain:
        """From whether each row is right by one and by the other, (n,): their difference, row by row."""
        difference = right.double() - other.double()
        n, mean = len(difference), float(difference.mean())
        error = float(difference.std()) / math.sqrt(n) if n > 1 else math.inf
        return Gain(mean, mean - _WIDE * error, mean + _WIDE * error)


class Report(NamedTuple):
    """Accuracy out of fold, of the same rows for all, and what the graph brings."""

    head: str
    labels: int  # how many were held out
    accuracy: dict[str, float]
    gain: Gain  # over the features alone
    of_edges: bool = False  # whether the features are made of the edges, since the nodes have none of their own

    def interval(self, name: str) -> tuple[float, float]:
        """Of an accuracy, of 95 %."""
        return wilson(self.accuracy[name], self.labels)

    @property
    def verdict(self) -> str:
        """Whether the graph helps, in a sentence."""
        mean, low, high = (100 * value for value in self.gain)
        what, less = ("Looking along paths", _STRUCTURE) if self.of_edges else ("The graph", "the features")
        words = f"It is not clear whether {what[0].lower()}{what[1:]} helps"
        if low > 0:
            words = f"{what} helps"
        elif high < 0:
            words = f"{what} does harm"
        return (
            f"{words}: {mean:+.1f} points of accuracy over {less} alone (95 % interval {low:+.1f} to "
            f"{high:+.1f}, {self.labels} labels, each predicted without itself)."
        )

    def __str__(self) -> str:
        called = {"features alone": f"{_STRUCTURE} alone"} if self.of_edges else {}
        rows = [f"{called.get(name, name):<20} {100 * value:5.1f} %" for name, value in self.accuracy.items()]
        return "\n".join([*rows, self.verdict])


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of 95 % of a share of n, which stays between 0 and 1."""
    if not n:
        return 0.0, 1.0
    square = _WIDE**2 / n
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def beside(nodes: Nodes, rows: Tensor, task: Task) -> dict[str, Tensor]:
    """What less than a head says of the labelled nodes, scores (n, C) out of fold.

    Args:
        nodes: the graph.
        rows: (n,), the numbers of the labelled nodes.
        task: their classes and folds.
    """
    return {
        "features alone": fit_linear([nodes.x[rows.numpy()]], task).chosen.scores,
        "graph alone": propagated(nodes.adj, rows, task),
        "majority class": majority(task),
    }


def report(head: str, scores: Tensor, others: dict[str, Tensor], task: Task, of_edges: bool = False) -> Report | None:
    """What the head is worth; None where no label was held out.

    Args:
        head: its name.
        scores: (n, C) of the head, out of fold.
        others: what `beside` found.
        task: the classes and folds of the labelled nodes.
        of_edges: whether the features are made of the edges.
    """
    found = {f"head {head!r}": scores, **others}
    told = torch.stack([each.isfinite().all(1) for each in found.values()]).all(0)
    if not bool(told.any()):
        return None
    y = task.targets.argmax(1)
    right = {name: (each.argmax(1) == y)[told] for name, each in found.items()}
    accuracy = {name: float(each.double().mean()) for name, each in right.items()}
    gain = Gain.of(right[f"head {head!r}"], right["features alone"])
    return Report(head, int(told.sum()), accuracy, gain, of_edges)


def propagated(adj: Adjacency, rows: Tensor, task: Task) -> Tensor:
    """Label propagation, Σₙ αⁿ (D⁻¹A)ⁿ Y with the labels of one fold hidden at a time, (n, C) out of fold."""
    K, C = task.folds.K, task.targets.size(1)
    shares = (task.targets * task.weight.unsqueeze(1)).sum(0) / task.weight.sum()
    shown = task.folds.train.to(task.targets.dtype).unsqueeze(2) * task.targets.unsqueeze(1)  # (n, K, C)
    Y = torch.zeros(adj.num_nodes, K * C, dtype=torch.float64)
    Y[rows] = shown.flatten(1)
    M = MET(Walks(adj, _REACH), [_KEPT**n for n in range(_REACH + 1)], method=8)
    reached = (M @ Y)[rows].unflatten(1, (K, C))
    # Where no label comes near, the commonest class is all there is to say.
    return task.folds.out_of_fold(reached + 1e-9 * shares)


def majority(task: Task) -> Tensor:
    """The shares of the classes among the labels of each fold, (n, C) out of fold."""
    weight = task.folds.train.to(task.targets.dtype) * task.weight.unsqueeze(1)  # (n, K)
    counts = weight.T @ task.targets  # (K, C)
    return task.folds.out_of_fold(counts.expand(len(task.weight), *counts.shape))
