"""Logistic regression on fixed vectors of nodes: S trials and all strengths of its penalty side by side."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

_RATE = 0.01


def logistic(x: Tensor, y: Tensor, train: Tensor, val: Tensor, decays: Sequence[float], steps: int) -> Tensor:
    """The class of every node by trial, (S, N): of the penalties the one that is best on the validation nodes.

    Args:
        x: the vectors, (S, N, D).
        y: classes (N,), known on the training and validation nodes.
        train, val: masks (N,).
        decays: the penalties that are tried, on ½‖W‖².
        steps: of Adam, with all training nodes at once.
    """
    S, R, C = x.size(0), len(decays), int(y.max()) + 1
    seen, known = x[:, train], F.one_hot(y[train], C).to(x.dtype)  # (S, n, D), (n, C)
    penalty = torch.tensor(list(decays), dtype=x.dtype, device=x.device)
    W = x.new_zeros(R, S, x.size(2), C).requires_grad_()
    b = x.new_zeros(R, S, 1, C).requires_grad_()
    optimizer = torch.optim.Adam([W, b], lr=_RATE, fused=True)
    for _ in range(steps):
        log_p = (seen @ W + b).log_softmax(-1)  # (R, S, n, C)
        loss = -(log_p * known).sum() / len(known) + (penalty * W.square().sum((1, 2, 3))).sum() / 2
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # each fit's own gradient: nothing in the sum is shared
        optimizer.step()
    with torch.no_grad():
        right = ((x[:, val] @ W + b).argmax(-1) == y[val]).sum(-1)  # (R, S)
        chosen, trial = right.argmax(0), torch.arange(S, device=x.device)
        return (x @ W[chosen, trial] + b[chosen, trial]).argmax(-1)
