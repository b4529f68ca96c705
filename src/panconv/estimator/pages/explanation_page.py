"""The page of an explanation: the score taken apart, the drawing, and the tables of ends, features and paths."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from panconv.base.checks import checked_count
from panconv.base.pages import template, write_page
from panconv.estimator.explaining import Explanation
from panconv.estimator.pages.cast import Cast, told
from panconv.estimator.pages.figures import counted, percent, plain, signed
from panconv.estimator.pages.known import Known
from panconv.estimator.pages.waterfall import waterfall

_WIDE, _NARROW = (940.0, 620.0), (358.0, 460.0)  # the drawing on a desk, and on a phone
_FEWER = 16  # nodes on a phone
_ROWS = 30  # of a table
_FOUND = 5000  # ends that can be searched for
_EXACT = 1e-6  # by which sums may differ from the score, of the size of their parts


def explanation_page(
    explanation: Explanation,
    graph: Any,
    path: str | os.PathLike[str],
    *,
    labels: Any = None,
    predicted: Any = None,
    most: int = 40,
) -> Path:
    """Writes one page of HTML about an explanation, which needs nothing beside it: no other file, no network.

    Args:
        explanation: what `clf.explain(node)` found.
        graph: that the node is in: the fitted estimator, which also says what it predicts; a graph that was read, whose
            labels are shown; or anything an `Adjacency` is made from.
        path: the file, which is replaced.
        labels: (N,), the class of each node as far as it is known, None where it is not; None for those of the graph.
        predicted: (N,), the class that each node is predicted to have; None for what the estimator says.
        most: how many nodes are drawn at most.

    Returns:
        The path.

    >>> import tempfile
    >>> import numpy as np
    >>> from panconv import PANClassifier
    >>> edges, y = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]), ["a", "a", None, None, "b", "b"]
    >>> clf = PANClassifier("linear").fit(np.eye(6), y, graph=edges)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = explanation_page(clf.explain(2), clf, Path(folder) / "why.html")
    ...     "Why 2: " in page.read_text(encoding="utf-8")
    True
    """
    most, known = checked_count(most, "most", least=1), Known.of(graph, labels, predicted)
    html = template("panconv.estimator.pages", "explanation.html.j2").render(**contents(explanation, known, most))
    return write_page(html, Path(path))


def contents(explanation: Explanation, known: Known, most: int) -> dict[str, Any]:
    """What the template is filled with."""
    cast = Cast.of(explanation, known)
    pictures = [cast.pictured("wide", known, _WIDE, most), cast.pictured("narrow", known, _NARROW, min(most, _FEWER))]
    rows = cast.rows(pictures, _FOUND)
    place, nodes = {row: i for i, row in enumerate(rows)}, told(rows, cast, known)
    paths = [([place[row] for row in walk], value) for walk, value in zip(cast.walks, cast.values, strict=True)]
    return {
        "one": explanation,
        "node": nodes[0]["id"],
        "known": nodes[0]["label"],
        "sure": math.isfinite(explanation.probability),
        "steps": waterfall(explanation.bias, explanation.lengths, explanation.score),
        "pictures": pictures,
        "place": place,
        "nodes": nodes,
        "paths": paths,
        "ends": [place[row] for row in [*cast.adds][:_ROWS]],
        "features": explanation.features[:_ROWS],
        "exact": _exactness(explanation),
        "covered": _covered(explanation),
        "data": {"nodes": nodes, "paths": paths},
        "counted": counted,
        "plain": plain,
        "signed": signed,
        "percent": percent,
    }


def _exactness(one: Explanation) -> str:
    """How well the parts add up to the score, in a sentence."""
    parts = {
        "path lengths": one.lengths,
        "end nodes": [part.value for part in one.ends],
        "features": [part.value for part in one.features],
    }
    size = max(1.0, abs(one.score), *(abs(value) for values in parts.values() for value in values))
    away = {name: abs(one.bias + math.fsum(values) - one.score) for name, values in parts.items()}
    short = [name for name, gap in away.items() if not gap <= _EXACT * size]
    if short:
        gaps = ", ".join(f"those over {name} miss it by {plain(away[name])}" for name in short)
        return f"Not all parts add up to the score: {gaps}."
    gap = max(away.values())
    return (
        "The score is the bias plus the parts, and the parts over path lengths, over end nodes and over features each "
        f"add up to it{'.' if gap == 0 else f', to within {gap:.0e}.'}"
    )


def _covered(one: Explanation) -> str:
    """How much of the score the paths on the page stand for, in a sentence."""
    if not one.paths:
        return "No single path is listed."
    found, whole = math.fsum(path.value for path in one.paths), one.score - one.bias
    share = f" ({percent(found / whole, 0)})" if abs(whole) > _EXACT and 0 <= found / whole <= 1 else ""
    those = "The path listed adds" if len(one.paths) == 1 else f"The {len(one.paths)} paths listed add"
    if abs(found - whole) <= _EXACT * max(1.0, abs(whole)):
        return f"{those} {signed(found)}, which is all there is beside the bias."
    return (
        f"{those} {signed(found)} of the {signed(whole)}{share} that all paths add; other paths make up the difference."
    )
