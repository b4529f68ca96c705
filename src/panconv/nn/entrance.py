"""What happens to the features before the first matrix: nodes dropped, and the features propagated and normalised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from panconv.base.by_trial import Numbers, checked_by_trial
from panconv.base.checks import checked_count, checked_flag, shown
from panconv.base.tracing import may_look
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.nn.drop_nodes import DropNodes
from panconv.nn.kept import KeptProduct
from panconv.nn.nearest import Nearest
from panconv.nn.pan_conv import PANConv

NORMS = ("batch", "layer")


class Entering(NamedTuple):
    """The settings of an `Entrance`, and the dropout of the features."""

    drop_nodes: Numbers = 0.0
    dropout: Numbers | None = None  # None for the model's
    propagate: bool = False
    norm: str | None = None
    nearest: int | None = None  # entries per row of M that count while training; None for all
    averaged: bool = False  # whether Z counts the paths from the nodes alone that are left


def entering_from(given: Any, trials: int | None) -> Entering:
    """What is to happen to the features, from the dict that a user writes, in which anything may be left out."""
    if given is None:
        return Entering()
    if not isinstance(given, dict):
        raise TypeError(f"inputs must be a dict of {', '.join(Entering._fields)}, or None, got {shown(given)}")
    if unknown := given.keys() - set(Entering._fields):
        name = shown(min(unknown, key=str))
        raise ValueError(f"inputs has no option {name}, only: {', '.join(Entering._fields)}")
    found = Entering(**given)
    if not (found.norm is None or (isinstance(found.norm, str) and found.norm in NORMS)):
        raise ValueError(f"inputs norm must be one of {', '.join(NORMS)}, or None, got {shown(found.norm)}")
    if found.norm is not None and not checked_flag(found.propagate, "inputs propagate"):
        raise ValueError(f"inputs norm goes with propagate=True, got norm = {found.norm!r} without it: say both")
    if found.nearest is not None and not found.propagate:
        raise ValueError(f"inputs nearest goes with propagate=True, got nearest = {shown(found.nearest)}: say both")
    if checked_flag(found.averaged, "inputs averaged") and not found.propagate:
        raise ValueError("inputs averaged goes with propagate=True, got it without: say both")
    dropout = found.dropout
    return Entering(
        checked_share(found.drop_nodes, "inputs drop_nodes", trials),
        None if dropout is None else checked_share(dropout, "inputs dropout", trials),
        checked_flag(found.propagate, "inputs propagate"),
        found.norm,
        None if found.nearest is None else checked_count(found.nearest, "inputs nearest"),
        found.averaged,
    )


def checked_share(p: Any, name: str, trials: int | None) -> Numbers:
    """The probability that something is dropped, a number or one for each trial."""
    return checked_by_trial(p, name, lambda share: 0 <= share < 1, "at least 0 and below 1", trials or 1)


class Entrance(nn.Module):
    """Drops nodes, M·x, and a normalisation.

    Args:
        drop_nodes: the probability, a number or S numbers.
        norm: what follows M·x, or None.
        trials: S, or None.
        nearest: how many entries per row of M count while training, the largest of them; None for all.
        averaged: whether the partition function is that of the nodes that are left: each node takes the mean over
            these, (Σⱼ Mᵢⱼεⱼxⱼ) / (Σⱼ Mᵢⱼεⱼ), and 0 where none is, in place of a sum that is scaled in evaluation. For M
            whose rows add up to 1.
    """

    averaged = False  # of a model that was saved whole, when there was none, like the next
    nearest: Nearest | None = None  # of a model that was saved whole, when there was none

    def __init__(
        self,
        drop_nodes: Numbers,
        norm: nn.Module | None,
        trials: int | None,
        nearest: int | None = None,
        averaged: bool = False,
    ) -> None:
        super().__init__()
        self.averaged = averaged
        self.drop_nodes, self.trials = DropNodes(drop_nodes), trials
        self.norm = nn.Identity() if norm is None else norm
        self.nearest = None if nearest is None else Nearest(nearest)
        self._kept = KeptProduct()

    def forward(
        self, x: Tensor | SparseRows, adj: Adjacency, M: MET, *graphs: Any, rows: Tensor | None = None
    ) -> Tensor:
        """The features, propagated by M on a graph, and normalised with what a normalisation is told beside them.

        Args:
            x: (N, F).
            adj: the graph that M is on.
            M: the operator.
            graphs: what the normalisation is told.
            rows: the nodes to find them of, (n,), or (n, S) where each trial has its own; None for all.
        """
        if self.averaged and self.training:
            check_mean(M)
        if self.training and self.nearest is not None:
            out = self._by_nearest(x, M, rows)
        elif self.training and self.drop_nodes.p != 0:
            out = rows_of(self._left(x, M) if self.averaged else self._product(self.drop_nodes(x), M), rows)
        else:  # nothing is left to chance, and the factor that evaluation has may as well come behind M
            out = rows_of(self._kept(x, adj, M, lambda: self._product(x, M)), rows)
            out = out if self.averaged else self.drop_nodes(out)
        return self.norm(out, *graphs)

    def _by_nearest(self, x: Tensor | SparseRows, M: MET, rows: Tensor | None) -> Tensor:
        """Some rows of M·x, of the largest entries of M alone."""
        assert self.nearest is not None
        if len(x.shape) > 2:
            raise ValueError(
                f"inputs nearest goes with features that all trials share, (N, F), got shape {tuple(x.shape)}: share "
                "them, or leave it out"
            )
        S, dtype = self.trials or 1, torch.promote_types(x.dtype, torch.float32)
        rows = torch.arange(x.shape[0], device=x.device) if rows is None else rows
        rows = rows if rows.dim() == 2 else rows.unsqueeze(1).expand(-1, S)
        factor = self.drop_nodes.factor(x).reshape(x.shape[0], -1).expand(-1, S) if self.drop_nodes.p != 0 else None
        out = self.nearest(M, dtype).times(self.nearest.dense(x), rows, factor, self.averaged)
        return out if self.trials is not None else out.squeeze(1)

    def _left(self, x: Tensor | SparseRows, M: MET) -> Tensor:
        """The mean over the nodes that are left: a column of ones goes the way of the features, and divides them."""
        x = x.to_dense() if isinstance(x, SparseRows) else x
        out = self._product(self.drop_nodes(torch.cat([x, x.new_ones(*x.shape[:-1], 1)], -1)), M)
        total = out[..., -1:]
        return out[..., :-1] / total.where(total > 0, 1)

    def _product(self, x: Tensor | SparseRows, M: MET) -> Tensor:
        x = x.to_dense() if isinstance(x, SparseRows) else x
        if self.trials is not None and x.dim() == 2:
            x = x.unsqueeze(1).expand(-1, self.trials, -1)
        return M.apply(x)


def check_mean(M: MET) -> None:
    """Refuses an M with negative entries: what is left of a row may then add up to nothing, and cannot divide it."""
    if may_look() and (M.paths.adj.is_signed or not M.weights.positive):
        raise ValueError(
            "inputs averaged needs edge weights and path weights that are not negative, since each mean is divided by "
            "a sum of some of them: leave it out, or give others"
        )


def checked_rows(rows: Any, N: int, trials: int | None) -> Tensor:
    """Numbers of nodes, (n,), or (n, S) where each trial has its own."""
    shapes = "(n,)" if trials is None else f"(n,) or (n, {trials})"
    if not isinstance(rows, Tensor) or rows.dtype not in (torch.int64, torch.int32):
        remedy = ": take mask.nonzero().squeeze(1)" if isinstance(rows, Tensor) and rows.dtype == torch.bool else ""
        raise TypeError(f"rows must be a tensor of node numbers, {shapes}, got {shown(rows)}{remedy}")
    if not (rows.dim() == 1 or (rows.dim() == 2 and rows.size(1) == (trials or 1))):
        raise ValueError(f"rows must be node numbers of shape {shapes}, got shape {tuple(rows.shape)}")
    if (
        rows.device.type == "cpu"
        and may_look(rows)
        and rows.numel()
        and not 0 <= int(rows.min()) <= int(rows.max()) < N
    ):
        raise ValueError(f"rows must be between 0 and {N - 1}, got {int(rows.min())} … {int(rows.max())}")
    return rows.long()


def rows_of(values: Tensor, rows: Tensor | None) -> Tensor:
    """Some rows of values (N, …) or (N, S, …), by (n,), or by (n, S), each trial's own."""
    if rows is None:
        return values
    if rows.dim() == 1:
        return values.index_select(0, rows)
    if values.dim() == 2:  # of one trial
        return values.index_select(0, rows.squeeze(1))
    return values.gather(0, rows.unsqueeze(-1).expand(-1, -1, values.size(-1)))


class EnteringConv(PANConv):
    """A first layer that propagates before its matrix, whatever their sizes: f(M, X)·W + b, where f is given."""

    def forward(  # type: ignore[override]
        self,
        x: Tensor | SparseRows,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        *,
        enter: Callable[[Tensor | SparseRows, Adjacency, MET], Tensor | SparseRows],
    ) -> Tensor:
        """X' of all nodes, on a graph as `GraphLayer.forward` takes it."""
        adj = self.seen(edge_index, edge_weight, x.shape[0])
        out = self.lin(enter(x, adj, self.met(adj)))
        return out if self.bias is None else out + self.bias.to(out.dtype)
