"""What happens to the features before the first matrix: nodes dropped, and the features propagated and normalised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor, nn

from panconv.base.by_trial import Numbers, checked_by_trial
from panconv.base.checks import checked_flag, shown
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.nn.drop_nodes import DropNodes
from panconv.nn.kept import KeptProduct
from panconv.nn.pan_conv import PANConv

NORMS = ("batch", "layer")


class Entering(NamedTuple):
    """The settings of an `Entrance`, and the dropout of the features."""

    drop_nodes: Numbers = 0.0
    dropout: Numbers | None = None  # None for the model's
    propagate: bool = False
    norm: str | None = None


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
    dropout = found.dropout
    return Entering(
        checked_share(found.drop_nodes, "inputs drop_nodes", trials),
        None if dropout is None else checked_share(dropout, "inputs dropout", trials),
        checked_flag(found.propagate, "inputs propagate"),
        found.norm,
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
    """

    def __init__(self, drop_nodes: Numbers, norm: nn.Module | None, trials: int | None) -> None:
        super().__init__()
        self.drop_nodes, self.trials = DropNodes(drop_nodes), trials
        self.norm = nn.Identity() if norm is None else norm
        self._kept = KeptProduct()

    def forward(self, x: Tensor | SparseRows, adj: Adjacency, M: MET, *graphs: Any) -> Tensor:
        """The features, propagated by M on a graph, and normalised with what a normalisation is told beside them."""
        if self.training and self.drop_nodes.p != 0:
            out = self._product(self.drop_nodes(x), M)
        else:  # nothing is left to chance, and the factor that evaluation has may as well come behind M
            out = self.drop_nodes(self._kept(x, adj, M, lambda: self._product(x, M)))
        return self.norm(out, *graphs)

    def _product(self, x: Tensor | SparseRows, M: MET) -> Tensor:
        x = x.to_dense() if isinstance(x, SparseRows) else x
        if self.trials is not None and x.dim() == 2:
            x = x.unsqueeze(1).expand(-1, self.trials, -1)
        return M.apply(x)


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
