"""The baselines of Tables 1 and 2 in the report: their rows, what is said of them, and their rank."""

import subprocess
import sys

import pytest
from baseline_records import on_m, own, record, whole
from report_records import trained

from panconv.paper.report import standing, summary, write_report
from panconv.paper.report.figures import ranking
from panconv.paper.report.ranking import draw_ranking
from panconv.paper.tables import cells
from panconv.paper.tables.baselines import NAMES, Baseline
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Results


def rows(records):
    return {row.name: row for row in summary.table2(records)}


def test_how_a_row_came_out():
    below = own("agnn", "cora", [81.0] * 3) + own("agnn", "citeseer", [71.1] * 3) + own("agnn", "pubmed", [78.4] * 3)
    above = own("mlp", "cora", [58.2]) + own("mlp", "citeseer", [49.5]) + own("mlp", "pubmed", [71.4])
    found = rows(below + above + own("gcn", "cora", [81.5]))
    assert found["AGNN"].marks == [("below", "below on Cora")]  # 78.4 is 79.9 − 1.5, which still counts
    assert [each.below for each in found["AGNN"].cells] == [True, False, False]
    assert found["AGNN"].reproduced is False
    assert found["MLP"].marks == [("reproduced", "reproduced"), ("above", "above by more than 3 on Cora")]
    assert found["GCN"].marks == []  # not until it was run on all three
    assert found["PAN"].marks == []
    pans = [[trained(job, test_accuracy=at / 100) for job in cells.pan_tasks("cora", 1)] for at in (80.6, 80.4, 85.2)]
    marks = [rows(records)["PAN"].marks for records in pans]
    assert marks == [[], [("below", "below on Cora")], [("above", "above by more than 3 on Cora")]]  # as a baseline's
    dcnn = rows(own("dcnn", "cora", [77.0]) + own("dcnn", "citeseer", [66.0]) + own("dcnn", "pubmed", [73.0]))["DCNN"]
    assert dcnn.marks == [("reproduced", "reproduced"), ("reproduced", "within 1.5 either way")]
    assert (dcnn.cells[1].mean, dcnn.cells[1].paper, dcnn.cells[1].difference) == (pytest.approx(66), None, None)


def test_what_m_changes_is_counted_by_seed():
    records = own("gcn", "cora", [80.0, 82.0, 84.0]) + on_m("gcn", "cora", [81.0, 83.0, 85.5], best=2)
    records += own("deepwalk", "pubmed", [60.0, 62.0, 61.0]) + on_m("deepwalk", "pubmed", [61.0, 60.0, 62.0])
    found = rows(records)
    gcn = found["GCN"].on_m[0]
    assert (gcn.change, gcn.change_std) == (pytest.approx(3.5 / 3), pytest.approx(0.5 / 3**0.5))
    assert gcn.clear
    assert gcn.operator == "method 5, w = 0 0.5 0.5, top 32"
    assert not found["DeepWalk"].on_m[2].clear
    assert found["AGNN"].on_m is None
    assert [row.name for row in standing.on_m_rows(found.values())] == ["DeepWalk", "GCN"]
    words = "Of 2 cells, M is better by more than the spread of the change in 1, worse in 0, and neither in 1."
    assert standing.on_m_words(found.values()) == words
    assert standing.on_m_words(rows([]).values()) == ""
    two = own("gcn", "cora", [80.0, 82.0]) + on_m("gcn", "cora", [81.0, 83.0])
    assert not rows(two)["GCN"].on_m[0].clear  # the same change twice: two trials say nothing of a third
    assert standing.on_m_words(rows(two).values()) == ""


def test_places_are_by_our_mean():
    table = summary.table2(
        own("gat", "cora", [83.0, 84.0, 83.5]) + own("gcn", "cora", [83.0] * 3) + own("lp", "cora", [90.0] * 3)
    )
    ranked = standing.places(table, "cora")
    assert [place.name for place in ranked] == ["LP", "GAT", "GCN"]
    assert standing.places(table, "pubmed") == []
    assert standing.ranked_words(ranked) == (
        "LP leads with 90.0 ± 0.0; none of the others are within one standard deviation of it."
    )
    near = standing.ranked_words(ranked[1:])
    assert near == "GAT leads with 83.5 ± 0.5; 1 of the others is within one standard deviation of it: GCN."


def test_near_the_first_is_whom_either_spread_reaches():
    wide = own("gat", "cora", [81.0, 83.0, 85.0]) + own("gcn", "cora", [82.4, 82.5, 82.6])  # 83 ± 2 and 82.5 ± 0.1
    ranked = standing.places(summary.table2(own("lp", "cora", [84.0] * 3) + wide), "cora")
    assert [place.name for place in ranked] == ["LP", "GAT", "GCN"]
    near = standing.ranked_words(ranked)
    assert near == "LP leads with 84.0 ± 0.0; 1 of the others is within one standard deviation of it: GAT."


def test_after_a_first_look_nobody_leads():
    full = own("sgc", "cora", [81.0] * 3)
    for short in (own("gcn", "cora", [90.0] * 2), own("gcn", "cora", [90.0] * 3, quick=True)):
        ranked = standing.places(summary.table2(full + short), "cora")
        words = standing.ranked_words(ranked)
        assert words == "A first look: of fewer than 3 trials, or of fewer epochs than planned, are GCN."
        assert not standing.comparable(ranked)
        pan = [trained(job, test_accuracy=0.82) for job in cells.pan_tasks("cora", 3)]
        drawn = [ranking("cora", standing.places(summary.table2(pan + full + more), "cora")) for more in ([], short)]
        assert ["rank 1 of 2" in drawn[0], "rank" in drawn[1].replace("ranked-cora", "")] == [True, False]


def test_few_trials_are_named():
    full, few = own("sgc", "cora", [81.0] * 10), own("gat", "pubmed", [79.0] * 3) + own("lp", "cora", [68.0])
    words = standing.few_trials(summary.table2(full + few))
    assert words == "Cells of fewer than ten trials. 1 trial: LP (Cora); 3 trials of at most 1000 epochs: GAT (Pubmed)."
    assert standing.few_trials(summary.table2(full)) == ""
    quick = own("gcn", "cora", [50.0], quick=True)
    assert "1 trial of at most 5 epochs: all." in standing.few_trials(summary.table2(quick))


def test_every_cell_of_a_baseline_names_its_command():
    shown = dict(summary.origins(whole(trials=2)))
    for name in NAMES["table2"]:
        method = METHODS[name]
        for graph in summary.TITLES.values():
            cell = shown[f"{method.title}, {graph}"]
            assert (cell.trials, cell.seconds) == (2, 1.0)
            assert cell.command == f"panconv reproduce table2 --methods {name}"
            assert (f"{method.title} on M, {graph}" in shown) == bool(method.met)
    assert shown["DeepWalk on M, Cora"].weights == "maximal entropy walk"


def test_a_folder_of_baselines_alone_is_enough(tmp_path):
    others = [record(task, 10.0) for task in Baseline("gcn", "cora").own(2, split="random")]
    Results(tmp_path / "results" / "zoo").add(own("gcn", "cora", [81.0, 82.0]) + own("sgc", "cora", [80.0]) + others)
    text = write_report(tmp_path / "results", tmp_path / "page.html").read_text()
    start = text.index("<header>")  # behind the plotting library
    assert "5 trainings" in text[start:]
    assert "81.5 ± 0.7" in text[start:]  # the public split alone
    assert 'id="ranked-cora"' in text[start:]
    assert "<span>--met</span>" in text[start:]  # nothing on M yet


def test_the_ranked_picture(tmp_path):
    ranked = standing.places(summary.table2(whole(trials=2)), "cora")
    for ending in ("png", "svg"):
        draw_ranking(ranked, "cora", tmp_path / f"one.{ending}")
        draw_ranking(ranked, "cora", tmp_path / f"two.{ending}")
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
    one = summary.table2(own("gcn", "cora", [81.0]) + own("gcn", "pubmed", [79.0]) + own("sgc", "pubmed", [79.0]))
    assert list(standing.ranked_graphs(one, ["cora", "pubmed"])) == ["pubmed"]


def test_the_picture_needs_no_torch():
    code = "import sys, panconv.paper.report.ranking; print('torch' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "False"
