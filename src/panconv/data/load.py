"""`load`: a graph by name, or from raw files, as a PyG `Data`."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import index_to_mask, to_undirected

from panconv.data import builtin, heterophilous, planetoid
from panconv.data.builtin import DATASETS
from panconv.data.heterophilous import METRIC_OF
from panconv.data.tables import SUFFIXES as TABLES

_MOST_DENSE = 2**28  # values


def load(source: str | Path, *, name: str | None = None, normalize: bool = True, sparse: bool = False) -> Data:
    """A node-classification graph with the public split, or with all the splits that its file has.

    Args:
        source: ``"cora"``, ``"citeseer"`` or ``"pubmed"`` (built in, no network), or a folder that holds the raw
            Planetoid files ``ind.NAME.*``, or ``folder/NAME`` where it holds several graphs; or a file ``NAME.npz`` of
            the heterophilous benchmark. ``"minesweeper"``, ``"tolokers"``, ``"squirrel_filtered"`` and
            ``"chameleon_filtered"`` are such files in the folder that the environment variable PANCONV_HETEROPHILOUS
            names.
        name: which graph, where the folder holds several.
        normalize: scale each row of ``x`` to sum 1, as GCN does; a row of zeros stays. Features of the heterophilous
            benchmark are measurements, which may be negative, and stay as they are, as in its own code.
        sparse: keep ``x`` as a sparse CSR tensor, which `PANConv` and `fit` use as it is.

    Raw files are not trusted: docs/trust.md says what is admitted.

    Returns:
        ``x`` (N, F), float32, or float64 where the raw files have that; ``edge_index`` (2, E) with both directions of
        every edge, sorted, no self-loops; ``y`` (N,); and the boolean ``train_mask``, ``val_mask``, ``test_mask`` (N,),
        or (N, 10) with the ten splits of the heterophilous benchmark.

    >>> data = load("cora")
    >>> data.num_nodes, data.num_edges, int(data.train_mask.sum())
    (2708, 10556, 140)
    """
    raw = _read(source, name)
    N = raw.features.shape[0]
    features = _normalized_rows(raw.features) if normalize and raw.counts else raw.features
    if not sparse:
        _check_density(features)
    return Data(
        x=_to_torch(features) if sparse else torch.from_numpy(features.toarray()),
        edge_index=to_undirected(torch.from_numpy(raw.edges), num_nodes=N),
        y=torch.from_numpy(raw.y),
        train_mask=_mask(raw.train, N),
        val_mask=_mask(raw.val, N),
        test_mask=_mask(raw.test, N),
    )


def _mask(nodes: np.ndarray, N: int) -> Tensor:
    """From node ids, or a mask as it is."""
    given = torch.from_numpy(nodes)
    return given if given.dtype == torch.bool else index_to_mask(given, N)


def _read(source: str | Path, name: str | None) -> planetoid.RawGraph:
    if not isinstance(source, (str, Path)):
        raise TypeError(f"source must be the name of a graph or a folder, got {type(source).__name__}")
    known = source.lower() if isinstance(source, str) else ""
    is_one = known in (*DATASETS, *METRIC_OF) or str(source).endswith(".npz")
    if is_one and name is not None:
        kind = "a built-in graph" if known in DATASETS else "one graph"
        raise ValueError(f"name={name!r} goes with a folder, but source {_short(source)} is {kind}: leave it out")
    if known in DATASETS:
        return builtin.read(known)
    try:
        if is_one:
            return heterophilous.read(heterophilous.path_of(known) if known in METRIC_OF else _path(source))
        return planetoid.read(*_locate(source, name))
    except (OSError, RuntimeError) as error:  # a name too long for the disk, a folder without rights, ~nosuchuser
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise ValueError(f"source {_short(source)} cannot be read: {reason}; name another folder") from None


def _locate(source: str | Path, name: str | None) -> tuple[Path, str]:
    """The folder and the name of a graph in raw files."""
    folder = _path(source)
    is_folder = folder.is_dir()
    if name is None and not is_folder and folder.name in planetoid.names_in(folder.parent):
        return folder.parent, folder.name
    if not is_folder and folder.suffix.lower() in TABLES:
        takers = "train, describe, links, communities, similar, thermodynamics and spectrum"
        raise ValueError(f"source {_short(source)} is a table, which panconv.read takes, and of the commands {takers}")
    if not is_folder:
        others = f"({', '.join(METRIC_OF)}; docs/data.md)"
        raise ValueError(
            f"source {_short(source)} is neither a built-in graph ({', '.join(DATASETS)}) nor a folder, nor one of the "
            f"heterophilous benchmark {others}"
        )
    names = planetoid.names_in(folder)
    if not names:
        raise ValueError(f"the folder {folder} holds no Planetoid graph: files ind.NAME.graph and seven more")
    if name is None and len(names) > 1:
        choices = ", ".join(str(folder / each) for each in names)
        raise ValueError(f"the folder {folder} holds several graphs: choose one of {choices}")
    if name is not None and name not in names:
        raise ValueError(f"name {name!r} is not in the folder {folder}, which holds {', '.join(names)}")
    return folder, name or names[0]


def _path(source: str | Path) -> Path:
    if "\0" in str(source):
        raise ValueError(f"source {_short(source)} is no path: a path holds no zero byte")
    return Path(source).expanduser()


def _short(source: str | Path) -> str:
    text = str(source)
    return repr(text if len(text) <= 100 else f"{text[:97]}…")


def _normalized_rows(x: sp.csr_matrix) -> sp.csr_matrix:
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(x.sum(axis=1), dtype=x.dtype).ravel()
        inverse = np.divide(1, sums, out=np.zeros_like(sums), where=sums != 0)
        values = x.data * np.repeat(inverse, np.diff(x.indptr))
    if not (np.isfinite(sums).all() and np.isfinite(values).all()):
        raise ValueError(f"a row of features cannot be scaled to sum 1 in {x.dtype}: load with normalize=False")
    return sp.csr_matrix((values, x.indices, x.indptr), shape=x.shape)


def _check_density(x: sp.csr_matrix) -> None:
    """Refuses a dense matrix so large and so empty that a small file would fill the memory with zeros."""
    N, F = x.shape
    if max(_MOST_DENSE, 1000 * x.nnz) < N * F:
        raise ValueError(f"dense features of {N} nodes in {F} columns are all but empty: load with sparse=True")


def _to_torch(x: sp.csr_matrix) -> Tensor:
    crow, col = (torch.from_numpy(a.astype(np.int64)) for a in (x.indptr, x.indices))
    with warnings.catch_warnings():  # torch says once per process that CSR is in beta
        warnings.simplefilter("ignore")
        return torch.sparse_csr_tensor(crow, col, torch.from_numpy(x.data), size=x.shape, check_invariants=True)
