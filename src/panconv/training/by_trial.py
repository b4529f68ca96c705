"""The settings of some trials, picked from those of a model of many: whatever may differ by trial is named here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from panconv.base.by_trial import picked
from panconv.weights import layer_specs, trial_spec

# Arguments of the models that may be S numbers, and those whose options may.
NUMBERS = ("dropout", "dropout_head")
OPTIONS = {"residual": ("share", "identity"), "inputs": ("drop_nodes", "dropout")}


def of_trials(config: Mapping[str, Any], rows: int | list[int]) -> dict[str, Any]:
    """The settings of one trial, as those of a model alone, or of some, each as often as it is named."""
    found = {**config, "trials": None if isinstance(rows, int) else len(rows)}
    found["weights"] = trial_spec(config["weights"], rows)
    found |= {name: picked(config[name], rows) for name in NUMBERS if name in config}
    for name, options in OPTIONS.items():
        if isinstance(given := config.get(name), dict):
            found[name] = {key: picked(value, rows) if key in options else value for key, value in given.items()}
    return found


def of_layers(config: Mapping[str, Any], places: list[int], numbers: list[int]) -> dict[str, Any]:
    """The settings of a model of some of the layers, which keep their numbers in the residual to the input."""
    weights, residual = config["weights"], config["residual"]
    if isinstance(weights, dict) and weights.get("kind") == "layers":
        specs = layer_specs(weights, config["num_layers"])
        weights = {"kind": "layers", "of": [specs[i] for i in places]}
    residual = {**(residual if isinstance(residual, dict) else {"kind": residual}), "numbers": numbers}
    return {**config, "num_layers": len(places), "weights": weights, "residual": residual}
