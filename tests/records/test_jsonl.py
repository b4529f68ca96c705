"""What all kinds of records share: nothing is written that is not read, and nothing that is read breaks the reader."""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from record_strategies import landings as any_landing
from record_strategies import runs, zoo_records
from run_records import make

from panconv.paper.published import GRAPHS
from panconv.paper.studies.temperature import landed
from panconv.paper.tables.baselines import Baseline
from panconv.paper.zoo.registry import METHODS
from panconv.records import jsonl
from panconv.records.jsonl import file_name, read_lines, strict
from panconv.records.record import Results, parsed
from panconv.records.schema import number_or_null
from panconv.records.upgrades import _IDLE

COMMITTED = Path(__file__).parents[2] / "docs/results"
LAW = settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True)


def folder():
    return tempfile.TemporaryDirectory(prefix="panconv-")


@LAW
@given(runs())
def test_a_run_that_is_written_is_read(run):
    with folder() as place:
        Results(place).add([run])
        (found,) = Results(place).read()
        as_read = {
            "val_loss": number_or_null(run.val_loss),
            "loss_curve": [number_or_null(x) for x in run.loss_curve],
            "path_weights": [[number_or_null(k) for k in layer] for layer in run.path_weights],
            "temperatures": [number_or_null(T) for T in run.temperatures],
        }
        assert found == replace(run, **as_read)
        assert found.key() == run.key()
        (path,) = Path(place).iterdir()
        json.loads(path.read_text(), parse_constant=pytest.fail)  # strict JSON


@LAW
@given(zoo_records())
def test_a_record_of_the_zoo_that_is_written_is_read(record):
    with folder() as place:
        Results(place).add([record])
        assert Results(place).read() == [record]


@LAW
@given(any_landing())
def test_a_landing_that_is_written_is_read(runs):
    """That is, its records are, with null for a temperature that is not finite: they give the same landing."""
    with folder() as place:
        Results(place).add(runs)
        found = Results(place).read()
    known = [replace(run, temperatures=[number_or_null(T) for T in run.temperatures]) for run in runs]
    assert found == known
    landing = landed(2, 0.3, found)
    assert landing == landed(2, 0.3, known)
    assert all(x is None or math.isfinite(x) for x in (*landing.temperatures, *landing.spreads))


def test_all_committed_lines_are_read(recwarn):
    lines = sum(len(path.read_bytes().splitlines()) for path in COMMITTED.rglob("*.jsonl"))
    found = [
        Results(COMMITTED / name).read()
        for name in ("", "operators", "further", "best", "best/cpu", "best/former", "graphs", "graphs/former")
    ]
    assert [len(each) for each in found[:3]] == [514 + 2550 + 462, 564, 4973]  # "best" and "graphs" grow
    assert sum(map(len, found)) == lines
    assert not recwarn


def test_every_committed_line_of_an_older_kind_says_the_same_as_a_record(tmp_path):
    """Field by field; and as a record it is written and read again."""
    kinds, records = Counter(), {}
    for folder in (COMMITTED, COMMITTED / "zoo", COMMITTED / "operators"):
        for content, where in read_lines(folder):
            record, kind = parsed(content, where), content["schema"]
            kinds[kind] += 1
            if kind != "panconv-record-1":
                says_the_same(content, record)
            records.setdefault(kind, record)
    assert kinds == {"panconv-run-1": 514, "panconv-zoo-1": 2550, "panconv-operator-1": 564, "panconv-record-1": 462}
    Results(tmp_path).add(list(records.values()))
    assert Results(tmp_path).read() == list(records.values())


def says_the_same(old, record):
    moved = {"schema", "method", "model", "weights", "L", "val_loss", "val_accuracy", "settings", "operator"}
    assert {name: getattr(record, name) for name in old if name not in moved} == {
        name: value for name, value in old.items() if name not in moved
    }
    how, best = old["settings"], old.get("best_epoch")
    if old["schema"] == "panconv-run-1":
        assert record.operator == {name: old[name] for name in ("method", "L", "weights")}
        assert (record.model, record.split, record.settings) == ("pan", "public", how)
        assert (record.loss_curve, record.accuracy_curve) == (old["val_loss"], old["val_accuracy"])
        assert (record.val_loss, record.val_accuracy) == (old["val_loss"][best - 1], old["val_accuracy"][best - 1])
    elif "method" in old and old["method"] == "pan":
        assert (record.model, record.split, record.val_accuracy) == ("pan", "random", old["val_accuracy"])
        assert {**record.settings, "k": record.weights} == how
        assert (record.operator["method"], record.operator["L"]) == (5, 2)
    else:
        assert record.model == {"cheb": "chebnet"}.get(old.get("model"), old.get("model", old.get("method")))
        idle = {*_IDLE.get(record.model, ()), *(old["operator"] or ())} if old["schema"] == "panconv-zoo-1" else ()
        how = {name: value for name, value in how.items() if name not in idle}
        assert (record.operator, record.settings, record.val_accuracy) == (old["operator"], how, old["val_accuracy"])
        assert record.val_loss == old.get("val_loss")


def test_older_kinds_are_not_taken_for_a_training_of_now():
    """The study of operators trained by other code: none of its records is one that the tables ask for."""
    asked = {task.alike() for name in METHODS for graph in GRAPHS for task in Baseline(name, graph).own(1)}
    assert not asked & {record.alike() for record in Results(COMMITTED / "operators").read()}


def test_files_of_other_processes_are_not_written_over(tmp_path):
    content, _ = next(read_lines(COMMITTED / "operators"))
    one = parsed(content, "")
    mine, theirs = Results(tmp_path), Results(tmp_path)
    mine.add([replace(one, seed=1)])
    theirs.add([replace(one, seed=2)])
    mine.add([replace(one, seed=3)])
    assert sorted(record.seed for record in Results(tmp_path).read()) == [1, 2, 3]


def test_what_cannot_be_read_is_not_written(tmp_path):
    for wrong in ({"test_accuracy": math.nan}, {"seconds": 10**400}, {"settings": {}}, {"weights": {1, 2}}):
        with pytest.raises(ValueError, match="a record cannot be written"):
            Results(tmp_path).add([make(0), make(1, **wrong)])
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="a record cannot be written"):
        Results(tmp_path).add([make(1, weights=deep)])
    assert not list(tmp_path.iterdir())  # the sound one neither: all or none


def test_lines_that_are_no_records_are_said_and_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "_LONGEST", 50_000)
    Results(tmp_path).add([make(0)])
    for i, line in enumerate(("[" * 40_000, '{"a":' * 9_000, "9" * 5_000, "", "[" * 200_000, "\x00")):
        (tmp_path / f"{i}.jsonl").write_text(line + "\n")
    with pytest.warns(UserWarning, match="is cut short or damaged: skipped") as said:
        assert len(Results(tmp_path).read()) == 1
    assert len(said) == 6


def test_a_line_that_never_ends_is_not_held_whole(tmp_path):
    with (tmp_path / "long.jsonl").open("wb") as file:
        file.truncate(100 * 2**20)
    Results(tmp_path).add([make(0)])
    code = f"""
import resource, warnings
from panconv.records import jsonl
from panconv.records.record import Results
jsonl._LONGEST = 2**20
limit = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + 40 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
warnings.simplefilter("ignore")
print(len(Results({str(tmp_path)!r}).read()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


def test_a_loss_that_turned_nan_before_is_read_now(tmp_path):
    new = vars(make(0))
    gone = {"model", "operator", "split", "tested", "loss_curve", "accuracy_curve", "temperatures", "dropped"}
    old = {name: value for name, value in new.items() if name not in gone}
    old |= {"schema": "panconv-run-1", **new["operator"], "val_accuracy": new["accuracy_curve"]}
    old |= {"val_loss": [1.0, 0.5, math.nan]}
    old["settings"] = {**old["settings"], "hiden": 64}  # was ignored, and locked the folder
    (tmp_path / "old.jsonl").write_text(json.dumps(old) + "\n")
    assert Results(tmp_path).read() == [make(0, loss_curve=[1.0, 0.5, None])]


def test_names_of_files_are_short_and_plain(tmp_path):
    for name in ("x" * 250, "é" * 120, "a b[/c]$", "..", "", "\ud800", "a\nb\0c"):
        assert len(file_name([name, name], [])) < 150
        Results(tmp_path).add([make(0, dataset=f"/data/{name}")])
    assert len(Results(tmp_path).read()) == len(os.listdir(tmp_path)) == 7


def test_strict_json_has_no_nan():
    assert strict({"a": (1.5, math.nan, [-math.inf]), "b": "NaN"}) == {"a": [1.5, None, [None]], "b": "NaN"}


def test_a_damaged_record_is_named(tmp_path):
    path = tmp_path / "cora-method2-x.jsonl"
    for text, words in (
        ("[]", "another schema"),
        ('{"L": 1}', "another schema"),
        ('{"schema": "panconv-record-1", "L": 1}', "missing or unknown fields"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            Results(tmp_path).read()
    path.write_text("{")
    with pytest.warns(UserWarning, match="is cut short or damaged"):
        assert not Results(tmp_path).read()
