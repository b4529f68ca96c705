"""`PANEdgeAttention`: paths whose edges are attended to one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn.inits import zeros

from panconv.base.checks import checked_flag, checked_operand, checked_width
from panconv.compute.edge_matrices import EdgeMatrices, arriving_shares
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.masked import MaskedGraph
from panconv.graph.prepared import prepared
from panconv.met import MET
from panconv.met.plan import sum_of
from panconv.nn.linear import Linear
from panconv.nn.on_paths import OnPaths
from panconv.nn.pan_attention import by_head, checked_heads
from panconv.nn.refusals import check_numbers

_SLOPE = 0.2  # of the leaky ReLU, as in GAT


class PANEdgeAttention(OnPaths):
    r"""Attention on the edges, (F∘A)ⁿ: a path weighs the product of the attention that its steps are given

    .. math:: \mathbf{X}' = \sum_{n=0}^{L} k(n) \, (\mathbf{F} \circ \mathbf{A})^n \, \mathbf{X} \mathbf{W} +
        \mathbf{b}, \qquad F_{ij} = \frac{\exp s_{ij}}{\sum_k A_{ik} \exp s_{ik}}, \qquad
        s_{ij} = \mathrm{LeakyReLU}(\mathbf{x}_i \mathbf{W} \mathbf{p} + \mathbf{x}_j \mathbf{W} \mathbf{q})

    It is the series of the paper's Section 3 on the edges of GAT, where what is learned enters each step. F∘A sums to 1
    over the edges that arrive at a node, and so do its powers. Each head has an F of its own, and all have one k(n).
    It starts from p = q = 0, where F∘A = D⁻¹A: there it is `PANConv` with method 8, the multi-step generic walk.
    No power is formed. A call takes L products per head, each as wide as the head, so as much work as `PANConv`, and a
    softmax over the edges.

    Args:
        in_channels: features of a node, or -1 to take them from the first call.
        out_channels: features of a node afterwards, those of all heads together.
        L: the longest path length.
        heads: H, each with out_channels / H of the features.
        weights: k(n), as in `PANConv`; None for free ones. They are not divided by their sum.
        bias: whether to add a trained bias.
        loops, repeats: how self-loops and repeated edges are read, as in `PANConv`.

    Shapes:
        x (N, F) → (N, O). x may be a torch sparse tensor (N, F). Edge weights must be at least 0.

    >>> layer = PANEdgeAttention(16, 8, L=3, heads=2)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> layer(torch.randn(3, 16), edge_index).shape
    torch.Size([3, 8])
    """

    without_met = "weighs edges by x: see attention(x, edge_index)"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        L: int = 2,
        heads: int = 1,
        weights: object = None,
        bias: bool = True,
        *,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        super().__init__()
        checked_width(in_channels)
        self.out_channels, self.heads = checked_heads(out_channels, heads)
        self.specify(L, 8, weights, "walks", loops=loops, repeats=repeats)  # what it starts from
        if self.weights().dim() == 2:
            raise ValueError(
                f"weights must be (L+1,), a number per length, got shape {tuple(self.weights().shape)}: choose a column"
            )
        self.lin, width = Linear(in_channels, out_channels), out_channels // heads
        self.att_receiver = nn.Parameter(torch.zeros(heads, width))
        self.att_sender = nn.Parameter(torch.zeros(heads, width))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if checked_flag(bias, "bias") else None

    @property
    def in_channels(self) -> int:
        return self.lin.in_channels

    def met(self, adj: Adjacency) -> MET:
        """What it starts from, before any attention is trained: M of method 8."""
        return super().met(adj)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        zeros(self.att_receiver)
        zeros(self.att_sender)

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        xW = by_head(self.lin, x, self.heads)
        B = self._attention(xW, adj)
        k = self.weights().to(B.value.dtype)
        return sum_of(map(torch.mul, k.unbind(), self._terms(B, xW.to(k.dtype)))).flatten(1).to(xW.dtype)

    def attention(
        self, x: Tensor | SparseRows, edge_index: Any, edge_weight: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The entries of F∘A: the edges (2, E) of (source, target), sorted by target, and what each head gives, (E, H).

        Those that arrive at a node sum to 1.
        """
        x = self.lin.checked(x)
        adj = prepared(edge_index, edge_weight, x.shape[0], self.reading)
        return torch.stack([adj.col.long(), adj.row]), self._attention(by_head(self.lin, x, self.heads), adj).value

    def _attention(self, xW: Tensor, adj: Adjacency) -> EdgeMatrices:
        """F∘A of each head, in float32 where the features are of half precision."""
        check_numbers(self, adj)
        checked_operand(xW, adj.num_nodes, adj.device)
        if adj.is_signed:
            assert adj.value is not None
            raise ValueError(
                f"edge_weight must be at least 0 for attention on edges, which divides by their sum, got "
                f"{float(adj.value.min()):g}: use PANConv"
            )
        xW = xW.to(torch.promote_types(xW.dtype, torch.float32))
        received, sent = ((xW * att.to(xW.dtype)).sum(-1) for att in (self.att_receiver, self.att_sender))  # (N, H)
        shares = arriving_shares(adj, F.leaky_relu(received[adj.row] + sent[adj.col], _SLOPE))
        if isinstance(adj, MaskedGraph):
            shares = shares._replace(value=shares.value * adj.mask.to(xW.dtype).unsqueeze(1))
        return shares

    def _terms(self, B: EdgeMatrices, x: Tensor) -> Iterator[Tensor]:
        """Bⁿx for n = 0 … L, each from the one before."""
        yield x
        for _ in range(self.L):
            x = B.apply(x)
            yield x

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, L={self.L}, heads={self.heads}{self.reading.words()}"
