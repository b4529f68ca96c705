"""Tables of the benchmark `explanations`, from its records."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from judging import Fidelity

Record = dict[str, Any]


def table(records: Sequence[Record], kept: Sequence[int], shown: int) -> Iterator[str]:
    """A line per explainer of one model on one kind of graph.

    Recall and its deviation are over nodes; the others over graphs, each of which has a mean over its nodes.

    Args:
        records: as `explanations.judged` gives them, ours first.
        kept: numbers of edges that were taken.
        shown: of which of these fidelity is told.
    """
    by_who: dict[str, list[Record]] = {}
    for record in records:
        by_who.setdefault(record["who"], []).append(record)
    head = ["explainer", "recall", f"fidelity+ {shown}", f"fidelity− {shown}"]
    head += [*(f"characterisation {k}" for k in kept), "time"]
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    if not records:
        return
    first = statistics.median(record["seconds"] for record in next(iter(by_who.values())))
    for who, some in by_who.items():
        means = {k: by_graph(some, k) for k in kept}
        cells = [_cell([r["recall"] for r in some]) if some[0]["recall"] is not None else ""]
        cells += [_cell(column) for column in zip(*means[shown], strict=True)]
        cells += [_cell([one.character for one in means[k]]) for k in kept]
        cells.append(f"{statistics.median(record['seconds'] for record in some) / first:.1f}")
        yield f"| {who} | " + " | ".join(cells) + " |"


def by_graph(records: Sequence[Record], k: int) -> list[Fidelity]:
    """The mean over the nodes of each graph, with k edges."""
    found: dict[int, list[Fidelity]] = {}
    for record in records:
        values = (record[f"{name} {k}"] for name in Fidelity._fields)
        found.setdefault(record["graph"], []).append(Fidelity(*values))
    return [Fidelity.mean(some) for some in found.values()]


def _cell(values: Sequence[float]) -> str:
    mean = statistics.fmean(values)
    return f"{mean:.2f} ± {statistics.stdev(values):.2f}" if len(values) > 1 else f"{mean:.2f}"
