"""The trainings of the questions beside the tables: what is asked, and what a quick look leaves."""

from collections import Counter

import pytest

from panconv.paper.tables import cells, further
from panconv.paper.tables.reproduce import Asked, reproduce
from panconv.records.record import Results
from panconv.training.runner import missing


@pytest.mark.parametrize(
    ("question", "count"), [("stated", 1320), ("scale", 80), ("lengths", 210), ("law", 480), ("per-layer", 2916)]
)
def test_how_many_trainings_a_question_asks_for(question, count):
    tasks, later = further.wanted(question, [])
    assert len(tasks) == len({task.key() for task in tasks}) == count
    assert later == (30 if question == "per-layer" else 0)  # the winners are known when the grid is


def test_what_the_paper_leaves_unsaid_is_said_in_the_settings():
    plain = further.stated_tasks("cora", 3, "as stated", 1)[0].settings
    found = {version: further.stated_tasks("cora", 3, version, 1)[0] for version in further.STATED}
    more = {version: {k: v for k, v in task.settings.items() if k not in plain} for version, task in found.items()}
    assert more == further.STATED
    assert found["from k(n) = 1"].weights == {"kind": "free", "k": [1.0, 1.0, 1.0]}
    assert further.stated_tasks("cora", None, "as stated", 1) == cells.pan_tasks("cora", 1)
    assert further.stated_tasks("pubmed", 2, "as stated", 1)[0].settings["weight_decay"] == 3e-3


def test_scale_and_decay_are_crossed():
    assert further.wanted("scale", [], ["pubmed"]) == ([], 0)  # Figure 2 is of Cora
    tasks, _ = further.wanted("scale", [], trials=1)
    sums = Counter((len(task.weights), sum(task.weights), task.settings["weight_decay"]) for task in tasks)
    assert sums == dict.fromkeys([(n, s, d) for n in (2, 3) for s in (1, 2) for d in (5e-3, 5e-4)], 1)
    assert cells.pan_tasks("cora", 1)[0] in tasks
    assert cells.gcn_tasks(1)[0] in tasks


def test_no_point_of_the_grid_per_layer_is_tested_and_its_winner_is(tmp_path):
    results = Results(tmp_path)
    asked = Asked(("per-layer",), (), ["cora"], trials=1, quick=True)
    reproduce(asked, results)
    records = results.read()
    assert asked.missing(records) == 0
    grid, winner = ([run for run in records if run.tested is tested] for tested in (False, True))
    assert len(grid) == len(further.per_layer_tasks("cora", quick=True)) > len(winner) == 1
    assert all(run.test_accuracy is None and run.loss_curve == [] for run in grid)
    best = further.per_layer_points(records, "cora", quick=True)[0]
    assert winner[0].weights == best.weights
    assert best.val_accuracy == max(run.val_accuracy for run in grid)
    assert missing(cells.winner_tasks("cora", best, 1, quick=True), winner) == 0
