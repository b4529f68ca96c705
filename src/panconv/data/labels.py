"""Labels as a table has them, texts, of which some are known: the classes that they name, or the numbers they are."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np

from panconv.data.cells import is_unknown
from panconv.data.columns import numbers_of
from panconv.data.remarks import Remarks, counted, short
from panconv.data.tables import Table


def known_labels(labels: np.ndarray, where: Callable[[int], str], remarks: Remarks) -> np.ndarray:
    """(N,) texts, None where a label is not known; `where` is a row in words.

    −1 is a class among −1 and 1, and stands for a label that is not known where all others count from 0.
    """
    names = {each for each in labels if each is not None}
    unknown = {each for each in names if is_unknown(each)}
    rest = names - unknown - {"-1"}
    if "-1" in names and len(rest) > 1 and all(each.isdigit() for each in rest):
        unknown.add("-1")
    for each in sorted(unknown):
        those = labels == each
        what = f"{where(int(those.argmax()))}: {short(each)} may be a class or say that there is none"
        remarks.mend(what, f"{counted(those.sum(), 'label')} taken for not known")
    return np.array([None if each in unknown else each for each in labels], dtype=object)


def look_at(labels: np.ndarray, what: str, remarks: Remarks) -> None:
    """Says of classes from which little can be learned what they lack; `what` is their column in words."""
    counts = Counter(each for each in labels if each is not None)
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


def later_numbers(table: Table, name: str, N: int, strict: bool) -> np.ndarray:
    """(N,), labels that were read as classes, as the numbers that they are after all; warns of what is mended."""
    remarks = Remarks(strict)
    numbers = numbers_of(table, name, remarks)
    for note in remarks.mended:
        warnings.warn(note, stacklevel=3)
    return np.concatenate([numbers, np.full(N - len(numbers), np.nan)])
