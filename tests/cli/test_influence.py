import json
import os

import pytest
from in_process import call

from panconv.paper.studies.influence import OPERATORS


def test_influence(tmp_path):
    done = call(
        *("influence", "--nodes", 40, "--trials", 2, "--json", "hub.json", "--plot", "hub.svg", "--L", 2), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert not any(len(line) > 80 for line in done.stdout.splitlines())
    record = json.loads((tmp_path / "hub.json").read_text())
    assert (record["nodes"], record["L"], record["paths"], record["trials"]) == (40, 2, "walks", 2)
    for graph in record["graphs"].values():
        assert len(graph["hub_degrees"]) == 2
        sent = graph["operators"][2]["ratio"][0]
        assert sent["mean"] < 0.7
        assert f"{sent['mean']:.3f} ± {sent['std']:.3f}" in done.stdout
    assert "300 followers" in done.stdout
    text = (tmp_path / "hub.svg").read_text()
    for operator in OPERATORS:
        assert text.count(f"<!-- {operator} -->") == 2, operator  # beside its marks, and in the legend
    for words in ("Ring: the hub has", "Preferential attachment: the hub has", "nodes at distance 2"):
        assert words in text
    assert "nodes at distance 3" not in text


def test_where_nothing_is_that_far_away_and_nothing_arrives(tmp_path):
    cold = ("--nodes", 20, "--L", 5, "--trials", 1, "--temperature", 1e-3)
    done = call("influence", *cold, "--plot", "hub.png", "--json", "hub.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip()
    assert not any(len(line) > 80 or "…" in line for line in done.stdout.splitlines())
    assert " - " in done.stdout
    ring = json.loads((tmp_path / "hub.json").read_text())["graphs"]["ring"]["operators"][0]
    assert ring["ratio"][-1] == {"mean": None, "std": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--nodes", "3"), "--nodes must be at least 20, got 3"),
        (("--nodes", "10000"), "--nodes must be at most 5,000, got 10000"),
        (("--L", "0"), "--L must be at least 1, got 0"),
        (("--L", "6"), "--L must be at most 5, got 6"),
        (("--temperature", "0"), "--temperature must be positive and finite, got 0.0"),
        (("--paths", "effective"), "--paths must be one of walks, shortest, self_avoiding, got 'effective'"),
        (("--trials", "0"), "--trials must be at least 1, got 0"),
        (("--seed", "-1"), "--seed must be at least 0, got -1"),
        (("--plot", "hub.xyz"), "--plot must end in"),
        (("cora",), "unexpected extra argument"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    done = call("influence", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout
    assert not os.listdir(tmp_path)
