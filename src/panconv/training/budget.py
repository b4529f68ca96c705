"""What a search can afford within a time. Never imports torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from panconv.records.ranking import Point
from panconv.records.record import Record


def seconds(records: Sequence[Record]) -> float:
    return sum(record.seconds for record in records)


class Counts(NamedTuple):
    """How much follows the first stage."""

    finalists: int
    reruns: int
    fresh: int


def affordable(tried: Sequence[Record], best: Sequence[Point], asked: Counts, budget: float) -> Counts:
    """What there is time for, if each training takes as long as the longest of the finalists: fewer finalists, and with
    two of them fewer reruns and fresh seeds, by the same share."""
    theirs = [(point.operator, point.settings) for point in best]
    each = max(_to_the_end(record) for record in tried if (record.operator or {}, record.settings) in theirs)
    if not each:
        return asked
    trainings, (_, reruns, fresh) = (budget - seconds(tried)) / each, asked
    finalists = min(len(best), max(2, int((trainings - fresh) // reruns)))
    share = min(1.0, max(0.0, trainings / (finalists * reruns + fresh)))
    least = min(reruns, 1 if finalists == 1 else 2)  # one finalist has nobody to be compared with
    return Counts(finalists, max(least, int(share * reruns)), max(min(1, fresh), int(share * fresh)))


def _to_the_end(record: Record) -> float:
    """The seconds of a training, if halving had ended none of those beside it, with whom it shares the time."""
    rungs, epochs = record.settings.get("halving") or [], record.settings.get("epochs", 1)
    stages = pairwise([0, *rungs, epochs])
    return record.seconds * epochs / sum((end - start) / 2**i for i, (start, end) in enumerate(stages))
