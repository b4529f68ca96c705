"""`AuthorsConv`: the layer of the authors' second paper as their code and PyG's `PANConv` have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.nn.dense.linear import Linear

from panconv.base.checks import FLOATS, checked_count, checked_operand, checked_width, kind_of, shown
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.graph.masked import MaskedGraph
from panconv.graph.prepared import prepared
from panconv.graph.repeated import Reading
from panconv.nn.explainable import Explainable
from panconv.nn.refusals import check_numbers
from panconv.paths.formed_walks import FormedWalks, formed_walks

AS_COUNTED = Reading(repeats="sum")  # an edge that is named twice is two walks, in both codes


def running_products(weight: Tensor) -> Tensor:
    """w₀, w₀w₁, w₀w₁w₂ … of w (L+1,)."""
    return weight.cumprod(0)


def authors_products(weight: Tensor) -> Tensor:
    """w₀, w₁, w₁w₂ … of w (L+1,), each with the gradient of its last factor alone.

    torch-sparse passes no gradient through the product of two sparse matrices (its issue 45), so that of the weights of
    n steps only wₙ learned.
    """
    before = torch.cat([weight.new_ones(1), weight.detach()[1:].cumprod(0)[:-1]])
    return torch.cat([weight[:1], weight[1:] * before])


class Code(NamedTuple):
    """What the two codes do differently."""

    coefficients: Callable[[Tensor], Tensor]  # of Aⁿ in the sum
    counted: Callable[[FormedWalks], Tensor]  # entries by which a node divides
    lin_first: bool  # whether M is applied to XW + b, and so to b as well, or b is added to MXW
    bounded: bool  # whether w is kept between 0 and 1


CODES = {
    "pyg": Code(running_products, lambda walks: walks.reached, lin_first=False, bounded=False),
    "authors": Code(authors_products, lambda walks: walks.reaches, lin_first=True, bounded=True),
}


class AuthorsConv(Explainable):
    r"""The layer of "Path Integral Based Convolution and Pooling for Graph Neural Networks" (2020) as its code has it

    .. math:: \mathbf{X}' = \mathbf{M} \mathbf{X} \mathbf{W} + \mathbf{b}, \qquad
        \mathbf{M} = \mathbf{D}^{-1/2} \sum_{n=0}^L c_n \mathbf{A}^n \, \mathbf{D}^{-1/2}, \qquad
        c_n = w_0 w_1 \cdots w_n

    PyG's `PANConv`: its state_dict loads with ``strict=True``, and the outputs agree. It is there to go on with such
    models and to run the paper's again; for new ones take `panconv.PANConv`, which divides by what the paper's text
    divides by and forms nothing. Where the text has the partition function Z, both codes have D, the number of entries
    in a row of the sum, however large they are; the weights are multiplied up, and no sign is asked of them. M is a
    sparse matrix with an entry wherever a walk of up to L steps leads, counted once per graph.

    Args:
        in_channels: features of a node, or -1 to take them from the first call.
        out_channels: features of a node afterwards.
        filter_size: L, the longest walk.
        code: ``"pyg"``, or ``"authors"`` for their own repository, where c is w₀, w₁, w₁w₂ …; D counts the entries of
            a column, which differs on directed graphs; M is applied to XW + b; w is kept between 0 and 1, as if after
            every step of the optimizer; and wₙ has a gradient from the walks of n steps alone.

    Shapes:
        x (N, F) → (N, O), and M (N, N), a coalesced sparse COO tensor M[receiver, sender] that passes gradients on.

    An edge that is named several times counts as often, as in PyG. Weights that a graph holds, an `Adjacency` or a
    sparse tensor, are multiplied along walks; the layer of PyG does so for torch's sparse tensors, and leaves out those
    of a ``SparseTensor``. Gradients of w are whole; in PyG torch-sparse cuts them off as in the authors' code.

    >>> conv = AuthorsConv(16, 7, filter_size=3)
    >>> x, M = conv(torch.randn(3, 16), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> x.shape, M.shape
    (torch.Size([3, 7]), torch.Size([3, 3]))
    """

    def __init__(self, in_channels: int, out_channels: int, filter_size: int, code: str = "pyg") -> None:
        super().__init__()
        self.filter_size = checked_count(filter_size, "filter_size", least=0)
        self.code = checked_code(code)
        self.lin = Linear(checked_width(in_channels), checked_count(out_channels, "out_channels"))
        self.weight = nn.Parameter(torch.empty(filter_size + 1))
        self.reset_parameters()

    @property
    def in_channels(self) -> int:
        """As it was given, or found in the first call."""
        return self.lin.in_channels

    @property
    def out_channels(self) -> int:
        return self.lin.out_channels

    @property
    def hops(self) -> int:
        return max(self.filter_size, 1)

    def reset_parameters(self) -> None:
        """A new start of W and b; every w is ½."""
        self.lin.reset_parameters()
        nn.init.constant_(self.weight, 0.5)

    def forward(self, x: Tensor, edge_index: Any) -> tuple[Tensor, Tensor]:
        """x through the layer, and M, on an ``edge_index``, an `Adjacency`, or anything an `Adjacency` is made from."""
        self._check_features(x)
        adj = self.seen(edge_index, x.size(0))
        checked_operand(x, adj.num_nodes, adj.device)
        code, dtype = CODES[self.code], torch.promote_types(x.dtype, torch.float32)
        a, a_t = self.transition(adj, dtype)
        if code.lin_first:
            out = self.lin(x)
            out = spmm(a, a_t, out.to(dtype)).to(out.dtype)
        else:
            out = self.lin(spmm(a, a_t, x.to(dtype)).to(x.dtype))
        return out, a.to_coo((adj.num_nodes, adj.num_nodes))

    def seen(self, edge_index: Any, num_nodes: int) -> Adjacency:
        """What the layer is called with as a graph, prepared, and as an explainer lets the layer see it."""
        adj = self.shown(prepared(edge_index, None, num_nodes, AS_COUNTED), edge_index, None)
        check_numbers(self, adj)
        return adj.covered("A") if isinstance(adj, MaskedGraph) else adj

    def transition(self, adj: Adjacency, dtype: torch.dtype) -> tuple[CSR, CSR]:
        """M and its transpose."""
        code, walks = CODES[self.code], formed_walks(adj, self.filter_size)
        pattern, root = walks.pattern, code.counted(walks).double().rsqrt()  # every node reaches itself: D ≥ 1
        value = walks.sum(code.coefficients(weights_of(self))) * root[pattern.row] * root[pattern.col]
        a = CSR(pattern.crow, pattern.col, value.to(dtype))
        if adj.is_symmetric:
            return a, a
        crow, col, perm = pattern.by_column()
        return a, CSR(crow, col, a.value[perm])

    def _check_features(self, x: Any) -> None:
        if not isinstance(x, Tensor):
            raise TypeError(f"x must be a tensor (N, F), got {kind_of(x)}")
        if x.dim() != 2:
            raise ValueError(f"x must be (N, F), a row per node, got shape {tuple(x.shape)}")
        if self.in_channels not in (-1, x.size(1)):
            raise ValueError(f"x must have in_channels = {self.in_channels} columns, got shape {tuple(x.shape)}")
        if x.dtype in FLOATS and x.dtype != self.weight.dtype and not torch.is_autocast_enabled(x.device.type):
            raise TypeError(
                f"x is {x.dtype}, but the layer's parameters are {self.weight.dtype}: convert one, "
                f"x.to({self.weight.dtype}) or layer.to({x.dtype})"
            )

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, filter_size={self.filter_size}, code={self.code!r}"


def checked_code(code: str) -> str:
    """The name itself, if it is that of one of the codes."""
    if not isinstance(code, str) or code not in CODES:
        raise ValueError(f"code must be {' or '.join(map(repr, CODES))}, got {shown(code)}")
    return code


def weights_of(module: Any) -> Tensor:
    """The weights w of a layer or a pool, as its code leaves them after a step of the optimizer."""
    if CODES[module.code].bounded:
        # Past autograd's eyes: a second call within one step changes nothing, and must not seem to.
        module.weight.data.clamp_(0, 1)
    return module.weight
