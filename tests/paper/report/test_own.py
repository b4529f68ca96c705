import pytest
from baseline_records import own
from report_records import demo, on_own_graph
from run_records import make

from panconv.paper.report import write_report
from panconv.paper.report.own import own_graphs
from panconv.records.record import Results


def test_a_line_for_each_setting_on_a_graph_of_ones_own():
    others = [*on_own_graph(weights="free", L=1, method=4), make(3, dataset="/b/alps", test_accuracy=0.5)]
    lost = make(9, dataset="/b/alps", test_accuracy=0.3, best_epoch=0, val_accuracy=0.0)
    chosen = make(5, dataset="/b/alps", tested=False, test_accuracy=None)
    found = own_graphs([*demo(), *others, lost, chosen, *on_own_graph()])
    assert [(each.graph, each.name, each.L, each.weights) for each in found] == [
        ("alps", "PAN, method 5", 2, "0 1 1"),
        ("town", "PAN, method 4", 1, "trained"),
        ("town", "PAN, method 7", 3, "Boltzmann, trained from E = 2 0 0 0"),
    ]
    alps, _, town = found
    assert (town.source, town.cell.trials) == ("/data/my graphs/town", 3)
    assert (town.cell.mean, town.cell.std) == (pytest.approx(61), pytest.approx(1))
    assert (town.validation.mean, town.validation.std) == (pytest.approx(70), 0)
    assert (alps.cell.mean, alps.validation.trials) == (pytest.approx(40), 1)  # one never had a finite loss
    assert own_graphs(demo()) == []


def test_a_baseline_on_a_graph_of_ones_own():
    from dataclasses import replace

    (line,) = own_graphs([replace(record, dataset="/b/alps") for record in own("gcn", "cora", [60.0, 62.0])])
    assert (line.name, line.L, line.weights, line.cell.mean) == ("GCN", None, "–", pytest.approx(61))


def test_a_page_of_such_records_alone(tmp_path):
    Results(tmp_path / "results").add(on_own_graph())
    text = write_report(tmp_path / "results", tmp_path / "page.html").read_text()
    for words in (
        "Your graphs",
        "town",
        "61.0 ± 1.0",
        "70.0 ± 0.0",
        "<span>--method 7</span>",
        "PAN, method 7 on town",
    ):
        assert words in text
    assert len(text) < 200_000  # no figure, so no plotting library
