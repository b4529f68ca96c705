"""`PAN`: the paper's node classifier, of any depth and width, for one trial or S side by side."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from panconv.base.by_trial import plain
from panconv.base.checks import shown
from panconv.compute.features import SparseRows
from panconv.graph.prepared import prepared
from panconv.graph.repeated import Reading
from panconv.nn import num_hops
from panconv.nn.between import checked_graphs, surroundings
from panconv.nn.entrance import checked_rows, rows_of
from panconv.nn.explainable import is_explained
from panconv.nn.layers import Around
from panconv.nn.layout import resolved
from panconv.nn.refusals import check_rows, refuse_words
from panconv.training import saving
from panconv.training.side_by_side import LayersSideBySide
from panconv.training.state import check_lengths, check_state
from panconv.weights import plain_spec

if TYPE_CHECKING:
    from panconv.training.recipe import Recipe


class PAN(LayersSideBySide):
    """A stack of `PANConv` layers with ReLU between them and dropout before each: scores (N, classes).

    By keyword, the arguments in_channels, hidden_channels, num_layers, out_channels, dropout, and those from act to jk
    mean what they mean in `torch_geometric.nn.GCN`; by position, out_channels is the third here and num_layers there.

    Args:
        in_channels: features of a node, or -1.
        hidden_channels: width of the hidden layers.
        out_channels: number of classes; None for hidden_channels.
        num_layers: number of convolutions.
        L, method, weights, paths, bias, memory: as in `PANConv`; each layer has path weights of its own, of the one
            kind, or of its own kind by ``{"kind": "layers", "of": [first, second, …]}``.
        dropout: before every layer, while training; a number, or one for each trial.
        trials: S, to hold S independent models side by side; scores are then (N, S, classes).
        act: what follows every layer but the last: the name of an activation of `torch.nn`, a module, or None.
        act_first: whether it comes before the normalisation.
        act_kwargs: options of an activation given by its name.
        norm: between layer and activation: ``"batch"``, ``"layer"``, or without trials any other of PyG's by its name,
            or a module, of which each layer gets a copy.
        norm_kwargs: options of a normalisation given by its name, such as ``{"mode": "node"}``.
        jk: jumping knowledge. The last layer is then hidden as well, and a linear map behind it takes its output,
            ``"last"``; that of all layers side by side, ``"cat"``; their maximum, ``"max"``; or, without trials, a sum
            with weights from an ``"lstm"``.
        loops, repeats: how self-loops and repeated edges are read, as in `PANConv`.
        concat: a matrix per length in every layer, as in `PANConv`.
        residual: ``"layer"``: every layer adds its own input times a trained matrix. ``{"kind": "input", "share": 0.1,
            "identity": 0.5}``, or ``"input"`` for these: GCNII's layers, with M in place of Â. H₀ = act(XW₀ + b), and
            layer l takes H to act(norm(Z·((1 − β)·I + β·W))), where Z = (1 − share)·MH + share·H₀ and
            β = log(identity/l + 1); a linear map behind them gives the scores, as with jk. A number each, or S.
        inputs: what happens to the features before the first matrix, a dict of ``drop_nodes``, the probability that a
            node's features are dropped (`panconv.nn.DropNodes`); ``dropout``, None for that of the other layers;
            ``propagate``, whether M comes before dropout and W in the first layer; ``norm``, ``"batch"`` or
            ``"layer"``, of what is propagated so; ``nearest``, how many entries per row of M are used while training,
            the largest of them, None for all; and ``averaged``, in methods 1, 7, 10 and 11, whether a node takes
            the mean over the nodes that are left, by a partition function of their paths alone. The first two are a
            number each, or S.

    >>> model = PAN(1433, 16, 7)
    >>> [conv.method for conv in model.convs]
    [5, 5]
    """

    supports_edge_weight, supports_edge_attr = True, False  # what PyG's models say of themselves

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int | None = None,
        num_layers: int = 2,
        *,
        L: int = 2,
        method: int = 5,
        weights: object = None,
        paths: str | dict[str, Any] = "walks",
        dropout: float | Sequence[float] = 0.5,
        bias: bool = True,
        trials: int | None = None,
        memory: str | None = None,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        act_first: bool = False,
        act_kwargs: dict[str, Any] | None = None,
        norm: str | nn.Module | None = None,
        norm_kwargs: dict[str, Any] | None = None,
        jk: str | None = None,
        loops: str | None = None,
        repeats: str | None = None,
        concat: bool = False,
        residual: str | dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__()
        if callable(paths):  # a model is saved with its settings
            raise ValueError(
                f"paths must be plain, to be saved with the model, a name or {{'kind': name, …}}, got {paths!r}"
            )
        by_trial = {"dropout": plain(dropout), "residual": plain(residual), "inputs": plain(inputs)}
        self.config = {**given, **by_trial, "weights": plain_spec(weights)}
        self.trials, self.decay = trials, "first"
        self.build(self.complete())

    def complete(self) -> dict[str, Any]:
        """The settings, all of them, as what they say."""
        return _complete(self.config)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "residuals" not in self._modules:  # saved whole, when less stood around the layers, or ReLU alone
            made = surroundings(config := self.complete())
            self.surround(config, {name: part for name, part in made.items() if not hasattr(self, name)})

    @property
    def in_channels(self) -> int:
        return self.first().in_channels

    @property
    def hidden_channels(self) -> int:
        return self.config["hidden_channels"]

    @property
    def out_channels(self) -> int:
        given = self.config["out_channels"]
        return self.hidden_channels if given is None else given

    @property
    def num_hops(self) -> float:
        """The hops within which all lies that a node's scores depend on."""
        return num_hops(self)

    @property
    def reading(self) -> Reading:
        """Its `loops` and `repeats`."""
        return self.layers()[0].reading

    def materialize(self, in_channels: int) -> None:
        """Fixes the width of what takes the features, where it is to come from them."""
        for lin in (self.first(), *self.residuals[:1]):
            lin.materialize(in_channels)

    def matrices(self) -> list[nn.Parameter]:
        """The matrix of each layer, first to last, and of the maps behind, before and beside them."""
        others = [lin.weight for lin in (self.lin, self.start, *self.residuals) if lin is not None]
        return [conv.lin.weight for conv in self.layers()] + others

    def decayed(self) -> list[nn.Parameter]:
        """What weight decay falls on, by `decay`: the "first" matrix that the features meet, those of the "layers", or
        "all", of the maps around the layers too."""
        n = self.num_layers
        choices = {"first": [self.first().weight], "layers": self.matrices()[:n], "all": self.matrices()}
        if self.decay not in choices:
            raise ValueError(f"decay must be one of {', '.join(choices)}, got {shown(self.decay)}")
        return choices[self.decay]

    def reset_parameters(self) -> None:
        """A new start, of the running means too."""
        for conv in self.layers():
            conv.reset_parameters()
        for part in (self.act, self.norms, self.jk, self.lin, self.entrance, self.start, self.residuals):
            for module in part.modules() if isinstance(part, nn.Module) else ():
                if hasattr(module, "reset_parameters"):
                    module.reset_parameters()  # type: ignore[operator]

    def forward(
        self,
        x: Tensor | SparseRows,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        edge_attr: None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
        rows: Tensor | None = None,
    ) -> Tensor:
        """Scores of all nodes, or of some.

        Args:
            x, edge_index, edge_weight: as in `PANConv`.
            edge_attr: None: a path has no features of its edges.
            batch, batch_size: which graph each node is in, and how many there are, for norms that look at whole graphs.
            rows: the nodes whose scores are wanted, (n,), or (n, S) where each trial has its own; None for all. A model
                of one layer that propagates first (`inputs`) takes these alone past M, and its batch norms see no other
                nodes.
        """
        x, around = self._checked(x, edge_index, edge_weight, edge_attr, batch, batch_size)
        rows = None if rows is None else checked_rows(rows, x.shape[0], self.trials)
        alone = rows if self.takes_rows else None
        hidden = self.outputs(x, around._replace(rows=alone), self.jk is not None)
        out = hidden[-1] if self.jk is None else self.jk(hidden)
        scores = out if self.lin is None else self.lin(self.dropouts[-1](out))
        return scores if self.takes_rows else rows_of(scores, rows)

    def hidden(self, x: Tensor | SparseRows, edge_index: Any, edge_weight: Tensor | None = None) -> list[Tensor]:
        """What comes out of each layer, first to last, as the model evaluates."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad():
                return self.outputs(*self._checked(x, edge_index, edge_weight), True)
        finally:
            self.train(training)

    def _checked(
        self,
        x: Any,
        edge_index: Any,
        edge_weight: Any,
        edge_attr: Any = None,
        batch: Any = None,
        batch_size: Any = None,
    ) -> tuple[Tensor | SparseRows, Around]:
        """The features, and the graph as the layers take it."""
        x = self.first().checked(x)
        if self.trials is None:
            check_rows(tuple(x.shape), edge_index)
        if edge_attr is not None:
            refuse_words(self, {"edge_attr": edge_attr})
        graph: tuple[Any, ...] = (edge_index, edge_weight)  # an explainer masks the edges in the order they came
        if not is_explained(self.convs):
            graph = (prepared(edge_index, edge_weight, x.shape[0], self.reading),)
        graphs = checked_graphs(batch, batch_size, x.shape[0]) if self.supports_norm_batch else ()
        return x, Around(graph, graphs)

    @staticmethod
    def preset(name: str) -> Recipe:
        """Settings that a search chose, with a `model(…)` and a `fit(data, seeds)` of their own (docs/best.md).

        Args:
            name: a graph, such as ``"cora"``, or ``"general"``, ``"deep"`` or ``"heterophilous"``.
        """
        from panconv.training.presets import preset  # which makes models of this class

        return preset(name)

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Writes the model and its settings into one file, whole or not at all.

        Args:
            path: a folder, which gets a `model.safetensors`, or a file that ends in ``.safetensors``.
        """
        if any(is_lazy(p) or p.is_meta for p in self.parameters()):
            raise ValueError("the model has no numbers yet, so it cannot be saved: call it, or materialize it, before")
        state = self.state_dict()
        check_lengths(self.config, state)  # nothing is written that `load` refuses
        saving.save(path, self.config, state)

    @staticmethod
    def load(path: str | Path) -> PAN:
        """The model that `save` wrote, ready to predict, each tensor in the dtype it had.

        Args:
            path: as in `save`. A folder of the former format, with a `config.json`, loads too.
        """
        config, state = saving.load(path)
        with saving.refusing(saving.file_of(path)):
            return PAN.restored(config, state)

    @staticmethod
    def restored(config: dict[str, Any], state: dict[str, Tensor]) -> PAN:
        """The model of some settings and tensors, ready to predict, if these go together."""
        check_state(_complete(config), state)
        model = PAN(**config)
        model.load_state_dict({name: tensor.clone() for name, tensor in state.items()}, assign=True)
        return model.eval()


def _complete(config: dict[str, Any]) -> dict[str, Any]:
    """The settings with a value for every argument, the default for one that is left out, as what they say."""
    bound = inspect.signature(PAN).bind(**config)  # TypeError for an argument that it does not have
    bound.apply_defaults()
    return resolved(bound.arguments)
