"""Planetoid's raw files, `ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}`, read without trusting them.

The files are pickles, and a pickle may run any code. The reader below admits only what the official files are made
of (NumPy arrays, SciPy CSR matrices, dict, defaultdict, list) and checks every array before it is used.

Source: Yang, Cohen, Salakhutdinov, "Revisiting Semi-Supervised Learning with Graph Embeddings", ICML 2016.
"""

from __future__ import annotations

import collections
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

_reconstruct = np.array(0).__reduce__()[0]  # NumPy's array factory, wherever this version keeps it
_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): collections.defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}
_NUM_VALIDATION = 500


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which no Planetoid file needs") from None


@dataclass(frozen=True)
class RawGraph:
    """A node-classification graph as NumPy arrays: what a data file holds, before torch sees it."""

    features: sp.csr_matrix  # (N, F) float32
    edges: np.ndarray  # (2, E) int64, each undirected edge once as (low, high), sorted, no self-loops
    y: np.ndarray  # (N,) int64
    train: np.ndarray  # node ids, int64
    val: np.ndarray
    test: np.ndarray


def unpickle(path: Path) -> Any:
    """The object in a pickle file made of arrays and containers only; anything else is refused unread."""
    try:
        with path.open("rb") as file:
            return _Unpickler(file, encoding="latin1").load()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}; a Planetoid folder holds 8 files a graph") from None
    except Exception as error:  # a damaged pickle can raise anything
        raise ValueError(f"{path} is not a sound Planetoid file: {error}; fetch it again") from None


def names_in(folder: Path) -> list[str]:
    """The graphs whose raw files lie in a folder."""
    return sorted(path.name[len("ind.") : -len(".graph")] for path in folder.glob("ind.*.graph"))


def read(folder: Path, name: str) -> RawGraph:
    """One graph of a folder of raw files, with the public split: train first, then 500 for validation."""

    def part(suffix: str) -> Path:
        return folder / f"ind.{name}.{suffix}"

    allx, tx = _features(part("allx")), _features(part("tx"))
    ally, ty = _labels(part("ally")), _labels(part("ty"))
    num_train, x = len(_labels(part("y"))), _features(part("x"))
    test = _test_index(part("test.index"))
    if (allx.shape[0], tx.shape[0]) != (len(ally), len(ty)) or allx.shape[1] != tx.shape[1] or len(test) != len(ty):
        raise ValueError(f"the files {part('*')} do not belong together: their lengths differ; fetch them again")
    if x.shape != (num_train, allx.shape[1]) or (x != allx[:num_train]).nnz:
        raise ValueError(f"{part('x')} is not the beginning of {part('allx')}; fetch them again")

    first = len(ally)
    N = int(test.max()) + 1
    gaps = N - first - len(test)  # Citeseer has 15
    sound = test.min() == first and len(np.unique(test)) == len(test) and gaps <= len(test)
    if not sound or num_train + _NUM_VALIDATION > first:
        raise ValueError(f"{part('test.index')} does not continue the {first} nodes of allx; fetch the files again")
    # Citeseer's test range has gaps: nodes without words or label, which stay zero as in the reference code.
    row_of = sp.csr_matrix((np.ones(len(test), np.float32), (test - first, np.arange(len(test)))), (N - first, len(ty)))
    labels = np.concatenate([ally, row_of @ ty])
    features = sp.vstack([allx, row_of @ tx]).tocsr().astype(np.float32)
    features.sort_indices()
    return RawGraph(
        features=features,
        edges=undirected_edges(_pairs(part("graph"), N)),
        y=labels.argmax(axis=1).astype(np.int64),
        train=np.arange(num_train),
        val=np.arange(num_train, num_train + _NUM_VALIDATION),
        test=np.sort(test),
    )


def undirected_edges(pairs: np.ndarray) -> np.ndarray:
    """Each undirected edge of a list of pairs once, as (low, high), sorted, without self-loops."""
    low, high = pairs.min(axis=0), pairs.max(axis=0)
    return np.unique(np.stack([low, high])[:, low != high], axis=1)


def _features(path: Path) -> sp.csr_matrix:
    matrix = unpickle(path)
    try:
        # Rebuilt from its parts and checked in full: a forged index would otherwise reach SciPy's compiled code.
        checked = sp.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape, dtype=np.float32)
        checked.check_format(full_check=True)
    except Exception as error:
        raise ValueError(f"{path} holds no sound sparse matrix: {error}; fetch it again") from None
    if not np.isfinite(checked.data).all():
        raise ValueError(f"{path} holds features that are NaN or infinite; fetch it again")
    return checked


def _labels(path: Path) -> np.ndarray:
    labels = unpickle(path)
    if not (isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.dtype.kind in "iuf"):
        raise ValueError(f"{path} holds no matrix of one-hot labels; fetch it again")
    return labels


def _test_index(path: Path) -> np.ndarray:
    try:
        return np.array(path.read_text().split(), dtype=np.int64)
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}; a line is one node id") from None


def _pairs(path: Path, N: int) -> np.ndarray:
    graph = unpickle(path)
    try:
        counts = [len(targets) for targets in graph.values()]
        sources = np.repeat(np.fromiter(graph, np.int64, len(graph)), counts)
        targets = np.fromiter((t for ts in graph.values() for t in ts), np.int64, sum(counts))
    except Exception as error:
        raise ValueError(f"{path} holds no adjacency lists: {error}; fetch it again") from None
    pairs = np.stack([sources, targets])
    if pairs.size and (pairs.min() < 0 or pairs.max() >= N):
        node = pairs.min() if pairs.min() < 0 else pairs.max()
        raise ValueError(f"{path} names node {node}, but the features have {N} rows; fetch the files again")
    return pairs
