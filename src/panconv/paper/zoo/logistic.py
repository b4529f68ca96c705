"""Logistic regression on given vectors, by scikit-learn: the strength C is the one of the best validation accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from panconv.training.metrics import agreement

_STEPS = 2000  # of the solver, at most
_STRENGTHS = tuple(10.0**k for k in range(-3, 5))


def classified(z: Tensor, y: Tensor, train: Tensor, val: Tensor, strengths: Sequence[float] = _STRENGTHS) -> Tensor:
    """The class of each node, (S, N).

    Args:
        z: vectors, (S, N, d), on any device.
        y: classes, (N,), looked at on the nodes of the masks alone.
        train, val: masks (N,): nodes to learn from, and those by whose accuracy each trial's C is chosen.
        strengths: C, in rising order; the first of those that are equally good is taken.
    """
    classes, learned, judged = (each.cpu().numpy() for each in (y, train, val))
    found = []
    for vectors in z.detach().double().cpu().numpy():
        models = (LogisticRegression(C=C, max_iter=_STEPS).fit(vectors[learned], classes[learned]) for C in strengths)
        each = np.stack([model.predict(vectors) for model in models])  # (G, N)
        right = agreement(torch.from_numpy(each[:, judged]).T, torch.from_numpy(classes[judged]).unsqueeze(1))
        found.append(each[right.numpy().argmax()])
    return torch.from_numpy(np.stack(found)).to(y)
