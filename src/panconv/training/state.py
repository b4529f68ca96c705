"""Which tensors a saved `PAN` has, told by its settings alone: nothing else is loaded, and nothing large is built."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from panconv.base.checks import FLOATS, checked_count, checked_length, shown
from panconv.nn.between import surroundings
from panconv.nn.layout import from_input, widths
from panconv.weights import layer_specs, trains_alpha

_PATH_WEIGHTS = ("k", "energies", "log_temperature")
_EXPONENT = ".weights.log_alpha"
_MOST_LENGTHS = 2**24  # of all layers and trials together, where no tensor has an entry per length


def check_state(config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Refuses tensors other than those that the config, `resolved`, implies, before a model of that size is built."""
    for name in ("num_layers", "hidden_channels", *(["out_channels"] if config["out_channels"] is not None else [])):
        checked_count(config[name], name)
    config = {**config, "in_channels": _features(config, state)}
    _check_layers(config, state)
    _check_surroundings(config, state)
    check_lengths(config, state)
    _check_dtypes(state)


def _features(config: dict[str, Any], state: dict[str, Tensor]) -> Any:
    """How many there are: as the settings say or, where a first call found them, as the first matrix does."""
    first = state.get("start.weight" if from_input(config) else "convs.0.lin.weight")
    found = config["in_channels"]
    return first.size(-2) if found == -1 and first is not None and first.dim() > 1 else found


def _check_layers(config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """The tensors of the convolutions. Their number comes first: it limits what is looked for afterwards."""
    lead = () if config["trials"] is None else (checked_count(config["trials"], "trials"),)
    if not isinstance(config["bias"], bool):
        raise ValueError(f"bias must be true or false, got {config['bias']!r}")
    layers, expected = config["num_layers"], 3 if config["bias"] else 2
    found = sum(name.startswith("convs.") and not name.endswith(_EXPONENT) for name in state)
    if found != expected * layers:
        raise ValueError(f"num_layers = {layers} makes {expected * layers} tensors, it has {found}")
    matrices = checked_length(config["L"]) + 1 if config["concat"] else 1
    for i, (of_x, width) in enumerate(widths(config)):
        _check_shape(f"convs.{i}.lin.weight", (*lead, of_x, width * matrices), state)
        if config["bias"]:
            _check_shape(f"convs.{i}.bias", (*lead, width), state)
        kind = next((kind for kind in _PATH_WEIGHTS if f"convs.{i}.weights.{kind}" in state), "k")
        lengths = () if kind == "log_temperature" else (checked_length(config["L"]) + 1,)
        _check_shape(f"convs.{i}.weights.{kind}", (*lead, *lengths), state)
    _check_exponents(config, lead, state)


def _check_exponents(config: dict[str, Any], lead: tuple[int, ...], state: dict[str, Tensor]) -> None:
    """Those of power laws: there is a tensor where they are trained, and nowhere else."""
    specs = layer_specs(config["weights"], config["num_layers"])
    trained = [i for i, spec in enumerate(specs) if isinstance(spec, dict) and trains_alpha(spec.get("trained"))]
    asked = dict.fromkeys(f"convs.{i}{_EXPONENT}" for i in trained)
    for name in asked:
        _check_shape(name, lead, state)
    _check_no_others((name for name in state if name.endswith(_EXPONENT)), asked)


def _check_surroundings(config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """The tensors of all else, whose shapes are those of the same modules without numbers."""
    with torch.device("meta"):
        made = surroundings(config)
    modules = {name: module for name, module in made.items() if isinstance(module, nn.Module)}
    expected = nn.ModuleDict(modules).state_dict()
    for name, tensor in expected.items():
        _check_shape(name, tuple(tensor.shape), state)
    _check_no_others((name for name in state if not name.startswith("convs.")), expected)


def _check_no_others(found: Iterable[str], asked: Collection[str]) -> None:
    others = [name for name in found if name not in asked]
    if others:
        raise ValueError(f"it has a tensor {shown(others[0])}, which its settings do not ask for")


def _check_shape(name: str, shape: tuple[int, ...], state: dict[str, Tensor]) -> None:
    if name not in state:
        raise ValueError(f"its settings ask for a tensor {name}, which is not there")
    found = tuple(state[name].shape)
    if len(found) != len(shape) or any(a not in (b, -1) for a, b in zip(shape, found, strict=True)):  # -1: any width
        raise ValueError(f"its settings ask for {name} of shape {shape}, it has {found}")


def check_lengths(config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Refuses lengths far too large to use. No shape tells the L of a power law, which has one number for any L."""
    laws = [tensor.numel() for name, tensor in state.items() if name.endswith(".weights.log_temperature")]
    if laws and (checked_length(config["L"]) + 1) * sum(laws) > _MOST_LENGTHS:
        raise ValueError(f"L = {config['L']} is too long for a saved model of {sum(laws)} power laws: choose a lower L")


def _check_dtypes(state: dict[str, Tensor]) -> None:
    """Refuses mixed dtypes, but for path weights, which may be wider than the rest."""
    dtype = state["convs.0.lin.weight"].dtype
    for name, tensor in state.items():
        if name.endswith(".num_batches_tracked") and tensor.dtype == torch.int64:  # of torch's batch norms
            continue
        if tensor.dtype not in FLOATS:
            raise ValueError(f"{name} is of {tensor.dtype}, no dtype that a model is saved in")
        wider = ".weights." in name and torch.promote_types(tensor.dtype, dtype) == tensor.dtype
        if tensor.dtype != dtype and not wider:
            raise ValueError(f"{name} is of {tensor.dtype}, where convs.0.lin.weight is of {dtype}: mixed dtypes")
