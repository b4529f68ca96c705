"""The page of a fitted model: its figures are those of the held-out labels, nothing is fetched, and it can be read."""

import re

import numpy as np
import pytest
import torch
from faces import LOOKS, fetched, hard_to_read, look

from panconv import PANClassifier, PANRegressor, read
from panconv.data.graph import Graph
from panconv.estimator.pages.diagrams import reliability, round_numbers, scatter
from panconv.estimator.pages.report_page import doubts, report_page
from panconv.estimator.worth import worth
from panconv.estimator.worth_of_numbers import worth_of_numbers

HOSTILE = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "{{ 7 * 7 }}", "名前", "=1+1"]


def town(N, C, hostile=False, noise=1.2, seed=0):
    """A ring of neighbourhoods, a class each, of which every third node is labelled."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) * C // N
    s, t = (each.ravel() for each in np.broadcast_arrays(np.arange(N)[:, None], np.arange(N)[:, None] + [[1, 2]]))
    edges = np.stack([s, t % N])
    names = [HOSTILE[c % 5] + str(c) for c in range(C)] if hostile else [f"class {c}" for c in range(C)]
    ids = np.array([HOSTILE[i % 5] + str(i) if hostile else f"cust-{i}" for i in range(N)], dtype=object)
    labels = np.array([names[c] if i % 3 else None for i, c in enumerate(y)], dtype=object)
    x = np.eye(C)[y] + noise * rng.normal(size=(N, C))
    both = torch.from_numpy(np.concatenate([edges, edges[::-1]], 1))
    return Graph(ids, both, matrix=x, label="topic", labels=labels, classes=tuple(sorted(names)))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("reports"), {}
    for name, graph in (("plain", town(90, 3, noise=2)), ("hostile", town(60, 4, True))):
        clf = PANClassifier("linear").fit(graph)
        facts = [("graph", f"{name}: {HOSTILE[0]}")]
        report_page(clf, graph, worth(clf), folder / f"{name}.html", facts=facts)
        made[name] = clf
    return folder, made


def test_the_figures_on_it_are_those_of_the_labels_held_out(pages):
    folder, made = pages
    html, clf = (folder / "plain.html").read_text(), made["plain"]
    found = worth(clf)
    share = next(iter(found.accuracy.values())).value
    assert f'<p class="big">{100 * share:.1f} %</p>' in html
    matrix = re.search(r'<table class="confusion">(.*?)</table>', html, re.S)[1]
    cells = re.findall(r'<td[^>]*>(?:<span class="soft">)?([\d·]+)', matrix)
    assert [0 if cell == "·" else int(cell) for cell in cells] == [n for row in found.confusion for n in row]
    assert html.count('<g class="point">') == len(found.bins)


def test_of_many_classes_the_commonest_confusions_are_listed(pages, tmp_path, monkeypatch):
    clf = pages[1]["plain"]
    found = worth(clf)
    monkeypatch.setattr("panconv.estimator.pages.report_page._MOST_CLASSES", 2)
    html = report_page(clf, town(90, 3), found, tmp_path / "a.html").read_text()
    assert 'class="confusion"' not in html
    counts = [
        *map(int, re.findall(r"<td>(\d+)</td></tr>", html.split('aria-label="The commonest')[1].split("</table>")[0]))
    ]
    wrong = [n for t, row in enumerate(found.confusion) for s, n in enumerate(row) if s != t and n]
    assert wrong
    assert counts == sorted(wrong, reverse=True)


def test_path_lengths_by_what_they_change(pages):
    html, clf = (pages[0] / "plain.html").read_text(), pages[1]["plain"]
    section = html.split('<section id="shares">')[1].split("</section>")[0]
    widths = [float(each) for each in re.findall(r"width:([\d.]+)%", section)]
    A = clf._fitted_on.adj.to_dense().numpy() + np.eye(90)
    A /= np.sqrt(np.outer(A.sum(0), A.sum(0)))
    heard = [np.linalg.matrix_power(A, n) @ clf._fitted_on.x for n in range(4)]
    varied = [(x @ W.numpy()).var(0).sum() for x, W in zip(heard, clf._model.head.coefs, strict=True)]
    assert widths == pytest.approx([100 * each / sum(varied) for each in varied], abs=0.01)
    assert sum(widths) == pytest.approx(100, abs=0.1)


def test_the_nodes_it_doubts_have_no_label_and_the_least_probability(pages):
    clf = pages[1]["plain"]
    found, p = doubts(clf), clf.predict_proba().max(1)
    assert len(found) == 30
    assert [one.p for one in found] == sorted(p[::3])
    assert all(int(one.id[5:]) % 3 == 0 and one.hops == 1 and one.p >= one.p_second for one in found)
    html = (pages[0] / "plain.html").read_text()
    assert re.findall(r'<tr><td class="id"><bdi>(cust-\d+)', html)[:12] == [one.id for one in found[:12]]


def test_the_example_is_a_node_without_a_label(pages):
    html = (pages[0] / "plain.html").read_text()
    node = re.search(r"An example: why <bdi>cust-(\d+)</bdi>", html)[1]
    assert int(node) % 3 == 0
    assert "each add up to it" in html


SCROLLED = (
    "return [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel)"
)


def test_on_a_phone_no_table_but_that_of_confusions_goes_on_beyond_the_edge(pages, browser, tmp_path):
    graph = town(60, 3)
    labels = np.array([str(1234.5 + i % 7) if i % 3 else None for i in range(60)], dtype=object)
    graph = Graph(graph.ids, graph.edge_index, matrix=graph.matrix, label="age", labels=labels)
    reg = PANRegressor("linear").fit(graph)
    numbers = report_page(reg, graph, worth_of_numbers(reg), tmp_path / "numbers.html")
    for page in (pages[0] / "plain.html", pages[0] / "hostile.html", numbers):
        look(browser, page, 360, "light")
        assert {*browser.execute_script(SCROLLED)} <= {"Confusion matrix"}


def test_numbers(tmp_path):
    graph = town(90, 3)
    values = np.where(np.arange(90) % 3, graph.matrix[:, 0], np.nan)
    graph = Graph(
        graph.ids,
        graph.edge_index,
        matrix=graph.matrix,
        label="age",
        labels=np.array([None if v != v else f"{v:.6f}" for v in values], dtype=object),
    )
    reg = PANRegressor("linear").fit(graph)
    found = worth_of_numbers(reg)
    html = report_page(reg, graph, found, tmp_path / "a.html").read_text()
    assert html.count('<g class="point">') == 60
    missed = np.argsort(-abs(np.array(found.true) - found.said))[0]
    assert f"<bdi>{graph.ids[reg.held_out_.rows[missed]]}</bdi></td>" in html
    assert "confusion" not in html.split("<body>")[1]


def test_numbers_that_are_all_the_same_have_no_r2(tmp_path):
    graph = town(60, 3)
    labels = np.array(["2.5" if i % 3 else None for i in range(60)], dtype=object)
    graph = Graph(graph.ids, graph.edge_index, matrix=graph.matrix, label="age", labels=labels)
    reg = PANRegressor("linear").fit(graph)
    html = report_page(reg, graph, worth_of_numbers(reg), tmp_path / "a.html").read_text()
    assert "numbers that are all the same have none, 40 nodes" in html
    assert '<td>the mean</td><td data-label="R²">–</td>' in html
    assert "they tell nothing apart" in html


def test_where_nothing_was_held_out(tmp_path):
    graph = read([("a", "b"), ("b", "c")])
    graph = Graph(graph.ids, graph.edge_index, labels=np.array(["x", "y", None], dtype=object), classes=("x", "y"))
    clf = PANClassifier("linear").fit(graph)
    html = report_page(clf, graph, worth(clf), tmp_path / "a.html").read_text()
    assert "Nothing was held out" in html


def test_nothing_is_fetched(pages):
    for page in pages[0].iterdir():
        assert "default-src 'none'" in page.read_text()
        assert fetched(page.read_text()) == []


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_it_can_be_read(pages, browser, name, width, scheme):
    look(browser, pages[0] / f"{name}.html", width, scheme)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert hard_to_read(browser) == []


def test_diagrams():
    one = scatter([0.0, 10.0], [0.0, 5.0])
    left, top, right, bottom = one.frame
    assert [(p.x, p.y) for p in one.points] == [(left, bottom), (right, (top + bottom) / 2)]
    assert len(scatter(range(3000), range(3000)).points) == 2000
    assert len(scatter([1.0], [1.0]).points) == 1
    assert round_numbers(-3.0, 3.0) == [-2.0, 0.0, 2.0]
    clf = PANClassifier("linear").fit(town(60, 2))
    found = worth(clf)
    assert [p.low - p.y > -1e-9 for p in reliability(found.bins).points] == [True] * len(found.bins)
