"""Trainings on graphs that are not the paper's: what `panconv train FOLDER --results` leaves. Never imports torch."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from panconv.base.words import in_words
from panconv.paper.published import GRAPHS
from panconv.paper.report.summary import Cell, cell
from panconv.paper.zoo.registry import METHODS
from panconv.records.ranking import std
from panconv.records.record import PAN, Record
from panconv.records.schema import GRAPHS as WHOLE


@dataclass(frozen=True)
class Own:
    """A line of the table: trainings that differ by the seed alone."""

    graph: str
    source: str  # where the graph was read from
    name: str  # of the method
    L: int | None  # None: a baseline, which has no paths
    weights: str
    cell: Cell
    validation: Cell


def own_graphs(records: Sequence[Record]) -> list[Own]:
    """The trainings on graphs that are not the paper's, in the order of the graphs."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        whole = record.model.startswith(WHOLE)
        if record.dataset not in GRAPHS and record.test_accuracy is not None and not whole:
            groups.setdefault(record.alike(), []).append(record)
    return sorted((_own(runs) for runs in groups.values()), key=lambda each: (each.graph, each.source))


def _own(runs: list[Record]) -> Own:
    one = runs[0]
    operator = one.operator or {}
    is_pan = one.model == PAN
    name = f"PAN, method {operator['method']}" if is_pan else METHODS[one.model].title if one.model in METHODS else ""
    accuracy = [100 * run.val_accuracy for run in runs if run.best_epoch != 0]
    validation = Cell(statistics.fmean(accuracy), std(accuracy), len(accuracy)) if accuracy else Cell()
    return Own(
        graph=Path(one.dataset).name or one.dataset,
        source=one.dataset,
        name=(name or one.model) + (" on M" if operator and not is_pan else ""),
        L=operator.get("L"),
        weights=in_words(operator["weights"]) if "weights" in operator else "–",
        cell=cell(runs, None),
        validation=validation,
    )
