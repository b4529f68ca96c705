"""`SpectralConv`: a learned filter in the basis of M."""

from __future__ import annotations

import json

import torch
from torch import Tensor, nn
from torch_geometric.utils import scatter

from panconv.base.checks import checked_count, checked_length, shown
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.met.methods import check_one_trial, check_similar
from panconv.met.reach import WHOLE, Reach
from panconv.nn.linear import Linear
from panconv.nn.on_paths import OnPaths
from panconv.nn.refusals import check_numbers
from panconv.spectral import Basis, basis
from panconv.weights import PathWeights, weights_from

FILTERS = ("polynomial", "free")


class SpectralConv(OnPaths):
    r"""Convolution in the eigenbasis of the MET matrix (eq. 8), M ψᵢ = λᵢ ψᵢ

    .. math:: \mathbf{X}' = \mathbf{U} (g(\lambda) \odot \mathbf{U}^{-1} \mathbf{X} \mathbf{W}) + \mathbf{b}

    with the k leading eigenstates U and a filter g for each output channel. The eigenstates are found once per graph
    and kept with it, so the path weights are fixed: trained, they would have M diagonalised at every step. With k = N
    and g(λ) = λ this is `PANConv`.

    Equal eigenvalues are taken together, with one value of g, since the eigenvectors of a part of them are no property
    of the graph: k is a least number, and on a graph of C components methods 1 and 2 have the eigenvalue 1 C times
    (78 on Cora), all of which come first.

    Args:
        in_channels: features of a node, or -1 to take them from the first call.
        out_channels: features of a node afterwards.
        k: eigenstates, at least; all N of a graph that has fewer nodes.
        L: the longest path length.
        method: 2, 5, 6, 9, whose M is symmetric on an undirected graph, or 1, 7, 8, 10, 11, whose M = Z^−½ S Z^½ is
            similar to a symmetric S = ΦΛΦᵀ: U = Z^−½Φ, U⁻¹ = ΦᵀZ^½.
        weights: fixed path weights: L+1 numbers, or such as ``PowerLaw(L, trained=False)``; None for ones.
        filter: ``"polynomial"``: g(λ) = Σₚ θₚ Tₚ(λ′), with Tₚ Chebyshev's polynomials and λ′ the eigenvalues kept,
            moved onto [−1, 1], on which the Tₚ are far better conditioned than powers; any polynomial of the degree
            can be written so, and θ has a meaning on another graph too. ``"free"``: a θ for each of the k eigenvalues,
            which belongs to one graph. Both start at g = 1.
        degree: of the polynomial, at least 1.
        bias: whether to add a trained bias.
        paths: which paths are counted, as in `PANConv`.
        loops, repeats: how self-loops and repeated edges are read, as in `PANConv`.

    Shapes:
        x (N, F) → (N, O), or (N, …, F) → (N, …, O). x may be a torch sparse tensor (N, F).

    >>> conv = SpectralConv(16, 7, k=2)
    >>> conv(torch.randn(3, 16), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).shape
    torch.Size([3, 7])
    """

    explains_edges = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        k: int = 32,
        L: int = 2,
        method: int = 2,
        weights: object = None,
        filter: str = "polynomial",
        degree: int = 3,
        bias: bool = True,
        paths: str = "walks",
        *,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(filter, str) or filter not in FILTERS:
            raise ValueError(f"filter must be one of {', '.join(FILTERS)}, got {shown(filter)}")
        check_similar(method)
        self.k, L, self.filter = checked_count(k, "k"), checked_length(L), filter
        self.specify(L, method, _fixed_weights(weights, L), paths, loops=loops, repeats=repeats)
        check_one_trial(self.weights)
        self.degree = checked_count(degree, "degree")
        self.lin = Linear(in_channels, out_channels)
        rows = self.degree + 1 if filter == "polynomial" else self.k
        self.theta = nn.Parameter(torch.empty(rows, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():
            self.theta.fill_(1)
            if self.filter == "polynomial":
                self.theta[1:] = 0

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        check_numbers(self, adj)
        states, y = self.basis(adj), self.lin(x)
        wide = torch.float64 if y.dtype == torch.float64 else torch.float32
        g = self.response(states).to(wide)
        seen = torch.tensordot(states.left.to(wide), y.to(wide), dims=1)  # (k, …, O)
        seen = seen * g.reshape(g.size(0), *[1] * (y.dim() - 2), g.size(1))
        return torch.tensordot(states.right.to(wide), seen, dims=1).to(y.dtype)

    def basis(self, adj: Adjacency) -> Basis:
        """The eigenstates on a graph, computed once and kept with it."""
        key = ("basis", self.k, self.L, self.method, self.paths, json.dumps(self.weights.spec()))
        return adj.cached(key, lambda: basis(self.met(adj), self.k))

    def response(self, states: Basis) -> Tensor:
        """g at the eigenvalues, (k, O)."""
        if self.filter == "free":
            own = states.group[: self.k]
            return scatter(self.theta[: own.numel()], own, dim_size=len(states.values), reduce="mean")[states.group]
        return chebyshev(states.values, self.degree).to(self.theta.dtype) @ self.theta

    def reach(self, stored: bool = False) -> Reach:
        """Its eigenstates are those of the whole graph."""
        return WHOLE

    def extra_repr(self) -> str:
        words = f"{self.lin.in_channels}, {self.lin.out_channels}, k={self.k}, L={self.L}, method={self.method}"
        words += f", filter={self.filter!r}{self.reading.words()}"
        return words + (f", degree={self.degree}" if self.filter == "polynomial" else "")


def _fixed_weights(weights: object, L: int) -> PathWeights:
    """The weights, ones where none are given, if nobody trains them."""
    fixed = weights_from([1.0] * (L + 1) if weights is None else weights, L)
    if any(p.requires_grad for p in fixed.parameters()):
        raise ValueError(
            f"weights must be fixed, got {type(fixed).__name__}, which is trained: M would have to be diagonalised at "
            "every step; give L+1 numbers, PowerLaw(L, trained=False), or use PANConv"
        )
    return fixed


def chebyshev(values: Tensor, degree: int) -> Tensor:
    """T₀ … T_degree at the values, moved onto [−1, 1]: (k, degree + 1). Where all are equal they stand at 0."""
    if not values.numel():
        return values.new_zeros(0, degree + 1)
    middle, half = (values.max() + values.min()) / 2, (values.max() - values.min()) / 2
    different = half > 1e-8 * values.abs().max()  # rounding is not to be stretched over the whole interval
    t = torch.where(different, (values - middle) / half.where(different, 1.0), 0.0)
    terms = [torch.ones_like(t), t]
    while len(terms) <= degree:
        terms.append(2 * t * terms[-1] - terms[-2])
    return torch.stack(terms[: degree + 1], 1)
