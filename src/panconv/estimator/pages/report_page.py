"""The page of a model that was fitted: its figures with intervals, where it errs, how sure it is, and an example."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from panconv.base.pages import template, write_page
from panconv.data.graph import Graph
from panconv.estimator.base import LinearModel, terms_of
from panconv.estimator.classifier import PANClassifier
from panconv.estimator.explaining import Explanation
from panconv.estimator.pages.diagrams import reliability, scatter
from panconv.estimator.pages.explanation_page import contents
from panconv.estimator.pages.figures import counted, percent, plain, signed
from panconv.estimator.pages.known import Known
from panconv.estimator.worth import Worth
from panconv.estimator.worth_of_numbers import NumbersWorth

_MOST_CLASSES = 16  # of a confusion matrix; of more the commonest confusions are listed
_ROWS, _DOUBTS = 20, 12  # of a table, and of that of the nodes it is least sure of
_DRAWN = 40  # nodes


class Doubt(NamedTuple):
    """A node without a label, its two likeliest classes, and how far the next label is."""

    id: str
    first: str
    p: float
    second: str
    p_second: float
    hops: float


def report_page(
    estimator: Any,
    graph: Graph,
    found: Worth | NumbersWorth | None,
    path: str | os.PathLike[str],
    *,
    facts: Sequence[tuple[str, str]] = (),
) -> Path:
    """Writes the page of a fitted estimator, which needs nothing beside it: no other file, no network.

    Args:
        estimator: a fitted `PANClassifier` or `PANRegressor`.
        graph: the one that it was fitted on, which was read.
        found: its figures, by `worth` or `worth_of_numbers`.
        path: the file, which is replaced.
        facts: how it was fitted and on what, a name and a value each.
    """
    explanation, without = _example(estimator)
    classes = isinstance(estimator, PANClassifier)
    common = {
        "label": graph.label or "the label",
        "graph": graph,
        "labelled": int(estimator._known.sum()),
        "found": found,
        "facts": facts,
        "without": without,
        "lengths": _lengths(estimator),
        "percent": percent,
        "plain": plain,
        "signed": signed,
        "counted": counted,
        "why": explanation is not None,
        "temperature": plain(estimator.temperature_) if classes else "",
    }
    if explanation is not None:
        common |= contents(explanation, Known.of(estimator, labels=graph.labels), _DRAWN)
    own = _of_classes(estimator, found) if classes else _of_numbers(estimator, found)
    kind = "classes" if classes else "numbers"
    html = template("panconv.estimator.pages", "report.html.j2").render(**common | own, kind=kind)
    return write_page(html, Path(path))


def _example(estimator: Any) -> tuple[Explanation | None, str]:
    """Why a node has its class: one that is not sure, since that is asked for, with neighbours to speak of. Else why
    there is none."""
    nodes, N = estimator._fitted_on, estimator._fitted_on.adj.num_nodes
    doubt = -estimator.predict_proba().max(1) if isinstance(estimator, PANClassifier) else np.zeros(N)
    hears = np.diff(nodes.adj.crow.cpu().numpy())
    order = np.lexsort((-doubt, np.minimum(hears, 2) * -1, estimator._known))
    try:
        row = int(order[0])
        return estimator.explain(row if nodes.ids is None else nodes.ids[row], top=8), ""
    except ValueError as error:
        return None, f"There is no example: {error}."


def _of_classes(clf: PANClassifier, found: Any) -> dict[str, Any]:
    C = len(clf.classes_)
    return {
        "diagram": None if found is None else reliability(found.bins),
        "matrix": found is not None and C <= _MOST_CLASSES,
        "confusions": _confusions(found) if found is not None and C > _MOST_CLASSES else [],
        "doubts": doubts(clf)[:_DOUBTS],
    }


def doubts(clf: PANClassifier) -> list[Doubt]:
    """The nodes without a label, the least sure first; of many the first thousand."""
    p, names = clf.predict_proba(), [str(each) for each in clf.classes_]
    rows, far = np.flatnonzero(~clf._known), clf.hops_to_label()
    rows = rows[np.argsort(p[rows].max(1), kind="stable")][:1000]
    ids = getattr(clf, "ids_", None)
    found = []
    for row in rows.tolist():
        first, second = np.argsort(-p[row], kind="stable")[:2].tolist()
        both = (names[first], float(p[row, first]), names[second], float(p[row, second]))
        found.append(Doubt(str(row if ids is None else ids[row]), *both, float(far[row])))
    return found


def _of_numbers(reg: Any, found: Any) -> dict[str, Any]:
    """The numbers that were missed by most, by id."""
    if found is None:
        return {"diagram": None, "misses": []}
    rows, scores, targets = reg.held_out_.told
    most = np.argsort(-abs(scores - targets)[:, 0], kind="stable")[:_ROWS]
    ids = getattr(reg, "ids_", None)
    misses = [(str(r if ids is None else ids[r]), float(targets[i, 0]), float(scores[i, 0]))
              for i, r in zip(most.tolist(), rows[most].tolist(), strict=True)]  # fmt: skip
    return {"diagram": scatter(found.true, found.said), "misses": misses}


def _confusions(found: Worth) -> list[tuple[str, str, int]]:
    """The commonest: what it is, what it was taken for, how often."""
    names = [each.name for each in found.classes]
    pairs = [
        (names[t], names[s], n) for t, row in enumerate(found.confusion) for s, n in enumerate(row) if t != s and n
    ]
    return sorted(pairs, key=lambda pair: -pair[2])[:_ROWS]


def _lengths(estimator: Any) -> list[tuple[str, float]]:
    """How much scores vary between nodes by what is heard over paths of each length, as shares; nothing of a deep
    model. Coefficients alone would not tell: terms of long paths are smaller."""
    model = estimator._model
    if not isinstance(model, LinearModel):
        return []
    terms = zip(terms_of(estimator._fitted_on, model.paths), model.head.coefs, strict=True)
    spread = [float((block @ coef.numpy()).var(0).sum()) for block, coef in terms]
    names = ["its own features", "1 step", *(f"{n} steps" for n in range(2, len(spread)))]
    return [(name, each / (sum(spread) or 1.0)) for name, each in zip(names, spread, strict=False)]
