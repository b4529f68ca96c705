"""What a search may change of a baseline, around its own settings, which are a point of the space."""

from __future__ import annotations

from typing import Any

from panconv.paper.zoo.registry import METHODS, checked
from panconv.training.space import Choice, Range, Space
from panconv.training.spaces import TUNED

_WIDTHS = Choice((16, 32, 64))
_GROUP = 2  # of a few dozen settings, so that widths and lengths are drawn as often as may be
_RESIDUAL = {**TUNED, "residual": Choice((True, True, False))}
_SHORT, _LONG = Choice((1, 2, 3, 4)), Choice((4, 8, 10, 16, 20))
# Beside what `space` has for all: by method, and by setting of it.
OTHERS: dict[str, dict[Any, Any]] = {
    "mlp": {"hidden": _WIDTHS},
    "gcn": {"hidden": _WIDTHS},
    "gln": {"hidden": _WIDTHS},
    "graph_cnn": {"hidden": _WIDTHS},
    "high_temperature": {"hidden": _WIDTHS},
    "chebnet": {"hidden": _WIDTHS, "K": Choice((2, 3, 4))},
    "gat": {"hidden": Choice((8, 16)), "heads": Choice((4, 8)), "out_heads": Choice((1, 8))},
    "agnn": {"hidden": _WIDTHS, ("layers", "fixed"): Choice(((2, 0), (2, 1), (3, 0), (4, 0)))},
    "monet": {"hidden": _WIDTHS, "kernels": Choice((2, 3, 4))},
    "dynamic_filter": {"hidden": _WIDTHS, "heads": Choice((4, 8))},
    "sgc": {"K": _SHORT},
    "ssgc": {"K": _LONG, "alpha": Choice((0.0, 0.05, 0.1, 0.2))},
    "appnp": {"hidden": Choice((32, 64)), "K": _LONG, "alpha": Choice((0.05, 0.1, 0.2))},
    "gcnii": {
        **{"hidden": Choice((32, 64)), "layers": Choice((2, 4, 8, 16))},
        **{"share": Choice((0.1, 0.2, 0.5)), "identity": Choice((0.4, 0.5, 0.6, 1.0))},
    },
    "deep_gcn": {"hidden": _WIDTHS, "layers": Choice((2, 3, 4, 8))},
    **dict.fromkeys(("res_gcn", "res_sage"), _RESIDUAL),
    "res_gat": {**_RESIDUAL, "heads": Choice((1, 4, 8))},
    "gprgnn": {  # one hidden layer and no norm: what is propagated are its scores
        **{name: TUNED[name] for name in ("hidden", "dropout", "lr", "weight_decay", "epochs", "patience")},
        **{"K": Choice((2, 4, 10)), "alpha": Choice((0.1, 0.2, 0.5, 0.9))},
    },
    "dcnn": {"hops": Choice((1, 2, 3, 4))},
    "ngcn": {"hidden": Choice((10, 16)), "K": Choice((4, 6))},
    "gwnn": {"hidden": _WIDTHS, "s": Choice((0.5, 0.7, 1.0))},
    "lnet": {"hidden": Choice((32, 64))},
    "adalnet": {"hidden": Choice((32, 64))},
    "fastgcn": {"hidden": _WIDTHS},
    "lp": {"alpha": Range(0.5, 1.0), "steps": Choice((10, 20, 50, 100))},
    "ica": {"C": Range(0.1, 100.0, log=True), "scale": Range(0.003, 0.3, log=True)},
    "manireg": {"ridge": Range(1e-4, 1.0, log=True), "smooth": Range(1e-4, 3.0, log=True)},
    "bootstrap": {
        **{"alpha": Range(0.7, 0.99), "steps": Choice((5, 7, 10, 50))},
        "growth": Range(0.005, 0.2, log=True),
    },
    "harmonic": {"cmn": Choice((True, False))},
    "semiemb": {"embedding": Range(1.0, 300.0, log=True)},
}


def space(name: str, dataset: str) -> Space:
    """What a method's settings may be on a graph: steps, decay and dropout in ranges around its own, and `OTHERS`.

    Its own settings on that graph are one of the points.
    """
    name = checked(name)
    own = METHODS[name].on(dataset)
    return Space({**own, **_ranges(own), **OTHERS.get(name, {})}, (own,), group=_GROUP)


def _ranges(own: dict[str, Any]) -> dict[str, Range]:
    """Of what most methods have, where this one has it."""
    found = {
        "lr": lambda value: Range(value / 4, min(4 * value, max(value, 0.5)), log=True),
        "weight_decay": lambda value: Range(value / 10, 10 * value, log=True),
        "decay_others": lambda value: Range(value / 10, 10 * value, log=True),
        "dropout": lambda value: Range(0.0, 0.8),
        "dropout_scores": lambda value: Range(0.0, 0.8),
    }
    return {name: make(own[name]) for name, make in found.items() if own.get(name)}
