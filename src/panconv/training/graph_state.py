"""Which tensors a saved `PANGraph` has, told by its settings alone: nothing else is loaded, nothing large is built."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import FLOATS, checked_count, checked_length
from panconv.training.state import check_lengths

_BY_LENGTH = (".weights.k", ".weights.energies")


def check_state(make: Any, config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Refuses tensors other than those that the config, all of it, implies, before a model of that size is built.

    Args:
        make: makes the model of a config.
    """
    _check_sizes(config, state)
    first = state.get("blocks.0.conv.lin.weight" if config["num_layers"] else "hidden.weight", state.get("lin.weight"))
    if config["in_channels"] == -1 and first is not None and first.dim() > 1:
        config = {**config, "in_channels": first.size(-2)}
    with torch.device("meta"):
        expected = make(**config).state_dict()
    for name, tensor in expected.items():
        if name not in state:
            raise ValueError(f"its settings ask for a tensor {name}, which is not there")
        if state[name].shape != tensor.shape:
            shapes = f"{tuple(tensor.shape)}, it has {tuple(state[name].shape)}"
            raise ValueError(f"its settings ask for {name} of shape {shapes}")
    if others := [name for name in state if name not in expected]:
        raise ValueError(f"it has a tensor {others[0]}, which its settings do not ask for")
    _check_dtypes(state)


def _check_sizes(config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Whatever takes time or memory even where no numbers are: layers, lengths and trials."""
    layers, trials = checked_count(config["num_layers"], "num_layers", least=0), config["trials"]
    if layers > len(state):
        raise ValueError(f"num_layers = {layers} makes as many tensors at least, it has {len(state)}")
    if trials is not None:
        checked_count(trials, "trials")
        for name, tensor in state.items():
            if not tensor.dim() or tensor.size(0) != trials:
                raise ValueError(f"{name} must be of {trials} trials, it is of shape {tuple(tensor.shape)}")
    lengths = checked_length(config["L"]) + 1
    by_length = [t for name, t in state.items() if name.endswith(_BY_LENGTH)]
    if config["conv"] == "pan":
        for tensor in by_length:
            if not tensor.dim() or tensor.size(-1) != lengths:
                raise ValueError(f"L = {lengths - 1} makes path weights of {lengths}, it has {tuple(tensor.shape)}")
        check_lengths(config, state)
        if layers and not by_length and not any(name.endswith(".log_temperature") for name in state):
            raise ValueError("its settings ask for path weights, which are not there")


def _check_dtypes(state: dict[str, Tensor]) -> None:
    """Refuses mixed dtypes, but for path weights, which may be wider than the rest."""
    dtype = state["lin.weight"].dtype
    for name, tensor in state.items():
        if name.endswith(".num_batches_tracked") and tensor.dtype == torch.int64:  # of torch's batch norms
            continue
        if tensor.dtype not in FLOATS:
            raise ValueError(f"{name} is of {tensor.dtype}, no dtype that a model is saved in")
        wider = ".weights." in name and torch.promote_types(tensor.dtype, dtype) == tensor.dtype
        if tensor.dtype != dtype and not wider:
            raise ValueError(f"{name} is of {tensor.dtype}, where lin.weight is of {dtype}: mixed dtypes")
