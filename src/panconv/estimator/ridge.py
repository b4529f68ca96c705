"""Ridge regression on principal axes, in closed form: each fold solves one linear system per penalty."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.estimator.penalties import PENALTIES, Chosen, Task, nothing_held_out

WIDE = (*PENALTIES, 1e-7, 1e-8, 1e-9, 1e-10)  # numbers without noise want next to none


def compared(Q: Tensor, task: Task, penalties: tuple[float, ...] = WIDE) -> list[Chosen]:
    """What each penalty comes to: the squared error of the rows that folds held out.

    With G = Σᵢ sᵢ qᵢqᵢᵀ of a fold's training rows = V diag(d) Vᵀ, all penalties are (d + λ)⁻¹ on its axes.
    """
    if not bool(task.folds.held_out.any()):
        return [nothing_held_out(task)]
    scores = torch.stack([_fold(Q, task, k, penalties) for k in range(task.folds.K)], dim=2)  # (n, P, K, C)
    lost = (scores - task.targets[:, None, None]).square().sum(-1)
    tried = dict(zip(penalties, task.held_out(lost).tolist(), strict=True))
    return [
        Chosen(penalty, loss, tried, task.folds.out_of_fold(scores[:, place]), task.each(lost[:, place]))
        for place, (penalty, loss) in enumerate(tried.items())
    ]


def refitted(Q: Tensor, task: Task, choice: Chosen) -> Tensor:
    """The coefficients (r + 1, C) that all rows give, float64."""
    return _solved(Q.double(), task.targets.double(), task.weight, task.weight, (choice.penalty,))[:, 0]


def _fold(Q: Tensor, task: Task, k: int, penalties: tuple[float, ...]) -> Tensor:
    """What the training rows of a fold say of all, (n, P, C)."""
    weight = task.weight * task.folds.train[:, k]
    W = _solved(Q, task.targets.double(), weight, task.weight, penalties)
    return (Q @ W.flatten(1)).unflatten(1, W.shape[1:])


def _solved(Q: Tensor, y: Tensor, weight: Tensor, all_weight: Tensor, penalties: tuple[float, ...]) -> Tensor:
    """(r + 1, P, C): a ridge about the means of the rows that count, and in the last row what is added."""
    Q, share = Q[:, :-1], (weight / weight.sum()).unsqueeze(1)
    q_mean, y_mean = (share * Q).sum(0), (share * y).sum(0)
    centred, root = Q - q_mean, weight.sqrt().unsqueeze(1)
    d, V = torch.linalg.eigh((root * centred).T @ (root * centred))
    seen = V.T @ ((weight.unsqueeze(1) * centred).T @ (y - y_mean))  # (r, C)
    ridge = Q.new_tensor(penalties) * float(all_weight.sum())
    W = V @ (seen.unsqueeze(1) / (d.clamp_min(0).unsqueeze(1) + ridge).unsqueeze(2)).flatten(1)
    W = W.unflatten(1, (len(penalties), y.size(1)))
    return torch.cat([W, (y_mean - torch.einsum("r,rpc->pc", q_mean, W)).unsqueeze(0)])
