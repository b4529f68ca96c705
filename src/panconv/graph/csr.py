"""Compressed sparse rows: the one format in which a sparse matrix is kept, and how to get there."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from panconv.base.tracing import is_transforming

_INT32_MAX = 2**31 - 1
# Entries of the longest row, by the row pointers, where that is known: the kernels of a GPU ask.
known_longest: WeakIdKeyDictionary = WeakIdKeyDictionary()
_RADIX = 2**14  # numbers up to which NumPy's radix sort of 16 bits is faster than to count them

with warnings.catch_warnings():  # torch says once per process that CSR is in beta; that is ours to test, not the user's
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor([0, 0], [], [], (1, 1))


class CSR(NamedTuple):
    """A sparse matrix (R, C): row i holds `value[crow[i]:crow[i+1]]` at the columns `col[crow[i]:crow[i+1]]`."""

    crow: Tensor  # (R + 1,) int32 where it fits, else int64
    col: Tensor  # (nnz,)
    value: Tensor  # (nnz,)

    def row(self) -> Tensor:
        """The row of each stored entry, (nnz,)."""
        return rows_of(self.crow, self.col.numel())

    def row_sums(self) -> Tensor:
        """The sum of each row, (R,)."""
        return self.value.new_zeros(self.crow.numel() - 1).index_add(0, self.row(), self.value)

    def to_coo(self, shape: tuple[int, ...]) -> Tensor:
        """The same as torch's sparse COO matrix (R, C); rows and the columns in them must be in order."""
        index = torch.stack([self.row(), self.col.long()])
        return torch.sparse_coo_tensor(index, self.value, shape, is_coalesced=True, check_invariants=False)


def rows_of(crow: Tensor, nnz: int) -> Tensor:
    """The row of each stored entry, (nnz,), int64."""
    if on_host(crow):
        pointers = crow.numpy()
        return torch.from_numpy(np.repeat(np.arange(len(pointers) - 1), pointers[1:] - pointers[:-1]))
    rows = torch.arange(crow.numel() - 1, device=crow.device)
    return torch.repeat_interleave(rows, crow.diff().long(), output_size=nnz)


def compress(row: Tensor, num_rows: int) -> Tensor:
    """Row pointers, int64, of sorted row numbers."""
    if on_host(row):
        crow = np.zeros(num_rows + 1, np.int64)
        np.cumsum(np.bincount(row.numpy(), minlength=num_rows), out=crow[1:])
        return torch.from_numpy(crow)
    return torch.searchsorted(row.long(), torch.arange(num_rows + 1, device=row.device))


def on_host(*tensors: Tensor) -> bool:
    """Whether NumPy may look at tensors: an operation of its own takes a fraction of one of torch's."""
    plain = not torch.compiler.is_compiling() and not is_transforming()
    return plain and all(t.device.type == "cpu" and type(t) is Tensor for t in tensors)  # no stand-in of a tracer


def stable_order(number: Tensor, bound: int) -> Tensor:
    """The permutation, int64, that sorts numbers 0 … bound − 1 and leaves equal ones in their order.

    On the CPU they are counted, not compared: 5 to 20 times as fast as torch's sort from thousands to millions.
    """
    if not on_host(number):
        return torch.argsort(number, stable=True)
    plain, count = number.numpy(), number.numel()
    if count <= _RADIX and bound <= 2**16:
        return torch.from_numpy(plain.astype(np.uint16).argsort(kind="stable"))
    index = np.int32 if max(count, bound) <= _INT32_MAX else np.int64
    # A column per number, with one entry in the row that it names: row by row, they are in order.
    parts = (np.ones(count, np.int8), plain.astype(index, copy=False), np.arange(count + 1, dtype=index))
    order = sp.csc_array(parts, shape=(bound, count)).tocsr().indices
    return torch.from_numpy(order.astype(np.int64, copy=False))


def narrow(index: Tensor, bound: int) -> Tensor:
    """int32 where all of 0 … bound fit: a quarter less memory traffic than int64, and the faster kernels."""
    return index.to(torch.int32 if bound <= _INT32_MAX else torch.int64)


def order_by_column(
    crow: Tensor, col: Tensor, num_cols: int, row: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The transposed pattern: its crow, its col, and the permutation that brings the values along."""
    perm = stable_order(col, num_cols)
    row = rows_of(crow, col.numel()) if row is None else row
    return compress(col.index_select(0, perm), num_cols).to(crow.dtype), row.index_select(0, perm).to(col.dtype), perm


def weak_components(pattern: CSR) -> Tensor:
    """The weakly connected component of each node of a square matrix, (N,), from 0; a value of 0 joins nothing."""
    crow, col, joined = (part.cpu() for part in pattern._replace(value=pattern.value.detach() != 0))
    N = crow.numel() - 1
    matrix = sp.csr_matrix((joined.to(torch.int8).numpy(), col.numpy(), crow.numpy()), shape=(N, N), copy=True)
    matrix.eliminate_zeros()
    labels = sp.csgraph.connected_components(matrix, directed=True, connection="weak")[1]
    return torch.from_numpy(labels).long().to(pattern.crow.device)
