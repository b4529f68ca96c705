"""The model card: it says what was measured, and is Markdown whatever the names look like."""

import re

import numpy as np
import torch

from panconv import PANClassifier, PANRegressor
from panconv.data.graph import Graph
from panconv.estimator.card import card, facts
from panconv.estimator.worth import worth
from panconv.estimator.worth_of_numbers import worth_of_numbers

NAMES = ("a|b", "[link](javascript:alert(1))", "# head\n* `code` <script>")


def town(labels, **more):
    rng, i = np.random.default_rng(0), np.arange(60)
    edges = torch.from_numpy(np.stack([np.concatenate([i, (i + 1) % 60]), np.concatenate([(i + 1) % 60, i])]))
    x = np.eye(3)[i // 20] + rng.normal(size=(60, 3))
    return Graph(i, edges, matrix=x, label="to|pic", labels=np.array(labels, dtype=object), **more)


def test_classes():
    graph = town([NAMES[i // 20] if i % 3 else None for i in range(60)], classes=NAMES, mended=("it was mended",))
    clf = PANClassifier("linear").fit(graph)
    found, told = worth(clf), facts(clf, graph, "town.csv")
    text = card(clf, graph, found, told, {"source": "pay'er", "directed": True})
    assert text.startswith("# to\\|pic: ")
    first = found.accuracy["head 'linear'"]
    assert f"| head 'linear' | {100 * first.value:.1f} % ({100 * first.low:.0f} to {100 * first.high:.0f}) |" in text
    assert found.verdict in text
    assert dict(told)["mended while reading"] == "it was mended"
    assert dict(told)["learned from"].startswith("40 nodes whose label is known, in 'to|pic': a|b ")
    assert dict(told)["graph"] == "town.csv: 60 nodes, 60 edges"
    tables = [line for line in text.splitlines() if line.startswith("|")]
    for line in tables:  # a | in a name would be a column more
        assert len(re.findall(r"(?<!\\)\|", line)) in (3, 5), line
    assert "<script>" not in text
    assert not re.search(r"(?<!\\)\[link", text)
    assert "format version 1" in text
    written = re.findall(r"--(?:out|html) (\S+)", text)
    assert written  # whatever it tells to write lies outside the folder, which could not be replaced otherwise
    assert all(each.startswith("../") for each in written)
    assert """panconv.read("edges.csv", "nodes.csv", source="pay'er", directed=True)\n""" in text


def test_what_is_not_known_is_said():
    one = town(["x", "y"] + [None] * 58, classes=("x", "y"))
    clf = PANClassifier("linear").fit(one)
    text = card(clf, one, worth(clf), facts(clf, one, "town"))
    assert "Nothing was held out" in text
    assert "Classes with fewer than ten labels, whose figures say little: x, y." in text


def test_numbers_without_a_spread():
    graph = town(["2.5" if i % 3 else None for i in range(60)])
    reg = PANRegressor("linear").fit(graph)
    text = card(reg, graph, worth_of_numbers(reg), facts(reg, graph, "town"))
    assert re.findall(r"^\| the mean \| – \|", text, re.M)
    assert not re.search(r"\b(nan|inf)\b", text)


def test_numbers():
    graph = town([str(i % 7) if i % 3 else None for i in range(60)])
    reg = PANRegressor("linear").fit(graph)
    found = worth_of_numbers(reg)
    text = card(reg, graph, found, facts(reg, graph, "town"))
    assert "It predicts a number for every node, from" in text
    assert found.verdict in text
    assert "It is not certain that the graph helps here" in text
    assert "model.predict(graph=graph" in text
