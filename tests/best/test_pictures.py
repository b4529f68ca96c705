"""The pictures show what the lines say."""

import pytest

from panconv.best import pictures
from panconv.best.depth import Look
from panconv.best.study import Line


@pytest.fixture
def drawn(monkeypatch):
    """The figures that would be saved."""
    figures = []
    monkeypatch.setattr(pictures, "save", lambda figure, path: figures.append(figure))
    return figures


def line(name, mean):
    return Line(name, 10, mean, 0.5, 1.0, "cpu")


def test_the_ladder_has_a_panel_per_graph_and_a_mark_per_step(drawn, tmp_path):
    found = {"cora": [line("one", 80.0), line("two", 82.0)], "pubmed": [line("one", 79.0)]}
    pictures.draw_ladder(found, tmp_path / "x.png")
    (figure,) = drawn
    cora, pubmed = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["Cora", "Pubmed"]
    assert [text.get_text() for text in cora.texts] == ["80.0", "82.0"]
    assert [text.get_text() for text in pubmed.texts] == ["79.0"]
    assert [text.get_text() for text in cora.get_yticklabels()] == ["one", "two"]


def test_depths_are_curves_and_what_breaks_down_leaves_the_picture(drawn, tmp_path):
    lines = [line("PAN, 2 layers", 82.0), line("PAN, 64 layers", 85.0), line("GCN, 2 layers", 81.0)]
    looks = [Look("PAN", {1: 0.5, 2: 0.25}, (85.0, 0.1), None)]
    pictures.draw_depths(lines, looks, tmp_path / "x.png")
    left, right = drawn[0].axes
    gcn, pan = left.get_lines()
    assert (list(gcn.get_xdata()), list(gcn.get_ydata())) == ([2], [81.0])
    assert (list(pan.get_xdata()), list(pan.get_ydata())) == ([2, 64], [82.0, 85.0])
    assert left.get_ylim() == (75.0, 87.0)
    assert list(right.get_lines()[0].get_ydata()) == [0.5, 0.25]
