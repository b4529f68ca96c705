"""What goes wrong on the command line is one line and exit code 2, before the training where it can be known."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import fuzz_commands
import fuzz_records
import pytest
import typer
from fuzz_commands import planetoid_files
from in_process import call
from run_records import make
from terminal import surroundings

from panconv import cli
from panconv.cli import screen
from panconv.records.jsonl import read_lines
from panconv.records.record import Results

QUICK = ("--trials", 1, "--epochs", 1)
ODD = r"[red]odd $\x{$ :smile:"
TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with small graphs, one of a name that looks like markup and mathematics, one of a very long name."""
    folder = tmp_path_factory.mktemp("commands")
    for name in ("tiny", ODD, "n" * 245):
        planetoid_files(folder / name)
    return folder


def refused(done):
    assert done.code == 2, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("panconv: ")
    assert not done.stdout
    return lines[0]


@pytest.mark.parametrize("name", ["out[/b]", "x[/red].json"])
def test_names_that_look_like_markup_are_names(place, tmp_path, name):
    option = "--json" if name.endswith("json") else "--results"
    done = call("train", place / "tiny", *QUICK, option, name, cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert name in done.stdout
    assert (tmp_path / name).exists()


def test_a_graph_whose_name_looks_like_markup_and_mathematics(place, tmp_path):
    outputs = ("--json", "a.json", "--plot", "a.svg", "--results", "r")
    done = call("train", place / ODD, *QUICK, *outputs, cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "[red]" in done.stdout
    assert (tmp_path / "a.svg").stat().st_size > 1000
    (run,) = Results(tmp_path / "r").read()
    assert run.dataset == str(place / ODD)
    for arguments in (("thermodynamics", place / ODD, "--L", 1), ("links", place / ODD, "--steps", 1, "--trials", 1)):
        done = call(*arguments, "--plot", "b.svg", cwd=tmp_path)
        assert done.code == 0, done.stderr


def test_a_graph_with_a_long_name_has_records(place, tmp_path):
    done = call("train", place / ("n" * 245), *QUICK, "--results", "r", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert len(Results(tmp_path / "r").read()) == 1


def test_any_name_that_the_system_takes_is_written(place, tmp_path):
    outputs = ("n" * 250 + ".json", "n" * 251 + ".png")
    done = call("train", place / "tiny", *QUICK, "--json", outputs[0], "--plot", outputs[1], cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == sorted(outputs)


def test_two_graphs_of_one_name_do_not_share_a_model(place, tmp_path):
    planetoid_files(tmp_path / "tiny")
    line = refused(call("train", place / "tiny", tmp_path / "tiny", *QUICK, "--save", "m", cwd=tmp_path))
    assert "two are alike" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "~nosuchuser/graph"), "'~nosuchuser/graph' cannot be found"),
        (("train", "tiny", "--json", "n" * 256), "the name is too long; choose a shorter one"),
        (("train", "tiny", "--plot", "n" * 252 + ".png"), "the name is too long; choose a shorter one"),
        (("train", "tiny", "--epochs", 10**9), "epochs must be a whole number between 1 and 1,000,000"),
        (("train", "tiny", "--trials", 10**9), "--trials must be at most 1,000,000"),
        (("train", "tiny", "--L", 20_000), "--L must be at most 10,000"),
        (
            ("grid", "tiny", "--trials", 10**6),
            "the number of trainings, points times --trials, must be at most 1,000,000",
        ),
        (("zoo", "gcn", "tiny", "--set", "lr=" + "[" * 99_999), "lr must be like 0.01"),
        (("zoo", "gcn", "tiny", "--set", "lr=" + "9" * 400), "lr must be above 0 and finite, got inf"),
        (("zoo", "gcn", "tiny", "--set", "hidden=" + "9" * 400), "hidden must be at most 1,000,000,000"),
        (("zoo", "gcn", "tiny", "--set", "normalize=0"), "normalize must be like true, got 0"),
        (("report", "--results", "huge"), "seconds must be a number between 0 and 1e+100"),
        (("zoo", "--results", "wrong"), "split must be one of public, random, given, got []"),
        (("train", "tiny", "--results", "wrong/zoo"), "split must be one of public, random, given, got []"),
        (("train", "tiny", "--results", "other"), "is of another schema"),
    ],
)
def test_mistakes_are_one_line_before_the_training(place, tmp_path, arguments, words):
    planetoid_files(tmp_path / "tiny")
    Results(tmp_path / "huge").add([make(0)])
    (path,) = (tmp_path / "huge").iterdir()
    path.write_text(path.read_text().replace('"seconds": 0.1', '"seconds": 1' + "0" * 400))
    (tmp_path / "wrong/zoo").mkdir(parents=True)
    content, _ = next(read_lines(fuzz_records.COMMITTED / "zoo"))
    (tmp_path / "wrong/zoo/a.jsonl").write_text(json.dumps({**content, "split": []}) + "\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.jsonl").write_text('{"schema": "panconv-run-0"}\n')
    before = sorted(os.listdir(tmp_path))
    assert words in refused(call(*arguments, cwd=tmp_path))
    assert sorted(os.listdir(tmp_path)) == before


def test_deep_json_is_said_and_skipped(tmp_path):
    Results(tmp_path / "results").add([make(0)])
    (tmp_path / "results/deep.jsonl").write_text("[" * 100_000 + "\n")
    done = call("report", cwd=tmp_path)
    assert done.code == 0
    assert "deep.jsonl, line 1, is cut short or damaged: skipped" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RecursionError("maximum recursion depth"), "nested too deep"),
        (MemoryError(), "there is not enough memory for this"),
        (
            RuntimeError("X: can't allocate memory: you tried to allocate 36 bytes. Error"),
            "this: 36 bytes in one piece",
        ),
        (OSError(28, "No space left on device", "x"), "No space left on device"),
        (ValueError("two\nlines \x1b[31m"), r"two lines \x1b[31m"),
    ],
)
def test_what_the_machine_lacks_is_one_line_too(monkeypatch, tmp_path, error, words):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(cli, "app", fails)
    assert words in refused(call(cwd=tmp_path))


def test_a_mistake_of_ours_is_seen_and_an_interruption_is_not(monkeypatch, tmp_path):
    def fails(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr(cli, "app", fails)
    with pytest.raises(RuntimeError, match="a bug"):
        call(cwd=tmp_path)
    for error in (KeyboardInterrupt, typer.Abort):
        monkeypatch.setattr(cli, "app", lambda *_, error=error, **__: (_ for _ in ()).throw(error()))
        assert call(cwd=tmp_path).code == 130


@pytest.mark.parametrize("option", ["--json=a.json", "--plot=a.png", "--results=r"])
def test_a_file_that_does_not_fit_is_one_line_and_leaves_nothing(place, tmp_path, option):
    """A limit on the size of files does what a full disk does, and needs no disk of its own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        done = call("train", place / "tiny", *QUICK, option, cwd=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert done.code == 2, done
    assert done.stderr.splitlines()[-1].startswith("panconv: "), done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_numbers_that_are_not_finite_are_null_in_json(tmp_path):
    screen.write_json(tmp_path / "a.json", {"loss": [float("inf"), float("nan"), 1.0]}, "figures")
    assert json.loads((tmp_path / "a.json").read_text()) == {"loss": [None, None, 1.0]}


def test_a_loss_that_turns_nan_is_recorded(place, tmp_path):
    arguments = ("train", place / "tiny", "--k", "0,1,1", "--epochs", 20, "--lr", "1e18", "--results", "r")
    done = call(*arguments, "--json", "a.json", "--plot", "a.png", cwd=tmp_path)
    assert done.code == 0, done.stderr
    runs = Results(tmp_path / "r").read()
    assert len(runs) == 10
    assert any(loss is None for run in runs for loss in run.loss_curve)


def test_any_command_line():
    fuzz_commands.main(25, seed=0)


def test_any_line_of_a_record():
    fuzz_records.main(250, seed=0)


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_again_and_again_nothing_is_lost(kills):
    path = os.pathsep.join([str(TESTS / "helpers"), os.environ.get("PYTHONPATH", "")])
    arguments = [sys.executable, str(TESTS / "fuzzers/kill_reproduce.py"), str(kills), "0"]
    done = subprocess.run(arguments, env={**surroundings(), "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "killed, completed" in done.stdout


def test_the_package_runs_as_a_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "panconv", "--version"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout == call("--version", cwd=tmp_path).stdout
