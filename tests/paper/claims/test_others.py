"""The rules about other models, on rows that never were."""

import pytest

from panconv.paper.claims import others
from panconv.paper.claims.claim import CAME_OUT, IN_PART, NOT, Evidence, MissingRecords
from panconv.paper.report.summary import Cell, OnM, Row


def row(name, figures, changes=None):
    on_m = None if changes is None else [OnM(mean=1.0, trials=10, change=c, change_std=0.5) for c in changes]
    return Row(name, [Cell(mean=figure, trials=10) for figure in figures], ours=name == "PAN", on_m=on_m)


def judge(rule, monkeypatch, ahead=(), level=()):
    """A rule on a Table 2 of 25 rows, some of them ahead of PAN on every graph."""
    names = [f"m{i}" for i in range(24)]
    names[: len(ahead)] = ahead
    rows = [row(name, (90.0 if name in ahead else 70.0,) * 3) for name in names] + [row("PAN", (80.0,) * 3)]
    monkeypatch.setattr(others, "table2", lambda records: rows)
    return rule(Evidence([], None))


@pytest.mark.parametrize(
    ("ahead", "expected"), [(("GAT", "SGC"), CAME_OUT), (("SGC",), IN_PART), ((), IN_PART), (("GAT", "SGC", "LP"), NOT)]
)
def test_those_ahead_are_those_that_it_names(ahead, expected, monkeypatch):
    said = judge(others.ahead_of_pan("cora", ("SGC", "GAT")), monkeypatch, ahead)
    assert said.verdict == expected
    assert f"of 25{' (behind' * bool(ahead)}" in said.figure


@pytest.mark.parametrize(("ahead", "best", "five"), [(0, CAME_OUT, CAME_OUT), (4, NOT, CAME_OUT), (5, NOT, NOT)])
def test_the_best_and_the_top_five(ahead, best, five, monkeypatch):
    names = [f"better{i}" for i in range(ahead)]
    assert judge(others.state_of_the_art, monkeypatch, names).verdict == best
    assert judge(others.top_five, monkeypatch, names).verdict == five


def test_without_all_rows_nothing_is_said_of_places():
    for rule in (others.top_five, others.state_of_the_art, others.baselines_came_out):
        with pytest.raises(MissingRecords, match="Table 2"):
            rule(Evidence([], None))


@pytest.mark.parametrize(
    ("changes", "expected"), [((2.0, -2.0, 0.1), CAME_OUT), ((2.0, 2.0, 2.0), NOT), ((-2.0, -2.0, -2.0), NOT)]
)
def test_it_depends_on_the_graph_where_graphs_disagree(changes, expected, monkeypatch):
    monkeypatch.setattr(others, "baseline", lambda records, name: row(name, (70.0,) * 3, changes))
    assert others.depends_on_the_graph(Evidence([], None)).verdict == expected


def test_a_model_that_was_not_run_on_m_is_missed():
    with pytest.raises(MissingRecords, match="GCN on M"):
        others.runs_on_m(["gcn"])(Evidence([], None))
    with pytest.raises(MissingRecords):
        others.depends_on_the_graph(Evidence([], None))
