"""What the repository of the authors' second paper computes, restated on dense matrices A[source, target]."""

from __future__ import annotations

import torch
from torch import Tensor


def dense(edge_index: Tensor, N: int) -> Tensor:
    """A, an edge as often as it is named."""
    A = torch.zeros(N, N, dtype=torch.float64)
    for source, target in edge_index.T.tolist():
        A[source, target] += 1
    return A


def weighed_powers(A: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """w₀I + w₁A + w₁w₂A² + …, and where it has entries. Its sparse product passes no gradient on."""
    eye = torch.eye(len(A), dtype=A.dtype)
    total, power, there = w[0] * eye, eye, eye > 0
    steps = A > 0
    led = eye > 0
    for each in w[1:]:
        power = (power @ A).detach() * each
        led = (led.double() @ steps.double()) > 0
        total, there = total + power, there | led
    return total, there


def convolve(conv, x: Tensor, A: Tensor) -> Tensor:
    """XW + b, summed over the edges of the sum, each divided by the roots of the entries in the rows of its ends."""
    total, there = weighed_powers(A, conv.weight.clamp(0, 1))
    root = there.sum(1).double().pow(-0.5)
    norm = root[:, None] * root * total
    return norm.T @ (x @ conv.lin.weight.T + conv.lin.bias)


def pool(layer, x: Tensor, A: Tensor, batch: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """x, A, batch, the nodes kept and their scores: A is 1 where the pool's own sum has entries."""
    total, there = weighed_powers(A, layer.weight.clamp(0, 1))
    score = torch.tanh(layer.beta[0] * (x @ layer.p) + layer.beta[1] * total.sum(1))
    kept = []
    for graph in batch.unique().tolist():
        nodes = (batch == graph).nonzero().flatten().tolist()
        best = sorted(nodes, key=lambda node: -float(score.detach()[node]))
        kept += best[: -(-len(nodes) // 2)]
    kept = torch.tensor(kept, dtype=torch.long)
    return x[kept] * score[kept, None], there[kept][:, kept].double(), batch[kept], kept, score[kept]


def classify(model, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    """The scores of the whole network, as it evaluates."""
    A = dense(edge_index, len(x))
    for conv, pooling in zip(model.convs, model.pools, strict=True):
        x = convolve(conv, x, A)
        x, A, batch, *_ = pool(pooling, x, A, batch)
    x = torch.stack([x[batch == graph].mean(0) for graph in batch.unique()])
    first, second, last = model.lins
    return last(second(first(x).relu()).relu())
