"""The page of an explanation: what is on it, that nothing on it can run or be fetched, and how it looks and answers."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from faces import BOXES, LOOKS, apart, fetched, hard_to_read, look
from made_explanations import explained, town

from panconv import PANClassifier, PANRegressor
from panconv.data.graph import Graph
from panconv.estimator.explaining import Explanation
from panconv.estimator.pages import explanation_page

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "ab\u202ecd",
    "<!--",
    "{{ 7 * 7 }}",
    "名前",
]


def graph_of(A, ids, labels=None):
    edges = torch.from_numpy(np.stack(np.nonzero(A)))
    return Graph(np.array(ids, dtype=object), edges, labels=labels, label="topic" if labels is not None else "")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """An ordinary one, one of a hub, and one whose ids are hostile."""
    folder = tmp_path_factory.mktemp("explanations")
    for name, N, degree, k in (
        ("plain", 60, 3.2, (1, 0.5, 0.3, 0.15)),
        ("hub", 120, 60, (1, 0.3)),
        ("hostile", 40, 3, (1, 0.5, 0.2)),
    ):
        A, X, w = town(N, degree=degree)
        ids = [f"cust-{i}" for i in range(N)] if name != "hostile" else [f"{HOSTILE[i % 6]}{i}" for i in range(N)]
        labels = np.array([None if i % 3 else ids[i] for i in range(N)], dtype=object)
        one = explained(A, X, w, k, 4, ids, label=ids[0])
        explanation_page(one, graph_of(A, ids, labels), folder / f"{name}.html", predicted=ids)
    return folder


def test_what_is_on_it_is_what_was_explained(pages):
    html = (pages / "plain.html").read_text()
    A, X, w = town(60, degree=3.2)
    one = explained(A, X, w, (1, 0.5, 0.3, 0.15), 4, [f"cust-{i}" for i in range(60)], label="cust-0")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
    ids = [node["id"] for node in data["nodes"]]
    assert ids[0] == "cust-4"
    assert {node["id"]: node["adds"] for node in data["nodes"] if node["adds"]} == dict(one.ends)
    assert [(tuple(ids[i] for i in walk), value) for walk, value in data["paths"]] == [*map(tuple, one.paths)]
    assert "each add up to it" in html
    known = {node["id"]: node["label"] for node in data["nodes"]}
    assert known["cust-4"] is None
    assert all((label is not None) == (int(name[5:]) % 3 == 0) for name, label in known.items())


def test_parts_that_do_not_add_up_are_told(tmp_path):
    A, X, w = town()
    one = explained(A, X, w, (1, 0.5), 4, range(60))
    wrong = Explanation(**{**one.__dict__, "score": one.score + 0.5})
    html = explanation_page(wrong, sp.csr_matrix(A), tmp_path / "a.html").read_text()
    assert "Not all parts add up to the score: those over path lengths miss it by 0.50" in html


def test_the_fitted_estimator_says_what_it_predicts(tmp_path):
    A, X, w = town()
    y = np.where(np.arange(60) % 2, np.where(X[:, 0] > 0, "yes", "no"), "")
    clf = PANClassifier("linear").fit(X, y, graph=sp.csr_matrix(A))
    html = explanation_page(explained(A, X, w, (1, 0.5), 4, range(60)), clf, tmp_path / "a.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])
    said = clf.predict()
    assert all(node["predicted"] == said[int(node["id"])] for node in data["nodes"])


@pytest.mark.parametrize(("columns", "what"), [(1, "Why 4 has its number"), (2, "Why 4: 1")])
def test_a_number_has_no_class(tmp_path, columns, what):
    A, X, w = town()
    y = np.stack([X @ w, X[:, 0]], 1)[:, :columns].squeeze()
    reg = PANRegressor("linear").fit(X, y, graph=sp.csr_matrix(A))
    one = reg.explain(4, label=None if columns == 1 else 1)
    html = explanation_page(one, reg, tmp_path / "a.html", labels=y[:, 0] if columns == 2 else y).read_text()
    assert f"<title>{what}</title>" in html
    assert ("column 1 of y; its number is" if columns == 2 else "the sum of the parts; its number is") in html
    shown = re.sub(r"<(script|style).*?</\1>", "", html, flags=re.S)
    assert "None" not in shown
    assert ">class<" not in shown


def test_what_cannot_be_drawn_is_refused(tmp_path):
    A, X, w = town()
    one = explained(A, X, w, (1, 0.5), 4, range(60))
    with pytest.raises(ValueError, match="node 4 of the explanation is not in the graph"):
        explanation_page(one, sp.csr_matrix(A[:3, :3]), tmp_path / "a.html")
    with pytest.raises(ValueError, match="labels must have an entry per node, 60, got 2"):
        explanation_page(one, sp.csr_matrix(A), tmp_path / "a.html", labels=["a", "b"])
    with pytest.raises(ValueError, match="most must be"):
        explanation_page(one, sp.csr_matrix(A), tmp_path / "a.html", most=0)
    with pytest.raises(ValueError, match="it is a folder"):
        explanation_page(one, sp.csr_matrix(A), tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_fetched(pages):
    for page in pages.iterdir():
        assert "default-src 'none'" in page.read_text()
        assert fetched(page.read_text()) == []


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", ["plain", "hub", "hostile"])
def test_it_can_be_read(pages, browser, name, width, scheme):
    look(browser, pages / f"{name}.html", width, scheme)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert hard_to_read(browser) == []
    shown = "wide" if width > 1000 else "narrow"
    names = browser.execute_script(BOXES, f"svg.{shown} .name")
    assert len(names) > (10 if name != "hostile" else 2)
    assert apart(names)
    frame = browser.execute_script(BOXES, f"svg.{shown}")[0]
    assert all(frame["left"] <= box["left"] and box["right"] <= frame["right"] for box in names)
    circles = browser.execute_script(BOXES, f"svg.{shown} .spot > circle:not(.ring)")
    assert apart(circles)


def test_a_node_is_found_and_followed(pages, browser):
    look(browser, pages / "plain.html", 1280, "light")
    panel = browser.find_element("id", "panel")
    assert panel.text.startswith("cust-4\n")
    browser.find_element("css selector", "svg.wide .spot:not(.centre)").click()
    chosen = panel.text.splitlines()
    assert chosen[0] != "cust-4"
    assert "adds" in chosen[1]
    assert len(browser.find_elements("css selector", "svg.wide .chosen")) == 1
    search = browser.find_element("id", "wanted")
    search.send_keys("CUST-4\n")
    assert panel.text.startswith("cust-4\n")
    assert browser.find_element("css selector", "#matches button").text == "cust-4"
    search.clear()
    search.send_keys("nobody")
    assert "No such node" in browser.find_element("id", "matches").text
    browser.execute_script("document.querySelector('[data-path=\"1\"]').click()")
    assert "A path" in panel.text
    assert browser.get_log("browser") == []


def test_hostile_ids_are_text(pages, browser):
    look(browser, pages / "hostile.html", 1280, "light")
    for spot in browser.find_elements("css selector", "svg.wide .spot"):
        browser.execute_script("arguments[0].dispatchEvent(new MouseEvent('click'))", spot)
    assert browser.find_elements("css selector", "img") == []
    assert len(browser.find_elements("css selector", "script")) == 2
    assert browser.get_log("browser") == []
    assert "49" not in {node.text for node in browser.find_elements("css selector", "bdi")}
