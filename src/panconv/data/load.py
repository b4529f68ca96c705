"""`load`: a graph by name, or from a folder of raw files, as a PyG `Data`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from panconv.data import builtin, planetoid
from panconv.data.builtin import DATASETS


def load(source: str | Path, *, name: str | None = None, normalize: bool = True, sparse: bool = False) -> Data:
    """A node-classification graph with the public split.

    Args:
        source: ``"cora"``, ``"citeseer"`` or ``"pubmed"`` (built in, no network), or a folder that holds the raw
            Planetoid files ``ind.NAME.*``, or ``folder/NAME`` where it holds several graphs.
        name: which graph, where the folder holds several.
        normalize: scale each row of ``x`` to sum 1, as the paper does; a row of zeros stays.
        sparse: keep ``x`` as a sparse CSR tensor, which `PANConv` and `fit` use as it is.

    Returns:
        ``x`` (N, F), ``edge_index`` (2, E) with both directions of every edge, sorted, no self-loops, ``y`` (N,), and
        the boolean ``train_mask``, ``val_mask``, ``test_mask`` (N,).

    >>> data = load("cora")
    >>> data.num_nodes, data.num_edges, int(data.train_mask.sum())
    (2708, 10556, 140)
    """
    raw = _read(source, name)
    N = raw.features.shape[0]
    features = _normalized_rows(raw.features) if normalize else raw.features
    edges = np.concatenate([raw.edges, raw.edges[::-1]], axis=1)
    edges = edges[:, np.lexsort((edges[1], edges[0]))]
    return Data(
        x=_to_torch(features) if sparse else torch.from_numpy(features.toarray()),
        edge_index=torch.from_numpy(np.ascontiguousarray(edges)),
        y=torch.from_numpy(raw.y),
        train_mask=_mask(raw.train, N),
        val_mask=_mask(raw.val, N),
        test_mask=_mask(raw.test, N),
    )


def _read(source: str | Path, name: str | None) -> planetoid.RawGraph:
    if not isinstance(source, (str, Path)):
        raise TypeError(f"source must be the name of a graph or a folder, got {type(source).__name__}")
    folder = Path(source).expanduser()
    if isinstance(source, str) and source.lower() in DATASETS:
        if name is not None:
            raise ValueError(
                f"name={name!r} goes with a folder, but source {source!r} is a built-in graph: leave it out"
            )
        return builtin.read(source.lower())
    if name is None and folder.name in planetoid.names_in(folder.parent) and not folder.is_dir():
        return planetoid.read(folder.parent, folder.name)
    if not folder.is_dir():
        raise ValueError(f"source {str(source)!r} is neither a built-in graph ({', '.join(DATASETS)}) nor a folder")
    names = planetoid.names_in(folder)
    if not names:
        raise ValueError(f"the folder {folder} holds no Planetoid graph: files ind.NAME.graph and seven more")
    if name is None and len(names) > 1:
        choices = ", ".join(str(folder / each) for each in names)
        raise ValueError(f"the folder {folder} holds several graphs: choose one of {choices}")
    if name is not None and name not in names:
        raise ValueError(f"name {name!r} is not in the folder {folder}, which holds {', '.join(names)}")
    return planetoid.read(folder, name or names[0])


def _normalized_rows(x: sp.csr_matrix) -> sp.csr_matrix:
    sums = np.asarray(x.sum(axis=1), dtype=np.float32).ravel()
    inverse = np.divide(1, sums, out=np.zeros_like(sums), where=sums != 0)
    return sp.csr_matrix((x.data * np.repeat(inverse, np.diff(x.indptr)), x.indices, x.indptr), shape=x.shape)


def _to_torch(x: sp.csr_matrix) -> Tensor:
    crow, col = (torch.from_numpy(a.astype(np.int64)) for a in (x.indptr, x.indices))
    return torch.sparse_csr_tensor(crow, col, torch.from_numpy(x.data), size=x.shape)


def _mask(nodes: np.ndarray, N: int) -> Tensor:
    mask = torch.zeros(N, dtype=torch.bool)
    mask[torch.from_numpy(nodes)] = True
    return mask
