"""PAN's spaces: random propagation, averages over the nodes that are left, two warm layers, deep models, and graphs
where neighbours differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from panconv.base.checks import shown
from panconv.training.space import Choice, Range, Space


def pan_operator(drawn: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is drawn for a PAN, as the operator and the settings of a record.

    The weights are those of temperature T and exponent alpha, exp(−n^alpha/T), of sum 1; None for T is infinity, where
    all lengths weigh the same. `weights` are taken as they are.
    """
    for name in ("method", "L"):
        if name not in drawn:
            raise ValueError(
                f"the space has no {name!r}, of which PAN's operator is made, got {shown(list(drawn))}: add it"
            )
    operator = ("method", "L", "paths", "weights", "temperature", "alpha")
    L, T = drawn["L"], drawn.get("temperature")
    law = {"kind": "power-law", "alpha": drawn.get("alpha", 1.0), "temperature": T, "trained": False}
    weights: Any = [1 / (L + 1)] * (L + 1) if T is None else {**law, "normalized": True}
    paths = {"paths": drawn["paths"]} if "paths" in drawn else {}
    met = {"method": drawn["method"], "L": L, "weights": drawn.get("weights", weights), **paths}
    return met, {name: value for name, value in drawn.items() if name not in operator}


_WARM = Choice((None, Range(2.0, 20.0, log=True), Range(2.0, 20.0, log=True)))
_LONG = {"epochs": 1000, "patience": 200, "rows": True}
_RANDOM_PROPAGATION = {"method": 5, "alpha": 1.0, "hidden": 32, "layers": 1, "jk": "last", "decay": "all", **_LONG}
# As published for Cora, Citeseer and Pubmed: method 5 at infinite temperature. Where all features are propagated first,
# a step looks at some nodes and the largest entries of M, which the published one does not: it takes seconds rather
# than minutes on a CPU.
PUBLISHED = {
    graph: {
        **{**_RANDOM_PROPAGATION, "temperature": None, "drop_nodes": 0.5, "weight_decay": 5e-4},
        **{"L": L, "draws": draws, "consistency": consistency, "sharpening": sharpening, "lr": lr},
        **{"dropout_input": inputs, "dropout": hidden, "norm": norm, "norm_input": norm, "decay_others": 5e-4},
        "propagate": inputs > 0,  # without dropout between M and W they may change places, and W first is cheaper
        "act_first": norm is not None,
        **({"nearest": 32, "nodes": nodes} if nodes else {}),
    }
    for graph, L, draws, consistency, sharpening, inputs, hidden, lr, norm, nodes in (
        ("cora", 8, 4, 1.0, 0.5, 0.5, 0.5, 0.01, None, 300),
        ("citeseer", 2, 2, 0.7, 0.3, 0.0, 0.2, 0.01, None, None),
        ("pubmed", 5, 4, 1.0, 0.2, 0.6, 0.8, 0.2, "batch", 500),
    )
}
# The same at a finite temperature, with longer paths where those are short.
WARMED = {
    "cora": {**PUBLISHED["cora"], "temperature": 12.0},
    "citeseer": {**PUBLISHED["citeseer"], "temperature": 3.0, "L": 4},
    "pubmed": {**PUBLISHED["pubmed"], "temperature": 8.0, "L": 10, "consistency": 1.5},
}
# With batch norm a large step is needed, and without it one that large fails. M comes first, at some nodes at a time,
# where something stands between it and W; all nodes where W comes first, which costs little.
_PLAIN: dict[str, Any] = {
    **{"lr": Range(0.003, 0.02, log=True), "norm": None, "norm_input": None, "act_first": False, "epochs": 1500},
    **{"propagate": False, "nearest": None, "nodes": None, "draws": 4, "ramp": 0},
}
_ROWS = {**_PLAIN, "propagate": True, "nearest": 32, "nodes": 300, "draws": 2, "ramp": 100}
_NORMED = {
    **{**_ROWS, "nodes": 500, "draws": 4, "ramp": 0, "epochs": 400},
    **{"lr": Range(0.05, 0.3, log=True), "norm": "batch", "norm_input": "batch", "act_first": True},
}
_PROPAGATION: dict[Any, Any] = {
    **_RANDOM_PROPAGATION,
    **{"L": Range(2, 10), "temperature": _WARM},
    **{"alpha": Choice((1.0, 1.0, 1.0, 1.5, 2.0)), "drop_nodes": Range(0.3, 0.7)},
    **{"consistency": Range(0.5, 2.0), "sharpening": Range(0.1, 0.5), "confidence": Choice((0.0, Range(0.2, 0.6)))},
    **{"dropout_input": Range(0.0, 0.8), "dropout": Range(0.0, 0.8)},
    **{"weight_decay": Range(2e-4, 2e-3, log=True), "decay_others": Choice((0.0, 5e-4))},
}
# As published for Pubmed, with the weights 0.5ⁿ (Feng et al., 2022): one matrix, on the averages over the nodes that
# are left, of a few labels at a time. Their walk is (D + I)⁻¹(A + I); method 7 is the nearest.
AVERAGED = {
    **{name: _RANDOM_PROPAGATION[name] for name in ("hidden", "layers", "decay", *_LONG)},
    **{"method": 7, "L": 6, "temperature": 1.44, "alpha": 1.0, "jk": None, "propagate": True, "nearest": 32},
    **{"averaged": True, "norm_input": "batch", "drop_nodes": 0.5, "dropout_input": 0.2, "dropout": 0.0},
    **{"draws": 2, "consistency": 1.0, "sharpening": 0.1, "confidence": 0.667, "nodes": 100, "ramp": 100},
    **{"labelled": 5, "clip": 0.1, "lr": 0.01, "weight_decay": 0.01, "decay_others": 0.01, "keep": "both"},
}
# A residual to the input and the identity beside each matrix.
_DEEP: dict[Any, Any] = {
    **{"method": 5, "L": Range(1, 4), "temperature": _WARM, **_LONG, "patience": 100},
    **{"residual": "input", "share": Range(0.05, 0.3), "identity": Range(0.1, 1.0)},
    **{"layers": 64, "hidden": 64, "norm": None},
    **{"lr": Range(0.003, 0.02, log=True), "dropout": Range(0.3, 0.8), "decay": "layers"},
    **{"weight_decay": Range(1e-4, 3e-2, log=True), "decay_others": Range(1e-4, 2e-3, log=True)},
}
# What all models have alike that are compared on graphs where neighbours differ, PAN and its peers in the zoo.
TUNED = {
    **{"hidden": Choice((64, 128)), "layers": Choice((2, 3, 4, 6))},
    **{"norm": Choice(("batch", "batch", "layer")), "dropout": Range(0.1, 0.8), "lr": Range(1e-3, 2e-2, log=True)},
    **{"weight_decay": Range(1e-6, 1e-3, log=True), "epochs": 400, "patience": 100},
}
SPACES: dict[str, Space] = {
    # one layer, whole nodes dropped before the operator, several draws held together
    "random-propagation": Space(_PROPAGATION, (*PUBLISHED.values(), *WARMED.values()), either=(_ROWS, _NORMED, _PLAIN)),
    # two layers as in the paper, with k(n) of a temperature in place of its few
    "warm": Space(
        {
            **{"method": 5, "L": Range(2, 8), "temperature": _WARM, "alpha": Choice((1.0, 1.0, 1.5, 2.0)), "layers": 2},
            **{"hidden": Choice((16, 32, 64)), "lr": Range(0.002, 0.05, log=True), "dropout": Range(0.2, 0.8)},
            **{"weight_decay": Range(2e-4, 2e-2, log=True), "epochs": 400, "patience": 100, "rows": True},
        }
    ),
    # a residual to the input and the identity beside each matrix, 64 layers deep
    "deep": Space(_DEEP, group=16),
    # a matrix per length, no self-loops, and a path of its own for a node's own features
    "heterophilous": Space(
        {
            ("method", "concat", "L"): Choice(((9, True, 1), (9, True, 2), (9, True, 3))),  # one L for a group
            **{"temperature": None, "jk": "last"},
            **{**TUNED, "residual": Choice(("layer", "layer", None)), "keep": "metric", "decay": "all", "rows": False},
        },
        group=2,
    ),
    # one matrix on the averages over the nodes that are left, held together with a few labels at a time
    "averaged-propagation": Space(
        {
            **AVERAGED,
            **{name: _PROPAGATION[name] for name in ("L", "temperature", "alpha", "drop_nodes")},
            **{"dropout_input": Range(0.0, 0.5), "consistency": Range(0.5, 3.0), "sharpening": Range(0.1, 0.4)},
            **{"confidence": Range(0.4, 0.8), "ramp": Choice((100, 300)), "labelled": Choice((5, 5, 10))},
            **{"clip": Range(0.05, 0.3, log=True), "lr": Range(0.004, 0.03, log=True)},
            **{"weight_decay": Range(0.003, 0.03, log=True), "decay_others": Range(0.001, 0.03, log=True)},
            "keep": Choice(("loss", "both")),
        },
        (AVERAGED, {**AVERAGED, "L": 10, "temperature": 8.0}),
    ),
    # several layers, and random propagation before the first
    "deep-propagation": Space(
        {
            **{**_DEEP, "patience": 200, "draws": 2, "ramp": 100, "drop_nodes": Range(0.1, 0.6)},
            **{name: _PROPAGATION[name] for name in ("consistency", "sharpening", "confidence")},
            **{"dropout": Range(0.2, 0.7), "dropout_input": Range(0.2, 0.8)},
        },
        either=({"layers": 8}, {"layers": 16}, {"layers": 4}),
    ),
}
