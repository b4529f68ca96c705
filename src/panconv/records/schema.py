"""What the fields of a record may hold, as tests and in words: docs/results.md has the schema. Never imports torch."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

PAN = "pan"
GRAPHS = "graphs:"  # with which the name of a model of whole graphs begins
# "random": a split of its own for each seed; "given": the graph brings n splits, and seed s has split s mod n. Of a set
# of graphs there are as many as the settings say: `folds` that are given, or `runs` drawn at random.
SPLITS = ("public", "random", "given")
LARGEST = 1e100  # of a number: means and deviations of such numbers cannot overflow
DEEPEST = 8  # lists and objects within one another
_MOST_EPOCHS = 1_000_000  # whose curves still fit into a line
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
shown = _SHORT.repr  # a value in a message


class Rule(NamedTuple):
    """What a field may hold, as a test and in words."""

    holds: Callable[[Any], bool]
    words: str


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST  # NaN is not


def is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


def is_plain(value: Any, depth: int = DEEPEST) -> bool:
    """Whether a value is text, a number, true, false, null, or lists and objects of such, not too deep."""
    if isinstance(value, (list, tuple)):
        return depth > 0 and all(is_plain(each, depth - 1) for each in value)
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(key, str) and is_plain(each, depth - 1) for key, each in value.items())
    return value is None or isinstance(value, (str, bool)) or is_number(value)


def is_object(value: Any, depth: int = DEEPEST) -> bool:
    return isinstance(value, dict) and is_plain(value, depth)


def list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def or_null(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


def number_or_null(value: Any) -> Any:
    """A number as a record holds it, or a list of them: null for one that is not finite, or too large."""
    if isinstance(value, list):
        return list(map(number_or_null, value))
    return value if is_number(value) else None


_TEXT = Rule(lambda value: isinstance(value, str), "text")
_COUNT = Rule(lambda value: is_whole(value, 1), "a whole number of at least 1")
_COUNT_OR_NULL = Rule(or_null(_COUNT.holds), f"{_COUNT.words}, or null")
_NATURAL = Rule(is_whole, "a whole number of at least 0")
_NUMBERS = list_of(or_null(is_number))
TASK: dict[str, Rule] = {
    "dataset": _TEXT,
    "model": _TEXT,
    "operator": Rule(  # whose weights may be as deep as any field
        or_null(lambda value: is_object(value, DEEPEST + 1)),
        "an object of text, numbers and lists, or null for the model's own",
    ),
    "split": Rule(lambda value: isinstance(value, str) and value in SPLITS, f"one of {', '.join(SPLITS)}"),
    "settings": Rule(is_object, "an object of text, numbers and lists"),
    "seed": _NATURAL,
    "tested": Rule(lambda value: isinstance(value, bool), "true or false"),
}
RECORD: dict[str, Rule] = {
    **TASK,
    "test_accuracy": Rule(or_null(is_share), "a number between 0 and 1, or null"),
    "val_accuracy": Rule(is_share, "a number between 0 and 1"),
    "seconds": Rule(lambda value: is_number(value) and value >= 0, f"a number between 0 and {LARGEST:g}"),
    "device": _TEXT,
    "versions": Rule(
        lambda value: is_object(value) and all(isinstance(word, str) for word in value.values()), "an object of texts"
    ),
    "command": _TEXT,
    "val_loss": Rule(or_null(is_number), "a number, or null if it was not finite"),
    "best_epoch": Rule(or_null(is_whole), "a whole number of at least 0, or null"),
    "loss_curve": Rule(_NUMBERS, "a list of numbers, null for one that is not finite"),
    "accuracy_curve": Rule(list_of(is_share), "a list of numbers between 0 and 1"),
    "path_weights": Rule(list_of(_NUMBERS), "a list of lists of numbers, null if not finite"),
    "temperatures": Rule(
        list_of(or_null(lambda T: is_number(T) and T >= 0)), "a list of numbers of at least 0, null if not finite"
    ),
    "dropped": Rule(or_null(is_share), "a number between 0 and 1, or null"),
}
_SHARE_BELOW_1 = Rule(lambda value: is_number(value) and 0 <= value < 1, "at least 0 and below 1")
_AT_LEAST_0 = Rule(lambda value: is_number(value) and value >= 0, "at least 0 and finite")
_POSITIVE = Rule(lambda value: is_number(value) and value > 0, "positive and finite")
_FLAG = Rule(lambda value: isinstance(value, bool), "true or false")


def _one_of(*words: str | None) -> Rule:
    named = ["null" if word is None else word for word in words]
    return Rule(
        lambda value: (value is None or isinstance(value, str)) and value in words,
        " or ".join(filter(None, [", ".join(named[:-1]), named[-1]])),
    )


_OPERATOR: dict[str, Rule] = {  # PAN's
    "method": _COUNT,
    "L": _NATURAL,
    "weights": Rule(is_plain, f"text, finite numbers, lists or objects of them, at most {DEEPEST} deep"),
}
_OPERATOR_UNSAID: dict[str, Rule] = {  # what may be there
    "paths": Rule(lambda value: isinstance(value, str) or is_object(value), "a name, or an object with a kind"),
}
_SETTINGS: dict[str, Rule] = {
    "hidden": _COUNT,
    "layers": _COUNT,
    "lr": _POSITIVE,
    "dropout": _SHARE_BELOW_1,
    "weight_decay": _AT_LEAST_0,
    "epochs": Rule(
        lambda value: is_whole(value, 1) and value <= _MOST_EPOCHS, f"a whole number between 1 and {_MOST_EPOCHS:,}"
    ),
    "patience": _COUNT,
}
_UNSAID: dict[str, Rule] = {  # settings that may be there; `record.UNSAID` has what each is where it is not
    "keep": _one_of("loss", "accuracy", "both", "last", "metric"),
    "decay": _one_of("first", "all", "layers"),
    "rows": _FLAG,
    # of the model
    "norm": _one_of(None, "batch", "layer"),
    "jk": _one_of(None, "last", "cat", "max"),
    "act": Rule(or_null(lambda value: isinstance(value, str)), "the name of an activation, or null"),
    "act_first": _FLAG,
    "concat": _FLAG,
    "residual": _one_of(None, "layer", "input"),
    "share": Rule(is_share, "a number between 0 and 1"),
    "identity": _AT_LEAST_0,
    # of what happens to the features before the first matrix
    "drop_nodes": _SHARE_BELOW_1,
    "dropout_input": Rule(or_null(_SHARE_BELOW_1.holds), f"{_SHARE_BELOW_1.words}, or null"),
    "propagate": _FLAG,
    "norm_input": _one_of(None, "batch", "layer"),
    "nearest": _COUNT_OR_NULL,
    "averaged": _FLAG,
    # of the training
    "draws": _COUNT,
    "consistency": _AT_LEAST_0,
    "sharpening": _POSITIVE,
    "confidence": Rule(is_share, "a number between 0 and 1"),
    "nodes": _COUNT_OR_NULL,
    "ramp": Rule(lambda value: is_whole(value, 0), "a whole number of at least 0"),
    "labelled": _COUNT_OR_NULL,
    "clip": Rule(or_null(_POSITIVE.holds), f"{_POSITIVE.words}, or null"),
    "decay_others": _AT_LEAST_0,
    "metric": _one_of("accuracy", "auc", "macro_f1"),
    "halving": Rule(or_null(list_of(lambda value: is_whole(value, 1))), "a list of epochs, or null"),
}


def check(values: Mapping[str, Any], rules: Mapping[str, Rule], where: str) -> None:
    """Refuses values that break a rule, in words that say where they stand."""
    for name, rule in rules.items():
        if not rule.holds(values[name]):
            raise ValueError(f"{where}: {name} must be {rule.words}, got {shown(values[name])}")


def check_fields(values: Mapping[str, Any], rules: Mapping[str, Rule], where: str) -> None:
    """Refuses fields that break `TASK` or `RECORD`; of PAN, whose operator and settings are known, in words of these
    first."""
    if values["model"] == PAN:
        _check_object(values["operator"], _OPERATOR, where, "operator", _OPERATOR_UNSAID)
        check_settings(values["settings"], where)
    check(values, rules, where)


def check_settings(how: Any, where: str) -> None:
    """Refuses what are no settings of a PAN."""
    known = _SETTINGS | _UNSAID
    if isinstance(how, dict) and (odd := [name for name in how if name not in known]):
        raise ValueError(f"{where}: {odd[0]!r:.60} is no setting: they are {', '.join(known)}")
    _check_object(how, _SETTINGS, where, "settings", _UNSAID)


def check_together(values: Mapping[str, Any], where: str) -> None:
    """Refuses fields of a record that do not go together."""
    loss, tested = values["loss_curve"], values["tested"]
    words = "a number between 0 and 1 where tested is true" if tested else "null where tested is false"
    together = {
        "test_accuracy": Rule(lambda value: (value is not None) == tested, words),
        "accuracy_curve": Rule(lambda each: len(each) == len(loss), "as long as loss_curve"),
        "best_epoch": Rule(
            lambda each: not loss or (each and each <= len(loss) and loss[each - 1] is not None),
            "an epoch with a finite loss, or 0 or null with empty curves",
        ),
    }
    if values["model"] == PAN:
        layers, length = values["settings"]["layers"], values["operator"]["L"] + 1
        together["path_weights"] = Rule(
            lambda each: not each or (len(each) == layers and {len(layer) for layer in each} == {length}),
            f"{layers} lists of {length} numbers",
        )
        together["temperatures"] = Rule(lambda each: len(each) in (0, layers), f"{layers} numbers, one per layer")
    check(values, together, where)


def _check_object(
    value: Any, rules: Mapping[str, Rule], where: str, what: str, unsaid: Mapping[str, Rule] | None = None
) -> None:
    """Refuses what is no object of these fields, or, of those that may be unsaid, breaks the rule of one that is."""
    known = {**rules, **(unsaid or {})}
    if not isinstance(value, dict) or not value.keys() <= known.keys():
        raise ValueError(f"{where}: {what} must be an object of {', '.join(known)}")
    if missing := [name for name in rules if name not in value]:
        raise ValueError(f"{where}: {what} has no {missing[0]!r}")
    check(value, {name: known[name] for name in value}, where)
