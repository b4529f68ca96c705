"""Planetoid's raw files, `ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}`, read without trusting them.

The files are pickles, and a pickle may run any code: `panconv.data.pickles` reads them without running any. What they
hold is checked here before it is used.

Source: Yang, Cohen, Salakhutdinov, "Revisiting Semi-Supervised Learning with Graph Embeddings", ICML 2016.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from panconv.data.pickles import read_array, read_lists, read_matrix

_MOST_BYTES = 2**31
_MOST_UNUSED = 2**20  # columns of the features in which nothing stands
T = TypeVar("T")
_NUM_VALIDATION = 500


@dataclass(frozen=True)
class RawGraph:
    """A node-classification graph as NumPy arrays: what a data file holds, before torch sees it."""

    features: sp.csr_matrix  # (N, F) float32, or float64 where the file has that
    edges: np.ndarray  # (2, E) int64, each undirected edge once as (low, high), sorted, no self-loops
    y: np.ndarray  # (N,) int64
    train: np.ndarray  # node ids, int64, or masks (N, K) of K splits
    val: np.ndarray
    test: np.ndarray
    counts: bool = True  # whether the features count something, so that their rows may be scaled to sum 1


def names_in(folder: Path) -> list[str]:
    """The graphs whose raw files lie in a folder."""
    return sorted(path.name[len("ind.") : -len(".graph")] for path in folder.glob("ind.*.graph"))


def read(folder: Path, name: str) -> RawGraph:
    """One graph of a folder of raw files, with the public split: train first, then 500 for validation."""

    def part(suffix: str) -> Path:
        return folder / f"ind.{name}.{suffix}"

    allx, tx, x = (_features(part(suffix)) for suffix in ("allx", "tx", "x"))
    ally, ty, y = (_labels(part(suffix)) for suffix in ("ally", "ty", "y"))
    test, num_train = _test_index(part("test.index")), len(y)
    lengths = (allx.shape[0], tx.shape[0], len(test)) == (len(ally), len(ty), len(ty))
    if not lengths or allx.shape[1] != tx.shape[1] or ally.shape[1] != ty.shape[1]:
        raise ValueError(f"the files {part('*')} do not belong together: their sizes differ; fetch them again")
    if allx.shape[1] > _MOST_UNUSED + allx.nnz + tx.nnz:
        raise ValueError(f"{part('allx')} has {allx.shape[1]} columns, almost all of them empty; leave those out")
    if num_train > len(ally) or x.shape != (num_train, allx.shape[1]) or (x != allx[:num_train]).nnz:
        raise ValueError(f"{part('x')} is not the beginning of {part('allx')}; fetch them again")
    if not np.array_equal(y, ally[:num_train]):
        raise ValueError(f"{part('y')} is not the beginning of {part('ally')}; fetch them again")

    first = len(ally)
    N = int(test.max()) + 1
    gaps = N - first - len(test)  # Citeseer has 15
    sound = test.min() == first and len(np.unique(test)) == len(test) and gaps <= len(test)
    if not sound or num_train + _NUM_VALIDATION > first:
        raise ValueError(f"{part('test.index')} does not continue the {first} nodes of allx; fetch the files again")
    # Citeseer's test range has gaps: nodes without words or label, which stay zero as in the reference code.
    row_of = sp.csr_matrix((np.ones(len(test), np.float32), (test - first, np.arange(len(test)))), (N - first, len(ty)))
    labels = np.concatenate([ally, row_of @ ty])
    features = sp.vstack([allx, row_of @ tx]).tocsr()
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
    matrix = _unpickle(path, read_matrix)
    matrix = matrix.astype(np.float64 if matrix.dtype == np.float64 else np.float32)
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        raise ValueError(f"{path} holds features that are NaN or infinite; mend or remove them")
    return matrix


def _labels(path: Path) -> np.ndarray:
    labels = _unpickle(path, read_array)
    if not (labels.ndim == 2 and labels.size and labels.dtype.kind in "iuf"):
        raise ValueError(f"{path} holds no matrix of one-hot labels; fetch it again")
    # A row of zeros is a node whose class is not known, as 15 of Citeseer's.
    wrong = ~(((labels == 0) | (labels == 1)).all(axis=1) & ((labels != 0).sum(axis=1) <= 1))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"row {row} of {path} is no one-hot label: one 1 and zeros, or zeros alone; mend it")
    return labels


def _test_index(path: Path) -> np.ndarray:
    words = content_of(path, "a graph has 8 files").split()
    if not words or not all(word.isdigit() and len(word) <= 18 for word in words):
        raise ValueError(f"{path} is no list of test nodes: a line is one node id; fetch it again")
    return np.array([int(word) for word in words], dtype=np.int64)


def _pairs(path: Path, N: int) -> np.ndarray:
    pairs = np.stack(_unpickle(path, read_lists))
    if pairs.size and (pairs.min() < 0 or pairs.max() >= N):
        node = pairs.min() if pairs.min() < 0 else pairs.max()
        raise ValueError(f"{path} names node {node}, but the features have {N} rows; fetch the files again")
    return pairs


def _unpickle(path: Path, read: Callable[[bytes], T]) -> T:
    content = content_of(path, "a graph has 8 files")
    try:
        return read(content)
    except ValueError as error:
        raise ValueError(f"{path} is not a sound Planetoid file: {error}; fetch it again") from None


def content_of(path: Path, remedy: str = "name another file") -> bytes:
    """The bytes of a regular file of bounded size."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe, a device: reading might never end
            raise ValueError(f"{path} is no regular file; {remedy}")
        if status.st_size > _MOST_BYTES:
            raise ValueError(f"{path} has {status.st_size} bytes, more than the {_MOST_BYTES} that a file may have")
        with path.open("rb") as file:
            return file.read(status.st_size)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}; {remedy}") from None
