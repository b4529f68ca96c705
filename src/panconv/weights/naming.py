"""How path weights are written down: by the name of a kind, as numbers, or as plain JSON that makes them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from panconv.base.by_trial import picked, plain
from panconv.base.checks import shown
from panconv.base.near import meant
from panconv.base.words import in_words as in_words
from panconv.weights.kinds import Boltzmann, Fixed, Free
from panconv.weights.path_weights import PathWeights
from panconv.weights.power_law import PowerLaw
from panconv.weights.reading import as_numbers, as_weights


def weights_from(spec: object, L: int, trials: int | None = None) -> PathWeights:
    """Path weights of length L + 1 from what a user writes.

    Args:
        spec: ``"free"`` (from 1/(L+1)), ``"boltzmann"`` (from E = 0), ``"power-law"`` (T from 1); the fixed k(n) as
            numbers; the dict that `PathWeights.spec` returns; or path weights, taken as they are.
        L: the longest length.
        trials: S, to make named weights for S trials side by side.
    """
    shape = (L + 1,) if trials is None else (L + 1, trials)
    named: dict[str, Callable[[], PathWeights]] = {
        "free": lambda: Free(torch.full(shape, 1 / (L + 1), device="cpu")),
        "boltzmann": lambda: Boltzmann(torch.zeros(shape, device="cpu")),
        "power-law": lambda: PowerLaw(L, temperature=torch.ones(shape[1:], device="cpu")),
    }
    if isinstance(spec, dict):
        weights = _from_dict(dict(spec), L, trials)
    elif isinstance(spec, str):
        if spec not in named:
            among = f"{', '.join(named)}, or L+1 numbers to fix"
            raise ValueError(f"weights must be one of {among}, got {shown(spec)}{meant(spec, named)}")
        weights = named[spec]()
    else:
        weights = spec if isinstance(spec, PathWeights) else Fixed(_for_trials(as_weights(spec, "weights"), 1, trials))
    if weights.L != L:
        raise ValueError(f"weights must have L+1 = {L + 1} entries, n = 0 … {L}, got {weights.L + 1}")
    return weights


def plain_spec(spec: object) -> object:
    """What a user writes as weights, as plain JSON that `weights_from` takes."""
    if spec is None or isinstance(spec, (str, dict)):
        return spec
    return spec.spec() if isinstance(spec, PathWeights) else as_weights(spec, "weights").tolist()


def layer_specs(spec: object, num_layers: int) -> list[object]:
    """The plain spec of each layer: the same for all, unless it is of the kind "layers"."""
    if not (isinstance(spec, dict) and spec.get("kind") == "layers"):
        return [spec] * num_layers
    of = spec.get("of")
    if not isinstance(of, list) or len(of) != num_layers:
        raise ValueError(f"weights of kind 'layers' must hold {num_layers} of them under 'of', got {of!r}")
    return of


def trial_spec(spec: object, rows: int | list[int]) -> object:
    """The part of a plain spec that is that of one trial, or of some."""

    def columns(values: Any, dim: int) -> Any:
        values = plain(values)
        nested = isinstance(values, list) and (dim == 0 or isinstance(values[0], list))
        return ([picked(row, rows) for row in values] if dim else picked(values, rows)) if nested else values

    if isinstance(spec, dict) and spec.get("kind") == "layers":
        return {"kind": "layers", "of": [trial_spec(each, rows) for each in spec["of"]]}
    if isinstance(spec, dict):
        power_law = spec.get("kind") == "power-law"
        dims = {"temperature": 0, "alpha": 0} if power_law else {"k": 1, "energies": 1}
        return {key: columns(value, dims[key]) if key in dims else value for key, value in spec.items()}
    return columns(spec, 1) if isinstance(spec, list) else spec


def _from_dict(spec: dict[str, Any], L: int, trials: int | None) -> PathWeights:
    kind = spec.pop("kind", None)
    try:
        return _of_kind(kind, spec, L, trials)
    except (KeyError, TypeError, RuntimeError, OverflowError) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"weights {shown({'kind': kind} | spec)} cannot be read: {why}") from None


def _of_kind(kind: object, spec: dict[str, Any], L: int, trials: int | None) -> PathWeights:
    if kind == "power-law":
        T = _for_trials(as_numbers(spec.get("temperature", 1.0), "temperature"), 0, trials)
        return PowerLaw.again(L, {**spec, "temperature": T})
    if kind == "boltzmann":
        return Boltzmann(_for_trials(as_numbers(spec["energies"], "energies"), 1, trials), spec.get("temperature", 1.0))
    if kind in ("free", "fixed"):
        return (Free if kind == "free" else Fixed)(_for_trials(as_numbers(spec["k"], "k"), 1, trials))
    raise ValueError(f"weights of kind {kind!r} are not known: free, fixed, boltzmann, power-law")


def _for_trials(start: Tensor, dim: int, trials: int | None) -> Tensor:
    """A single trial's start, which has `dim` dimensions, for S trials alike: (…, S)."""
    return start if trials is None or start.dim() > dim else start.unsqueeze(-1).expand(*start.shape, trials)
