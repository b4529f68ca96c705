"""k-means, by scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor


def kmeans(x: Tensor, k: int, restarts: int = 10, seed: int = 0, iterations: int = 100) -> Tensor:
    """Lloyd's algorithm from k-means++ starts; the labels of the restart with the least sum of squares.

    Args:
        x: points (N, F), at least k of them.
        k: the number of clusters.
        restarts: how many starts.
        seed: at least 0; the labels depend on it alone, not on the device, to rounding.
        iterations: at most so many; it ends when no label changes.

    Returns:
        labels 0 … k − 1, (N,)

    >>> kmeans(torch.tensor([[0.0], [0.1], [5.0], [5.1]]), 2).unique().tolist()
    [0, 1]
    """
    random = np.random.RandomState(np.random.MT19937(seed))  # an integer in its place would end at 2³²
    means = KMeans(k, n_init=restarts, max_iter=iterations, tol=0, random_state=random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different points than clusters: fewer labels
        labels = means.fit_predict(x.detach().cpu().numpy())
    return torch.from_numpy(labels).long().to(x.device)
