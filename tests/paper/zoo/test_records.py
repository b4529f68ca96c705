import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from panconv.paper.published import GRAPHS
from panconv.paper.tables import baselines, splits
from panconv.paper.zoo.records import SCHEMA, Record, Records, parsed
from panconv.paper.zoo.registry import METHODS

COMMITTED = Path(__file__).parents[3] / "docs/results/zoo"
ONE = Record(
    method="gcn",
    dataset="cora",
    split="public",
    operator=None,
    settings={"lr": 0.01},
    seed=3,
    tested=True,
    val_accuracy=0.8,
    test_accuracy=0.81,
    seconds=1.5,
    device="cpu",
    versions={"torch": "2"},
    command="panconv zoo gcn cora",
)


def test_what_is_added_is_read(tmp_path):
    both = [ONE, replace(ONE, seed=4, tested=False, test_accuracy=None)]
    Records(tmp_path / "zoo").add(both)
    other = replace(ONE, test_accuracy=0.1, settings={"lr": 0.1})
    Records(tmp_path / "zoo").add([other])
    found = Records(tmp_path / "zoo").read()
    assert sorted(found, key=lambda record: (record.settings["lr"], record.seed)) == [*both, other]


def test_settings_without_effect_that_older_lines_carry_are_dropped(tmp_path):
    """So that a training of then is found as what it is now."""
    line = {"schema": SCHEMA, **asdict(ONE), "method": "gat", "settings": {"lr": 0.01, "normalize": True}}
    (tmp_path / "old.jsonl").write_text(json.dumps(line) + "\n")
    assert Records(tmp_path).read() == [replace(ONE, method="gat")]


def test_the_committed_trainings_are_those_of_the_registry():
    """None is missing, and none has a setting that its method lacks."""
    records = Records(COMMITTED).read()
    for record in records:
        if record.method in METHODS:
            assert record.settings.keys() == METHODS[record.method].settings.keys()
    assert baselines.missing(records, baselines.NAMES["table2"], GRAPHS, 10, quick=False, met=False) == 0
    on_m = [name for name in METHODS if name in {record.method for record in records if record.operator}]
    assert baselines.missing(records, on_m, GRAPHS, 10, quick=False, met=True) == 0
    tasks = [task for dataset in GRAPHS for task in splits.tasks(splits.FASTEST, dataset, 20)]
    assert {task.key() for task in tasks} <= {record.task().key() for record in records}


def test_of_a_training_that_is_there_twice_the_first_counts(tmp_path):
    store = Records(tmp_path)
    store.add([ONE, replace(ONE, seed=9)])
    store.add([ONE])  # in another file: that of other trainings
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert len(store.read()) == 2


def test_alike_is_all_but_the_seed():
    assert ONE.task().alike() == replace(ONE, seed=7, test_accuracy=0.2).task().alike()
    for change in ({"split": "random"}, {"operator": {"walk": "x"}}, {"settings": {}}, {"tested": False}):
        assert ONE.task().alike() != replace(ONE, **change).task().alike()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": "panconv-zoo-0"}, "is of another schema"),
        ({"method": 3}, "method must be text, got 3"),
        ({"split": "other"}, "split must be one of public, random"),
        ({"split": []}, "split must be one of public, random"),
        ({"operator": [1]}, "operator must be an object, or null"),
        ({"seed": True}, "seed must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"tested": 1}, "tested must be true or false, got 1"),
        ({"val_accuracy": 1.5}, "val_accuracy must be a number between 0 and 1"),
        ({"val_accuracy": float("nan")}, "val_accuracy must be a number between 0 and 1"),
        ({"test_accuracy": None}, "test_accuracy must be a number between 0 and 1 where tested is true"),
        ({"tested": False}, "test_accuracy must be null where tested is false"),
        ({"settings": []}, "settings must be an object"),
        ({"seconds": 10**400}, "seconds must be a number"),
        ({"seconds": None}, "seconds must be a number"),
        ({"device": ["cpu"]}, "device must be text"),
        ({"versions": "2.6"}, "versions must be an object of texts"),
        ({"command": None}, "command must be text"),
        ({"more": 1}, r"missing or unknown fields \(more\)"),
    ],
)
def test_a_line_that_says_something_else_is_refused(change, words):
    content = {"schema": SCHEMA, **asdict(ONE), **change}
    with pytest.raises(ValueError, match=f"line 1.*{words}"):
        parsed(content, "line 1")


def test_a_line_cut_short_is_said_and_skipped(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"schema": SCHEMA, **asdict(ONE)}) + "\n" + '{"schema": "pan')
    with pytest.warns(UserWarning, match="line 2, is cut short"):
        assert Records(tmp_path).read() == [ONE]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file: name a folder"):
        Records(tmp_path / "file")
