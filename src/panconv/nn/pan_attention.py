"""`PANAttention`: each node chooses by its own features how far it looks, and by those of both ends whom it hears."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import glorot, zeros

from panconv.base.checks import checked_count, checked_length
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.reading import checked_edges
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

    With a ``rank`` R, fₙ looks at both ends of a path. The receiver's share of the length is multiplied by how well the
    two agree, a number between 0 and 2:

    .. math:: f_n(\mathbf{x}_i, \mathbf{x}_j) = f_n(\mathbf{x}_i) \Big( 1 + \frac{1}{R} \sum_{r=1}^{R}
        \tanh(\mathbf{x}_i \mathbf{W} \mathbf{u}_{nr}) \tanh(\mathbf{x}_j \mathbf{W} \mathbf{v}_r) \Big)

    It starts from u = 0, where it is the layer without a rank. As a sum of products it needs no Aⁿ: xW and the R
    weighted copies of it go through the one recurrence side by side, so a call takes the same products as with rank 0,
    1 + R times as wide. v does not depend on the length: with one per length the recurrence could not be shared, and
    L products would become L(L+1)/2. Nothing is lost by it, since R·(L+1) products hold any R per length.

    Args:
        in_channels: features of a node.
        out_channels: features of a node afterwards, those of all heads together.
        L: the longest path length.
        method: how each length is scaled: 3, 4, 5, 6, 8 or 9, those that do not divide by Z.
        heads: H, each with out_channels / H of the features.
        paths: which paths are counted, as in `PANConv`.
        bias: whether to add a trained bias.
        rank: R, how many products of both ends' features fₙ has; 0 for an fₙ of the receiver alone.
        loops, repeats: how self-loops and repeated edges are read, as in `PANConv`.

    Shapes:
        x (N, F) → (N, O). x may be a torch sparse tensor (N, F).

    >>> layer = PANAttention(16, 8, L=3, heads=2, rank=4)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> layer(torch.randn(3, 16), edge_index).shape
    torch.Size([3, 8])
    """

    without_met = "weighs lengths by x: see length_weights(x)"
    rank: int = 0  # of layers that were saved whole before there was one
    receiver: nn.Parameter  # (H, O/H, L+1, R): u
    sender: nn.Parameter  # (H, O/H, R): v

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        L: int = 2,
        method: int = 3,
        heads: int = 1,
        paths: str = "walks",
        bias: bool = True,
        rank: int = 0,
        *,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = checked_count(in_channels, "in_channels")
        self.out_channels, self.heads = checked_heads(out_channels, heads)
        self.rank = checked_count(rank, "rank", 0)
        L, method = checked_length(L), checked_method(method)
        if not family_of(paths).counts_steps:
            raise ValueError(
                "PANAttention weighs numbers of steps, which effective lengths do not tell apart: use PANConv"
            )
        if METHODS[method].overall:
            raise ValueError(
                f"method {method} divides by Z, which the softmax over lengths replaces: use one without (3 … 6, 8, 9)"
            )
        alike = Fixed(torch.ones(L + 1, device="cpu"))  # f alone tells the lengths apart
        self.specify(L, method, alike, paths, loops=loops, repeats=repeats)
        self.lin, width = Linear(in_channels, out_channels), out_channels // heads
        self.att = nn.Parameter(torch.zeros(heads, width, self.L + 1))
        self.length_bias = nn.Parameter(torch.zeros(heads, self.L + 1))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None
        if self.rank:
            self.receiver = nn.Parameter(torch.zeros(heads, width, self.L + 1, self.rank))
            self.sender = nn.Parameter(torch.empty(heads, width, self.rank))
            glorot(self.sender)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        zeros(self.att)
        zeros(self.length_bias)
        if self.rank:
            zeros(self.receiver)
            glorot(self.sender)

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        xW = by_head(self.lin, x, self.heads)
        u, v = self._factors(xW)
        sent = v.unsqueeze(-1) * xW.unsqueeze(2)  # (N, H, 1+R, O/H)
        received = ((u[:, :, n].unsqueeze(-1) * term).sum(2) for n, term in enumerate(self.met(adj).terms(sent)))
        return sum_of(received).flatten(1).to(xW.dtype)

    def length_weights(self, x: Tensor) -> Tensor:
        """fₙ(xᵢ), the share of each length at each node, (N, heads, L+1)."""
        return self._shares(by_head(self.lin, self.lin.checked(x), self.heads))

    def pair_weights(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """fₙ(xᵢ, xⱼ) of the paths of each length between pairs of nodes, joined or not, (E, heads, L+1).

        Args:
            edge_index: the pairs (2, E), of (source j, target i).
        """
        u, v = self._factors(by_head(self.lin, self.lin.checked(x), self.heads))
        pairs, _ = checked_edges(edge_index, x.shape[0])
        return (u[pairs[1]] * v[pairs[0]].unsqueeze(2)).sum(-1)

    def _shares(self, xW: Tensor) -> Tensor:
        return (torch.einsum("nho,hol->nhl", xW, self.att) + self.length_bias).softmax(-1)

    def _factors(self, xW: Tensor) -> tuple[Tensor, Tensor]:
        """u (N, H, L+1, 1+R) and v (N, H, 1+R), whose products over the last sum to fₙ(xᵢ, xⱼ)."""
        shares = self._shares(xW).unsqueeze(-1)
        v = torch.ones_like(xW[..., :1])
        if not self.rank:
            return shares, v
        agreement = torch.einsum("nho,holr->nhlr", xW, self.receiver).tanh() / self.rank
        u = torch.cat([shares, shares * agreement], -1)
        return u, torch.cat([v, torch.einsum("nho,hor->nhr", xW, self.sender).tanh()], -1)

    def extra_repr(self) -> str:
        words = f"{self.in_channels}, {self.out_channels}, L={self.L}, method={self.method}, heads={self.heads}"
        return f"{words}, paths={self.paths!r}{self.reading.words()}" + (f", rank={self.rank}" if self.rank else "")


def by_head(lin: Linear, x: Tensor | SparseRows, heads: int) -> Tensor:
    """xW with the features of each head apart, (N, H, O/H)."""
    if len(x.shape) != 2:
        width = "F" if lin.in_channels < 0 else lin.in_channels
        raise ValueError(f"x must be (N, {width}), a row per node, got shape {tuple(x.shape)}")
    return lin(x).unflatten(1, (heads, -1))


def checked_heads(out_channels: int, heads: int) -> tuple[int, int]:
    """The width of a layer and its heads, if they divide it."""
    width, count = checked_count(out_channels, "out_channels"), checked_count(heads, "heads")
    if width % count:
        raise ValueError(f"heads must divide out_channels = {width}, got {count}")
    return width, count
