import pytest
from baseline_records import own
from report_records import demo, on_own_graph, runs

from panconv.paper.report import sections, summary
from panconv.paper.report.own import own_graphs
from panconv.paper.report.page import page
from panconv.paper.report.recorded import recorded


def found(records):
    return sections.tables(summary.table1(records), summary.table2(records), summary.table3(records))


def test_rows_that_were_run_stand_apart_from_the_others():
    table1, table2, table3 = found(demo())
    assert ([row.name for row in table1.rows], len(table1.others), table1.shown) == (["PAN"], 12, True)
    assert ([row.name for row in table2.rows], len(table2.others), table2.shown) == (["PAN"], 24, False)
    assert (table3.rows, len(table3.others), table3.shown) == ([], 8, False)
    assert found(own("mlp", "cora", [55.0]))[1].shown  # which Table 1 does not have
    assert table1.beside  # 80.0, where our full run has 82.5


def test_the_cards_are_of_what_was_run():
    def titles(records):
        return [card.title for card in sections.cards(found(records), own_graphs(records))]

    assert titles(demo()) == ["PAN on Cora", "PAN on Citeseer", "PAN on Pubmed"]
    only = [run for run in runs() if run.operator["method"] == 3]
    assert titles(only) == ["Method 3 on Cora", "Method 3 on Citeseer"]
    assert titles(on_own_graph()) == ["PAN, method 7 on town"]
    assert titles(own("gcn", "pubmed", [79.0])) == ["GCN on Pubmed"]


def test_our_full_run_is_left_out_where_it_says_the_same():
    was = recorded("table3")["Method 3"][0]
    same = summary.Cell(mean=was.mean + 0.04, std=was.std, trials=was.trials)
    assert was.agrees(same)
    for other in ({"mean": was.mean + 0.06}, {"std": was.std + 0.06}, {"trials": 9}):
        assert not was.agrees(summary.Cell(**{**vars(same), **other}))


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("panconv reproduce table1 --methods pan", ["panconv reproduce table1", "--methods pan"]),
        ("panconv train 'a b' --k 0,1,1 --L 2", ["panconv train 'a b'", "--k 0,1,1", "--L 2"]),
        ("panconv reproduce table2 --met --quick", ["panconv reproduce table2", "--met", "--quick"]),
        ("panconv train --k 0,1 cora", ["panconv train", "--k 0,1", "cora"]),
        ("it's", ["it's"]),
        ("", []),
    ],
)
def test_no_option_is_broken(command, parts):
    assert sections.command_parts(command) == parts


def test_no_cell_holds_a_dict():
    text = page(runs() + on_own_graph())
    assert "&#39;kind&#39;" not in text[text.index("<header>") :]
    assert "Boltzmann, trained from E = 2 0 0 0" in text
