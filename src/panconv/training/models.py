"""`PAN`: the paper's node classifier, of any depth and width, for one trial or S side by side."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from panconv.base import random
from panconv.base.checks import checked_count, checked_flag, checked_seeds, checked_trial
from panconv.compute.features import SparseRows
from panconv.graph.prepared import prepared
from panconv.graph.repeated import Reading
from panconv.nn import Dropout, PANConv, num_hops
from panconv.nn.between import checked_graphs, surroundings, takes_batch
from panconv.nn.explainable import is_explained
from panconv.nn.linear import Affine
from panconv.nn.refusals import check_rows, refuse_words
from panconv.training import draws, saving
from panconv.training.state import check_lengths, check_state, widths
from panconv.weights import layer_specs, plain_spec, trial_spec


class PAN(nn.Module):
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
        dropout: before every layer, while training.
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

    >>> model = PAN(1433, 16, 7)
    >>> [conv.method for conv in model.convs]
    [5, 5]
    """

    supports_edge_weight, supports_edge_attr = True, False  # what PyG's models say of themselves
    act: Callable[[Tensor], Tensor] | None
    norms: nn.ModuleList
    jk: nn.Module | None
    lin: Affine | None

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
        dropout: float = 0.5,
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
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__()
        checked_count(num_layers, "num_layers")
        checked_count(hidden_channels, "hidden_channels")
        if callable(paths):  # a model is saved with its settings
            raise ValueError(
                f"paths must be plain, to be saved with the model, a name or {{'kind': name, …}}, got {paths!r}"
            )
        spec = plain_spec(weights)
        per_layer = layer_specs(spec, num_layers)
        self.config: dict[str, Any] = {**given, "weights": spec}
        self.trials, self.decay = trials, "first"
        self.convs = nn.ModuleList(
            PANConv(a, b, L, method, w, paths, bias, trials, memory=memory, loops=loops, repeats=repeats)
            for (a, b), w in zip(widths(self.config), per_layer, strict=True)
        )
        self.dropouts = nn.ModuleList(Dropout(dropout) for _ in range(num_layers + (jk is not None)))
        self._surround()

    def _surround(self) -> None:
        """What stands between the convolutions and behind them."""
        config = _complete(self.config)
        for name, module in surroundings(config).items():
            setattr(self, name, module)
        self.jk_mode, self.act_first = config["jk"], checked_flag(config["act_first"], "act_first")
        self.supports_norm_batch = takes_batch(self.norms[0])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "jk_mode" not in state:  # saved whole, when ReLU was all that there was
            self._surround()

    def layers(self) -> list[PANConv]:
        """The convolutions, first to last."""
        return list(self.convs)  # type: ignore[arg-type]

    @property
    def in_channels(self) -> int:
        return self.layers()[0].in_channels

    @property
    def hidden_channels(self) -> int:
        return self.config["hidden_channels"]

    @property
    def out_channels(self) -> int:
        given = self.config["out_channels"]
        return self.hidden_channels if given is None else given

    @property
    def num_layers(self) -> int:
        return len(self.convs)

    @property
    def num_hops(self) -> float:
        """The hops within which all lies that a node's scores depend on."""
        return num_hops(self)

    @property
    def reading(self) -> Reading:
        """Its `loops` and `repeats`."""
        return self.layers()[0].reading

    def materialize(self, in_channels: int) -> None:
        """Fixes the width of the first layer, where it is to come from the features."""
        self.layers()[0].lin.materialize(in_channels)

    def matrices(self) -> list[nn.Parameter]:
        """The matrix of each layer, first to last, and of the linear map behind them."""
        return [conv.lin.weight for conv in self.layers()] + ([] if self.lin is None else [self.lin.weight])

    def decayed(self) -> list[nn.Parameter]:
        """What weight decay falls on: the first layer's matrix, or with `decay = "all"` that of every layer."""
        return self.matrices() if self.decay == "all" else self.matrices()[:1]

    def reset_parameters(self) -> None:
        """A new start, of the running means too."""
        for conv in self.layers():
            conv.reset_parameters()
        for part in (self.act, self.norms, self.jk, self.lin):
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
    ) -> Tensor:
        """Scores of all nodes.

        Args:
            x, edge_index, edge_weight: as in `PANConv`.
            edge_attr: None: a path has no features of its edges.
            batch, batch_size: which graph each node is in, and how many there are, for norms that look at whole graphs.
        """
        x = self.layers()[0].lin.checked(x)
        if self.trials is None:
            check_rows(tuple(x.shape), edge_index)
        if edge_attr is not None:
            refuse_words(self, {"edge_attr": edge_attr})
        graph: tuple[Any, ...] = (edge_index, edge_weight)  # an explainer masks the edges in the order they came
        if not is_explained(self.convs):
            graph = (prepared(edge_index, edge_weight, x.shape[0], self.reading),)
        graphs = checked_graphs(batch, batch_size, x.shape[0]) if self.supports_norm_batch else ()
        hidden = []
        for i in range(self.num_layers):
            x = self._layer(i, x, graph, graphs)
            hidden += [] if self.jk is None else [x]
        if self.jk is not None:
            x = self.jk(hidden)
        if self.lin is not None:
            x = self.lin(self.dropouts[-1](x))
        assert isinstance(x, Tensor)
        return x

    def _layer(self, i: int, x: Tensor | SparseRows, graph: tuple[Any, ...], graphs: tuple[Any, ...]) -> Tensor:
        """Layer i: dropout and convolution, then, unless it gives the scores, normalisation and activation."""
        out: Tensor = self.convs[i](self.dropouts[i](x), *graph)
        if i == self.num_layers - 1 and self.jk_mode is None:
            return out
        norm, act = self.norms[i], _same if self.act is None else self.act
        return norm(act(out), *graphs) if self.act_first else act(norm(out, *graphs))

    # ------------------------------------------------------------------ trials

    def seed(self, seeds: Sequence[int]) -> None:
        """Starts each trial from its own seed: the same start whether it is alone or one of many."""
        seeds = checked_seeds(seeds, self.trials or 1)
        self.reset_parameters()
        start = torch.tensor(seeds if self.trials is not None else seeds[0])
        n = self.num_layers
        for i, W in enumerate(self.matrices()):
            bound = (6 / (W.size(-2) + W.size(-1))) ** 0.5  # Glorot
            stream = i if i < n else 2 * n + 1  # those between are the dropout's
            with torch.no_grad():
                W.copy_((2 * random.uniform(random.keys(start, stream), W.shape[-2:]) - 1) * bound)
        if self.trials is None:  # in S trials all the rest starts from ones and zeros
            self._seed_surroundings(seeds[0])

    def _seed_surroundings(self, seed: int) -> None:
        """What only its own class knows how to start: made anew from the seed, on the CPU, as on any device."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            fresh = surroundings(_complete(self.config))
        for name in ("act", "norms", "jk"):
            if isinstance(fresh[name], nn.Module):
                getattr(self, name).load_state_dict(fresh[name].state_dict())

    def key(self, seeds: Sequence[int] | Tensor | None, epoch: int | Tensor) -> None:
        """Keys the dropout by seed and epoch, numbers or tensors on the model's device; None for torch's generator."""
        start: Tensor | None = None
        if seeds is not None:
            start = torch.as_tensor(seeds, device=next(self.parameters()).device)
            start = start if self.trials is not None else start[0]
        for i, dropout in enumerate(self.dropouts):
            assert isinstance(dropout, Dropout)
            dropout.keys = None if start is None else random.keys(start, len(self.convs) + i, epoch)

    def trial(self, s: int) -> PAN:
        """One of the trials as a model of its own."""
        s = checked_trial(s, self.trials or 0)
        one = PAN(**{**self.config, "trials": None, "weights": trial_spec(self.config["weights"], s)})
        # Assigned, so that each keeps its device and dtype: path weights may be float64 beside float32 matrices.
        one.load_state_dict({name: state[s].clone() for name, state in self.state_dict().items()}, assign=True)
        return one.train(self.training)

    drawn, narrowed, repeated = draws.at_once, draws.narrowed_pan, draws.repeated_pan

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
        with saving.refusing(path):
            check_state(_complete(config), state)
            model = PAN(**config)
            model.load_state_dict({name: tensor.clone() for name, tensor in state.items()}, assign=True)
        return model.eval()


def _complete(config: dict[str, Any]) -> dict[str, Any]:
    """The settings with a value for every argument, the default for one that is left out."""
    bound = inspect.signature(PAN).bind(**config)  # TypeError for an argument that it does not have
    bound.apply_defaults()
    return bound.arguments


def _same(x: Tensor) -> Tensor:
    return x
