"""The model card: what a fitted estimator predicts, from what it learned, how good it is, and what it is not for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from panconv.data.described import homophily
from panconv.data.graph import Graph
from panconv.estimator.base import LinearModel
from panconv.estimator.classifier import PANClassifier
from panconv.estimator.figure import Figure
from panconv.estimator.folder.versions import VERSION
from panconv.estimator.worth import Worth
from panconv.estimator.worth_of_numbers import NumbersWorth

Facts = Sequence[tuple[str, str]]
_KINDS = {"number": "numbers", "category": "categories", "date": "dates", "text": "text"}
_LIMITS = (
    "The figures are of nodes like those whose labels are known. If labels were not given at random, other nodes may "
    "fare worse.",
    "It is for this graph, a later state of it, or one of the same making. Another table must have the same columns. A "
    "category or a word that was not there to learn from counts as none; a class that was not is never predicted.",
    "What the model uses need not be a cause: an explanation is no advice on what to change.",
    "Do not decide about people by it alone. It passes on what neighbours are, so that people may be judged by their "
    "acquaintances.",
)
_SAME_FOLDS = (
    "Each label is predicted by settings in whose choice it had no say; the one temperature that calibrates is fitted "
    "to all of them."
)
_MOST_NAMES = 8  # of columns and of classes, in a line


def facts(estimator: Any, graph: Graph, source: str) -> list[tuple[str, str]]:
    """On what an estimator was fitted and how, a name and a value each.

    Args:
        estimator: fitted on the graph.
        graph: that was read.
        source: what the graph is called.
    """
    kind = "directed edges" if graph.directed else "edges"
    weighted = ", weighted" if graph.edge_weight is not None else ""
    found = [("graph", f"{source}: {graph.num_nodes:,} nodes, {graph.num_edges:,} {kind}{weighted}")]
    found.append(("features", _features(estimator, graph)))
    found.append(("learned from", _labels(estimator, graph)))
    mixed = homophily(graph) if isinstance(estimator, PANClassifier) else None
    if mixed is not None:
        within, chance = 100 * mixed["within"], 100 * mixed["chance"]
        found.append(("edges within a class", f"{within:.1f} % of {mixed['edges']:,}; by chance {chance:.1f} %"))
    found += _how(estimator)
    found += [("mended while reading", line) for line in graph.mended]
    return found


def _features(estimator: Any, graph: Graph) -> str:
    count = f"{estimator.n_features_in_:,} numbers per node"
    if graph.matrix is not None:
        return f"{count}, a matrix that came with the graph"
    kinds = Counter(column.kind for column in graph.columns.values() if column.kind != "unused")
    if not kinds:
        return f"{count}, made of the edges: the nodes have no columns"
    made = ", ".join(f"{_KINDS[kind]} {number:,}" for kind, number in kinds.items())
    used = [column.name for column in graph.columns.values() if column.kind != "unused"]
    return f"{count}, made of the table's columns, {made}: {_some(used)}"


def _labels(estimator: Any, graph: Graph) -> str:
    known = int(estimator._known.sum())
    if not isinstance(estimator, PANClassifier):
        return f"{known:,} nodes whose number is known, in {graph.label!r}"
    counts = [f"{name} {count:,}" for name, count in graph.counts().items()]
    return f"{known:,} nodes whose label is known, in {graph.label!r}: {_some(counts)}"


def _how(estimator: Any) -> list[tuple[str, str]]:
    """The head, its settings and how these were chosen."""
    if isinstance(estimator._model, LinearModel):
        chosen = estimator._model.head
        paths = estimator._model.paths
        assert paths is not None  # it was fitted on a graph
        how = f"linear, on paths of up to {paths.L} steps by method {paths.method}"
        how += f"; penalty {chosen.chosen.penalty:.2g}, lengths weighed: {chosen.profile}, by {estimator.cv} folds"
    else:
        how = f"pan, an ensemble of {estimator.seeds} deep models, {estimator._model.epochs} epochs"
    found = [("head", how)]
    if len(estimator.scores_) > 1:
        losses = ", ".join(f"{name} {value:.3f}" for name, value in estimator.scores_.items())
        found.append(("chosen by the loss out of fold", losses))
    if isinstance(estimator, PANClassifier):
        found.append(("calibrated by", f"one temperature, {estimator.temperature_:.2f}, fitted out of fold"))
    found.append(("seed", str(estimator.random_state)))
    return found


def _some(names: list[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES:,} more" * (len(names) > _MOST_NAMES))


# ---------------------------------------------------------------------- the card


def card(
    estimator: Any,
    graph: Graph,
    found: Worth | NumbersWorth | None,
    told: Facts,
    named: Mapping[str, Any] | None = None,
) -> str:
    """The model card as Markdown.

    Args:
        estimator, graph: as in `facts`.
        found: its figures, by `worth` or `worth_of_numbers`; None where nothing was held out.
        told: what `facts` says.
        named: what `read` was told of the tables beside their files, such as columns.
    """
    label, classes = _plain(graph.label or "the label"), isinstance(estimator, PANClassifier)
    what = f"one of {len(estimator.classes_)} classes" if classes else "a number"
    also = ", with a calibrated probability" if classes else ""
    lines = [f"# {label}: a model of the nodes of a graph", ""]
    lines += [
        f"It predicts {what} for every node{also}, from the node's features and from what it hears over paths.",
        "",
    ]
    lines += ["## How it was made", "", *_table(("", ""), told), "", "## How good it is", ""]
    lines += _figures(found)
    lines += ["## Limits", "", *(f"- {line}" for line in _limits(estimator, graph, found)), ""]
    return "\n".join([*lines, *_loading(classes, named or {})])


def _figures(found: Worth | NumbersWorth | None) -> list[str]:
    if found is None:
        return ["Nothing was held out, so nothing can be said: there are too few labels.", ""]
    intro = f"{found.labels:,} labelled nodes, each predicted by a model that had not seen its label; 95 % intervals."
    if isinstance(found, NumbersWorth):
        fits = [(name, _number(fit.r2), _number(fit.mae)) for name, fit in found.fits.items()]
        return [intro, "", *_table(("", "R²", "mean absolute error"), fits), "", found.verdict, ""]
    beside = [(name, _share(one)) for name, one in found.accuracy.items()]
    classes = [(one.name, f"{one.labels:,}", _share(one.precision), _share(one.recall)) for one in found.classes]
    off = f"{100 * found.calibration_error:.1f} points"
    sure = (
        f"Predicted probabilities differ from observed frequencies by {off} on average (log loss {found.log_loss:.3f})."
    )
    own = _table(("class", "labels", "precision", "recall"), classes)
    return [intro, "", *_table(("", "accuracy"), beside), "", found.verdict, "", sure, "", *own, ""]


def _limits(estimator: Any, graph: Graph, found: Any) -> list[str]:
    """What the figures do not promise, and what the model is not for."""
    lines = [*_LIMITS]
    if isinstance(estimator, PANClassifier):
        few = [name for name, count in graph.counts().items() if 0 < count < 10]
        if few:
            lines.append(f"Classes with fewer than ten labels, whose figures say little: {_plain(_some(few))}.")
        lines.append(_SAME_FOLDS)
    gain = None if found is None else found.gain
    if gain is not None and not gain.low > 0:
        lines.append("It is not certain that the graph helps here: the features alone may do as well.")
    return lines


def _loading(classes: bool, named: Mapping[str, Any]) -> list[str]:
    told = ", ".join(['"edges.csv"', '"nodes.csv"', *(f"{name}={value!r}" for name, value in named.items())])
    ask = 'model.predict_proba(graph=graph, nodes=["ID"])' if classes else 'model.predict(graph=graph, nodes=["ID"])'
    return [
        "## How to use it",
        "",
        "```python",
        "import panconv",
        "",
        'model = panconv.load_model(".")  # this folder',
        f"graph = panconv.read({told})",
        ask,
        "```",
        "",
        "```sh",
        "panconv predict . edges.csv nodes.csv --out ../answers.csv",
        "panconv explain . ID edges.csv nodes.csv --html ../why.html",
        "panconv fit --config run.toml --out ../again/  # repeats the run",
        "```",
        "",
        f"The folder is of format version {VERSION}. `report.html` has all figures, `predicted.csv` all answers.",
        "",
    ]


def _share(one: Figure | None) -> str:
    return "–" if one is None else f"{100 * one.value:.1f} % ({100 * one.low:.0f} to {100 * one.high:.0f})"


def _number(one: Figure) -> str:
    return f"{one.value:.3g} ({one.low:.3g} to {one.high:.3g})" if math.isfinite(one.value) else "–"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(_plain, row))} |" for row in lines]


def _plain(text: str) -> str:
    """A text that is no Markdown, whatever it looks like."""
    line = " ".join("".join(each if each.isprintable() or each.isspace() else " " for each in text).split())
    return "".join(f"\\{each}" if each in "\\`*_[]<>|#!" else each for each in line)
