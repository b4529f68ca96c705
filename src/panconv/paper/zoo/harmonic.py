"""Harmonic function: what a node has of each class is the mean over its neighbours, and the labelled ones are held,

    f_u = (D_uu − W_uu)⁻¹·W_ul·f_l,

solved and not iterated; then class mass normalisation (CMN), argmax_c q_c·f(i, c)/Σ_j f(j, c) over the unlabelled j,
with q the classes' shares of the training nodes. Here the sum goes over the nodes that a label reaches; the others get
the class of the largest q, and of equal ones, as in the public split, the one that is commonest among the reached.

Zhu, Ghahramani & Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML 2003.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.classical import labels, operator
from panconv.paper.zoo.stack import How, Seeds, Tell, silent

_RESIDUAL = 1e-10  # of the right-hand side


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    W = operator(data, "A", symmetrise=True)
    if W.nnz and W.data.min() < 0:
        raise ValueError(f"edge_weight must be at least 0 for a harmonic function, got {W.data.min():g}")
    nodes, hot = labels(data)
    found = classes(*harmonic(W, hot, nodes), hot, nodes, how["cmn"])
    return torch.from_numpy(found).expand(len(seeds), -1)  # nothing in it is left to chance


def harmonic(W: sp.csr_matrix, hot: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f (N, C), its rows of `nodes` held at `hot`, and which nodes a label reaches (N,): the others have 0.

    By conjugate gradients, with the degrees as preconditioner: a sparse factorisation of M of Pubmed would fill up.
    """
    W = W.copy()
    W.eliminate_zeros()  # an edge of weight 0 carries nothing
    _, component = connected_components(W, directed=False)
    reached = np.isin(component, component[nodes])
    inner = np.setdiff1d(np.flatnonzero(reached), nodes)  # each of them has an edge
    f = hot.copy()
    if len(inner):
        degree = np.asarray(W.sum(1)).ravel()[inner]
        system = (sp.diags(degree) - W[inner][:, inner]).tocsr()
        given = W[inner][:, nodes] @ hot[nodes]
        f[inner] = np.stack([_solved(system, column, sp.diags(1 / degree)) for column in given.T], axis=1)
    return f, reached


def _solved(system: sp.csr_matrix, right: np.ndarray, preconditioner: sp.dia_matrix) -> np.ndarray:
    x, failed = cg(system, right, rtol=_RESIDUAL, atol=0.0, M=preconditioner)
    if failed:
        warnings.warn(f"the harmonic function is not known to {_RESIDUAL:g} after {failed} steps", stacklevel=4)
    return np.asarray(x)


def classes(f: np.ndarray, reached: np.ndarray, hot: np.ndarray, nodes: np.ndarray, cmn: bool) -> np.ndarray:
    """The class of each node, (N,), of its largest f, or of the largest q_c·f(i, c)/Σ f(j, c)."""
    inner, q = reached.copy(), hot[nodes].sum(0)  # by number: shares times that of the labels
    inner[nodes] = False
    mass = f[inner].sum(0)
    scores = f * np.divide(q, mass, out=np.zeros_like(mass), where=mass > 0) if cmn else f
    found = np.where(hot.any(1), hot.argmax(1), scores.argmax(1))
    common = np.bincount(found[inner], minlength=len(q)) / max(inner.sum(), 1)
    found[~reached] = (q + common / 2).argmax()  # q counts in whole numbers: what is common decides among equals
    return found
