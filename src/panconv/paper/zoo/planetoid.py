"""Planetoid: a node's embedding is to foretell its class and, with negatives, its context on the graph, both at once.

Supervised −log softmax([h(x), h(e)]·W)_y in turn with −log σ(γ·eᵢᵀw_c), for contexts c of i on a random walk or of the
same class (γ = 1) and others (γ = −1). Variant "T" has a table of e, "I" makes it of features, e = ReLU(x·U + a).
Yang, Cohen & Salakhutdinov, Revisiting semi-supervised learning with graph embeddings, ICML 2016.
"""

from __future__ import annotations

from itertools import count, islice

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from panconv.base.random import keys, uniform
from panconv.compute.features import SparseRows
from panconv.paper.zoo.contexts import Contexts
from panconv.paper.zoo.deepwalk import first_order
from panconv.paper.zoo.skipgram import contrast, lookup, nearness, walks
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.training.epoch import descend
from panconv.training.metrics import agreement

_START = 10  # a stream of random numbers; the walks and contexts have others
_LOOK_EVERY = 5  # rounds


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    if not bool(data.val_mask.any()):
        raise ValueError(
            "data.val_mask holds no node, and Planetoid keeps the classes of its best validation accuracy: move some "
            "nodes there from data.train_mask"
        )
    x, y, labelled, val = (each.to(device) for each in (data.x, data.y, data.train_mask, data.val_mask))
    seed, target = torch.tensor(list(seeds), device=device), y[labelled]
    model = Planetoid(how, data.num_nodes, x.size(1), int(data.y.max()) + 1, seed)
    known = labelled.nonzero().squeeze(1)
    everything = Inputs(x, torch.arange(len(x), device=device))
    some = Inputs(x[known], known)
    paths = walks(*first_order(data, "generic", device), how["path"] + 1, how["walks"], seed)
    contexts = Contexts(paths, known, target, data.num_nodes, 1 / (1 + how["negatives"]), seed)
    groups = [
        {"params": model.classifier, "weight_decay": how["weight_decay"]},
        {"params": model.embed, "lr": how["embed_lr"]},
    ]
    supervised = torch.optim.Adam(groups, lr=how["lr"], fused=True)
    graph = torch.optim.Adam(model.embedder, lr=how["context_lr"], fused=True)
    kept, steps = Kept(y[val], val, len(seeds), len(x)), count()

    def by_contexts(times: int) -> None:
        for step in islice(steps, times):
            descend(graph, model.context_loss(everything, contexts, how, step))

    by_contexts(how["pretrain"])
    for done in range(how["rounds"]):
        for _ in range(how["label_steps"]):
            scores = model(some)  # (S, n, C)
            descend(supervised, F.cross_entropy(scores.flatten(0, 1), target.repeat(len(seeds))) * len(seeds))
        by_contexts(how["context_steps"])
        if done % _LOOK_EVERY == 0 or done == how["rounds"] - 1:
            with torch.no_grad():
                kept.look(model(everything))
        tell((done + 1) / how["rounds"])
    return kept.classes.cpu()


class Inputs:
    """Some nodes and their features, most of which are 0."""

    def __init__(self, x: Tensor, nodes: Tensor) -> None:
        self.x, self.nodes = SparseRows.of(x.to_sparse_csr()), nodes

    def times(self, W: Tensor) -> Tensor:
        """x·W for the W (S, F, O) of each trial, (S, n, O)."""
        return (self.x @ W).transpose(0, 1)


class Planetoid:
    """The parameters of S trials, and the two losses' scores.

    `classifier` and `embed` are what the supervised loss trains; `embedder` what the context loss does.
    """

    def __init__(self, how: How, N: int, inputs: int, classes: int, seed: Tensor) -> None:
        S, d, hidden = len(seed), how["dimension"], how["hidden"]
        self.inductive = {"T": False, "I": True}[how["variant"]]
        self.stream = 0

        def random(rows: int, columns: int, bound: float) -> Tensor:
            self.stream += 1
            start = uniform(keys(seed, _START, self.stream), (rows, columns))
            return ((2 * start - 1) * bound).requires_grad_()  # (S, rows, columns)

        def layer(rows: int, columns: int) -> tuple[Tensor, Tensor]:
            bias = torch.zeros(S, 1, columns, device=seed.device, requires_grad=True)
            return random(rows, columns, (6 / (rows + columns)) ** 0.5), bias

        self.embed: tuple[Tensor, ...] = layer(inputs, d) if self.inductive else (random(N, d, 0.5 / d),)
        self.context = torch.zeros(S, N, d, device=seed.device, requires_grad=True)
        self.of_features, self.of_embedding = layer(inputs, hidden), layer(d, hidden)
        self.top = layer(2 * hidden, classes)
        self.classifier = [*self.of_features, *self.of_embedding, *self.top]
        self.embedder = [*self.embed, self.context]

    def embedding(self, given: Inputs) -> Tensor:
        """e of the given nodes, (S, n, d)."""
        if self.inductive:
            weight, bias = self.embed
            return F.relu(given.times(weight) + bias)
        return self.embed[0][:, given.nodes]

    def __call__(self, given: Inputs) -> Tensor:
        """The scores of the classes, (S, n, C)."""
        e, (W, b), (U, a), (V, c) = self.embedding(given), self.of_features, self.of_embedding, self.top
        return torch.cat([F.relu(given.times(W) + b), F.relu(e @ U + a)], -1) @ V + c

    def context_loss(self, everything: Inputs, contexts: Contexts, how: How, step: int) -> Tensor:
        """Σ −log σ(γ·eᵢᵀw_c) over contexts drawn on walks, each with negatives, and among the labelled nodes."""
        e = self.embedding(everything) if self.inductive else self.embed[0]
        walks, noise = contexts.on_walks(how["batch"], step)
        u, v, w = lookup(e, walks), lookup(self.context, walks), lookup(self.context, noise)
        near = (nearness(walks.size(-1), how["window"], e.device) > 0).float()
        node, other, sign = contexts.by_class(how["label_pairs"], step)
        alike = F.logsigmoid(sign * (lookup(e, node) * lookup(self.context, other)).sum(-1)) * sign.abs()
        return contrast(u, v, w, near, how["negatives"]) - alike.sum()


class Kept:
    """The classes each trial predicted when its validation accuracy was best, the last time of those."""

    def __init__(self, y: Tensor, val: Tensor, S: int, N: int) -> None:
        self.y, self.val = y, val
        self.best = torch.full((S,), -1.0, device=y.device)
        self.classes = torch.zeros(S, N, dtype=torch.long, device=y.device)

    def look(self, scores: Tensor) -> None:
        classes = scores.argmax(-1)
        accuracy = agreement(classes[:, self.val].T, self.y.unsqueeze(1))
        self.classes = torch.where((accuracy >= self.best).unsqueeze(1), classes, self.classes)
        self.best = torch.maximum(accuracy, self.best)
