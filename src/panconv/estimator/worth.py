"""What a classifier is worth: the figures of its labelled nodes, each predicted out of fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from panconv.estimator.calibration import log_loss
from panconv.estimator.figure import Figure

if TYPE_CHECKING:
    from panconv.estimator.classifier import PANClassifier

_BINS = 10  # of the probabilities that the predicted classes have


class ClassWorth(NamedTuple):
    """A class among the labelled nodes."""

    name: str
    labels: int
    precision: Figure | None  # of the nodes that are predicted to be of it, how many are; None where none is
    recall: Figure | None  # of the nodes that are of it, how many are predicted to be


class Bin(NamedTuple):
    """The nodes whose predicted class has a probability between two bounds."""

    low: float
    high: float
    nodes: int
    said: float  # the mean of these probabilities
    right: Figure  # the share of them that are right


@dataclass(frozen=True)
class Worth:
    """Figures of n labelled nodes, none of which the head had seen the label of when it predicted it.

    Args:
        labels: n.
        accuracy: by name, of the head, which comes first, and of what stands beside it.
        gain: how many more nodes are right than by the features alone.
        verdict: whether the graph helps, in a sentence.
        log_loss: of the calibrated probabilities.
        calibration_error: by how much probabilities and shares differ, in the mean over the bins.
        classes: in the order of `classes_`.
        confusion: (C, C), a row per true class, a column per predicted one.
        bins: those that are not empty.
    """

    labels: int
    accuracy: dict[str, Figure]
    gain: Figure
    verdict: str
    log_loss: float
    calibration_error: float
    classes: tuple[ClassWorth, ...]
    confusion: tuple[tuple[int, ...], ...]
    bins: tuple[Bin, ...]


def worth(clf: PANClassifier) -> Worth | None:
    """The figures of a classifier with one class per node that was fitted on a graph; None where nothing was held
    out."""
    told, beside = clf.held_out_.told, clf.report_
    if beside is None or not len(told.rows):
        return None
    p = torch.from_numpy(told.scores / clf.temperature_).softmax(1).numpy()
    true, said = told.targets.argmax(1), p.argmax(1)
    counts = np.zeros((p.shape[1], p.shape[1]), dtype=np.int64)
    np.add.at(counts, (true, said), 1)
    bins = _bins(p.max(1), said == true)
    lost = log_loss(torch.from_numpy(p).log(), torch.from_numpy(told.targets), torch.ones(len(p)))
    return Worth(
        labels=len(p),
        accuracy={name: Figure(value, *beside.interval(name)) for name, value in beside.accuracy.items()},
        gain=beside.gain,
        verdict=beside.verdict,
        log_loss=float(lost),
        calibration_error=sum(each.nodes * abs(each.right.value - each.said) for each in bins) / len(p),
        classes=_classes(counts, [str(name) for name in clf.classes_]),
        confusion=tuple(map(tuple, counts.tolist())),
        bins=bins,
    )


def _classes(counts: np.ndarray, names: list[str]) -> tuple[ClassWorth, ...]:
    """From the confusion matrix."""
    right, true, said = counts.diagonal().tolist(), counts.sum(1).tolist(), counts.sum(0).tolist()
    return tuple(
        ClassWorth(name, true[c], Figure.share(right[c], said[c]), Figure.share(right[c], true[c]))
        for c, name in enumerate(names)
    )


def _bins(p: np.ndarray, right: np.ndarray) -> tuple[Bin, ...]:
    place = np.minimum((p * _BINS).astype(int), _BINS - 1)
    found = []
    for b in np.unique(place).tolist():
        own = place == b
        share = Figure.share(int(right[own].sum()), int(own.sum()))
        assert share is not None
        found.append(Bin(b / _BINS, (b + 1) / _BINS, int(own.sum()), float(p[own].mean()), share))
    return tuple(found)
