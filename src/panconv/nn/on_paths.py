"""What the layers have in common: their way from x to x', and, on a family of paths, one specification of M."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch_geometric.nn.inits import zeros

from panconv.base.checks import checked_length
from panconv.base.tracing import NO_TORCHSCRIPT
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.prepared import PreparedGraph
from panconv.met import MET
from panconv.met.methods import check_compatible, check_paths, checked_memory, checked_method, natural_weights
from panconv.nn.linear import Linear
from panconv.paths import family_of, paths_from
from panconv.weights import weights_from


class GraphLayer(nn.Module):
    """Base of the layers: they take checked features on a prepared graph, and may have a bias."""

    lin: Linear
    bias: nn.Parameter | None

    def __init__(self) -> None:
        super().__init__()
        self._prepared = PreparedGraph()

    def reset_parameters(self) -> None:
        """A new start."""
        self.lin.reset_parameters()
        zeros(self.bias)

    def forward(self, x: Tensor | SparseRows, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """x through the layer, on an ``edge_index``, an `Adjacency`, or anything an `Adjacency` is made from."""
        x = self.lin.checked(x)
        out = self.convolve(x, self._prepared(edge_index, edge_weight, x.shape[0]))
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        """What the layer makes of features that `lin` takes, without the bias."""
        raise NotImplementedError

    def __prepare_scriptable__(self) -> None:  # torch.jit.script asks for it, of each module in a model
        raise ValueError(NO_TORCHSCRIPT)


class OnPaths(GraphLayer):
    """Base of the layers that apply M, or what follows from it.

    Attributes:
        L, method, weights, paths, memory: as `PANConv` takes them.
    """

    memory: str | None = None

    def specify(
        self, L: int, method: int, weights: object, paths: Any, memory: str | None = None, trials: int | None = None
    ) -> None:
        """Checks the specification and keeps it; of weights left out the natural kind is taken."""
        family = family_of(paths)
        self.L, self.method, self.paths, self.memory = checked_length(L), checked_method(method), paths, memory
        check_paths(self.method, family)
        kind = natural_weights(self.method, family) if weights is None else weights
        self.weights = weights_from(kind, self.L, trials)
        check_compatible(self.method, self.weights)
        family.check_weights(self.weights)
        checked_memory(memory)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.weights.reset_parameters()

    def met(self, adj: Adjacency) -> MET:
        """The layer's operator M on a graph."""
        return MET(paths_from(self.paths)(adj, self.L), self.weights, self.method, self.memory)
