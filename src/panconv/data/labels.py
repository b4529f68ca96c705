"""Labels as a table has them, texts, of which some are known; and the classes that they name."""

from __future__ import annotations

from collections import Counter

import numpy as np

from panconv.data.remarks import Remarks, counted, short

_UNKNOWN = ("nan", "none", "null", "na", "n/a", "#n/a")  # as libraries and programs write what is not known


def known_labels(labels: np.ndarray, what: str, remarks: Remarks) -> np.ndarray:
    """(N,) texts, None where a label is not known; `what` is their column in words.

    −1 is a class among −1 and 1, and stands for a label that is not known where all others count from 0.
    """
    unknown = {each for each in set(labels) if each is None or each.lower() in _UNKNOWN}
    names = set(labels) - unknown
    rest = names - {"-1"}
    if "-1" in names and len(rest) > 1 and all(each.isdigit() for each in rest):
        unknown.add("-1")
        remarks.guess(f"{what}: -1 stands for a label that is not known")
    if unknown - {None}:
        written = ", ".join(map(short, sorted(each for each in unknown - {None} if each != "-1")))
        if written:
            remarks.guess(f"{what}: {written} stands for a label that is not known")
        labels = np.array([None if each in unknown else each for each in labels], dtype=object)
    _look_at(Counter(each for each in labels if each is not None), what, remarks)
    return labels


def _look_at(counts: Counter[str], what: str, remarks: Remarks) -> None:
    """Says of labels from which little can be learned what they lack."""
    if len(counts) < 2:
        one = f"every label is {short(next(iter(counts)))}" if counts else "there is no label"
        remarks.mend(f"{what}: {one}", "there is nothing to tell apart, so nothing can be learned")
        return
    alone = [name for name, count in counts.items() if count == 1]
    if len(alone) > len(counts) / 2:
        if counts.total() > 20:  # of a handful of labels this says nothing
            text = f"{what}: {len(counts):,} different labels of {counted(counts.total(), 'node')}"
            remarks.guess(f"{text}: numbers to predict, or names, rather than classes")
    elif alone:
        classes = ", ".join(map(short, sorted(alone)[:3])) + ", …" * (len(alone) > 3)
        remarks.mend(f"{what}: one node alone has the label {classes}", "it cannot be both learned and checked")


def sorted_classes(labels: np.ndarray) -> tuple[str, ...]:
    """The labels that there are, numbers by their size, others by their letters."""
    found = sorted({each for each in labels if each is not None})
    try:
        return tuple(sorted(found, key=float))
    except ValueError:
        return tuple(found)
