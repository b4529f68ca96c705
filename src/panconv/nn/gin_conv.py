"""`GINConv`: a node and the sum of its neighbours, by one matrix, for one trial or for S side by side."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from panconv.base.checks import checked_flag
from panconv.compute.features import SparseRows
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.repeated import checked_reading
from panconv.met.reach import Reach
from panconv.nn.linear import Linear
from panconv.nn.on_paths import GraphLayer


class GINConv(GraphLayer):
    r"""The sum of "How Powerful are Graph Neural Networks?" (2019), with the first matrix of its map

    .. math:: \mathbf{X}' = \big((1 + ε)\,\mathbf{I} + \mathbf{A}\big) \mathbf{X} \mathbf{W} + \mathbf{b}

    ε is trained from 0. It is PyG's ``GINConv(Linear(F, O), train_eps=True)``, and what follows the first matrix of a
    deeper map follows the layer. An edge that has a weight counts by it.

    Args:
        in_channels: features of a node, or -1 to take them from the first call.
        out_channels: features of a node afterwards.
        bias: whether to add a trained bias.
        trials: S, to hold S independent layers side by side.
        loops, repeats: as in `PANConv`.

    Shapes:
        x (N, F) → (N, O); with trials, x (N, F) or (N, S, F) → (N, S, O). x may be a torch sparse tensor (N, F).

    >>> conv = GINConv(16, 7)
    >>> conv(torch.randn(3, 16), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).shape
    torch.Size([3, 7])
    """

    without_met = "has no M: its sum is no mean over paths"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        bias: bool = True,
        trials: int | None = None,
        *,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        super().__init__()
        self.reading = checked_reading(loops, repeats)
        self.lin = Linear(in_channels, out_channels, trials)
        lead = () if trials is None else (trials,)
        self.eps = nn.Parameter(torch.zeros(lead))
        self.bias = nn.Parameter(torch.zeros(*lead, out_channels)) if checked_flag(bias, "bias") else None

    def reset_parameters(self) -> None:
        super().reset_parameters()
        nn.init.zeros_(self.eps)

    def reach(self, stored: bool = False) -> Reach:
        return Reach(1)

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        shared = self.lin.trials is not None and x.dim() == 2
        if isinstance(x, SparseRows) or shared or self.lin.in_channels < 0:
            return self._summed(self.lin(x), adj)
        return self.lin(self._summed(x, adj))

    def _summed(self, x: Tensor, adj: Adjacency) -> Tensor:
        """(1 + ε)x + Ax, of half precision added in float32."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        own = 1 + (self.eps if self.eps.dim() == 0 else self.eps.unsqueeze(1)).to(wide.dtype)
        return torch.addcmul(spmm(*adj.operands(wide.dtype), wide), wide, own).to(x.dtype)

    def extra_repr(self) -> str:
        return self.lin.extra_repr() + self.reading.words()
