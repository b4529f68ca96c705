"""The convolutions that a model of graphs may be made of, by name: a row each, and one body around all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from panconv.base.checks import shown
from panconv.base.near import meant
from panconv.compute.features import SparseRows
from panconv.met.methods import natural_weights
from panconv.nn.gin_conv import GINConv
from panconv.nn.linear import Linear
from panconv.nn.pan_conv import PANConv
from panconv.paths import family_of

# What PANConv alone has a use for, among the settings of a model.
OF_PATHS = ("L", "method", "weights", "paths", "concat", "memory", "loops", "repeats")


class NoConv(nn.Module):
    """x·W + b: the graph is not looked at."""

    bias: nn.Parameter | None

    def __init__(self, in_channels: int, out_channels: int, bias: bool, trials: int | None) -> None:
        super().__init__()
        self.lin = Linear(in_channels, out_channels, trials)
        shape = (out_channels,) if trials is None else (trials, out_channels)
        self.bias = nn.Parameter(torch.zeros(shape)) if bias else None

    def reset_parameters(self) -> None:
        self.lin.reset_parameters()
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor | SparseRows, *graph: Any) -> Tensor:
        out = self.lin(self.lin.checked(x))
        return out if self.bias is None else out + self.bias.to(out.dtype)


def _pan(a: int, b: int, bias: bool, trials: int | None, of_paths: Mapping[str, Any]) -> nn.Module:
    """With a matrix per length a trained number per length says nothing more, so there it is 1."""
    options, weights = dict(of_paths), of_paths["weights"]
    kind = natural_weights(options["method"], family_of(options["paths"])) if weights is None else ""
    if options["concat"] and kind == "free":
        options["weights"] = [1.0] * (options["L"] + 1)
    return PANConv(a, b, bias=bias, trials=trials, **options)


Make = Callable[[int, int, bool, "int | None", Mapping[str, Any]], nn.Module]

CONVS: dict[str, Make] = {
    "pan": _pan,
    "gin": lambda a, b, bias, S, _: GINConv(a, b, bias, S, repeats="sum"),
    # PyG's GCNConv, and its SAGEConv with the mean: that of the neighbours by one matrix, the node by another.
    "gcn": lambda a, b, bias, S, _: PANConv(
        a, b, 1, 5, [0.0, 1.0], bias=bias, trials=S, loops="remaining", repeats="sum"
    ),
    "sage": lambda a, b, bias, S, _: PANConv(a, b, 1, 8, [1.0, 1.0], bias=bias, trials=S, concat=True, repeats="sum"),
    "none": lambda a, b, bias, S, _: NoConv(a, b, bias, S),
}


def checked_conv(kind: Any, of_paths: Mapping[str, Any], left_out: Mapping[str, Any]) -> str:
    """The name of a convolution, if it is one, and goes with the settings: those of paths with ``"pan"`` alone.

    Args:
        kind: as a user names it.
        of_paths: the settings `OF_PATHS`.
        left_out: what they are where a user leaves them out.
    """
    if not isinstance(kind, str) or kind not in CONVS:
        raise ValueError(f"conv must be one of {', '.join(CONVS)}, got {shown(kind)}{meant(kind, CONVS)}")
    for name in OF_PATHS if kind != "pan" else ():
        if of_paths[name] != left_out[name]:
            raise ValueError(
                f"{name} goes with conv='pan', got {name}={shown(of_paths[name])} with conv={kind!r}: leave it out"
            )
    return kind
