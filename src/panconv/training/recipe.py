"""`Recipe`: the one translator from a record's operator and settings to what `PAN` and `fit` are given."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch_geometric.data import Data

from panconv.base.checks import checked_seeds
from panconv.paths import family_of
from panconv.records.record import PATHS, SETTINGS, UNSAID, Task
from panconv.training.consistency import Consistency
from panconv.training.fit import FitResult, Progress, fit
from panconv.training.inputs import checked_parts
from panconv.training.models import PAN
from panconv.weights import layer_specs, weights_from

# What may differ between trainings that run side by side, beside the seed and fixed path weights: a number per trial.
VECTORS = (
    *("lr", "weight_decay", "decay_others", "dropout", "dropout_input", "drop_nodes"),
    *("consistency", "sharpening", "confidence", "share", "identity", "clip"),
)
_OPERATOR = ("method", "L", "weights", "paths")
_SAME_IN_PAN = ("norm", "jk", "act", "act_first", "concat")  # settings that are arguments of the same name
_SAME_IN_FIT = ("lr", "weight_decay", "epochs", "patience", "keep", "decay_others", "metric", "clip")


@dataclass(frozen=True)
class Recipe:
    """A PAN and its training, as a record has them.

    Args:
        operator: method, L, weights, and maybe paths.
        settings: those of `panconv.records.record.SETTINGS`, and of `UNSAID` those that are said. One of `VECTORS` may
            be a list of S numbers, one per trial.
    """

    operator: dict[str, Any]
    settings: dict[str, Any]

    @staticmethod
    def of(task: Task) -> Recipe:
        """That of a training, or of its record."""
        return Recipe(task.operator or {}, task.settings)

    def setting(self, name: str) -> Any:
        """A setting's value, said or not."""
        return self.settings[name] if name in self.settings else UNSAID[name]

    @property
    def alone(self) -> bool:
        """Whether it trains one seed at a time, in a model without trials: a law of effective lengths is no row of
        numbers, and has one temperature."""
        return not family_of(self.operator.get("paths", PATHS)).counts_steps

    def but(self, **settings: Any) -> Recipe:
        """The recipe with some settings changed, or of its operator method, L, weights or paths."""
        met = {name: settings.pop(name) for name in _OPERATOR if name in settings}
        if odd := [name for name in settings if name not in SETTINGS and name not in UNSAID]:
            known = ", ".join((*_OPERATOR, *SETTINGS, *UNSAID))
            raise ValueError(f"{odd[0]!r:.60} is no setting: they are {known}")
        return Recipe({**self.operator, **met}, {**self.settings, **settings})

    def model(self, in_channels: int, out_channels: int, trials: int | None = None) -> PAN:
        """The model, not yet trained; `trials` as in `PAN`."""
        how, met = self.setting, self.operator
        given = {name: how(name) for name in _SAME_IN_PAN if how(name) != UNSAID[name]}
        # What is not said is left to PAN.
        if met.get("paths", PATHS) != PATHS:
            given["paths"] = met["paths"]
        if how("residual") is not None:
            given["residual"] = _residual(how("residual"), how("share"), how("identity"))
        if (inputs := self._inputs()) is not None:
            given["inputs"] = inputs
        model = PAN(
            in_channels,
            how("hidden"),
            out_channels,
            how("layers"),
            L=met["L"],
            method=met["method"],
            weights=met["weights"],
            dropout=how("dropout"),
            trials=trials,
            **given,
        )
        model.decay = how("decay")
        return model

    def _inputs(self) -> dict[str, Any] | None:
        """What happens to the features before the first matrix; None for nothing but the model's dropout."""
        names = {name: name for name in ("drop_nodes", "propagate", "nearest", "averaged")}
        names |= {"dropout": "dropout_input", "norm": "norm_input"}
        if all(self.setting(name) == UNSAID[name] for name in names.values()):
            return None
        return {argument: self.setting(name) for argument, name in names.items()}

    def options(self) -> dict[str, Any]:
        """What `fit` is given beside model, data, seeds and device; what is not said is left to it."""
        given = {name: self.setting(name) for name in _SAME_IN_FIT if name in self.settings}
        given = {name: value for name, value in given.items() if name not in UNSAID or value != UNSAID[name]}
        draws, weight = self.setting("draws"), self.setting("consistency")
        if draws > 1 or weight != UNSAID["consistency"] or self.setting("labelled") is not None:
            others = {name: self.setting(name) for name in ("sharpening", "confidence", "nodes", "ramp", "labelled")}
            given["regularizer"] = Consistency(draws, weight, **others)
        return given

    def fit(
        self,
        data: Data,
        seeds: Sequence[int] = (0,),
        device: str | torch.device = "cpu",
        callback: Callable[[Progress], None] | None = None,
        *,
        classes: int | None = None,
        **others: Any,
    ) -> FitResult[PAN]:
        """Trains it with some seeds, side by side.

        Args:
            data, seeds, device, callback: as in `fit`; one seed at a time where it is `alone`.
            classes: how many there are; None for those of data.y.
            others: what else to give to `fit`, in place of the recipe's own where it has that too.
        """
        x, y = checked_parts(data)
        count = len(seeds) if hasattr(seeds, "__len__") else 1
        seeds = checked_seeds(seeds, max(1, count), bits=32)
        classes = int(y.max()) + 1 if classes is None else classes
        trials = None if self.alone and count == 1 else count
        model = self.model(x.size(1), classes, trials=trials)
        given = {**self.options(), **others}
        return fit(model, data, seeds=seeds, device=device, callback=callback, **given)

    @staticmethod
    def side_by_side(recipes: Sequence[Recipe]) -> Recipe:
        """One recipe of some that differ only in what may differ by trial: lists of numbers, and fixed path weights in
        columns. All columns are as long as the longest, with zeros beyond a recipe's own L."""
        one = recipes[0]
        L, layers = max(each.operator["L"] for each in recipes), one.setting("layers")
        weights = _columns([each.operator for each in recipes], layers, L)
        settings = dict(one.settings)
        for name in VECTORS:
            values = [each.setting(name) for each in recipes]
            if any(value != values[0] for value in values):
                settings[name] = [_own(each, name) for each in recipes]
            elif name in settings or values[0] != UNSAID.get(name):
                settings[name] = values[0]
        return Recipe({**one.operator, "L": L, "weights": weights}, settings)


def _own(recipe: Recipe, name: str) -> Any:
    """A number of one trial; where the input has no dropout of its own, the model's; no limit is an infinite one."""
    value = recipe.setting(name)
    absent = {"dropout_input": recipe.setting("dropout"), "clip": math.inf}
    return absent.get(name) if value is None else value


def _residual(kind: str, share: Any, identity: Any) -> Any:
    """PAN's argument of that name."""
    return {"kind": kind, "share": share, "identity": identity} if kind == "input" else kind


def is_fixed(weights: Any) -> bool:
    """Whether weights are numbers that may stand in columns beside others."""
    if isinstance(weights, dict) and weights.get("kind") == "layers":
        return all(map(is_fixed, weights["of"]))
    return isinstance(weights, list) or (isinstance(weights, dict) and weights.get("trained") is False)


def _columns(operators: Sequence[dict[str, Any]], layers: int, L: int) -> Any:
    """The weights of some trainings as one spec: the one that all have, or the numbers of each in a column, 0 beyond
    its own length."""
    one = operators[0]
    if not is_fixed(one["weights"]) or all((met["L"], met["weights"]) == (L, one["weights"]) for met in operators):
        return one["weights"]
    columns: list[list[Tensor]] = [[] for _ in range(layers)]
    for met in operators:
        for column, spec in zip(columns, layer_specs(met["weights"], layers), strict=True):
            column.append(pad(weights_from(spec, met["L"])(), (0, L - met["L"])))
    return {"kind": "layers", "of": [torch.stack(each, dim=1).tolist() for each in columns]}
