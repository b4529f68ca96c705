"""Who is compared by benchmarks/estimators.py: what a person with a graph, features and some labels would take.

Everybody gets the same `Contest`, in which the labels of all other nodes are −1, and answers with scores (N, C).
Choices and early stopping are made on the given labels. Settings are those that each library has by default or uses
in its own examples. scikit-network is an extra of its own: pip install -c constraints.txt -e ".[bench]".
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from panconv import PANClassifier, read

INSTALL = 'pip install -c constraints.txt -e ".[bench]"'
HIDDEN, DROPOUT, RATE, DECAY = 64, 0.5, 0.01, 5e-4  # of GCN: those of PyG's example, but wider, as in most papers since
EPOCHS, PATIENCE = 300, 50
HELD = 0.2  # of the given labels, that GCN stops by
COMPONENTS, REACH = 16, 0.9  # of scikit-network's spectral embedding; how far scikit-learn's labels spread


class Contest(NamedTuple):
    """One split of one graph, as everybody sees it."""

    edge_index: Tensor  # (2, E), both ways
    x: Any  # (N, F), an array, or CSR where most of it is 0; None where nodes have no features
    y: np.ndarray  # (N,), −1 where the class is not given
    classes: int
    seed: int

    @property
    def known(self) -> np.ndarray:
        return np.flatnonzero(self.y >= 0)

    @property
    def matrix(self) -> sp.csr_matrix:
        N, (source, target) = len(self.y), self.edge_index.numpy()
        return sp.csr_matrix((np.ones(len(source)), (target, source)), shape=(N, N))

    @property
    def scaled(self) -> Any:
        """The features as one would hand them to others than ours: measurements standardised, counts as they are."""
        return self.x if self.x is None or sp.issparse(self.x) else StandardScaler().fit_transform(self.x)


class Said(NamedTuple):
    scores: np.ndarray  # (N, C)
    note: str = ""  # what was chosen


class Missing(Exception):
    """A contestant that cannot take part: no features to learn from, or a library that is not there."""


# ---------------------------------------------------------------------- ours


def ours(contest: Contest, **settings: Any) -> Said:
    """`PANClassifier`; without features it is handed the graph as `read` reads it, and makes them of the edges."""
    if contest.x is None:
        g = read(Data(edge_index=contest.edge_index, num_nodes=len(contest.y)))
        given: dict[str, Any] = {"X": g, "y": contest.y}
    else:
        given = {"X": contest.x, "y": contest.y, "graph": contest.edge_index}
    clf = PANClassifier(random_state=contest.seed, **settings).fit(**given)
    losses = ", ".join(f"{name} {loss:.3f}" for name, loss in clf.scores_.items())
    return Said(clf.predict_proba(), f"{clf.head_} ({losses})")


# ---------------------------------------------------------------------- scikit-learn


def features_alone(contest: Contest) -> Said:
    """Logistic regression without the graph, its penalty by as many folds as the smallest class allows, at most 5."""
    if contest.x is None:
        raise Missing("no features")
    x, known = contest.scaled, contest.known
    folds = min(5, int(np.bincount(contest.y[known]).min()))
    if folds > 1:
        model = LogisticRegressionCV(
            cv=folds, scoring="neg_log_loss", l1_ratios=(0,), use_legacy_attributes=False, max_iter=300
        )
    else:
        model = LogisticRegression(max_iter=300)
    return Said(model.fit(x[known], contest.y[known]).predict_proba(x))


def spreading(contest: Contest) -> Said:
    """scikit-learn's label spreading, with the graph's edges in place of neighbours in feature space."""
    matrix = contest.matrix
    model = LabelSpreading(kernel=lambda *_: matrix, alpha=REACH, max_iter=100)
    model.fit(np.zeros((len(contest.y), 1)), contest.y)
    return Said(np.nan_to_num(model.label_distributions_))


# ---------------------------------------------------------------------- scikit-network


def scikit_network(make: Callable[[Any], Any]) -> Callable[[Contest], Said]:
    def run(contest: Contest) -> Said:
        try:
            from sknetwork import classification, embedding
        except ImportError:
            raise Missing(f"scikit-network is not installed: {INSTALL}") from None
        made = make((classification, embedding))
        found = made.fit(contest.matrix, labels=contest.y).predict_proba()
        wide = np.zeros((len(contest.y), contest.classes))
        wide[:, : found.shape[1]] = found
        return Said(np.nan_to_num(wide))

    return run


def nearest(rooms: Any) -> Any:
    classification, embedding = rooms
    return classification.NNClassifier(embedding_method=embedding.Spectral(COMPONENTS))


def its_gnn(contest: Contest) -> Said:
    """scikit-network's own GCN, two layers, else by its own defaults; without features a node is its row of A."""
    try:
        from sknetwork.gnn import GNNClassifier
    except ImportError:
        raise Missing(f"scikit-network is not installed: {INSTALL}") from None
    x = contest.matrix if contest.x is None else sp.csr_matrix(contest.scaled)
    model = GNNClassifier([HIDDEN, contest.classes], early_stopping=False)
    model.fit(contest.matrix, x, contest.y, n_epochs=100, random_state=contest.seed)
    return Said(np.asarray(model.predict_proba()))


# ---------------------------------------------------------------------- PyG


class GCN(nn.Module):
    """Two layers (Kipf and Welling, 2017), of PyG's own layers."""

    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.first, self.last = GCNConv(inputs, HIDDEN, cached=True), GCNConv(HIDDEN, classes, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.first(_dropped(x, self.training), edge_index).relu()
        return self.last(F.dropout(x, DROPOUT, self.training), edge_index)


def gcn(contest: Contest) -> Said:
    """PyG's GCN; a fifth of the given labels of each class stops it. Without features each node is a feature."""
    torch.manual_seed(contest.seed)
    x = _tensor(sp.identity(len(contest.y), format="csr") if contest.x is None else contest.scaled)
    known, y = contest.known, torch.from_numpy(contest.y)
    few = np.bincount(contest.y[known], minlength=contest.classes).min() < 2
    count = max(contest.classes, round(HELD * len(known)))
    train, held = train_test_split(
        known, test_size=count, random_state=contest.seed, stratify=None if few else contest.y[known]
    )
    model = GCN(x.size(1), contest.classes)
    groups = [{"params": model.first.parameters(), "weight_decay": DECAY}, {"params": model.last.parameters()}]
    optimizer = torch.optim.Adam(groups, lr=RATE)
    best, since, kept = float("inf"), 0, model.state_dict()
    for _ in range(EPOCHS):
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(x, contest.edge_index)[train], y[train]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            loss = float(F.cross_entropy(model(x, contest.edge_index)[held], y[held]))
        since += 1
        if loss < best:
            best, since, kept = loss, 0, copy.deepcopy(model.state_dict())
        if since >= PATIENCE:
            break
    model.load_state_dict(kept)
    with torch.no_grad():
        return Said(model(x, contest.edge_index).softmax(1).numpy())


def _dropped(x: Tensor, training: bool) -> Tensor:
    """Dropout of what is stored, as in the original code, whether or not zeros are."""
    if x.layout == torch.strided or not training:
        return F.dropout(x, DROPOUT, training) if x.layout == torch.strided else x
    left = F.dropout(x.values(), DROPOUT)
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), left, x.shape, check_invariants=False)


def _tensor(x: Any) -> Tensor:
    if not sp.issparse(x):
        return torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))
    with warnings.catch_warnings():  # torch says once per process that CSR is in beta
        warnings.simplefilter("ignore")
        parts = [torch.from_numpy(each.astype(np.int64)) for each in (x.indptr, x.indices)]
        return torch.sparse_csr_tensor(*parts, torch.from_numpy(x.data.astype(np.float32)), size=x.shape)


CONTESTANTS: dict[str, Callable[[Contest], Said]] = {
    "features alone (scikit-learn)": features_alone,
    "label spreading (scikit-learn)": spreading,
    "propagation (scikit-network)": scikit_network(lambda rooms: rooms[0].Propagation()),
    "diffusion (scikit-network)": scikit_network(lambda rooms: rooms[0].DiffusionClassifier()),
    "PageRank (scikit-network)": scikit_network(lambda rooms: rooms[0].PageRankClassifier()),
    "nearest neighbours (scikit-network)": scikit_network(nearest),
    "GNN (scikit-network)": its_gnn,
    "GCN (PyG)": gcn,
    "linear (panconv)": partial(ours, head="linear"),
    "auto (panconv)": ours,
    "pan (panconv)": partial(ours, head="pan"),
}
OURS = ("auto (panconv)", "linear (panconv)")  # the second where the first would take too long
