"""`PANGraph`: whole graphs, by path-integral convolutions or those of its peers, for one trial or S side by side."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from panconv.base.by_trial import plain
from panconv.base.checks import checked_count, shown
from panconv.compute.features import SparseRows
from panconv.graph.prepared import prepared
from panconv.graph.repeated import Reading
from panconv.nn import num_hops
from panconv.nn.between import checked_graphs
from panconv.nn.entrance import checked_share
from panconv.nn.explainable import is_explained
from panconv.nn.graph_convs import OF_PATHS, checked_conv
from panconv.nn.graph_layers import GraphLayers, Nodes, checked_weight, checked_words
from panconv.nn.hops import reading_of
from panconv.nn.norms import BatchNorm, LayerNorm
from panconv.nn.refusals import check_rows
from panconv.training import saving
from panconv.training.graph_state import check_state
from panconv.training.side_by_side import SideBySide
from panconv.weights import plain_spec

_FORMAT = "panconv-graph-model-1"


class PANGraph(GraphLayers, SideBySide):
    r"""A classifier or regressor of whole graphs: scores (G, C) of G graphs

    .. math:: \mathbf{H}_l = σ\Big(\mathrm{norm}\,\big(U_l(\mathbf{M}_l \mathbf{H}_{l-1} \mathbf{W}_l)\big)\Big),
        \qquad \mathbf{r}_g = \big\Vert_{l} \sum_{i ∈ g} \mathbf{H}_{l,i}, \qquad \text{scores}_g = f(\mathbf{r}_g)

    with M the MET matrix of "PAN: Path Integral Based Convolution for Deep Graph Neural Networks" (eq. 9), by default
    with a matrix per length, U the rest of a map of two matrices, and f another such map. What is added up over the
    nodes tells graphs apart that their means do not, as in "How Powerful are Graph Neural Networks?" (2019), whose
    convolution, among others, can stand in the place of M in the same body.

    Args:
        in_channels: features of a node, or -1.
        hidden_channels: width of the layers.
        out_channels: C, the number of classes, or of numbers to learn.
        num_layers: number of convolutions; 0 to read the features themselves.
        conv: ``"pan"``, or in its place PyG's ``"gin"`` (ε trained), ``"gcn"`` or ``"sage"`` (the mean), or ``"none"``,
            a matrix alone, for what is to be had without the graph.
        L, method, weights, paths, concat, memory, loops, repeats: of ``"pan"``, as in `PANConv`. With concat, weights
            left out are 1 for each length where the method's own are free.
        update: what follows the matrix of the convolution: ``"mlp"``, norm, act and another matrix, or ``"linear"``,
            nothing. Norm and act stand behind both.
        norm, norm_kwargs: as in `panconv.PAN`.
        act, act_kwargs: likewise.
        residual: ``"layer"``: every layer adds its own input times a trained matrix, before norm and act.
        pool: a pool behind the layers, a dict of ``"kind"``, which is ``"pan"`` where it is left out, or PyG's
            ``"topk"`` or ``"sag"``; ``"layers"``, the numbers of those it is behind, 1 …, all where they are left out;
            and its options, such as ``"ratio"``. Only without trials.
        readout: what makes one row of the nodes: ``"sum"``, ``"mean"``, ``"max"`` or ``"attention"``.
        jk: which layers are read: the ``"last"``, or all, side by side, ``"cat"``, or added up, ``"sum"``.
        head: the map to the scores: ``"mlp"``, a matrix, act and another matrix, or ``"linear"``.
        dropout: before every layer but the first, while training; a number, or one for each trial.
        dropout_head: before the last matrix; None for that of the layers.
        trials: S, to hold S independent models side by side; scores are then (G, S, C).

    >>> model = PANGraph(7, 16, 2, num_layers=2)
    >>> edges = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])  # a path and a pair
    >>> model(torch.randn(5, 7), edges, batch=torch.tensor([0, 0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    supports_edge_weight, supports_edge_attr = True, False  # what PyG's models say of themselves
    of_graphs = True  # `fit` tells it which node is in which graph, how many there are, and which are a trial's own

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int = 4,
        *,
        conv: str = "pan",
        L: int = 2,
        method: int = 8,
        weights: object = None,
        paths: str | dict[str, Any] = "walks",
        concat: bool = True,
        memory: str | None = None,
        loops: str | None = None,
        repeats: str | None = None,
        update: str = "mlp",
        norm: str | nn.Module | None = "batch",
        norm_kwargs: dict[str, Any] | None = None,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        act_kwargs: dict[str, Any] | None = None,
        residual: str | None = None,
        pool: dict[str, Any] | None = None,
        readout: str = "sum",
        jk: str = "cat",
        head: str = "mlp",
        dropout: float | Sequence[float] = 0.0,
        dropout_head: float | Sequence[float] | None = None,
        trials: int | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__()
        if callable(paths):  # a model is saved with its settings
            raise ValueError(
                f"paths must be plain, to be saved with the model, a name or {{'kind': name, …}}, got {paths!r}"
            )
        plainly = {name: plain(given[name]) for name in ("dropout", "dropout_head", "pool")}
        self.config = {**given, **plainly, "weights": plain_spec(weights)}
        self.trials, self.decay = trials, "all"
        self.build(_checked(self.config))

    @property
    def in_channels(self) -> int:
        return self.first().in_channels

    @property
    def hidden_channels(self) -> int:
        return self.config["hidden_channels"]

    @property
    def out_channels(self) -> int:
        return self.config["out_channels"]

    @property
    def num_layers(self) -> int:
        return len(self.blocks)

    @property
    def num_hops(self) -> float:
        """The hops within which all lies that a node's features behind the last layer depend on, pools aside."""
        return num_hops(self)

    @property
    def leaves_out(self) -> bool:
        """Whether nodes of a graph that is no trial's own change nothing for the others: no pools, norms that leave
        them out, and walks, which need no look at the graph."""
        if self.config["conv"] == "pan" and self.config["paths"] != "walks":
            return False
        norm = self.blocks[0].norm if len(self.blocks) else None
        return not self.pools and (norm is None or isinstance(norm, (BatchNorm, LayerNorm)))

    @property
    def reading(self) -> Reading:
        """How its layers read self-loops and repeated edges."""
        return reading_of(self)

    def materialize(self, in_channels: int) -> None:
        """Fixes the width of what takes the features, where it is to come from them."""
        beside: list[Any] = [block.beside for block in self.blocks[:1]]
        for lin in (self.first(), *beside):
            if lin is not None:
                lin.materialize(in_channels)

    def decayed(self) -> list[nn.Parameter]:
        """What weight decay falls on, by `decay`: the "first" matrix that the features meet, those of the "layers", or
        "all"."""
        layers = [W for block in self.blocks for W in block.matrices()]  # type: ignore[operator]
        choices = {"first": [self.first().weight], "layers": layers, "all": self.matrices()}
        if self.decay not in choices:
            raise ValueError(f"decay must be one of {', '.join(choices)}, got {shown(self.decay)}")
        return choices[self.decay]

    def streams(self) -> Mapping[Any, int]:
        return {dropout: i for i, dropout in enumerate(self.dropouts) if dropout.p != 0}

    def reset_parameters(self) -> None:
        """A new start, of the running means too."""
        for module in reversed(list(self.modules())):
            if module is not self and hasattr(module, "reset_parameters"):
                module.reset_parameters()  # type: ignore[operator]

    def _seed_surroundings(self, seed: int) -> None:
        """What is not ours starts from torch's generator: pools, PyG's norms, activations that are trained."""
        ours = {name for name, p in self.named_parameters() if any(p is W for W in self.matrices())}
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            fresh = type(self)(**{**self.config, "in_channels": self.in_channels})
        state = {name: tensor for name, tensor in fresh.state_dict().items() if name not in ours}
        self.load_state_dict(state, strict=False)

    def forward(
        self,
        x: Tensor | SparseRows,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
        graph_weight: Tensor | None = None,
    ) -> Tensor:
        """Scores (G, C), or (G, S, C) for S trials; a graph without nodes is read as zeros.

        Args:
            x: features of the nodes, (N, F), or (N, S, F).
            edge_index, edge_weight: the edges of all graphs, as in `PANConv`.
            batch: the graph of each node, (N,), as in PyG; None where all are of one graph.
            batch_size: G, without which a last graph that has no nodes is not seen.
            graph_weight: (G,), or (G, S), while training: 1 where a graph is a trial's own, and 0 where it is there for
                others alone. What is not a trial's own is left out of its batch norms; other norms take all.
        """
        x = self.first().checked(x)
        if self.trials is None:
            check_rows(tuple(x.shape), edge_index)
        graph: tuple[Any, ...] = (edge_index, edge_weight)  # an explainer masks the edges in the order they came
        if not is_explained(self.convs()):
            graph = (prepared(edge_index, edge_weight, x.shape[0], self.reading),)
        batch, graphs = checked_graphs(batch, batch_size, x.shape[0])
        if batch is None:
            batch = torch.zeros(x.shape[0], dtype=torch.long, device=x.device)
        graphs = 1 if graphs is None else graphs
        weight = checked_weight(graph_weight, graphs, self.trials) if self.training else None
        return self.scores(self.rows(x, graph, Nodes.of(batch, graphs, weight, x.dtype)))

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Writes the model and its settings into one file, whole or not at all, as `PAN.save` does."""
        if any(is_lazy(p) or p.is_meta for p in self.parameters()):
            raise ValueError("the model has no numbers yet, so it cannot be saved: call it, or materialize it, before")
        state = self.state_dict()
        check_state(PANGraph, _complete(self.config), state)  # nothing is written that `load` refuses
        saving.save(path, self.config, state, _FORMAT)

    @staticmethod
    def load(path: str | Path) -> PANGraph:
        """The model that `save` wrote, ready to predict, each tensor in the dtype it had."""
        config, state = saving.load(path, _FORMAT, "PANGraph.save")
        with saving.refusing(saving.file_of(path), "PANGraph.save"):
            check_state(PANGraph, _complete(config), state)
            model = PANGraph(**config)
            model.load_state_dict({name: tensor.clone() for name, tensor in state.items()}, assign=True)
            return model.eval()


def _complete(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with a value for every argument, the default for one that is left out."""
    bound = inspect.signature(PANGraph).bind(**config)  # TypeError for an argument that it does not have
    bound.apply_defaults()
    return bound.arguments


def _checked(config: dict[str, Any]) -> dict[str, Any]:
    """The settings, each checked by itself and with others, as `GraphLayers` takes them."""
    checked_words(config)
    if config["trials"] is not None:
        checked_count(config["trials"], "trials")
    found = dict(config)
    for name in ("dropout", "dropout_head"):
        if found[name] is not None:
            found[name] = checked_share(found[name], name, config["trials"])
    arguments = inspect.signature(PANGraph).parameters
    checked_conv(config["conv"], config, {name: arguments[name].default for name in OF_PATHS})
    return found
