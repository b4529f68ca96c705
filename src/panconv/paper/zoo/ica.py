"""ICA: a classifier that sees a node's features and the classes of its neighbours, applied again and again, since each
pass changes the classes that the next one sees: y_v ← argmax LR(x_v, Σ_{u∈N(v)} onehot(y_u)). A classifier of the
features alone makes the first guess.

Lu & Getoor, Link-based classification, ICML 2003; in the protocol of Sen et al., Collective classification in network
data, 2008: ten passes, the nodes in random order.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.classical import features, labels, operator
from panconv.paper.zoo.stack import How, Seeds, Tell, silent


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    x, (nodes, hot) = features(data), labels(data)
    links = how["scale"] * operator(data, "D⁻¹A" if how["link"] == "proportion" else "A")
    y, rest, (F, C) = hot[nodes].argmax(1), np.flatnonzero(~hot.any(1)), (x.shape[1], hot.shape[1])
    start = hot.copy()  # the known classes, and the first guess elsewhere
    if len(seen := np.unique(y).tolist()) < 2:
        raise ValueError(f"train_mask must hold nodes of two classes or more, got classes {seen}: add nodes of another")
    if len(rest):  # else every class is known
        start[rest] = np.eye(C)[classifier(how).fit(x[nodes], y).predict(x[rest])]
    both = classifier(how).fit(sp.hstack([x, links @ start], format="csr")[nodes], y)
    (of_own, bias), (of_links, _) = by_class(both, slice(F), C), by_class(both, slice(F, None), C)
    own = x @ of_own + bias
    predicted = []
    for done, seed in enumerate(seeds, 1):
        rng = np.random.default_rng(seed)
        predicted.append(torch.from_numpy(iterated(start, own, links, of_links, rest, how, rng).argmax(1)))
        tell(done / len(seeds))
    return torch.stack(predicted)


def classifier(how: How) -> LogisticRegression:
    return LogisticRegression(C=how["C"], max_iter=1000)


def by_class(model: LogisticRegression, columns: slice, C: int) -> tuple[np.ndarray, np.ndarray]:
    """A classifier's weights of some columns, (columns, C), and its intercepts, (C,): −∞ for a class it never saw."""
    coef, intercept = model.coef_, model.intercept_
    if len(coef) == 1:  # two classes: the one row speaks for the second
        coef, intercept = np.vstack([0 * coef, coef]), np.append(0.0, intercept)
    weight, bias = np.zeros((coef[:, columns].shape[1], C)), np.full(C, -np.inf)
    weight[:, model.classes_], bias[model.classes_] = coef[:, columns].T, intercept
    return weight, bias


def iterated(
    state: np.ndarray,  # (N, C), one-hot
    own: np.ndarray,  # (N, C): the score of each class from the features
    links: sp.csr_matrix,  # (N, N)
    weight: np.ndarray,  # (C, C), of the classes of the neighbours
    rest: np.ndarray,  # the nodes whose class is not known
    how: How,
    rng: np.random.Generator,
) -> np.ndarray:
    """The classes after all passes, one-hot. Each pass takes the nodes in random order, a part of them at a time: those
    of a part see the new classes of the parts before."""
    state, hot = state.copy(), np.eye(state.shape[1])
    for _ in range(how["passes"]):
        for part in np.array_split(rng.permutation(rest), how["parts"]):
            state[part] = hot[(own[part] + links[part] @ state @ weight).argmax(1)]
    return state
