"""A fitted estimator as plain settings and tensors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import panconv
from panconv.base.checks import checked_count, checked_positive, shown
from panconv.data.features import Features
from panconv.estimator.base import GraphEstimator
from panconv.estimator.classifier import PANClassifier
from panconv.estimator.figure import Figure
from panconv.estimator.folder.heads import State, put_together, taken, taken_apart
from panconv.estimator.folder.plain import (
    array,
    array_of,
    field,
    is_simple,
    number,
    number_of,
    numbers,
    numbers_of,
    simple,
    texts,
)
from panconv.estimator.folder.versions import FORMAT, VERSION
from panconv.estimator.held_out import HeldOut
from panconv.estimator.origin import Origin
from panconv.estimator.regressor import PANRegressor
from panconv.estimator.report import Report

ESTIMATORS: dict[str, type[GraphEstimator]] = {"PANClassifier": PANClassifier, "PANRegressor": PANRegressor}
_GAIN = ("mean", "low", "high")  # what the fields of a gain are called in the file


def described(estimator: Any) -> tuple[dict[str, Any], State]:
    """What a fitted estimator says in JSON, and its tensors."""
    head, state = taken_apart(estimator._model)
    held = estimator.held_out_._asdict()
    state |= {f"held_out.{name}": torch.from_numpy(np.ascontiguousarray(each)) for name, each in held.items()}
    parameters, left_out = _parameters(estimator)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "panconv": panconv.__version__,
        "estimator": type(estimator).__name__,
        "parameters": parameters,
        "left_out": left_out,  # parameters that are not plain, such as a splitter: they come back as their defaults
        "features": _features(estimator),
        "graph": _graph(estimator._origin),
        "losses": numbers(estimator.scores_),
        # Which of these it is, and what the fit took; None of a folder that did not say so.
        "choice": estimator.choice_,
        "seconds": None if estimator.seconds_ is None else number(estimator.seconds_),
        "head": head,
    }
    if isinstance(estimator, PANClassifier):
        content |= _of_classifier(estimator)
        if estimator._doubts is not None:
            state["doubts"] = estimator._doubts
    else:
        content |= {"flat": bool(estimator._flat)}
    return content, state


def restored(content: dict[str, Any], state: State) -> GraphEstimator:
    """The estimator that `described` was given, without its graph."""
    name = field(content, "estimator", str)
    if name not in ESTIMATORS:
        raise ValueError(f"its estimator must be one of {', '.join(ESTIMATORS)}, got {shown(name)}")
    kind, parameters = ESTIMATORS[name], field(content, "parameters", dict)
    if odd := sorted(parameters.keys() - set(kind._get_param_names())):
        raise ValueError(f"{name} has no parameter {shown(odd[0])}")
    made: Any = kind(**parameters)
    made.n_features_in_ = checked_count(field(field(content, "features", dict), "count", int), "count", least=0)
    if isinstance(made, PANClassifier):
        _restore_classifier(made, content, state)
        C = len(made.classes_)
    else:
        made._flat, C = field(content, "flat", bool), _columns(state)
        made._beside = None
        if made._flat and C != 1:
            raise ValueError(f"its numbers must be one per node, as it says, got {C}")
    made.held_out_ = _held_out(state, C)
    made.scores_ = numbers_of(content, "losses")
    made.choice_ = field(content, "choice", str, or_null=True)
    made.seconds_ = None if content.get("seconds", "") is None else number_of(content, "seconds")
    held = torch.from_numpy(made.held_out_.scores)
    made._model = put_together(field(content, "head", dict), state, made.n_features_in_, C, held)
    made.head_ = content["head"]["kind"]
    # Only now, when the tensors have told that there are so many features.
    made._origin = _origin(content)
    _restore_names(made, content)
    if state:
        raise ValueError(f"it has a tensor {shown(min(state))}, which its settings do not ask for")
    made._fitted_on = made._scores = made._known = None
    return made


# ---------------------------------------------------------------------- what goes in


def _parameters(estimator: Any) -> tuple[dict[str, Any], list[str]]:
    given = estimator.get_params(deep=False).items()
    parameters = {name: simple(value) for name, value in given if is_simple(value)}
    left_out = [name for name, value in given if not is_simple(value)]
    return parameters, left_out


def _features(estimator: Any) -> dict[str, Any]:
    origin, given = estimator._origin, getattr(estimator, "feature_names_in_", None)
    learned = None if origin is None or origin.learned is None else origin.learned.plain()
    return {
        "count": int(estimator.n_features_in_),
        "given": None if given is None else [str(each) for each in given],
        # Names that `learned` tells, or that are only numbered, are not said again.
        "names": origin.names if origin is not None and learned is None and given is None and _named(origin) else None,
        "learned": learned,
    }


def _named(origin: Origin) -> bool:
    return origin.names != _numbered(len(origin.names))


def _numbered(count: int) -> list[str]:
    return [f"x{j}" for j in range(count)]


def _graph(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {"weighted": origin.weighted, "directed": origin.directed, "label": origin.label}


def _of_classifier(estimator: PANClassifier) -> dict[str, Any]:
    report = estimator.report_
    told = None
    if report is not None:
        gain = numbers(dict(zip(_GAIN, report.gain, strict=True)))
        told = {"head": report.head, "labels": report.labels, "accuracy": numbers(report.accuracy), "gain": gain}
    return {
        "classes": array(estimator.classes_),
        "kind": estimator._kind,
        "temperature": number(estimator.temperature_),
        "report": told,
    }


# ---------------------------------------------------------------------- what comes out


def _origin(content: Any) -> Origin | None:
    features, found = field(content, "features", dict), field(content, "graph", dict, or_null=True)
    count: int = features["count"]
    said = field(features, "learned", dict, or_null=True)
    learned = None if said is None else Features.of_plain(said)
    given, names = (
        None if field(features, name, list, or_null=True) is None else texts(features, name)
        for name in ("given", "names")
    )
    names = learned.names if learned is not None else names or given or _numbered(count)
    if len(names) != count:
        raise ValueError(f"it says that there are {count} features, but names {len(names)}")
    if found is None:
        if learned is not None:
            raise ValueError("it has learned from the columns of a graph, but says that there was no graph")
        return None
    return Origin(
        names=names,
        learned=learned,
        weighted=field(found, "weighted", bool),
        directed=field(found, "directed", bool, or_null=True),
        label=field(found, "label", str, or_null=True),
    )


def _restore_names(made: Any, content: Any) -> None:
    features = field(content, "features", dict)
    if field(features, "given", list, or_null=True) is not None:
        made.feature_names_in_ = np.array(texts(features, "given"), dtype=object)
        if len(made.feature_names_in_) != made.n_features_in_:
            raise ValueError("it names more or fewer features than there are")


def _restore_classifier(made: PANClassifier, content: Any, state: State) -> None:
    made._kind, made.classes_ = field(content, "kind", str), array_of(content, "classes")
    if made._kind not in ("softmax", "logistic"):
        raise ValueError(f"its kind must be 'softmax' or 'logistic', got {shown(made._kind)}")
    if len(made.classes_) < (2 if made._kind == "softmax" else 1):
        raise ValueError(f"it must have at least 2 classes, got {len(made.classes_)}")
    made.temperature_ = checked_positive(number_of(content, "temperature"), "temperature")
    made._doubts = None
    if made._kind == "softmax":
        made._doubts = taken(state, "doubts", (-1,))
        if bool((made._doubts.diff() < 0).any()):
            raise ValueError("its 'doubts' must be in ascending order")
    made.report_ = _report(content)


def _report(content: Any) -> Report | None:
    found = field(content, "report", dict, or_null=True)
    if found is None:
        return None
    gain = field(found, "gain", dict)
    head, accuracy = field(found, "head", str), numbers_of(found, "accuracy")
    labels = checked_count(field(found, "labels", int), "labels", least=0)
    return Report(head, labels, accuracy, Figure(*(number_of(gain, name) for name in _GAIN)))


def _columns(state: State) -> int:
    found = state.get("held_out.targets")
    if found is None or len(found.shape) != 2 or not found.size(1):
        raise ValueError("it has no tensor 'held_out.targets' of a column per number")
    return found.size(1)


def _held_out(state: State, C: int) -> HeldOut:
    rows = taken(state, "held_out.rows", (-1,), torch.int64)
    n = len(rows)
    return HeldOut(
        rows.numpy(),
        taken(state, "held_out.scores", (n, C), finite=False).numpy(),
        taken(state, "held_out.targets", (n, C)).numpy(),
    )
