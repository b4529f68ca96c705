"""What is known of the nodes: labels as class numbers, several labels, or numbers; and which nodes have none."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from torch import Tensor

from panconv.base.checks import shown


class Labels(NamedTuple):
    """Targets of all rows, of which only those that are known count."""

    known: np.ndarray  # (N,), bool
    y: np.ndarray  # (N,) class numbers, (N, K) of 0 and 1, or (N, K) numbers; anything where it is not known
    classes: np.ndarray  # (C,), what the class numbers stand for; of several labels their numbers
    kind: str  # "softmax", "logistic" or "squared", the loss they are learned by

    @property
    def rows(self) -> np.ndarray:
        """The numbers of the rows that are known, (n,)."""
        return np.flatnonzero(self.known)

    @property
    def targets(self) -> Tensor:
        """(n, C), of the rows that are known."""
        found = torch.from_numpy(np.ascontiguousarray(self.y[self.known]))
        if self.kind == "softmax":
            return torch.eye(len(self.classes), dtype=torch.float64)[found]
        return found.double()

    def of(self, rows: np.ndarray) -> Labels:
        """The same of some rows."""
        return self._replace(known=self.known[rows], y=self.y[rows])

    def without(self, weight: np.ndarray) -> Labels:
        """The same, with what weighs nothing not known."""
        left = self._replace(known=self.known & (weight > 0))
        if self.kind != "softmax" or not left.known.any():
            return left
        there = np.unique(left.y[left.known])
        number = np.full(len(self.classes), -1)
        number[there] = np.arange(len(there))
        y = np.where(left.known, number[np.where(left.known, left.y, 0)], -1)
        return left._replace(y=y, classes=self.classes[there])


def class_labels(y: Any, with_graph: bool, names: Any = None, one: bool = False) -> Labels:
    """Classes, one per row, or (N, K) of 0 and 1 where a row may have several.

    Args:
        y: with a graph −1, NaN, None or "" where it is not known, of (N, K) in all columns; without one all is known.
        with_graph: whether rows may be unknown.
        names: what class numbers stand for, where that is known.
        one: whether a single class will do.
    """
    y = _array(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=not with_graph)
    known = ~_unknown(y, -1) if with_graph else np.ones(len(y), dtype=bool)
    if not known.any():
        raise ValueError("y has no labels: at least 2 classes must be known of some nodes")
    check_classification_targets(_plain(y[known]))
    if y.ndim == 2:
        if type_of_target(_plain(y[known])) != "multilabel-indicator":
            raise ValueError(
                f"y must be (N,), or (N, K) of 0 and 1 where a row may have several labels, got {shown(y)}"
            )
        found = np.zeros(y.shape)
        found[known] = y[known].astype(np.float64)
        return Labels(known, found, np.arange(y.shape[1]), "logistic")
    classes, numbers = np.unique(_plain(y[known]), return_inverse=True)
    if names is not None and len(names):
        classes = np.asarray(names)[classes]
    place = np.full(len(y), -1)
    place[known] = numbers
    found_all = Labels(known, place, classes, "softmax")
    return found_all if one else checked_classes(found_all)


def checked_classes(labels: Labels) -> Labels:
    """The labels themselves, if there is something to tell apart."""
    if labels.kind == "softmax" and len(labels.classes) < 2:
        which = f": {shown(labels.classes.tolist()[0])}" if len(labels.classes) else ""
        raise ValueError(f"y must have labels of at least 2 classes, got {len(labels.classes)} class{which}")
    return labels


def check_alike(truth: Labels, classes: np.ndarray) -> None:
    """Refuses to compare numbers with texts, though they may look alike: what tables hold are texts, by whose order
    classes are numbered."""
    is_text, wanted = (each.dtype.kind not in "biuf" for each in (truth.classes, classes))
    if truth.kind == "softmax" and is_text != wanted:
        kinds = {True: "texts", False: "numbers"}
        few = ", ".join(map(shown, classes[:3].tolist()))
        raise ValueError(
            f"y holds {kinds[is_text]}, such as {shown(truth.classes[0].item())}, but the classes are {kinds[wanted]}, "
            f"such as {few}: give {kinds[wanted]}, and None where the class is not known"
        )


def numbers(y: Any, with_graph: bool) -> Labels:
    """Numbers to learn, (N,) or (N, K); with a graph NaN or None where they are not known, of (N, K) in any column."""
    y = _array(y)
    known = ~_unknown(y, None) if with_graph else np.ones(len(y), dtype=bool)
    if not known.any():
        raise ValueError("y has no numbers: they must be known of some nodes")
    found = np.zeros((len(y), 1 if y.ndim == 1 else y.shape[1]))
    found[known] = y[known].astype(np.float64).reshape(int(known.sum()), -1)
    if not np.isfinite(found).all():
        raise ValueError("y holds infinite numbers: leave them out, as NaN")
    return Labels(known, found, np.empty(0), "squared")


def _array(y: Any) -> np.ndarray:
    if isinstance(y, Tensor):
        y = y.cpu().numpy()
    elif isinstance(y, (list, tuple)) and any(isinstance(each, str) for each in y):
        y = np.array(y, dtype=object)  # or NaN would become a class "nan"
    y = np.asarray(y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y must be (N,) or (N, K), a row per node, got shape {y.shape}")
    return y


def _plain(y: np.ndarray) -> np.ndarray:
    """Without the dtype that held None beside them."""
    return np.array(y.tolist()) if y.dtype == object else y


def _is_unknown(value: Any, missing: int | None) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # pandas' own, which are equal to nothing
        return True
    return bool(value != value or value == missing or value == "")


def _unknown(y: np.ndarray, missing: int | None) -> np.ndarray:
    """Which rows are not known, (N,)."""
    found: np.ndarray
    if y.dtype == object:
        each = np.array([_is_unknown(value, missing) for value in y.ravel()], dtype=bool)
        found = each.reshape(y.shape)
    elif y.dtype.kind == "U":
        found = y == ""
    else:
        found = np.asarray(np.isnan(y)) if y.dtype.kind == "f" else np.zeros(y.shape, dtype=bool)
        if missing is not None and y.dtype.kind in "if":
            found = found | (y == missing)
    return found if y.ndim == 1 else np.logical_or.reduce(found, axis=1)
