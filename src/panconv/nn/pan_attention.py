"""`PANAttention`: each node chooses by its own features how far it looks."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import zeros

from panconv.base.checks import checked_count, checked_length
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.met.methods import METHODS, checked_method
from panconv.met.plan import sum_of
from panconv.nn.linear import Linear
from panconv.nn.on_paths import OnPaths
from panconv.paths import family_of
from panconv.weights import Fixed


class PANAttention(OnPaths):
    r"""Attention over path lengths: the series of the paper's Section 3, Σₙ fₙ(A, X) Aⁿ, with fₙ learned

    .. math:: \mathbf{x}'_i = \sum_{n=0}^{L} f_n(\mathbf{x}_i) \, \frac{1}{D_n(i)} \sum_j G(n)_{ij} \, \mathbf{x}_j
        \mathbf{W} + \mathbf{b}, \qquad
        f(\mathbf{x}_i) = \mathrm{softmax}_n (\mathbf{x}_i \mathbf{W} \mathbf{a}_n + c_n)

    It is the simplified layer (eq. 10) whose k(n) is no longer the same for all nodes. Each head has an f of its own.
    It starts from fₙ = 1/(L+1), and costs the same products as `PANConv`.

    Args:
        in_channels: features of a node.
        out_channels: features of a node afterwards, those of all heads together.
        L: the longest path length.
        method: how each length is scaled: 3, 4, 5, 6, 8 or 9, those that do not divide by Z.
        heads: H, each with out_channels / H of the features.
        paths: which paths are counted, as in `PANConv`.
        bias: whether to add a trained bias.

    Shapes:
        x (N, F) → (N, O). x may be a torch sparse tensor (N, F).

    >>> layer = PANAttention(16, 8, L=3, heads=2)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> layer(torch.randn(3, 16), edge_index).shape
    torch.Size([3, 8])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        L: int = 2,
        method: int = 3,
        heads: int = 1,
        paths: str = "walks",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels = checked_count(in_channels, "in_channels")
        self.out_channels, self.heads = checked_count(out_channels, "out_channels"), checked_count(heads, "heads")
        if out_channels % heads:
            raise ValueError(f"heads must divide out_channels = {out_channels}, got {heads}")
        L, method = checked_length(L), checked_method(method)
        if not family_of(paths).counts_steps:
            raise ValueError(
                "PANAttention weighs numbers of steps, which effective lengths do not tell apart: use PANConv"
            )
        if METHODS[method].overall:
            raise ValueError(
                f"method {method} divides by Z, which the softmax over lengths replaces: use one without (3 … 6, 8, 9)"
            )
        self.specify(L, method, Fixed(torch.ones(L + 1)), paths)  # all lengths alike: f alone tells them apart
        self.lin = Linear(in_channels, out_channels)
        self.att = nn.Parameter(torch.zeros(heads, out_channels // heads, self.L + 1))
        self.length_bias = nn.Parameter(torch.zeros(heads, self.L + 1))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None

    def reset_parameters(self) -> None:
        super().reset_parameters()
        zeros(self.att)
        zeros(self.length_bias)

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        xW = self._transform(x)
        f, terms = self._shares(xW), self.met(adj).terms(xW)
        return sum_of(f[..., n].unsqueeze(-1) * term for n, term in enumerate(terms)).flatten(1).to(xW.dtype)

    def length_weights(self, x: Tensor) -> Tensor:
        """fₙ(xᵢ), the share of each length at each node, (N, heads, L+1)."""
        return self._shares(self._transform(self.lin.checked(x)))

    def _transform(self, x: Tensor | SparseRows) -> Tensor:
        if len(x.shape) != 2:
            raise ValueError(f"x must be (N, {self.in_channels}), a row per node, got shape {tuple(x.shape)}")
        return self.lin(x).unflatten(1, (self.heads, -1))  # (N, H, O/H)

    def _shares(self, xW: Tensor) -> Tensor:
        return (torch.einsum("nho,hol->nhl", xW, self.att) + self.length_bias).softmax(-1)

    def extra_repr(self) -> str:
        words = f"{self.in_channels}, {self.out_channels}, L={self.L}, method={self.method}, heads={self.heads}"
        return f"{words}, paths={self.paths!r}"
