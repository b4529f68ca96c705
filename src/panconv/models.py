"""`PAN`: the paper's node classifier, of any depth and width, for one trial or S side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from panconv import random, saving
from panconv.features import SparseRows
from panconv.nn import Dropout, PANConv
from panconv.nn.prepared import PreparedGraph
from panconv.validation import checked_count, checked_seeds, checked_trial
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
    ) -> None:
        super().__init__()
        checked_count(num_layers, "num_layers")
        checked_count(hidden_channels, "hidden_channels")
        if callable(paths):  # a model is saved with its settings
            raise ValueError(
                f"paths must be plain, to be saved with the model, a name or {{'kind': name, …}}, got {paths!r}"
            )
        spec = plain_spec(weights)
        per_layer = layer_specs(spec, num_layers)
        self.config: dict[str, Any] = {
            "in_channels": in_channels,
            "hidden_channels": hidden_channels,
            "out_channels": out_channels,
            "num_layers": num_layers,
            "L": L,
            "method": method,
            "weights": spec,
            "paths": paths,
            "dropout": dropout,
            "bias": bias,
            "trials": trials,
            "memory": memory,
        }
        self.trials = trials
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.convs = nn.ModuleList(
            PANConv(a, b, L, method, w, paths, bias, trials, memory=memory)
            for (a, b), w in zip(pairwise(widths), per_layer, strict=True)
        )
        self.dropouts = nn.ModuleList(Dropout(dropout) for _ in self.convs)
        self._prepared = PreparedGraph()

    def layers(self) -> list[PANConv]:
        """The convolutions, first to last."""
        return list(self.convs)  # type: ignore[arg-type]

    @property
    def in_channels(self) -> int:
        return self.layers()[0].in_channels

    @property
    def out_channels(self) -> int:
        return self.config["out_channels"]

    def materialize(self, in_channels: int) -> None:
        """Fixes the width of the first layer, where it is to come from the features."""
        self.layers()[0].lin.materialize(in_channels)

    def decayed(self) -> list[nn.Parameter]:
        """What weight decay falls on: the first layer's matrix."""
        return [self.layers()[0].lin.weight]

    def reset_parameters(self) -> None:
        for conv in self.layers():
            conv.reset_parameters()

    def forward(self, x: Tensor | SparseRows, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        x = self.layers()[0].lin.checked(x)
        adj = self._prepared(edge_index, edge_weight, x.shape[0])
        for i, (dropout, conv) in enumerate(zip(self.dropouts, self.convs, strict=True)):
            x = conv(dropout(x if i == 0 else x.relu()), adj)  # type: ignore[union-attr]
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
        one.to(next(self.parameters()))  # device and dtype
        one.load_state_dict({name: state[s] for name, state in self.state_dict().items()})
        return one.train(self.training)

    # ------------------------------------------------------------------ files

    def save(self, folder: str | Path) -> None:
        """Writes the model into a folder: `model.safetensors` and `config.json`."""
        saving.save(folder, self.config, self.state_dict())

    @staticmethod
    def load(folder: str | Path) -> PAN:
        """The model that `save` wrote, ready to predict."""
        config, state = saving.load(folder)
        try:
            model = PAN(**config)
            model.to(next(iter(state.values())).dtype)
            model.load_state_dict(state)
        except (TypeError, RuntimeError, ValueError, StopIteration) as error:
            raise ValueError(f"{folder} holds no model of this version of panconv: {error}") from None
        return model.eval()
