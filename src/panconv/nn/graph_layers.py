"""The layers of a model of graphs, what stands around each of them, and what makes one row of the nodes of a graph."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from panconv.base.checks import checked_count, shown
from panconv.base.tracing import may_look
from panconv.compute.features import SparseRows
from panconv.nn.between import act_from, norm_from, takes_batch
from panconv.nn.dropout import Dropout
from panconv.nn.graph_convs import CONVS, OF_PATHS
from panconv.nn.graph_pools import pooled, pools_from
from panconv.nn.linear import Affine, Linear
from panconv.nn.norms import BatchNorm
from panconv.nn.own_nodes import Own
from panconv.nn.readout import Readout
from panconv.weights import layer_specs

MAPS, JUMPS, RESIDUALS = ("mlp", "linear"), ("last", "cat", "sum"), (None, "layer")
Act = Callable[[Tensor], Tensor]


class Nodes(NamedTuple):
    """Which graph each node is in, and whose nodes they are."""

    batch: Tensor  # (N,)
    graphs: int
    weight: Tensor | None  # (graphs,) or (graphs, S): 1 where a graph is a trial's own, else 0; None for ones
    own: Own | None  # the same by node

    @staticmethod
    def of(batch: Tensor, graphs: int, weight: Tensor | None, dtype: torch.dtype) -> Nodes:
        own = None if weight is None else Own.of(weight.index_select(0, batch), dtype)
        return Nodes(batch, graphs, weight, own)


class GraphBlock(nn.Module):
    """act(norm(update(conv(x)) + x·R)), where update is the rest of a map of two matrices, or nothing.

    Args:
        conv: a convolution, which ends in a matrix.
        norm: what normalises, or None: inside of the update, and behind it, each by a copy.
        sizes: features before and behind, and trials.
        update: ``"mlp"`` for norm, act and another matrix behind that of the convolution, or ``"linear"``.
        beside: whether x·R is added.
    """

    def __init__(
        self, conv: nn.Module, norm: nn.Module | None, sizes: tuple[int, int, int | None], update: str, beside: bool
    ) -> None:
        super().__init__()
        before, behind, trials = sizes
        self.conv = conv
        self.inner = copy.deepcopy(norm) if update == "mlp" else None
        self.lin = _shifted(norm)(behind, behind, trials) if update == "mlp" else None
        self.beside = Linear(before, behind, trials) if beside else None
        self.norm = copy.deepcopy(norm)
        self._by_graph = norm is not None and takes_batch(norm)

    def forward(self, x: Tensor | SparseRows, graph: tuple[Any, ...], nodes: Nodes, act: Act | None) -> Tensor:
        out = self.conv(x, *graph)
        if self.lin is not None:
            out = self.lin(_acted(self._normed(self.inner, out, nodes), act))
        if self.beside is not None:
            out = out + self.beside(x)
        return _acted(self._normed(self.norm, out, nodes), act)

    def _normed(self, norm: nn.Module | None, x: Tensor, nodes: Nodes) -> Tensor:
        if norm is None:
            return x
        if isinstance(norm, BatchNorm):
            alone = nodes.own is None and x.size(0) == 1  # whose mean would be itself: by the running ones, as trials
            return norm(x, x.new_ones(1) if alone else nodes.own)
        return norm(x, nodes.batch, nodes.graphs) if self._by_graph else norm(x)

    def matrices(self) -> Iterator[nn.Parameter]:
        lins: tuple[Linear | None, ...] = (self.conv.lin, self.lin, self.beside)  # type: ignore[assignment]
        return (lin.weight for lin in lins if lin is not None)


class GraphLayers(nn.Module):
    """Base of `PANGraph`: layers, pools, readouts, and the map from these to the scores."""

    blocks: nn.ModuleList
    act: Act | None

    def build(self, config: Mapping[str, Any]) -> None:
        """Makes all of it, from the settings of a `PANGraph`, which are checked."""
        hidden, layers, trials, jk = (config[name] for name in ("hidden_channels", "num_layers", "trials", "jk"))
        self.jk = jk
        self.act = act_from(config["act"], config["act_kwargs"], trials)
        self.blocks = nn.ModuleList(_layers(config))
        self.pools = pools_from(config["pool"], hidden, layers, trials)
        width = hidden if layers else config["in_channels"]
        read = max(layers, 1) if jk != "last" else 1
        self.readouts = nn.ModuleList(Readout(config["readout"], width, trials) for _ in range(read))
        width = width * read if jk == "cat" else width
        head = config["dropout"] if config["dropout_head"] is None else config["dropout_head"]
        self.dropouts = nn.ModuleList(Dropout(p) for p in [config["dropout"]] * max(layers - 1, 0) + [head])
        self.hidden = Affine(width, hidden, trials) if config["head"] == "mlp" else None
        self.lin = Affine(hidden if config["head"] == "mlp" else width, config["out_channels"], trials)

    def convs(self) -> list[Any]:
        """The convolutions, first to last."""
        return [block.conv for block in self.blocks]

    def first(self) -> Linear:
        """The map that the features meet first."""
        if len(self.blocks):
            return self.convs()[0].lin
        return self.lin if self.hidden is None else self.hidden

    def matrices(self) -> list[nn.Parameter]:
        """The matrices of each layer, first to last, and then all others."""
        read: list[Any] = list(self.readouts)
        gates: list[Linear] = [each.attention.gate for each in read if each.attention is not None]
        others: list[nn.Parameter] = [lin.weight for lin in (self.hidden, self.lin, *gates) if lin is not None]
        return [W for block in self.blocks for W in block.matrices()] + others  # type: ignore[operator]

    def rows(self, x: Tensor | SparseRows, graph: tuple[Any, ...], nodes: Nodes) -> Tensor:
        """What is read of each graph, (graphs, …)."""
        if not len(self.blocks):
            x = x.to_dense() if isinstance(x, SparseRows) else x
            return self.readouts[0](x, nodes.batch, nodes.graphs)
        found: list[Tensor] = []
        for i, block in enumerate(self.blocks):
            x = self.dropouts[i - 1](x) if i else x
            x = block(x, graph, nodes, self.act)
            if str(i + 1) in self.pools:
                x, graph, batch = pooled(self.pools[str(i + 1)], x, graph, nodes.batch)
                nodes = Nodes.of(batch, nodes.graphs, nodes.weight, x.dtype)
            if self.jk != "last":
                found.append(self.readouts[i](x, nodes.batch, nodes.graphs))
        if self.jk == "last":
            return self.readouts[0](x, nodes.batch, nodes.graphs)
        return torch.cat(found, -1) if self.jk == "cat" else torch.stack(found).sum(0)

    def scores(self, rows: Tensor) -> Tensor:
        """(graphs, C), or (graphs, S, C)."""
        if self.hidden is not None:
            rows = _acted(self.hidden(rows), self.act)
        return self.lin(self.dropouts[-1](rows))


def checked_words(config: Mapping[str, Any]) -> None:
    """Refuses settings that no model is made of; those that modules look at themselves are left to them."""
    for name, known in (("update", MAPS), ("head", MAPS), ("jk", JUMPS), ("residual", RESIDUALS)):
        if config[name] not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {shown(config[name])}")
    checked_count(config["num_layers"], "num_layers", least=0)
    for name in ("hidden_channels", "out_channels"):
        checked_count(config[name], name)
    if not config["num_layers"] and config["pool"] is not None:
        raise ValueError("pool stands behind layers, and there are none, num_layers = 0: leave it out")


def checked_weight(weight: Any, graphs: int, trials: int | None) -> Tensor | None:
    """Which graphs are a trial's own, (graphs,) or (graphs, S); None where all are, if that can be seen at once."""
    if weight is None:
        return None
    shapes = ((graphs,),) if trials is None else ((graphs,), (graphs, trials))
    if not isinstance(weight, Tensor) or tuple(weight.shape) not in shapes:
        among = " or ".join(map(str, shapes))
        raise ValueError(f"graph_weight must be {among}, 1 where a graph counts and 0 elsewhere, got {shown(weight)}")
    if weight.device.type == "cpu" and may_look(weight) and bool((weight == 1).all()):
        return None
    return weight


def _layers(config: Mapping[str, Any]) -> Iterator[GraphBlock]:
    hidden, layers, trials = config["hidden_channels"], config["num_layers"], config["trials"]
    norm = norm_from(config["norm"], hidden, config["norm_kwargs"], trials)
    beside = config["residual"] == "layer"
    # A bias that a batch norm takes out again has a gradient of rounding alone, of which Adam would make full steps.
    bias = not isinstance(norm, BatchNorm)
    of_paths = {name: config[name] for name in OF_PATHS}
    for i, weights in enumerate(layer_specs(config["weights"], layers)):
        a = hidden if i else config["in_channels"]
        conv = CONVS[config["conv"]](a, hidden, bias, trials, {**of_paths, "weights": weights})
        yield GraphBlock(conv, norm, (a, hidden, trials), config["update"], beside)


def _shifted(norm: nn.Module | None) -> type[Linear]:
    """A map with a bias, unless what follows takes it out again."""
    return Linear if isinstance(norm, BatchNorm) else Affine


def _acted(x: Tensor, act: Act | None) -> Tensor:
    return x if act is None else act(x)
