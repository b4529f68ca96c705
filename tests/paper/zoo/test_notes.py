import json
import re
from pathlib import Path

import pytest
import torch

from panconv import load
from panconv.graph import Adjacency
from panconv.paper.claims.claim import Evidence, accuracy
from panconv.paper.report import summary
from panconv.paper.tables import splits
from panconv.paper.tables.baselines import EXPLAIN, REPRODUCED, Baseline
from panconv.paper.zoo import METHODS
from panconv.paper.zoo.notes import BEHIND, NOTES
from panconv.records.record import Results
from panconv.walkers import RandomWalk

KEPT = Path(__file__).parents[3] / "docs/results/zoo"


@pytest.fixture(scope="module")
def evidence():
    return Evidence.of(KEPT.parent)


def test_every_row_that_differs_has_a_note():
    """More than 3 points above the paper's figure, or more than 1.5 below: the kept results ask for a word."""
    assert NOTES.keys() <= METHODS.keys()
    records = Results(KEPT).read()
    for row in summary.table2(records)[:-1]:
        differences = [cell.difference for cell in row.cells if cell.paper is not None]
        assert len(differences) == sum(figure is not None for figure in METHODS[row.key].paper)
        if any(d is None or d > EXPLAIN or d < -REPRODUCED for d in differences):
            assert row.note, row.name


def test_at_least_twenty_rows_are_reproduced():
    rows = summary.table2(Results(KEPT).read())[:-1]
    assert all(cell.mean is not None and cell.trials >= 10 for row in rows for cell in row.cells)
    assert sum(bool(row.reproduced) for row in rows) >= 20


@pytest.mark.parametrize(("name", "dataset", "given"), BEHIND, ids=lambda part: str(part))
def test_a_figure_of_a_run_beside_the_table_is_that_of_its_records(name, dataset, given, evidence):
    found = evidence.trials(Baseline(name, dataset, given=given).own(1))
    assert accuracy(found) in NOTES[name]


def test_every_figure_with_a_spread_rests_on_records(evidence):
    """So that none is left over when a run or a note changes: those of `BEHIND`, and one of the random splits."""
    kept = {accuracy(evidence.trials(Baseline(name, graph, given=given).own(1))) for name, graph, given in BEHIND}
    standings = splits.standings(evidence.records, "pubmed", {})
    kept |= {f"{each.mean:.1f} ± {each.std:.1f}" for each in standings if each.name == "Bootstrap"}
    assert set(re.findall(r"\d+\.\d ± \d+\.\d", " ".join(NOTES.values()))) == kept


def test_what_the_notes_say_of_the_graphs():
    unreached = {}
    for name in ("cora", "citeseer"):
        data = load(name)
        component = Adjacency.of(data.edge_index, None, data.num_nodes).components
        lost = ~torch.isin(component, component[data.train_mask])
        unreached[name] = f"{100 * float(lost[data.test_mask].float().mean()):.0f} %"
    for name in ("lp", "harmonic"):
        assert f"{unreached['cora']} of Cora's test nodes" in NOTES[name]
        assert unreached["citeseer"] in NOTES[name]
    assert unreached["citeseer"] in NOTES["bootstrap"]
    data = load("cora")
    most = RandomWalk.maximal_entropy(data.edge_index).stationary.sort(descending=True).values.cumsum(0)
    assert f"{int((most < 0.99).sum()) + 1} of the {data.num_nodes:,} nodes hold 99 %" in NOTES["line"]


def test_no_trial_of_lnet_is_below_the_papers_figure():
    records = [json.loads(line) for line in (KEPT / "lnet.jsonl").read_text().splitlines()]
    for dataset, paper in zip(("cora", "citeseer", "pubmed"), METHODS["lnet"].paper, strict=True):
        own = [r for r in records if r["dataset"] == dataset and r["operator"] is None and r["tested"]]
        assert len(own) == 10
        assert min(r["test_accuracy"] for r in own) >= paper / 100 - 1e-9
