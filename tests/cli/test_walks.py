import json
import os

import pytest
from in_process import call


def test_links(tmp_path):
    done = call(
        *("links", "Cora", "--steps", 3, "--trials", 2, "--json", "new/links.json", "--plot", "links.png"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert not any(len(line) > 80 for line in done.stdout.splitlines())
    record = json.loads((tmp_path / "new/links.json").read_text())
    assert record["graph"] == "cora"
    assert len(record["rounds"]) == record["trials"] == 2
    for kind in ("generic", "maximal-entropy"):
        assert record["auc"][kind][0]["mean"] == 0.5
        assert len(record["auc"][f"{kind}, superposed"]) == 3
        last = record["auc"][f"{kind}, superposed"][-1]
        assert last["mean"] == sum(each[f"{kind}, superposed"][-1] for each in record["rounds"]) / 2
        assert last["mean"] > 0.75
        assert f"{last['mean']:.3f} ± {last['std']:.3f}" in done.stdout
    assert f"common neighbours: {record['auc']['common neighbours'][0]['mean']:.3f}" in done.stdout
    assert (tmp_path / "links.png").stat().st_size > 10_000


def test_communities(tmp_path):
    done = call("communities", "citeseer", "--trials", 2, "--json", "found.json", "--plot", "found.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2,120 of 3,327" in " ".join(done.stdout.split())
    record = json.loads((tmp_path / "found.json").read_text())
    assert (record["k"], record["nodes"]) == (6, 2120)
    for kind in ("generic", "maximal-entropy", "classes"):
        mean = record[kind]["modularity"]["mean"]
        assert 0.5 < mean < 0.9
        assert f"{mean:.3f}" in done.stdout
    assert record["classes"]["nmi"]["mean"] == 1
    assert record["generic"]["nmi"]["mean"] > 0.2
    assert (tmp_path / "found.svg").read_text().count("maximal-entropy") >= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("links", "coda"), "'coda' is neither a built-in graph"),
        (("links", "cora", "--fraction", "1"), "--fraction must be above 0 and below 1, got 1.0"),
        (("links", "cora", "--steps", "0"), "--steps must be at least 1, got 0"),
        (("links", "cora", "--trials", "0"), "--trials must be at least 1, got 0"),
        (("links", "cora", "--seed", "-1"), "--seed must be at least 0, got -1"),
        (("links", "cora", "--plot", "links.xyz"), "--plot must end in"),
        (("links", "cora", "--json", "file/below"), "cannot write file/below"),
        (("communities", "cora", "--k", "0"), "--k must be at least 1, got 0"),
        (("communities", "cora", "--k", "2500"), "k must be at most the 2485 nodes of the largest component, got 2500"),
        (("communities", "cora", "--steps", "-1"), "--steps must be at least 0, got -1"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    (tmp_path / "file").write_text("mine")
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout
    assert os.listdir(tmp_path) == ["file"]
