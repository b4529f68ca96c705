"""PAN's place and the count of rows that came out, on rows made by hand."""

import pytest
from baseline_records import own

from panconv.paper.published import GRAPHS
from panconv.paper.report import summary
from panconv.paper.report.rank import Rank, count_words, ordinal, ours, published, rank, rank_words
from panconv.paper.report.summary import Cell, Row


def row(name, means, paper=(None, None, None)):
    cells = [Cell(mean=m, paper=p, trials=10, baseline=True) for m, p in zip(means, paper, strict=True)]
    return Row(name, cells, ours=name == "PAN", key=name.lower())


PAN = row("PAN", (80.0, 70.0, 75.0), (82.0, 71.2, 79.2))


def test_a_place_is_one_more_than_those_ahead_and_ties_share_it():
    rows = [row("a", (82.0, 70.04, 74.0)), row("b", (81.0, 69.96, None)), row("c", (79.0, 60.0, 90.0)), PAN]
    assert rank(rows, ours, ["cora"]) == Rank(["a", "b"], [], 4)
    assert rank(rows, ours, ["citeseer"]) == Rank([], ["a", "b"], 4)  # all are printed as 70.0
    assert rank(rows, ours, ["pubmed"]) == Rank(["c"], [], 3)  # b has none there
    assert str(rank(rows, ours, ["cora"])) == "3rd of 4 (behind a and b)"
    assert str(rank(rows, ours, ["citeseer"])) == "1st of 4 (shared with a and b)"


def test_overall_is_by_the_graphs_that_both_have():
    """PAN has 75 over all three; 77.5 over Cora and Pubmed, 80 on Cora alone."""
    three, two, one, level = (82.0, 71.0, 72.2), (79.0, None, 76.2), (79.0, None, None), (None, 71.0, 74.0)
    rows = [row("three", three), row("two", two), row("one", one), row("level", level), row("none", (None,) * 3), PAN]
    assert rank(rows, ours) == Rank(["two", "three"], ["level"], 5)  # by 0.1 and by 0.07
    assert str(rank(rows, ours)) == "3rd of 5 (behind two and three, shared with level)"


def test_a_sum_of_tenths_that_is_the_same_is_level():
    other = row("other", (80.1, 70.1, 74.8))
    assert sum(a.mean - b.mean for a, b in zip(other.cells, PAN.cells, strict=True)) != 0  # by rounding
    assert rank([other, PAN], ours) == Rank([], ["other"], 2)


def test_what_was_not_run_has_no_place():
    unrun = row("PAN", (None,) * 3, (82.0, 71.2, 79.2))
    others = row("a", (81.0, 71.0, 71.0), (83.0, None, None))
    assert rank([others, unrun], ours) is None
    assert rank([others], ours) is None
    assert rank_words([others, unrun]) == [
        "PAN's place by the paper's figures: Cora 2nd of 2 (behind a); Citeseer 1st of 1; Pubmed 1st of 1; "
        "overall 2nd of 2 (behind a)"
    ]
    assert rank_words([unrun]) == []


def test_the_papers_sentences_on_its_own_figures():
    """Behind whom it says PAN is on each graph, and that it is among the first five."""
    rows = summary.table2([])
    ahead = {graph: set(rank(rows, published, [graph]).ahead) for graph in GRAPHS}
    assert ahead["cora"] == {"DGI", "AGNN", "GAT", "GWNN"}
    assert ahead["citeseer"] == {"DGI", "SGC", "GWNN", "GAT"}
    assert ahead["pubmed"] == {"AGNN"}
    (words,) = rank_words(rows)
    assert words.startswith("PAN's place by the paper's figures: Cora 5th of 25 (behind AGNN, GAT, GWNN and DGI); ")
    assert "Citeseer 5th of 20 (" in words
    assert words.endswith("overall 4th of 25 (behind GAT, AGNN and GWNN): in the top five")


@pytest.mark.parametrize(("better", "verdict"), [(4, "in the top five"), (5, "not in the top five")])
def test_the_verdict_is_of_all_models_alone(better, verdict):
    rows = [row(f"m{i}", (81.0 if i < better else 60.0, 70.0, 75.0)) for i in range(24)]
    (words,) = [line for line in rank_words([*rows, PAN]) if "by ours" in line]
    assert words.endswith(f": {verdict}")
    assert words.split(")")[-1] == f": {verdict}"
    for fewer, graphs in ((rows[1:], GRAPHS), (rows, GRAPHS[:2])):
        assert all("top five" not in line for line in rank_words([*fewer, PAN], graphs))


def test_many_ahead_are_counted():
    rows = [row(f"m{i}", (90.0 - i, None, None)) for i in range(7)]
    assert str(rank([*rows, PAN], ours, ["cora"])) == "8th of 8 (behind m0, m1, m2, m3, m4 and 2 more)"
    assert str(rank([*rows[:6], PAN], ours, ["cora"])) == "7th of 7 (behind m0, m1, m2, m3, m4 and m5)"
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 111)
    assert " ".join(map(ordinal, numbers)) == "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 111th"


def test_rows_are_counted_on_one_side_and_on_both():
    near = row("near", (81.5, 68.5, 70.0), (80.0, 70.0, None))  # 1.5 above, 1.5 below, and none to compare with
    above = row("above", (81.6, 70.0, 70.0), (80.0, 70.0, 70.0))
    below = row("below", (80.0, 68.4, 70.0), (80.0, 70.0, 70.0))
    unrun = row("unrun", (80.0, None, 70.0), (80.0, 70.0, 70.0))
    assert [each.reproduced for each in (near, above, below, unrun)] == [True, True, False, None]
    assert [each.within for each in (near, above, below, unrun)] == [True, False, False, None]
    assert count_words([near, above, below, unrun, PAN]) == (
        "2 of 3 baselines reproduced: on every graph at or above the paper's figure minus 1.5 points; 1 of 3 within "
        "1.5 points of it either way. PAN's own row: not reproduced"
    )
    own_row = "PAN's own row: "
    assert count_words([row("PAN", (84.0, 71.0, 79.0), (82.0, 71.2, 79.2))]) == (
        f"{own_row}reproduced, with a figure further above"
    )
    assert count_words([row("PAN", (82.0, 71.0, 78.0), (82.0, 71.2, 79.2))]) == f"{own_row}within 1.5 points either way"
    assert count_words([unrun, row("PAN", (82.0, None, 78.0), (82.0, 71.2, 79.2))]) == ""
    assert count_words(summary.table3([])) == ""


def test_the_row_of_PAN_is_marked_as_the_others_are():
    assert PAN.marks == [("below", "below on Cora, Pubmed")]  # 2 and 4.2 below; 1.2 on Citeseer still counts
    assert row("PAN", (82.0, 71.2, 83.0), (82.0, 71.2, 79.2)).marks == [
        ("reproduced", "reproduced"),
        ("above", "above by more than 3 on Pubmed"),
    ]
    assert summary.table2(own("gcn", "cora", [81.0]))[-1].cells[0].baseline
    assert not summary.table3([])[0].cells[0].baseline
