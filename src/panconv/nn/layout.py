"""What the settings of a model mean for how it is built: each checked, and what follows from several together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from panconv.base.checks import as_integer, checked_count, checked_flag
from panconv.nn.entrance import checked_share, entering_from
from panconv.nn.residual import residual_from


def resolved(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a `PAN`, all of them there, with `residual` and `inputs` as what they say.

    With the residual of kind "input" every layer is hidden, so that the scores come from a linear map behind them, as
    with jk, and the shift is that of the map in front.
    """
    trials = None if config["trials"] is None else checked_count(config["trials"], "trials")
    layers = checked_count(config["num_layers"], "num_layers")
    checked_count(config["hidden_channels"], "hidden_channels")
    residual, entering = residual_from(config["residual"], layers, trials), entering_from(config["inputs"], trials)
    dropout = checked_share(config["dropout"], "dropout", trials)
    found = {**config, "residual": residual, "inputs": entering, "dropout": dropout}
    concat = checked_flag(config["concat"], "concat")
    if concat and entering.propagate:
        raise ValueError("inputs propagate=True sums the lengths before W, and concat=True does not: choose one")
    if entering.norm is not None and as_integer(config["in_channels"]) == -1:
        raise ValueError("in_channels must be the number of features where inputs has a norm, got -1: say how many")
    if from_input(found):
        if concat:
            raise ValueError("residual 'input' adds M·H to H₀, and concat=True has no one M: choose one")
        if entering.propagate:
            raise ValueError("residual 'input' starts from the features as they are, so inputs must not propagate")
        checked_flag(config["bias"], "bias")
        found |= {"jk": "last" if config["jk"] is None else config["jk"], "bias": False}
    return found


def from_input(config: Mapping[str, Any]) -> bool:
    """Whether every layer of a model with these settings keeps a share of the features."""
    return config["residual"] is not None and config["residual"].kind == "input"


def widths(config: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """What goes into each layer and comes out of it."""
    hidden = config["hidden_channels"]
    first = hidden if from_input(config) else config["in_channels"]
    last = hidden if config["jk"] is not None or config["out_channels"] is None else config["out_channels"]
    return pairwise([first, *[hidden] * (config["num_layers"] - 1), last])
