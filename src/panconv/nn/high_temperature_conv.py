"""`HighTemperatureConv`: the layer at the far end of the temperature scale."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.nn.linear import Linear
from panconv.nn.on_paths import GraphLayer
from panconv.nn.refusals import check_numbers
from panconv.spectral import HighTemperature


class HighTemperatureConv(GraphLayer):
    r"""The prototype of the high-temperature model (Section 3 of "PAN: Path Integral Based Convolution", 2019)

    .. math:: \mathbf{X}' = (\mathbf{I} + \psi_1 \psi_1^\top) \mathbf{X} \mathbf{W} + \mathbf{b}

    with ψ₁ the Perron vector of A, taken on each connected component by itself. It is found once per graph.

    Args:
        in_channels: features of a node, or -1 to take them from the first call.
        out_channels: features of a node afterwards.
        bias: whether to add a trained bias.

    Shapes:
        x (N, F) → (N, O). x may be a torch sparse tensor.

    >>> conv = HighTemperatureConv(16, 7)
    >>> conv(torch.randn(3, 16), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).shape
    torch.Size([3, 7])
    """

    explains_edges = False

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        self.lin = Linear(in_channels, out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        check_numbers(self, adj)
        return HighTemperature(adj).apply(self.lin(x))

    def extra_repr(self) -> str:
        return f"{self.lin.in_channels}, {self.lin.out_channels}"
