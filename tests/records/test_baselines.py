import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from panconv.paper.published import GRAPHS
from panconv.paper.tables import baselines, splits
from panconv.paper.tables.reproduce import Asked
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import SCHEMA, Record, Results, parsed

COMMITTED = Path(__file__).parents[2] / "docs/results"
ONE = Record(
    model="gcn",
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
    Results(tmp_path / "zoo").add(both)
    other = replace(ONE, test_accuracy=0.1, settings={"lr": 0.1})
    Results(tmp_path / "zoo").add([other])
    found = Results(tmp_path / "zoo").read()
    assert sorted(found, key=lambda record: (record.settings["lr"], record.seed)) == [*both, other]


def test_settings_without_effect_that_older_lines_carry_are_dropped(tmp_path):
    """So that a training of then is found as what it is now."""
    line = json.loads((COMMITTED / "zoo/gat.jsonl").read_text().splitlines()[0])
    assert (line["schema"], line["settings"]["normalize"]) == ("panconv-zoo-1", True)
    (tmp_path / "old.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = Results(tmp_path).read()
    assert found.settings == {name: value for name, value in line["settings"].items() if name != "normalize"}


def test_the_committed_trainings_are_those_of_the_registry():
    """None is missing, and none has a setting that its method lacks."""
    records = Results(COMMITTED).read()
    for record in records:
        if record.model in METHODS:
            assert record.settings.keys() == METHODS[record.model].settings.keys() - (record.operator or {}).keys()
    assert Asked(baselines=baselines.NAMES["table2"]).missing(records) == 0
    on_m = [name for name in METHODS if name in {record.model for record in records if record.operator}]
    assert Asked(baselines=on_m, met=True).missing(records) == 0
    tasks = [task for dataset in GRAPHS for task in splits.tasks(splits.FASTEST, dataset, 20)]
    assert {task.key() for task in tasks} <= {record.key() for record in records}


def test_of_a_training_that_is_there_twice_the_first_counts(tmp_path):
    store = Results(tmp_path)
    store.add([ONE, replace(ONE, seed=9)])
    store.add([ONE])  # in another file: that of other trainings
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert len(store.read()) == 2


def test_alike_is_all_but_the_seed():
    assert ONE.alike() == replace(ONE, seed=7, test_accuracy=0.2).alike()
    for change in ({"split": "random"}, {"operator": {"walk": "x"}}, {"settings": {}}, {"tested": False}):
        assert ONE.alike() != replace(ONE, **change).alike()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": "panconv-zoo-0"}, "is of another schema"),
        ({"model": 3}, "model must be text, got 3"),
        ({"split": "other"}, "split must be one of public, random"),
        ({"split": []}, "split must be one of public, random"),
        ({"operator": [1]}, "operator must be an object of text, numbers and lists, or null"),
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
        assert Results(tmp_path).read() == [ONE]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file: name a folder"):
        Results(tmp_path / "file")
