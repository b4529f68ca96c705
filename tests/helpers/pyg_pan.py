"""PyG's own `PANConv` and `PANPooling` made to run: with a stand-in for torch-sparse's SparseTensor, backed by lists.

It has no more than their code calls. Entries stand by row and column; a product has one wherever it has a term.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor


class SparseTensor:
    def __init__(self, row, col, value=None, sparse_sizes=None):
        order = torch.argsort(row * max(sparse_sizes[1], 1) + col, stable=True)
        self.row, self.col, self.sizes = row[order], col[order], tuple(sparse_sizes)
        self.value = None if value is None else value[order]

    # ------------------------------------------------------------------ making one

    @staticmethod
    def eye(M, N, has_value, dtype, device):
        nodes = torch.arange(M, device=device)
        return SparseTensor(nodes, nodes, torch.ones(M, dtype=dtype, device=device), (M, N))

    @staticmethod
    def from_torch_sparse_coo_tensor(matrix):
        matrix = matrix.coalesce()
        return SparseTensor(*matrix.indices(), matrix.values(), matrix.shape)

    @staticmethod
    def from_torch_sparse_csr_tensor(matrix):
        return SparseTensor.from_torch_sparse_coo_tensor(matrix.to_sparse_coo())

    def set_value(self, value):
        return SparseTensor(self.row, self.col, value, self.sizes)

    def fill_value(self, value):
        return self.set_value(torch.full((len(self.row),), value))

    def mul_nnz(self, factor, layout):
        assert layout == "coo"
        return self.set_value(self.value * factor)

    # ------------------------------------------------------------------ what it is

    def size(self, dim):
        return self.sizes[dim]

    def sparse_sizes(self):
        return self.sizes

    def device(self):
        return self.row.device

    def has_value(self):
        return self.value is not None

    def coo(self):
        return self.row, self.col, self.value

    def csr(self):
        return torch.searchsorted(self.row, torch.arange(self.sizes[0] + 1)), self.col, self.value

    @property
    def storage(self):
        count = torch.bincount(self.row, minlength=self.sizes[0])
        return SimpleNamespace(
            row=lambda: self.row, col=lambda: self.col, value=lambda: self.value, rowcount=lambda: count
        )

    # ------------------------------------------------------------------ what it does

    def dense(self, value=None):
        value = self.value if value is None else value
        return value.new_zeros(self.sizes).index_put((self.row, self.col), value, accumulate=True)

    def coalesce(self):
        row, col = self.dense(torch.ones_like(self.value)).nonzero(as_tuple=True)
        return SparseTensor(row, col, self.dense()[row, col], self.sizes)

    def __matmul__(self, other):
        other = other.set_value(other.value.to(self.value.dtype))
        there = self.dense(torch.ones_like(self.value)) @ other.dense(torch.ones_like(other.value))
        row, col = there.nonzero(as_tuple=True)
        return SparseTensor(row, col, (self.dense() @ other.dense())[row, col], self.sizes)

    def __mul__(self, factor: Tensor):
        return self.set_value(self.value * factor.expand(self.sizes)[self.row, self.col])

    __rmul__ = __mul__


@contextmanager
def running_without_torch_sparse():
    """Lets the stand-in be what PyG's PAN, and the message passing below it, take for a SparseTensor."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("nn.conv.pan_conv", "nn.conv.message_passing", "utils.sparse"):
            patch.setattr(importlib.import_module(f"torch_geometric.{name}"), "SparseTensor", SparseTensor)
        conv = importlib.import_module("torch_geometric.nn.conv.pan_conv")
        patch.setattr(conv, "spmm", lambda adj_t, x, reduce: adj_t.dense() @ x)
        yield
