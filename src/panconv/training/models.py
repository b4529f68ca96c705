"""`PAN`: the paper's node classifier, of any depth and width, for one trial or S side by side."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from panconv.base import random
from panconv.base.checks import FLOATS, checked_count, checked_length, checked_seeds, checked_trial
from panconv.compute.features import SparseRows
from panconv.graph.prepared import prepared
from panconv.graph.repeated import Reading
from panconv.nn import Dropout, PANConv, num_hops
from panconv.nn.explainable import is_explained
from panconv.nn.refusals import check_rows
from panconv.training import saving
from panconv.weights import layer_specs, plain_spec, trial_spec


class PAN(nn.Module):
    """A stack of `PANConv` layers with ReLU between them and dropout before each: scores (N, classes).

    Args:
        in_channels: features of a node, or -1.
        hidden_channels: width of the hidden layers.
        out_channels: number of classes.
        num_layers: number of convolutions.
        L, method, weights, paths, bias, memory: as in `PANConv`; each layer has path weights of its own, of the one
            kind, or of its own kind by ``{"kind": "layers", "of": [first, second, …]}``.
        dropout: before every layer, while training.
        trials: S, to hold S independent models side by side; scores are then (N, S, classes).
        loops, repeats: how self-loops and repeated edges are read, as in `PANConv`.

    >>> model = PAN(1433, 16, 7)
    >>> [conv.method for conv in model.convs]
    [5, 5]
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
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
            for (a, b), w in zip(_widths(self.config), per_layer, strict=True)
        )
        self.dropouts = nn.ModuleList(Dropout(dropout) for _ in self.convs)

    def layers(self) -> list[PANConv]:
        """The convolutions, first to last."""
        return list(self.convs)  # type: ignore[arg-type]

    @property
    def in_channels(self) -> int:
        return self.layers()[0].in_channels

    @property
    def out_channels(self) -> int:
        return self.config["out_channels"]

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

    def decayed(self) -> list[nn.Parameter]:
        """What weight decay falls on: the first layer's matrix, or with `decay = "all"` that of every layer."""
        matrices = [conv.lin.weight for conv in self.layers()]
        return matrices if self.decay == "all" else matrices[:1]

    def reset_parameters(self) -> None:
        for conv in self.layers():
            conv.reset_parameters()

    def forward(self, x: Tensor | SparseRows, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        x = self.layers()[0].lin.checked(x)
        if self.trials is None:
            check_rows(tuple(x.shape), edge_index)
        graph: tuple[Any, ...] = (edge_index, edge_weight)  # an explainer masks the edges in the order they came
        if not is_explained(self.convs):
            graph = (prepared(edge_index, edge_weight, x.shape[0], self.reading),)
        for i, (dropout, conv) in enumerate(zip(self.dropouts, self.convs, strict=True)):
            x = conv(dropout(x if i == 0 else x.relu()), *graph)  # type: ignore[union-attr]
        assert isinstance(x, Tensor)
        return x

    # ------------------------------------------------------------------ trials

    def seed(self, seeds: Sequence[int]) -> None:
        """Starts each trial from its own seed: the same start whether it is alone or one of many."""
        seeds = checked_seeds(seeds, self.trials or 1)
        self.reset_parameters()
        start = torch.tensor(seeds if self.trials is not None else seeds[0])
        for i, conv in enumerate(self.layers()):
            W = conv.lin.weight
            bound = (6 / (W.size(-2) + W.size(-1))) ** 0.5  # Glorot
            with torch.no_grad():
                W.copy_((2 * random.uniform(random.keys(start, i), W.shape[-2:]) - 1) * bound)

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

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Writes the model and its settings into one file, whole or not at all.

        Args:
            path: a folder, which gets a `model.safetensors`, or a file that ends in ``.safetensors``.
        """
        if any(is_lazy(p) or p.is_meta for p in self.parameters()):
            raise ValueError("the model has no numbers yet, so it cannot be saved: call it, or materialize it, before")
        state = self.state_dict()
        _check_lengths(self.config, state)  # nothing is written that `load` refuses
        saving.save(path, self.config, state)

    @staticmethod
    def load(path: str | Path) -> PAN:
        """The model that `save` wrote, ready to predict, each tensor in the dtype it had.

        Args:
            path: as in `save`. A folder of the former format, with a `config.json`, loads too.
        """
        config, state = saving.load(path)
        with saving.refusing(path):
            bound = inspect.signature(PAN).bind(**config)  # TypeError for an argument that it does not have
            bound.apply_defaults()
            _check_state(bound.arguments, state)
            model = PAN(**config)
            model.load_state_dict({name: tensor.clone() for name, tensor in state.items()}, assign=True)
        return model.eval()


_PATH_WEIGHTS = ("k", "energies", "log_temperature")
_MOST_LENGTHS = 2**24  # of all layers and trials together, where no tensor has an entry per length


def _widths(config: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """What goes into each layer and comes out of it."""
    hidden = [config["hidden_channels"]] * (config["num_layers"] - 1)
    return pairwise([config["in_channels"], *hidden, config["out_channels"]])


def _check_state(config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Refuses tensors other than those that the config implies, before a model of that size is built."""
    for name in ("num_layers", "hidden_channels", "out_channels"):
        checked_count(config[name], name)
    lead = () if config["trials"] is None else (checked_count(config["trials"], "trials"),)
    if not isinstance(config["bias"], bool):
        raise ValueError(f"bias must be true or false, got {config['bias']!r}")
    layers, expected = config["num_layers"], 3 if config["bias"] else 2
    if len(state) != expected * layers:
        raise ValueError(f"num_layers = {layers} makes {expected * layers} tensors, it has {len(state)}")
    for i, shape in enumerate(_widths(config)):
        _check_shape(f"convs.{i}.lin.weight", (*lead, *shape), state)
        if config["bias"]:
            _check_shape(f"convs.{i}.bias", (*lead, shape[1]), state)
        kind = next((kind for kind in _PATH_WEIGHTS if f"convs.{i}.weights.{kind}" in state), "k")
        lengths = () if kind == "log_temperature" else (checked_length(config["L"]) + 1,)
        _check_shape(f"convs.{i}.weights.{kind}", (*lead, *lengths), state)
    _check_lengths(config, state)
    _check_dtypes(state)


def _check_shape(name: str, shape: tuple[int, ...], state: dict[str, Tensor]) -> None:
    if name not in state:
        raise ValueError(f"its settings ask for a tensor {name}, which is not there")
    found = tuple(state[name].shape)
    if len(found) != len(shape) or any(a not in (b, -1) for a, b in zip(shape, found, strict=True)):  # -1: any width
        raise ValueError(f"its settings ask for {name} of shape {shape}, it has {found}")


def _check_lengths(config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Refuses lengths far too large to use. No shape tells the L of a power law, which has one number for any L."""
    laws = [tensor.numel() for name, tensor in state.items() if name.endswith(".weights.log_temperature")]
    if laws and (checked_length(config["L"]) + 1) * sum(laws) > _MOST_LENGTHS:
        raise ValueError(f"L = {config['L']} is too long for a saved model of {sum(laws)} power laws: choose a lower L")


def _check_dtypes(state: dict[str, Tensor]) -> None:
    """Refuses mixed dtypes, but for path weights, which may be wider than the rest."""
    dtype = state["convs.0.lin.weight"].dtype
    for name, tensor in state.items():
        if tensor.dtype not in FLOATS:
            raise ValueError(f"{name} is of {tensor.dtype}, no dtype that a model is saved in")
        wider = ".weights." in name and torch.promote_types(tensor.dtype, dtype) == tensor.dtype
        if tensor.dtype != dtype and not wider:
            raise ValueError(f"{name} is of {tensor.dtype}, where convs.0.lin.weight is of {dtype}: mixed dtypes")
