"""What the methods without a neural network share: graph, features and labels as SciPy has them, on the CPU."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.symmetric import undirected


def operator(data: Data, base: str, normalize: bool = True, symmetrise: bool = False) -> sp.csr_matrix:
    """The graph's matrix [receiver, sender] in one of the bases of `Adjacency`; not to normalize leaves A as it is.

    With `symmetrise` it is that of (A + Aᵀ)/2, for methods whose edges have no direction.
    """
    adj = undirected(graph(data)) if symmetrise else graph(data)
    csr, _ = adj.base(base if normalize else "A").operands(torch.float64)
    N = adj.num_nodes
    return sp.csr_matrix(tuple(part.numpy() for part in (csr.value, csr.col, csr.crow)), shape=(N, N))


def features(data: Data) -> sp.csr_matrix:
    """x as a sparse matrix: of Cora's numbers 1 in 79 is not zero."""
    return sp.csr_matrix(data.x.detach().cpu().numpy().astype(np.float64))


def labels(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """The training nodes, and a row for each node: 1 at the class of a training node, (N, C)."""
    nodes = data.train_mask.nonzero().squeeze(1).cpu().numpy()
    y = data.y.cpu().numpy()
    hot = np.zeros((len(y), int(y.max()) + 1))
    hot[nodes, y[nodes]] = 1
    return nodes, hot


def classes(scores: np.ndarray, trials: int) -> Tensor:
    """The class of the largest score, the same for each trial, (S, N).

    Args:
        scores: (N, C), not negative. A node that no label has reached, all its scores 0, gets the class that is the
            commonest among the others.
        trials: S.
    """
    found, reached = scores.argmax(1), scores.any(1)
    if reached.any():
        found[~reached] = np.bincount(found[reached]).argmax()
    return torch.from_numpy(found).expand(trials, -1)
