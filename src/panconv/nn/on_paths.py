"""What the layers have in common: their way from x to x', and, on a family of paths, one specification of M."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn.inits import zeros

from panconv.base.checks import checked_length
from panconv.base.tracing import NO_TORCHSCRIPT
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.masked import MaskedGraph
from panconv.graph.prepared import prepared
from panconv.graph.repeated import AS_USUAL, Reading, checked_reading
from panconv.met import MET
from panconv.met.methods import check_compatible, check_paths, checked_memory, checked_method, natural_weights
from panconv.met.reach import WHOLE, Reach, reach_of
from panconv.nn.explainable import WHOLE_GRAPH, Explainable
from panconv.nn.linear import Linear
from panconv.nn.refusals import check_rows, refuse_words
from panconv.paths import Walks, family_of, paths_from
from panconv.paths.masked import covered
from panconv.weights import weights_from


class GraphLayer(Explainable):
    """Base of the layers: they take checked features on a prepared graph, and may have a bias."""

    lin: Linear
    bias: nn.Parameter | None
    reading: Reading = AS_USUAL  # of self-loops and repeated edges
    without_met: str = "has none to return"  # why there is no M to return, or nothing

    def reset_parameters(self) -> None:
        """A new start."""
        self.lin.reset_parameters()
        zeros(self.bias)

    def forward(
        self,
        x: Tensor | SparseRows,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        return_met: bool = False,
        **others: Any,
    ) -> Any:
        """x through the layer, on an ``edge_index``, an `Adjacency`, or anything an `Adjacency` is made from.

        With ``return_met`` it is two, that and the layer's `MET` on the graph, as PyG's PANConv returns its M.
        """
        refuse_words(self, others)
        x = self.lin.checked(x)
        if return_met and self.without_met:
            raise ValueError(f"return_met=True asks for M, but {type(self).__name__} {self.without_met}")
        if self.lin.trials is None:
            check_rows(tuple(x.shape), edge_index)
        adj = self.seen(edge_index, edge_weight, x.shape[0])
        out = self.convolve(x, adj)
        out = out if self.bias is None else out + self.bias.to(out.dtype)
        return (out, self.met(adj)) if return_met else out

    def seen(self, edge_index: Any, edge_weight: Tensor | None, num_nodes: int) -> Adjacency:
        """What the layer is called with as a graph, prepared, and as an explainer lets the layer see it."""
        return self.shown(prepared(edge_index, edge_weight, num_nodes, self.reading), edge_index, edge_weight)

    def met(self, adj: Adjacency) -> MET:
        """The layer's operator M on a graph."""
        raise NotImplementedError

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        """What the layer makes of features that `lin` takes, without the bias."""
        raise NotImplementedError

    @property
    def num_hops(self) -> float:
        """The hops within which all lies that a node's output depends on, edges included; infinity for all there is."""
        return self.reach().hops

    @property
    def hops(self) -> int:
        """The steps: what divides, D_n and Z, may know more of the graph, but no features and no mask pass through."""
        steps = self.reach().steps
        return int(steps) if math.isfinite(steps) else WHOLE_GRAPH

    def reach(self, stored: bool = False) -> Reach:
        """How far the layer looks; `stored` where degrees and the D_n of walks are known from the whole graph."""
        return WHOLE

    def __prepare_scriptable__(self) -> None:  # torch.jit.script asks for it, of each module in a model
        raise ValueError(NO_TORCHSCRIPT)


class OnPaths(GraphLayer):
    """Base of the layers that apply M, or what follows from it.

    Attributes:
        L, method, weights, paths, memory: as `PANConv` takes them.
        reading: its `loops` and `repeats`.
    """

    memory: str | None = None
    without_met = ""

    def specify(
        self,
        L: int,
        method: int,
        weights: object,
        paths: Any,
        memory: str | None = None,
        trials: int | None = None,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        """Checks the specification and keeps it; of weights left out the natural kind is taken."""
        self.reading = checked_reading(loops, repeats)
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

    def reach(self, stored: bool = False) -> Reach:
        walks = issubclass(family_of(self.paths), Walks)
        return reach_of(self.method, self.L, degrees=stored, counts=stored and walks)

    def met(self, adj: Adjacency) -> MET:
        """The layer's operator M on a graph."""
        paths = paths_from(self.paths)(adj, self.L)
        if isinstance(adj, MaskedGraph):
            paths = covered(paths, adj)
        make = MET if callable(self.paths) else MET.of_checked  # what a user's function gives is looked at
        return make(paths, self.weights, self.method, self.memory)
