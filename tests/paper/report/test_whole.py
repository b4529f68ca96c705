"""Records of whole graphs in the report, and nowhere that asks for those of nodes."""

from report_records import demo
from run_records import make
from untrained_graphs import Told

from panconv.paper.claims.claim import Evidence
from panconv.paper.report import write_report
from panconv.paper.report.own import own_graphs
from panconv.paper.report.summary import table1, table2, table3
from panconv.paper.report.verdicts import judged_by
from panconv.paper.report.whole import whole_graphs
from panconv.records.record import Results
from panconv.whole_graphs.contest import Contest

FIGURES = {"graphs:pan": 0.8, "graphs:gin": 0.7}


def contested(dataset="NCI1", **options):
    contest = Contest(dataset, ("pan", "gin"), folds=2, **options)
    told = Told(test=lambda task: FIGURES[task.model] + 0.01 * (task.seed % 2))
    return contest.train(told, command="panconv graphs NCI1.txt --model pan,gin --folds 2")


def test_a_table_for_each_set():
    quick = contested("MUTAG", quick=True)
    first, second = whole_graphs([*contested(), *quick])
    assert (first.title, second.title) == ("MUTAG, 2 folds: a first look", "NCI1, 2 folds")
    pan, gin = second.rows
    assert (pan.figure, gin.figure, gin.difference) == ("80.5 ± 0.7", "70.5 ± 0.7", "-10.0 ± 0.0")
    assert whole_graphs([each for each in contested() if not each.tested]) == []
    assert whole_graphs([make(0)]) == []


def test_a_page_of_such_records_alone(tmp_path):
    Results(tmp_path / "results").add(contested())
    text = write_report(tmp_path / "results", tmp_path / "page.html").read_text()
    for words in ("Whole graphs", "NCI1, 2 folds", "80.5 ± 0.7", "-10.0 ± 0.0", "<span>--model pan,gin</span>"):
        assert words in text
    assert "Your graphs" not in text


def test_nothing_else_takes_them_for_its_own(tmp_path):
    """Not even where a set has the name of a graph."""
    records = [*demo(), *contested("cora"), *contested("mine")]
    assert own_graphs(records) == own_graphs(demo())
    for table in (table1, table2, table3):
        assert table(records) == table(demo())
    both = [judged_by(Evidence(each, tmp_path)) for each in (records, demo())]
    assert both[0] == both[1]
