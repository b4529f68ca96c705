"""A graph that was read, as `fit` takes it: features by the kinds of the columns, class numbers, a split."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.data.features import Features
from panconv.data.graph import Graph
from panconv.data.splits import labelled_split


def trainable(graph: Graph, seed: int = 0) -> Data:
    """A PyG `Data` whose labelled nodes are split, class by class: three fifths to train on, a fifth each to choose by
    and to test on.

    Features are learned from all nodes: what a graph says of the nodes to be labelled may be looked at, their labels
    may not.
    """
    if len(graph.classes) < 2:
        raise ValueError("there is nothing to train on: the table of nodes must have labels of two classes at least")
    y = torch.from_numpy(graph.y)
    train, val, test = labelled_split(y, seed)
    if not bool(test.any()):  # the fourth label of a class is the first to test on, the second the one to choose by
        raise ValueError("there are too few labels to train, choose and test: label four nodes of a class at least")
    x = Features.fit(graph).transform(graph)
    data = Data(
        x=_sparse(x) if sp.issparse(x) else torch.from_numpy(np.ascontiguousarray(x)),
        edge_index=graph.edge_index,
        y=y.clamp_min(0),  # where there is no label, no mask is either
        train_mask=train,
        val_mask=val,
        test_mask=test,
    )
    if graph.edge_weight is not None:
        data.edge_weight = graph.edge_weight
    return data


def _sparse(x: Any) -> Tensor:
    with warnings.catch_warnings():  # torch says once per process that CSR is in beta
        warnings.simplefilter("ignore")
        crow, col = (torch.from_numpy(each.astype(np.int64)) for each in (x.indptr, x.indices))
        return torch.sparse_csr_tensor(crow, col, torch.from_numpy(x.data), size=x.shape, check_invariants=True)
