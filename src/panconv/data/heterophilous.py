"""Files of the heterophilous benchmark, `NAME.npz`: graphs whose neighbours differ, each with splits of its own.

A file holds node_features (N, F), node_labels (N,), edges (E, 2), each undirected edge once, and train_masks, val_masks
and test_masks (K, N). It is not trusted: nothing in it is a pickle, no array is made before its bytes have been
counted, and what the arrays hold is checked before it is used.

Source: Platonov, Kuznedelev, Diskin, Babenko, Prokhorenkova, "A critical look at the evaluation of GNNs under
heterophily: are we really making progress?", ICLR 2023.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from panconv.data.planetoid import RawGraph, content_of, undirected_edges

# The graphs that are found by name, and what the benchmark judges them by.
METRIC_OF = {
    "minesweeper": "auc",
    "tolokers": "auc",
    "squirrel_filtered": "accuracy",
    "chameleon_filtered": "accuracy",
}
FOLDER = "PANCONV_HETEROPHILOUS"  # the environment variable that names the folder of their files
_MASKS = ("train_masks", "val_masks", "test_masks")
# The number of dimensions of each array, and the kinds of its numbers by NumPy's letters.
_ARRAYS = {
    "node_features": (2, "fiub"),
    "node_labels": (1, "iu"),
    "edges": (2, "iu"),
    **dict.fromkeys(_MASKS, (2, "b")),
}
_LEAST_BUDGET, _GROWTH = 2**28, 16  # bytes that any file may unpack to, or so many times its own
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # by which NumPy packs
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def path_of(name: str) -> Path:
    """The file of a graph of the benchmark, in the folder that the environment names."""
    folder = os.environ.get(FOLDER)
    if not folder:
        raise ValueError(f"the graph {name!r} is read from a file: set {FOLDER} to the folder that holds {name}.npz")
    return Path(folder).expanduser() / f"{name}.npz"


def read(path: Path) -> RawGraph:
    """The graph of a file, with all of its splits: train, val and test are masks (N, K)."""
    content = content_of(path)
    try:
        arrays = _arrays(content)
        _check_together(arrays)
    except ValueError as error:
        raise ValueError(f"{path} is no sound file of the heterophilous benchmark: {error}; fetch it again") from None
    train, val, test = (np.array(arrays[name].T, order="C") for name in _MASKS)
    features = sp.csr_matrix(arrays["node_features"].astype(np.float32))
    edges, y = (arrays[name].astype(np.int64) for name in ("edges", "node_labels"))
    return RawGraph(features, undirected_edges(edges.T), y, train, val, test, counts=False)


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    """The six arrays of an archive, unpacked within a budget."""
    left, found = max(_LEAST_BUDGET, _GROWTH * len(content)), {}
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            there = {member.filename: member for member in archive.infolist()}
            for name in _ARRAYS:
                if (member := there.get(f"{name}.npy")) is None:
                    raise ValueError(f"it has no array {name}")
                if member.compress_type not in _METHODS:
                    raise ValueError(f"{name} is packed in a way that NumPy does not write")
                with archive.open(member) as file:
                    unpacked = file.read(left + 1)
                if len(unpacked) > left:
                    raise ValueError("it unpacks to far more than its own size")
                left -= len(unpacked)
                found[name] = _array(name, unpacked)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, OverflowError) as error:
        raise ValueError(
            f"it cannot be unpacked ({' '.join(str(error).split())[:80] or type(error).__name__})"
        ) from None
    return found


def _array(name: str, content: bytes) -> np.ndarray:
    """An array of NumPy's format, whose bytes must be as many as its shape and dtype say."""
    file, (dimensions, kinds) = BytesIO(content), _ARRAYS[name]
    try:
        shape, by_column, dtype = _HEADERS[np.lib.format.read_magic(file)](file)
    except (KeyError, ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"{name} is no array of NumPy's format") from None
    if len(shape) != dimensions or dtype.kind not in kinds or dtype.names is not None:
        numbers = "truth values" if kinds == "b" else "whole numbers" if "f" not in kinds else "numbers"
        raise ValueError(f"{name} must have {dimensions} dimensions of {numbers}, got shape {shape} of {dtype}")
    body = content[file.tell() :]
    if min(shape) < 0 or math.prod(shape) * dtype.itemsize != len(body):
        raise ValueError(f"{name} of shape {shape} and {dtype} has {len(body)} bytes")
    if dtype.kind == "b" and np.frombuffer(body, np.uint8).max(initial=0) > 1:
        raise ValueError(f"{name} holds truth values other than 0 and 1")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if by_column else "C")


def _check_together(arrays: dict[str, np.ndarray]) -> None:
    """Refuses arrays whose sizes differ, and values that stand for nothing."""
    x, y, edges = (arrays[name] for name in ("node_features", "node_labels", "edges"))
    N = len(x)
    if not x.size or len(y) != N or edges.shape[1] != 2:
        raise ValueError(f"features {x.shape}, labels {y.shape} and edges {edges.shape} do not belong together")
    with np.errstate(over="ignore"):
        if not np.isfinite(x.astype(np.float32)).all():
            raise ValueError("node_features are NaN, infinite or beyond float32 somewhere")
    for name, values in (("node_labels", y), ("edges", edges)):
        if values.size and (values.min() < 0 or values.max() >= N):  # a class for each node is more than enough
            wrong = values.min() if values.min() < 0 else values.max()
            raise ValueError(f"{name} has {wrong}, which is none of 0 … {N - 1}")
    train, val, test = (arrays[name] for name in _MASKS)
    _check_splits(train, val, test, N)


def _check_splits(train: np.ndarray, val: np.ndarray, test: np.ndarray, N: int) -> None:
    if not len(train) or any(mask.shape != (len(train), N) for mask in (train, val, test)):
        raise ValueError(f"the masks {train.shape}, {val.shape} and {test.shape} must be alike, a column for each node")
    if not all(mask.any(1).all() for mask in (train, val, test)):
        raise ValueError("a split has no node to train on, to choose by or to test on")
    if ((train & val) | (train & test) | (val & test)).any():
        raise ValueError("train_masks, val_masks and test_masks share nodes")
