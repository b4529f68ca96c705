"""What a graph is told by: the features of its nodes as one row, whatever their number and their order."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from panconv.base.checks import shown
from panconv.base.near import meant
from panconv.nn.linear import Linear


def sums(x: Tensor, batch: Tensor, count: int) -> Tensor:
    """Σ over the nodes of each graph, (N, …) → (count, …); added in order on the CPU, and in float32 or wider."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return wide.new_zeros(count, *x.shape[1:]).index_add(0, batch, wide).to(x.dtype)


def means(x: Tensor, batch: Tensor, count: int) -> Tensor:
    """The mean over the nodes of each graph; 0 of a graph without nodes."""
    nodes = torch.zeros(count, dtype=torch.float32, device=x.device)  # exact up to 2²⁴ nodes
    nodes = nodes.index_add(0, batch, nodes.new_ones(len(batch))).clamp(min=1)
    return sums(x, batch, count) / nodes.to(x.dtype).reshape(-1, *[1] * (x.dim() - 1))


def largest(x: Tensor, batch: Tensor, count: int) -> Tensor:
    """The maximum over the nodes of each graph; 0 of a graph without nodes.

    Nodes that share it share its gradient, as in PyG.
    """
    top = _tops(x.detach(), batch, count)
    there = (x.detach() == top.index_select(0, batch)).to(x.dtype)
    ties = sums(there, batch, count).clamp(min=1)
    # torch's own gradient of a maximum is 20 times slower. What is added is 0, and its slope is the one looked for.
    return top + sums((x - x.detach()) * there, batch, count) / ties


def shares(scores: Tensor, batch: Tensor, count: int) -> Tensor:
    """The softmax of scores (N, …) over the nodes of each graph."""
    powers = (scores - _tops(scores.detach(), batch, count).index_select(0, batch)).exp()
    return powers / sums(powers, batch, count).index_select(0, batch)


def _tops(x: Tensor, batch: Tensor, count: int) -> Tensor:
    place = batch.reshape(-1, *[1] * (x.dim() - 1)).expand_as(x)
    return x.new_zeros(count, *x.shape[1:]).scatter_reduce(0, place, x, "amax", include_self=False)


class Attention(nn.Module):
    r"""PyG's `AttentionalAggregation` with a linear gate, for one trial or for S side by side

    .. math:: \mathbf{r}_g = \sum_{i ∈ g} \operatorname{softmax}_{i ∈ g}(\mathbf{x}_i · \mathbf{a})\,\mathbf{x}_i

    A bias would change nothing: its gradient is rounding alone, of which Adam would make full steps.

    Args:
        channels: F.
        trials: S, or None.

    Shapes:
        x (N, F) or (N, S, F), batch (N,) → (count, F) or (count, S, F).
    """

    def __init__(self, channels: int, trials: int | None = None) -> None:
        super().__init__()
        self.gate = Linear(channels, 1, trials)

    def reset_parameters(self) -> None:
        self.gate.reset_parameters()

    def forward(self, x: Tensor, batch: Tensor, count: int) -> Tensor:
        x = x if self.gate.trials is None or x.dim() > 2 else x.unsqueeze(1)
        return sums(x * shares(self.gate(x), batch, count), batch, count)


READOUTS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {"sum": sums, "mean": means, "max": largest}


class Readout(nn.Module):
    """The features of nodes as those of their graphs: a graph without nodes has zeros.

    Args:
        kind: ``"sum"``, ``"mean"``, ``"max"`` or ``"attention"``, as PyG's `global_add_pool`, `global_mean_pool`,
            `global_max_pool` and `AttentionalAggregation`.
        channels, trials: of the features.

    Shapes:
        x (N, F) or (N, S, F), batch (N,), the graph of each node, 0 … count − 1 → (count, F) or (count, S, F).

    >>> x, batch = torch.tensor([[1.0], [2.0], [5.0]]), torch.tensor([0, 0, 2])
    >>> Readout("mean", 1)(x, batch, 3).tolist()
    [[1.5], [0.0], [5.0]]
    """

    def __init__(self, kind: str, channels: int, trials: int | None = None) -> None:
        super().__init__()
        known = [*READOUTS, "attention"]
        if not isinstance(kind, str) or kind not in known:
            raise ValueError(f"readout must be one of {', '.join(known)}, got {shown(kind)}{meant(kind, known)}")
        self.kind, self.attention = kind, Attention(channels, trials) if kind == "attention" else None

    def reset_parameters(self) -> None:
        if self.attention is not None:
            self.attention.reset_parameters()

    def forward(self, x: Tensor, batch: Tensor, count: int) -> Tensor:
        read = READOUTS[self.kind] if self.attention is None else self.attention
        return read(x, batch, count)

    def extra_repr(self) -> str:
        return repr(self.kind)
