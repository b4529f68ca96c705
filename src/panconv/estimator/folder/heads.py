"""The two heads as plain settings and tensors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_integer, checked_count, checked_length, shown
from panconv.estimator.base import LinearModel
from panconv.estimator.deep import DeepHead, Scaling, Units
from panconv.estimator.folder.plain import field, number, number_of, numbers, numbers_of, simple
from panconv.estimator.linear import LinearHead
from panconv.estimator.penalties import Chosen
from panconv.estimator.scaled import PROFILES
from panconv.estimator.terms import Paths
from panconv.met.methods import checked_method
from panconv.paths import paths_from
from panconv.training.models import PAN
from panconv.training.recipe import Recipe

State = dict[str, Tensor]
_PAN = "pan."  # before the names of the deep model's tensors


def taken_apart(model: LinearModel | DeepHead) -> tuple[dict[str, Any], State]:
    """What a head says in JSON, and its tensors."""
    return _of_linear(model) if isinstance(model, LinearModel) else _of_deep(model)


def put_together(content: Any, state: State, F: int, C: int, held: Tensor) -> LinearModel | DeepHead:
    """A head for F features and C scores.

    Args:
        content: as `taken_apart` wrote it.
        state: the tensors; those of the head are taken out.
        F, C: that it must have.
        held: (n, C), the scores that were predicted out of fold.
    """
    kind = field(content, "kind", str)
    if kind not in ("linear", "pan"):
        raise ValueError(f"its head must be 'linear' or 'pan', got {shown(kind)}")
    return _linear(content, state, F, C, held) if kind == "linear" else _deep(content, state, F, C)


def taken(state: State, name: str, shape: tuple[int, ...], *dtypes: torch.dtype, finite: bool = True) -> Tensor:
    """A tensor of the state, if it is as it should be; −1 in a shape stands for any size."""
    if name not in state:
        raise ValueError(f"it has no tensor {name!r}")
    found = state.pop(name)
    fits = len(found.shape) == len(shape) and all(a in (b, -1) for a, b in zip(shape, found.shape, strict=True))
    if not fits or found.dtype not in (dtypes or (torch.float64,)):
        raise ValueError(f"its {name!r} must be {shape}, it is {tuple(found.shape)} of {found.dtype}")
    if finite and found.is_floating_point() and not bool(found.isfinite().all()):
        raise ValueError(f"its {name!r} holds NaN or infinite numbers")
    return found


# ---------------------------------------------------------------------- linear


def _of_linear(model: LinearModel) -> tuple[dict[str, Any], State]:
    head, paths = model
    found: dict[str, Any] = {"kind": "linear", "paths": None, "profile": head.profile}
    if paths is not None:
        try:
            found["paths"] = {"L": int(paths.L), "method": int(paths.method), "kind": simple(paths.kind)}
        except TypeError:
            raise ValueError(
                f"paths must be plain, to be saved with the model, a name or {{'kind': name, …}}, got {paths.kind!r}"
            ) from None
    chosen = head.chosen
    found |= {"penalty": number(chosen.penalty), "loss": number(chosen.loss), "compared": numbers(head.compared)}
    found["tried"] = [[number(penalty), number(loss)] for penalty, loss in chosen.tried.items()]
    state = {f"coefs.{n}": coef for n, coef in enumerate(head.coefs)}
    return found, {**state, "intercept": head.intercept}


def _linear(content: Any, state: State, F: int, C: int, held: Tensor) -> LinearModel:
    paths = _paths(content)
    coefs = [taken(state, f"coefs.{n}", (F, C)) for n in range(1 if paths is None else paths.L + 1)]
    profile, tried = field(content, "profile", str), field(content, "tried", list)
    if profile not in PROFILES:
        raise ValueError(f"its profile must be one of {', '.join(PROFILES)}, got {shown(profile)}")
    pairs = [dict(zip(("penalty", "loss"), each, strict=True)) for each in tried]
    losses = {number_of(each, "penalty"): number_of(each, "loss") for each in pairs}
    if len(losses) != len(tried):
        raise ValueError("its 'tried' names a penalty twice")
    chosen = Chosen(
        number_of(content, "penalty"), number_of(content, "loss"), losses, held, torch.full((len(held),), torch.nan)
    )
    compared = numbers_of(content, "compared")
    return LinearModel(LinearHead(coefs, taken(state, "intercept", (C,)), profile, chosen, compared), paths)


def _paths(content: Any) -> Paths | None:
    found = field(content, "paths", dict, or_null=True)
    if found is None:
        return None
    L, method = checked_length(field(found, "L", int)), checked_method(field(found, "method", int))
    kind = found.get("kind")
    paths_from(kind)  # which refuses what it does not know
    return Paths(L, method, kind)


# ---------------------------------------------------------------------- deep


def _of_deep(model: DeepHead) -> tuple[dict[str, Any], State]:
    pan, scaling, units = model.model, model.scaling, model.units
    config = {name: each.tolist() if hasattr(each, "tolist") else each for name, each in pan.config.items()}
    found: dict[str, Any] = {"kind": "pan", "config": simple(config), "epochs": int(model.epochs), "recipe": None}
    if model.recipe is not None:
        found["recipe"] = {name: simple(getattr(model.recipe, name)) for name in ("operator", "settings")}
    state = {f"{_PAN}{name}": tensor for name, tensor in pan.state_dict().items()}
    state |= {"units.mean": units.mean, "units.size": units.size}
    if scaling.mean is not None and scaling.size is not None:
        state |= {"scaling.mean": torch.from_numpy(scaling.mean), "scaling.size": torch.from_numpy(scaling.size)}
    return found, state


def _deep(content: Any, state: State, F: int, C: int) -> DeepHead:
    units = Units(taken(state, "units.mean", (C,)), taken(state, "units.size", (C,)))
    scaling, either = Scaling(None, None), (torch.float32, torch.float64)
    if "scaling.mean" in state:
        parts = (taken(state, f"scaling.{name}", (F,), *either).numpy() for name in ("mean", "size"))
        scaling = Scaling(*parts)
        if not np.all(scaling.size):
            raise ValueError("its 'scaling.size' holds 0, by which nothing can be divided")
    names = [name for name in state if name.startswith(_PAN)]
    own = {name[len(_PAN) :]: state.pop(name) for name in names}
    if odd := next(
        (name for name, each in own.items() if each.is_floating_point() and not each.isfinite().all()), None
    ):
        raise ValueError(f"its '{_PAN}{odd}' holds NaN or infinite numbers")
    config = field(content, "config", dict)
    if as_integer(config.get("out_channels")) != C or config.get("in_channels") not in (F, -1):
        raise ValueError(f"its deep model must be of {F} features and {C} scores, as the rest is")
    checked_count(config.get("trials"), "trials")
    epochs = checked_count(field(content, "epochs", int), "epochs", least=0)
    model = PAN.restored(config, own)
    if model.in_channels != F:
        raise ValueError(f"its deep model is of {model.in_channels} features, but the rest of {F}")
    return DeepHead(model, scaling, units, epochs, _recipe(content))


def _recipe(content: Any) -> Recipe | None:
    found = field(content, "recipe", dict, or_null=True)
    return None if found is None else Recipe(field(found, "operator", dict), field(found, "settings", dict))
