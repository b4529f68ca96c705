"""What a head is worth beside less: the majority class, the features without the graph, the graph without features."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.words import signed
from panconv.estimator.figure import Figure, helps, wilson
from panconv.estimator.linear import fit_linear
from panconv.estimator.nodes import Nodes
from panconv.estimator.penalties import Task
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paths import Walks

_REACH, _KEPT = 20, 0.9  # label propagation: how many steps, and how much of a label goes on at each
_PRODUCTS = 2**33  # of edges with labels, in all steps: more, some 20 seconds of one core, are not propagated
_AT_ONCE = 2**22  # values of all nodes that are propagated at a time
_STRUCTURE = "node structure"  # degrees, positions and the like, which are no features that anybody gave
_ALONE, _PROPAGATED = "features alone", "graph alone"


class Report(NamedTuple):
    """Accuracy out of fold, of the same rows for all, and what the graph brings."""

    head: str
    labels: int  # how many were held out
    accuracy: dict[str, float]
    gain: Figure  # over the features alone
    of_edges: bool = False  # whether the features are made of the edges, since the nodes have none of their own

    def interval(self, name: str) -> tuple[float, float]:
        """Of an accuracy, of 95 %."""
        return wilson(self.accuracy[name], self.labels)

    @property
    def verdict(self) -> str:
        """Whether the graph helps, in a sentence."""
        mean, low, high = (signed(100 * value) for value in self.gain)
        what, less = ("Looking along paths", _STRUCTURE) if self.of_edges else ("The graph", "the features")
        return (
            f"{helps(self.gain, what)}: {mean} points of accuracy over {less} alone (95 % interval {low} to {high}, "
            f"{self.labels} labels, each predicted without itself)."
        )

    def __str__(self) -> str:
        called = {_ALONE: f"{_STRUCTURE} alone"} if self.of_edges else {}
        rows = [f"{called.get(name, name):<20} {100 * value:5.1f} %" for name, value in self.accuracy.items()]
        if _PROPAGATED not in self.accuracy:
            rows.append(f"{_PROPAGATED:<20} not tried: so many classes on so many edges would take long")
        return "\n".join([*rows, self.verdict])


def beside(nodes: Nodes, rows: Tensor, task: Task) -> dict[str, Tensor]:
    """What less than a head says of the labelled nodes, (n, C) out of fold: scores, or the numbers themselves.

    Args:
        nodes: the graph.
        rows: (n,), the numbers of the labelled nodes.
        task: their classes or numbers, their weights, and the folds.
    """
    found = {_ALONE: fit_linear([nodes.x[rows.numpy()]], task).unflattered(task)}
    if task.loss == "squared":
        return found | {"the mean": means(task)}
    if products(nodes.adj, task) <= _PRODUCTS:
        found[_PROPAGATED] = propagated(nodes.adj, rows, task)
    return found | {"majority class": means(task)}


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
    gain = Figure.mean((right[f"head {head!r}"].double() - right[_ALONE].double()).numpy())
    return Report(head, int(told.sum()), accuracy, gain, of_edges)


def products(adj: Adjacency, task: Task) -> int:
    """How many products of an edge with a label `propagated` takes."""
    return _REACH * adj.col.numel() * task.folds.K * task.targets.size(1)


def propagated(adj: Adjacency, rows: Tensor, task: Task) -> Tensor:
    """Label propagation, Σₙ αⁿ (D⁻¹|A|)ⁿ Y with the labels of one fold hidden at a time, (n, C) out of fold.

    It goes by the sizes of the weights: the sums of a row of signed ones may be 0, by which nothing can be divided.
    """
    M = MET(Walks(adj.absolute(), _REACH), [_KEPT**n for n in range(_REACH + 1)], method=8)
    targets, shares = task.targets.double(), task.folds.shares
    at_once = max(1, _AT_ONCE // max(adj.num_nodes, 1))  # classes
    # Where no label comes near, the commonest class is all there is to say.
    found = 1e-9 * (targets * task.weight.unsqueeze(1)).sum(0) / task.weight.sum() * shares.sum(1, keepdim=True)
    for k in range(task.folds.K):
        for some in torch.arange(targets.size(1)).split(at_once):
            Y = targets.new_zeros(adj.num_nodes, len(some))
            Y[rows] = targets[:, some] * task.folds.train[:, k : k + 1]
            found[:, some] += (M @ Y)[rows] * shares[:, k : k + 1]
    return found


def means(task: Task) -> Tensor:
    """The mean target of each fold's labels, which are shares of the classes or mean numbers, (n, C) out of fold."""
    weight = task.folds.train * task.weight.unsqueeze(1)  # (n, K)
    total = weight.sum(0)
    return task.folds.shares @ (weight.T @ task.targets.double() / torch.where(total > 0, total, 1.0).unsqueeze(1))
