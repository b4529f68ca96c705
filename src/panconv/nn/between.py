"""What stands around the convolutions of a model: between and behind them, by PyG's words, act, norm and jk; before
and beside them, what enters and what is added."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import JumpingKnowledge
from torch_geometric.nn.resolver import activation_resolver, normalization_resolver

from panconv.base.checks import checked_count, shown
from panconv.base.tracing import may_look
from panconv.nn.entrance import Entrance
from panconv.nn.layout import from_input, widths
from panconv.nn.linear import Affine, Linear
from panconv.nn.norms import BatchNorm, LayerNorm

JUMPS = ("last", "cat", "max", "lstm")
_BY_TRIAL: dict[str, type[nn.Module]] = {"batch": BatchNorm, "layer": LayerNorm}


def act_from(act: Any, options: Any = None, trials: int | None = None, name: str = "act") -> Callable[..., Any] | None:
    """An activation by its name in `torch.nn`, with its options, or as it is given: a module, a function or None."""
    options = _checked_options(options, act, name)
    found = act
    if isinstance(act, str):
        try:
            found = activation_resolver(act, **options)
        except (ValueError, TypeError, RuntimeError) as error:
            raise ValueError(_unknown(name, "an activation of torch.nn, such as 'relu'", act, options, error)) from None
    if found is not None and (not callable(found) or isinstance(found, type) or type(found) is nn.Module):
        raise TypeError(f"{name} must be the name of an activation, such as 'relu', a module or None, got {shown(act)}")
    if trials is not None and isinstance(found, nn.Module) and found.state_dict():
        raise ValueError(
            f"act must have no parameters where there are trials, which would share them, got {shown(act)}: choose "
            "another, or train one trial at a time"
        )
    return found


def norm_from(norm: Any, channels: int, options: Any = None, trials: int | None = None) -> nn.Module | None:
    """A normalisation by its name in PyG, with its options, or a module as it is given."""
    options = _checked_options(options, norm, "norm")
    if norm is None:
        return None
    if not isinstance(norm, (str, nn.Module)):
        raise TypeError(
            f"norm must be the name of a normalisation, such as 'batch', a module or None, got {shown(norm)}"
        )
    ours = _BY_TRIAL.get(_plain(norm).removesuffix("norm")) if isinstance(norm, str) else None
    if ours is None and trials is not None:
        raise ValueError(
            f"norm must be one of {', '.join(_BY_TRIAL)} where there are trials, got {shown(norm)}: choose one of "
            "them, or train one trial at a time"
        )
    try:
        if ours is not None:
            return ours(channels, trials, **options)
        found = normalization_resolver(norm, channels, **options)
    except (ValueError, TypeError, RuntimeError) as error:
        known = "a normalisation of PyG, such as 'batch', 'layer' or 'graph'"
        raise ValueError(_unknown("norm", known, norm, options, error)) from None
    needed = [p for p in _forward_parameters(found)[1:] if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    if needed:
        raise ValueError(f"norm must need the features alone, got {shown(norm)}, which asks for {needed[0].name} too")
    return found


def jumping_from(jk: Any, channels: int, num_layers: int, trials: int | None = None) -> nn.Module | None:
    """What makes one of the outputs of all layers; None where only the last one counts."""
    if jk is not None and (not isinstance(jk, str) or jk not in JUMPS):
        raise ValueError(f"jk must be one of {', '.join(JUMPS)}, or None, got {shown(jk)}")
    if jk == "lstm" and trials is not None:
        raise ValueError("jk must not be 'lstm' where there are trials: choose 'cat' or 'max', or train one at a time")
    return None if jk in (None, "last") else JumpingKnowledge(jk, channels, num_layers)


def surroundings(config: Mapping[str, Any]) -> dict[str, Any]:
    """All that a model with these settings, `resolved`, has beside its convolutions.

    That is act, norms and jk between them, lin behind them; before them `entrance` and, for a residual to the input,
    `start`; and beside each of them one of `residuals`, if each adds its own input.
    """
    hidden, layers, trials, jk = (config[name] for name in ("hidden_channels", "num_layers", "trials", "jk"))
    joined = jumping_from(jk, hidden, layers, trials)
    act = act_from(config["act"], config["act_kwargs"], trials)
    norm = norm_from(config["norm"], hidden, config["norm_kwargs"], trials)
    normed = layers if jk is not None else layers - 1  # the layer that gives the scores is not normalised
    norms = nn.ModuleList(nn.Identity() if norm is None or i == normed else copy.deepcopy(norm) for i in range(layers))
    lin = None
    if jk is not None:
        out = hidden if config["out_channels"] is None else config["out_channels"]
        lin = Affine(hidden * (layers if jk == "cat" else 1), out, trials)
    return {"act": act, "norms": norms, "jk": joined, "lin": lin, **_before_and_beside(config)}


def _before_and_beside(config: Mapping[str, Any]) -> dict[str, Any]:
    features, trials, residual = config["in_channels"], config["trials"], config["residual"]
    entering = config["inputs"]
    beside = widths(config) if residual is not None and residual.kind == "layer" else ()
    return {
        "entrance": Entrance(
            entering.drop_nodes,
            norm_from(entering.norm, features, None, trials),
            trials,
            entering.nearest,
            entering.averaged,
        ),
        "start": Affine(features, config["hidden_channels"], trials) if from_input(config) else None,
        "residuals": nn.ModuleList(Linear(a, b, trials) for a, b in beside),
    }


def takes_batch(norm: nn.Module) -> bool:
    """Whether a normalisation wants to know which graph a node is in."""
    return any(p.name == "batch" for p in _forward_parameters(norm))


def checked_graphs(batch: Any, batch_size: Any, nodes: int) -> tuple[Tensor | None, int | None]:
    """Which graph each node is in, and how many there are, as a normalisation takes them."""
    if batch is None:
        return None, None
    if not isinstance(batch, Tensor) or batch.dtype != torch.int64 or batch.shape != (nodes,):
        raise ValueError(f"batch must be {nodes} numbers of graphs, one per node, in int64, got {shown(batch)}")
    if batch_size is not None:
        count = checked_count(batch_size, "batch_size")
        # A GPU would have to wait, and a trace cannot look.
        if nodes and batch.device.type == "cpu" and may_look(batch):
            least, most = (int(each) for each in batch.aminmax())
            if least < 0 or most >= count:
                wrong = least if least < 0 else most
                raise ValueError(
                    f"batch must name graphs of 0 … {count - 1}, as batch_size = {count} says, got {wrong}"
                )
        return batch, count
    if nodes and int(batch.min()) < 0:
        raise ValueError(f"batch must name graphs from 0 on, got {int(batch.min())}")
    return batch, int(batch.max()) + 1 if nodes else 1


def _forward_parameters(module: nn.Module) -> list[inspect.Parameter]:
    return list(inspect.signature(module.forward).parameters.values())


def _plain(name: str) -> str:
    """A name as PyG compares it."""
    return name.lower().translate(str.maketrans("", "", "-_ "))


def _checked_options(options: Any, named: Any, what: str) -> dict[str, Any]:
    if not isinstance(options, (dict, type(None))):
        raise TypeError(f"{what}_kwargs must be a dict of options for {what}, or None, got {shown(options)}")
    if options and not isinstance(named, str):
        raise ValueError(f"{what}_kwargs go with the name of {what}, got {what} = {shown(named)}")
    if options and (place := {"device", "dtype"} & options.keys()):
        raise ValueError(f"{what}_kwargs must leave out {min(place)}, got {shown(options)}: move the model with .to()")
    return options or {}


def _unknown(what: str, known: str, name: Any, options: dict[str, Any], error: Exception) -> str:
    """PyG lists all that it knows when it does not know a name; other errors are worth telling."""
    why = " ".join(str(error).split())
    if why.startswith("Could not resolve"):
        return f"{what} must be the name of {known}, got {shown(name)}"
    return f"{what} = {shown(name)} with {what}_kwargs = {shown(options)} cannot be made, {why}: change or name others"
