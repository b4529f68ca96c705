"""PyG's GCNConv, SAGEConv and GATConv by sparse products with what was prepared of the graph: no message per edge and
channel is ever held, so that trials train side by side on graphs of a million edges.

Parameters are named, shaped and distributed as PyG's. GCN and GAT draw their start twice, as PyG's layers do, so that a
seed means what it means there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import Linear
from torch_geometric.nn.inits import glorot
from torch_geometric.utils import softmax

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR, order_by_column
from panconv.nn import Dropout


class GCN(nn.Module):
    """`GCNConv`: Â·X·W + b.

    Args:
        inputs, outputs: widths.
        a, a_t: Â and its transpose.
        bias: whether there is a b.
    """

    def __init__(self, inputs: int, outputs: int, a: CSR, a_t: CSR, *, bias: bool = True) -> None:
        super().__init__()
        self.lin = Linear(inputs, outputs, bias=False, weight_initializer="glorot")
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        self._matrix, self._narrows = (a, a_t), outputs < inputs
        self.lin.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        if self._narrows:  # the product with Â where there are fewer columns
            return plus(spmm(*self._matrix, self.lin(x)), self.bias)
        return plus(self.lin(spmm(*self._matrix, x)), self.bias)


class SAGE(nn.Module):
    """`SAGEConv` with means: D⁻¹A·X·W₁ + b + X·W₂.

    Args:
        inputs, outputs: widths.
        a, a_t: D⁻¹A and its transpose.
        bias: whether there is a b.
    """

    def __init__(self, inputs: int, outputs: int, a: CSR, a_t: CSR, *, bias: bool = True) -> None:
        super().__init__()
        self.lin_l, self.lin_r = Linear(inputs, outputs, bias=bias), Linear(inputs, outputs, bias=False)
        self._matrix, self._narrows = (a, a_t), outputs < inputs

    def forward(self, x: Tensor) -> Tensor:
        if self._narrows:
            return plus(spmm(*self._matrix, F.linear(x, self.lin_l.weight)), self.lin_l.bias) + self.lin_r(x)
        return self.lin_l(spmm(*self._matrix, x)) + self.lin_r(x)


class Pattern(NamedTuple):
    """Where the entries of a matrix and of its transpose stand, and which is which: their values are a layer's own."""

    crow: Tensor
    col: Tensor
    row: Tensor  # of each entry, int64
    crow_t: Tensor
    col_t: Tensor
    order: Tensor  # the entry of the matrix that stands at each place of its transpose

    @staticmethod
    def of(adj: Adjacency) -> Pattern:
        a, _ = adj.operands(torch.float32)
        crow_t, col_t, order = order_by_column(a.crow, a.col, adj.num_nodes)
        return Pattern(a.crow, a.col, a.row(), crow_t, col_t, order)

    def times(self, value: Tensor, x: Tensor) -> Tensor:
        """The product of the matrix with these values, (E,), and x."""
        turned = value.detach().index_select(0, self.order)  # for the gradient of x, which does not ask for its own
        return spmm(CSR(self.crow, self.col, value), CSR(self.crow_t, self.col_t, turned), x)


class GAT(nn.Module):
    """`GATConv`: each head weighs the neighbours by softmaxⱼ(LeakyReLU(a₁ᵀ·W·xᵢ + a₂ᵀ·W·xⱼ)); heads are joined.

    Args:
        inputs, outputs: widths, of all heads together.
        pattern: of the graph, with its self-loops.
        heads: how many.
        bias: whether a bias is added.
        p: the probability that a coefficient is dropped.
    """

    def __init__(
        self, inputs: int, outputs: int, pattern: Pattern, heads: int, *, bias: bool = True, p: Any = 0.0
    ) -> None:
        super().__init__()
        if outputs % heads:
            raise ValueError(f"heads must divide hidden, got heads = {heads} and hidden = {outputs}")
        self.heads, self._pattern = heads, pattern
        self.lin = Linear(inputs, outputs, bias=False, weight_initializer="glorot")
        self.att_src, self.att_dst = (nn.Parameter(torch.empty(1, heads, outputs // heads)) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        self.drop = Dropout(p)
        self.lin.reset_parameters()
        glorot(self.att_src)
        glorot(self.att_dst)

    def forward(self, x: Tensor) -> Tensor:
        return plus(torch.cat(self._heads(x), -1), self.bias)

    def _heads(self, x: Tensor) -> list[Tensor]:
        """What each of them hears, (N, F)."""
        h, p = self.lin(x).unflatten(-1, (self.heads, -1)), self._pattern  # (N, H, F)
        sent, received = ((h * each).sum(-1) for each in (self.att_src, self.att_dst))  # (N, H)
        score = F.leaky_relu(sent.index_select(0, p.col) + received.index_select(0, p.row), 0.2)
        alpha = self.drop(softmax(score, p.row, num_nodes=h.size(0)))  # (E, H)
        return [p.times(alpha[:, head], h[:, head]) for head in range(self.heads)]


def plus(x: Tensor, bias: Tensor | None) -> Tensor:
    """A sum with a bias, where there is one."""
    return x if bias is None else x + bias
