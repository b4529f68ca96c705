"""`PANConv`: the MET convolution as a PyTorch Geometric layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from panconv.base.checks import checked_count, checked_flag
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.met.by_length import numbered_terms
from panconv.met.plan import sum_of
from panconv.nn import by_trial_product
from panconv.nn.bipartite import between, checked_kinds
from panconv.nn.linear import Linear
from panconv.nn.on_paths import OnPaths
from panconv.nn.refusals import refuse_words
from panconv.paths import PathFamily, family_of


class PANConv(OnPaths):
    r"""The path-integral convolution of "PAN: Path Integral Based Convolution for Deep Graph Neural Networks" (2019)

    .. math:: \mathbf{X}' = \mathbf{M} \mathbf{X} \mathbf{W} + \mathbf{b} \qquad \text{(eq. 9)}

    where the MET matrix M sums over all paths up to length L, by one of the paper's seven methods. M is applied
    exactly and never formed; W goes first when that is the smaller side. With ``concat`` the terms of M stand side by
    side before W, as GraphSAGE's neighbourhoods do, so that each length has a matrix of its own:

    .. math:: \mathbf{X}' = \big[\, \mathbf{M}_0 \mathbf{X} \,\|\, \mathbf{M}_1 \mathbf{X} \,\|\, \dots \,\|\,
        \mathbf{M}_L \mathbf{X} \,\big] \mathbf{W} + \mathbf{b}, \qquad \textstyle\sum_n \mathbf{M}_n = \mathbf{M}

    Args:
        in_channels: features of a node, or -1 to take them from the first call; a pair for senders and receivers of two
            kinds, each with a matrix W of its own (L = 1).
        out_channels: features of a node afterwards.
        L: the longest path length; 0 is a linear layer.
        method: 1 … 11 (see `panconv.METHODS`).
        weights: the weight of each path length: ``"free"``, ``"boltzmann"`` or ``"power-law"`` (trained), L+1 numbers
            (fixed), or path weights such as `PowerLaw`; None for the method's natural kind.
        paths: which paths are counted: ``"walks"``, ``"shortest"``, ``"self_avoiding"``, ``"effective"`` (walks by the
            effective length of a weighted graph); with options ``{"kind": "effective", "width": 0.1}``; or a function
            of an `Adjacency` and L that returns them.
        bias: whether to add a trained bias.
        trials: S, to hold S independent layers side by side, each with parameters of its own.
        concat: whether the terms stand side by side before W, a matrix per length, in place of being summed.
        memory: ``"low"`` to compute again in the backward what would otherwise be held for it, as in `MET`; with concat
            it changes nothing.
        loops: ``"add"``: A+I, and so Â, adds 1 to a self-loop that is there. ``"remaining"``: only a node without one
            is given one, and of several at a node the last counts, as in PyG's GCNConv. None for what the `Adjacency`
            was made with, and else ``"add"``.
        repeats: what an edge without a weight that is named several times is: ``"one"`` edge, or their ``"sum"``, as in
            PyG. None likewise, and else ``"one"``.

    Shapes:
        x (N, F) → (N, O); with trials, x (N, F) or (N, S, F) → (N, S, O). x may be a torch sparse tensor (N, F).
        Between two kinds of nodes, at L = 1, a pair (x_src, x_dst) → (N_dst, O): see `panconv.nn.bipartite`.

    >>> conv = PANConv(16, 7, L=2)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> conv(torch.randn(3, 16), edge_index).shape
    torch.Size([3, 7])
    """

    two_kinds: bool = False  # whether receivers have a matrix of their own

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        L: int = 2,
        method: int = 5,
        weights: object = None,
        paths: str | dict[str, Any] | Callable[[Adjacency, int], PathFamily] = "walks",
        bias: bool = True,
        trials: int | None = None,
        concat: bool = False,
        memory: str | None = None,
        *,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        super().__init__()
        if trials is not None:
            checked_count(trials, "trials")
        self.out_channels, self.trials = checked_count(out_channels, "out_channels"), trials
        self.specify(L, method, weights, paths, memory, trials, loops, repeats)
        w = self.weights()
        if w.dim() == 2 and w.size(1) != trials:
            raise ValueError(
                f"weights have {w.size(1)} columns, one per trial, but trials is {trials}: make them equal"
            )
        if concat and not family_of(paths).counts_steps:
            raise ValueError("concat=True has a matrix per number of steps, which effective lengths do not tell apart")
        self.concat = checked_flag(concat, "concat")
        of_senders, of_receivers = checked_kinds(in_channels, self.L)
        width = out_channels * (self.L + 1 if concat else 1)
        self.lin = Linear(of_senders, width, trials)
        if of_receivers is not None:
            self.two_kinds, self.lin_receiver = True, Linear(of_receivers, width, trials)
        shape = (out_channels,) if trials is None else (trials, out_channels)
        self.bias = nn.Parameter(torch.zeros(shape)) if checked_flag(bias, "bias") else None

    @property
    def in_channels(self) -> Any:
        """As it was given, or found in the first call."""
        return (self.lin.in_channels, self.lin_receiver.in_channels) if self.two_kinds else self.lin.in_channels

    @property
    def lin_of_receivers(self) -> Linear:
        return self.lin_receiver if self.two_kinds else self.lin

    def reset_parameters(self) -> None:
        super().reset_parameters()
        if self.two_kinds:
            self.lin_receiver.reset_parameters()

    def forward(
        self,
        x: Any,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        return_met: bool = False,
        **others: Any,
    ) -> Any:
        """As `GraphLayer.forward`; x may be a pair (x_src, x_dst) for edges between two kinds of nodes."""
        if isinstance(x, tuple) and len(x) == 2 and x[0] is x[1] and not self.two_kinds:
            x = x[0]  # one kind of nodes, named twice
        if not self.two_kinds and not isinstance(x, tuple):
            return super().forward(x, edge_index, edge_weight, return_met, **others)
        refuse_words(self, others)
        if return_met:
            raise ValueError(
                "return_met=True asks for M, which goes from all nodes to all: there is none for two kinds"
            )
        out = between(self, x, edge_index, edge_weight)
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        M = self.met(adj)
        if isinstance(x, SparseRows) or self.lin.in_channels < 0 or self.lin.out_channels <= self.lin.in_channels:
            return self._weigh_then_sum(M, self.lin(x))
        if self.concat and (numbered := numbered_terms(M, x)) is not None:
            return self._summed(*numbered).to(x.dtype)
        if self.trials is not None and x.dim() == 2:
            x = x.unsqueeze(1).expand(-1, self.trials, -1)
        return self._sum_then_weigh(M, x)

    def _weigh_then_sum(self, M: MET, xW: Tensor) -> Tensor:
        """M·(XW); with concat Σₙ Mₙ(XWₙ), where every length takes its own part of the one recurrence."""
        if not self.concat:
            return M.apply(xW)
        parts = xW.unflatten(-1, (self.L + 1, self.out_channels))
        return sum_of(term[..., n, :] for n, term in enumerate(M.terms(parts))).to(xW.dtype)

    def _sum_then_weigh(self, M: MET, x: Tensor) -> Tensor:
        """(MX)·W; with concat Σₙ (MₙX)·Wₙ."""
        if not self.concat:
            return self.lin(M.apply(x))
        W = self.lin.weight.unflatten(-1, (self.L + 1, self.out_channels))  # ([S,] F, L+1, O)
        times = torch.matmul if self.trials is None else by_trial_product.times
        terms = enumerate(M.terms(x))  # of half precision in float32, in which the sum is to be taken
        return sum_of(times(term, W[..., n, :].to(term.dtype)) for n, term in terms).to(x.dtype)

    def _summed(self, k: Tensor, terms: Iterable[Tensor]) -> Tensor:
        """Σₙ (GₙX)·(kₙWₙ) for terms (N, F), which the trials share, or (N, S, F): the numbers scale the matrices."""
        W = self.lin.weight.unflatten(-1, (self.L + 1, self.out_channels)).to(k.dtype)  # ([S,] F, L+1, O)
        matrices = (W * k.movedim(0, -1).unsqueeze(-1).unsqueeze(-3)).unbind(-2)
        total: Tensor | None = None
        for term, matrix in zip(terms, matrices, strict=True):
            if self.trials is None or term.dim() == 2:
                matrix = matrix if self.trials is None else matrix.transpose(0, 1).flatten(1)  # (F, [S·]O)
                total = term @ matrix if total is None else torch.addmm(total, term, matrix)
            elif total is None:
                total = by_trial_product.times(term, matrix)
            else:
                total = by_trial_product.plus_times(total, term, matrix)
        assert total is not None
        return total.unflatten(1, (self.trials, -1)) if self.trials is not None and total.dim() == 2 else total

    def extra_repr(self) -> str:
        words = f"{self.in_channels}, {self.out_channels}, L={self.L}, method={self.method}, paths={self.paths!r}"
        words += self.reading.words() + (f", memory={self.memory!r}" if self.memory else "")
        return words + (", concat=True" if self.concat else "") + (f", trials={self.trials}" if self.trials else "")
