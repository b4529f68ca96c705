import json
import os

import pytest
from run_records import SETTINGS, make

from panconv.records.record import UNSAID, Results
from panconv.records.schema import _UNSAID


def test_what_is_written_is_read(tmp_path):
    results = Results(tmp_path / "new")
    assert results.read() == []
    runs = [make(0), make(1), make(2, weights={"kind": "boltzmann", "energies": [2.0, 0.0, 0.0], "temperature": 1.0})]
    results.add(runs[:2])
    results.add(runs[2:])
    assert sorted(results.read(), key=lambda r: r.seed) == runs


def test_a_line_cut_short_is_reported_and_skipped(tmp_path):
    results = Results(tmp_path)
    results.add([make(0), make(1)])
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text()[:-40])
    with pytest.warns(UserWarning, match="line 2, is cut short or damaged: skipped"):
        assert [run.seed for run in results.read()] == [0]


def test_bytes_that_are_no_text_are_skipped(tmp_path):
    Results(tmp_path).add([make(0)])
    (tmp_path / "z.jsonl").write_bytes(b"\xff\xfe\n")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.warns(UserWarning, match=r"z.jsonl, line 1, is cut short or damaged"):
        assert len(Results(tmp_path).read()) == 1


def test_a_hidden_folder_of_a_graph_is_read_again(tmp_path):
    Results(tmp_path).add([make(0, dataset="/data/.mine")])
    assert len(Results(tmp_path).read()) == 1


def test_what_a_killed_process_left_is_not_read(tmp_path):
    (tmp_path / ".cora-method5-x.jsonl.abc.jsonl").write_text('{"sch')
    assert Results(tmp_path).read() == []


def test_the_same_training_twice_counts_once(tmp_path):
    results = Results(tmp_path)
    results.add([make(0), make(1)])
    results.add([make(1), make(2)])  # two processes that overlapped
    assert sorted(run.seed for run in results.read()) == [0, 1, 2]
    assert len(os.listdir(tmp_path)) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "panconv-run-0"}, r"is of another schema \('panconv-run-0'"),
        ({"surprise": 1}, r"missing or unknown fields \(surprise\)"),
        ({"seed": "one"}, "seed must be a whole number of at least 0, got 'one'"),
        ({"loss_curve": 3}, "loss_curve must be a list of numbers"),
        ({"settings": []}, "settings must be an object of hidden, layers"),
        ({"test_accuracy": True}, "test_accuracy must be a number between 0 and 1, or null, got True"),
        ({"test_accuracy": 80.0}, "test_accuracy must be a number between 0 and 1, or null, got 80.0"),
        ({"test_accuracy": None}, "test_accuracy must be a number between 0 and 1 where tested is true"),
        ({"settings": {"hidden": 16}}, "settings has no 'layers'"),
        ({"settings": {**SETTINGS, "hiden": 16}}, "'hiden' is no setting: they are hidden, layers"),
        ({"settings": {**SETTINGS, "epochs": 10**9}}, "epochs must be a whole number between 1 and 1,000,000"),
        ({"best_epoch": 99}, "best_epoch must be an epoch with a finite loss"),
        ({"best_epoch": 0}, "best_epoch must be an epoch with a finite loss, or 0 or null with empty curves"),
        ({"best_epoch": None}, "best_epoch must be an epoch with a finite loss"),
        ({"accuracy_curve": []}, "accuracy_curve must be as long as loss_curve"),
        ({"loss_curve": [1.0, None, 1.0]}, "best_epoch must be an epoch with a finite loss"),
        ({"path_weights": ["a"]}, "path_weights must be a list of lists"),
        ({"path_weights": [[0.0, 1.0]] * 2}, "path_weights must be 2 lists of 3 numbers"),
        ({"temperatures": 0.3}, "temperatures must be a list of numbers of at least 0, null if not finite, got 0.3"),
        ({"temperatures": ["a", 0.3]}, "temperatures must be a list of numbers of at least 0"),
        ({"temperatures": [0.3, -1.0]}, "temperatures must be a list of numbers of at least 0"),
        ({"temperatures": [0.3, 10**400]}, "temperatures must be a list of numbers of at least 0"),
        ({"temperatures": [0.3]}, r"temperatures must be 2 numbers, one per layer, got \[0.3\]"),
        ({"seconds": 10**400}, "seconds must be a number between 0 and 1e\\+100"),
        ({"versions": {"torch": 2}}, "versions must be an object of texts"),
        (
            {"operator": {"method": 5, "L": 2, "weights": [[[[[[[[[1]]]]]]]]]}},
            "weights must be text, finite numbers, lists or objects of them, at most 8 deep",
        ),
        ({"operator": None}, "operator must be an object of method, L, weights"),
        ({"operator": {"method": 5, "L": 2, "weights": "free", "paths": 3}}, "paths must be a name, or an object"),
        ({"split": "mine"}, "split must be one of public, random, given, got 'mine'"),
        ({"settings": {**SETTINGS, "decay": "some"}}, "decay must be first, all or layers, got 'some'"),
        ({"settings": {**SETTINGS, "drop_nodes": 1.0}}, "drop_nodes must be at least 0 and below 1, got 1.0"),
        ({"settings": {**SETTINGS, "dropout_input": 1}}, "dropout_input must be at least 0 and below 1, or null"),
        ({"settings": {**SETTINGS, "residual": "all"}}, "residual must be null, layer or input, got 'all'"),
        ({"settings": {**SETTINGS, "share": 2}}, "share must be a number between 0 and 1, got 2"),
        ({"settings": {**SETTINGS, "draws": 0}}, "draws must be a whole number of at least 1, got 0"),
        ({"settings": {**SETTINGS, "sharpening": 0}}, "sharpening must be positive and finite, got 0"),
        ({"settings": {**SETTINGS, "norm_input": True}}, "norm_input must be null, batch or layer, got True"),
        ({"settings": {**SETTINGS, "halving": [0]}}, r"halving must be a list of epochs, or null, got \[0\]"),
        ({"operator": {"method": 5, "L": 2}}, "operator has no 'weights'"),
        ({"operator": {"method": "5", "L": 2, "weights": "free"}}, "method must be a whole number of at least 1"),
    ],
)
def test_lines_of_another_schema_are_refused(tmp_path, change, message):
    Results(tmp_path).add([make(0)])
    (path,) = tmp_path.iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
    with pytest.raises(ValueError, match=message):
        Results(tmp_path).read()
    path.write_text("[1, 2]\n")
    with pytest.raises(ValueError, match="another schema"):
        Results(tmp_path).read()


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file: name a folder"):
        Results(tmp_path / "file")


def test_what_need_not_be_said_may_be_and_names_another_training(tmp_path):
    plain, all_said = make(0), make(0, settings={**SETTINGS, **UNSAID})
    assert "draws" not in plain.key()  # a record that names nothing new has the key that it always had
    assert plain.key() != all_said.key()
    paths = make(1, operator={**plain.operator, "paths": "shortest"}, split="given")
    Results(tmp_path).add([plain, all_said, paths])
    assert len(Results(tmp_path).read()) == 3
    assert UNSAID.keys() == _UNSAID.keys()
