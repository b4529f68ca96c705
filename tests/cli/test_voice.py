"""How much the program says, wherever it is asked to: nothing but the answer, or also what the library logs."""

import logging

import pytest
from in_process import call

from panconv.cli import voice

EDGES = "from,to\nann,bob\nbob,cyd\ncyd,dan\nann,ann\n"


@pytest.fixture
def place(tmp_path):
    (tmp_path / "e.csv").write_text(EDGES)
    yield tmp_path
    voice.settle()


@pytest.mark.parametrize("arguments", [("--quiet", "links", "e.csv"), ("links", "e.csv", "-q")])
def test_quiet_says_the_answer_alone(place, arguments):
    plain = call("links", "e.csv", "--top", 2, "--out", "l.csv", cwd=place)
    assert "guessed: e.csv: edges lead" in plain.stdout
    assert "links: l.csv" in plain.stdout
    assert "line 5: 1 edge from a node to itself" in plain.stderr
    quiet = call(*arguments, "--top", 2, "--out", "l.csv", cwd=place)
    assert quiet.code == 0
    assert not quiet.stderr
    assert "bob        dan" in quiet.stdout
    assert not {"guessed", "links:"} & set(quiet.stdout.split())
    assert call("links", "e.csv", "--top", 2, cwd=place).stderr  # and the next command says all again


def test_quiet_shows_no_progress_and_still_its_errors(place):
    assert not call("spectrum", "e.csv", "--L", 1, "--quiet", cwd=place).stderr
    done = call("links", "no.csv", "--quiet", cwd=place)
    assert done.code == 2
    assert done.stderr.startswith("panconv: edges 'no.csv' is not there")


def test_verbose_says_what_the_library_logs_once(place):
    done = call("links", "e.csv", "--top", 2, "-v", cwd=place)
    assert done.code == 0
    lines = done.stderr.splitlines()
    assert all(line.startswith("panconv: ") for line in lines)
    assert sum("1 edge from a node to itself" in line for line in lines) == 1
    assert "panconv: guessed: e.csv: edges lead from 'from' to 'to'" in lines
    assert any(line.startswith("panconv: read Graph(4 nodes, 3 edges) in ") for line in lines)
    assert "guessed" not in done.stdout
    assert not call("data", cwd=place).stderr


def test_they_exclude_each_other(place):
    done = call("data", "-q", "-v", cwd=place)
    assert (done.code, done.stderr) == (
        2,
        "panconv: --quiet and --verbose ask for opposite things: leave one of them out\n",
    )


def test_behind_two_dashes_there_are_no_options():
    assert voice.in_front(["similar", "-v", "e.csv", "--", "-q"]) == ["-v", "similar", "e.csv", "--", "-q"]


def test_the_library_logs_and_shows_nothing_by_itself(place, caplog):
    from panconv import PANClassifier, read

    assert any(isinstance(each, logging.NullHandler) for each in logging.getLogger("panconv").handlers)
    caplog.set_level(logging.DEBUG, "panconv")
    with pytest.warns(UserWarning, match="from a node to itself"):
        graph = read(place / "e.csv")
    PANClassifier(head="linear", L=1).fit(graph, ["x", "y", "x", "y"])
    said = [(each.name, each.levelname, each.getMessage().split(":")[0]) for each in caplog.records]
    assert ("panconv.data.read", "INFO", "guessed") in said
    assert ("panconv.data.read", "INFO", "mended") in said
    assert ("panconv.estimator.linear", "INFO", "linear head of 4 rows") in said
    assert any(name == "panconv.estimator.choosing" and text.startswith("head") for name, _, text in said)
