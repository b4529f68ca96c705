"""ManiReg: a linear function that is smooth along the edges, Laplacian regularised least squares: it minimises
Σ_labelled ‖f(x) − y‖² + γ_A·‖W‖² + γ_I·tr(fᵀLf) with f = X·W + b and L = D − A.

Belkin, Niyogi & Sindhwani, Manifold regularization, JMLR 2006.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.classical import features, labels, operator
from panconv.paper.zoo.stack import How, Seeds, Tell, silent


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    found = fitted_scores(data, how["ridge"], how["smooth"]).argmax(1)
    return torch.from_numpy(found).repeat(len(seeds), 1)  # nothing in it is left to chance


def fitted_scores(data: Data, ridge: float, smooth: float) -> np.ndarray:
    """f on every node, (N, C), of the γ_A and γ_I given; the labels are ±1, one against all others."""
    x, (nodes, hot) = features(data), labels(data)
    target = 2 * hot[nodes] - 1  # (T, C)
    # An intercept that costs nothing is a shift: what is left is least squares about the means of the labelled nodes.
    mean, middle = np.asarray(x[nodes].mean(0)), target.mean(0)
    known = x[nodes].toarray() - mean
    gram = known.T @ known + smooth * roughness(data, x)
    gram[np.diag_indices_from(gram)] += ridge
    weight = scipy.linalg.solve(gram, known.T @ (target - middle), assume_a="pos", overwrite_a=True)  # (F, C)
    return x @ weight - mean @ weight + middle


def roughness(data: Data, x: sp.csr_matrix) -> np.ndarray:
    """XᵀLX, (F, F): wᵀXᵀLXw sums the squared differences of X·w over the undirected edges. L sees no constant."""
    A = operator(data, "A", symmetrise=True)
    product = x.T @ (sp.diags(np.asarray(A.sum(1)).ravel()) - A) @ x
    return np.asarray(product.todense())
