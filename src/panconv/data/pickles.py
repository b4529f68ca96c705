"""Builds arrays, sparse matrices and adjacency lists from the raw bytes of pickles, with every index checked."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from panconv.data.inert import Array, Matrix, Table
from panconv.data.opcodes import interpret


def read_array(content: bytes) -> np.ndarray:
    """The array of numbers that a pickle holds."""
    return _numpy(_only(content, Array, "array"))


def read_matrix(content: bytes) -> sp.csr_matrix:
    """The sparse matrix that a pickle holds; no index is outside its shape."""
    table = _only(content, Matrix, "sparse matrix").parts or Table()
    parts = {key: value for key, value in zip(table.items[::2], table.items[1::2], strict=True) if type(key) is str}
    shape = parts.get("_shape")
    if type(shape) is not tuple or len(shape) != 2 or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("its sparse matrix has no shape of two sizes")
    indptr, indices = (_indices(parts.get(name), name) for name in ("indptr", "indices"))
    data = _vector(parts.get("data"), "data")
    # SciPy's compiled code trusts all that is checked here.
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"the row pointer of its sparse matrix is none of {shape[0]} rows")
    nnz = int(indptr[-1])
    if nnz > min(len(indices), len(data)):
        raise ValueError(f"the rows of its sparse matrix hold {nnz} values, but it has {len(indices)} and {len(data)}")
    indices, data = indices[:nnz], data[:nnz]
    if nnz and not 0 <= indices.min() <= indices.max() < shape[1]:
        raise ValueError(f"its sparse matrix names a column that is none of 0 … {shape[1] - 1}")
    return sp.csr_matrix((data, indices, indptr), shape=shape)


def read_lists(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """The adjacency lists that a pickle holds, a dict from each node to its neighbours, as sources and targets."""
    items = _only(content, Table, "dict of adjacency lists").items
    keys, lists = items[::2], items[1::2]
    if not set(map(type, keys)) <= {int} or not set(map(type, lists)) <= {list}:
        raise ValueError("it holds no adjacency lists: a node is an integer and has a list")
    counts = list(map(len, lists))
    total = sum(counts)
    if total > len(content):  # an entry takes two bytes; but thousands of nodes may have one list in common
        raise ValueError(f"its lists have {total} entries together, more than a file of {len(content)} bytes holds")
    if not set(map(type, chain.from_iterable(lists))) <= {int}:
        raise ValueError("it holds no adjacency lists: a neighbour is an integer")
    nodes = np.fromiter(keys, np.int64, len(keys))
    if len(np.unique(nodes)) != len(nodes):
        raise ValueError("it lists the neighbours of a node twice")
    return np.repeat(nodes, counts), np.fromiter(chain.from_iterable(lists), np.int64, total)


def _only(content: bytes, kind: type, what: str) -> Any:
    value = interpret(content)
    if type(value) is not kind:
        raise ValueError(f"it holds no {what}")
    return value


def _numpy(array: Array) -> np.ndarray:
    if array.layout is None:
        raise ValueError("an array in it has no content")
    shape, dtype, fortran, content = array.layout
    if dtype.order is None:
        raise ValueError("a dtype in it has no byte order")
    # Booleans are read as numbers: a byte other than 0 and 1 is no boolean.
    stored = np.dtype(dtype.order + dtype.code.replace("b", "u"))
    if len(content) != math.prod(shape) * stored.itemsize:
        raise ValueError(f"an array in it has shape {shape} and dtype {dtype.code}, but {len(content)} bytes")
    numbers = np.frombuffer(content, stored).astype(stored.newbyteorder("="))
    return numbers.reshape(shape, order="F" if fortran else "C")


def _vector(array: Any, name: str) -> np.ndarray:
    vector = _numpy(array) if type(array) is Array else None
    if vector is None or vector.ndim != 1:
        raise ValueError(f"its sparse matrix has no vector {name!r}")
    return vector


def _indices(array: Any, name: str) -> np.ndarray:
    vector = _vector(array, name)
    if vector.dtype.kind not in "iu":
        raise ValueError(f"the vector {name!r} of its sparse matrix holds no integers")
    return vector.astype(np.int64)  # past int64 it turns negative, which no index is
