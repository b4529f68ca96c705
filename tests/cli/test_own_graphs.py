"""The commands on tables of one's own: every answer has the ids of the file."""

import csv
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from in_process import call

from panconv import PANClassifier, load, read
from panconv.data.described import described, homophily
from panconv.data.planted import planted
from panconv.data.splits import labelled_split
from panconv.data.trainable import trainable
from panconv.training.estimate import estimates


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The karate club as two tables, with names for ids, and a column that tells the clubs apart."""
    folder, karate = tmp_path_factory.mktemp("tables"), nx.karate_club_graph()
    rng = np.random.default_rng(0)
    with (folder / "edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("from", "to"), *((f"m-{a}", f"m-{b}") for a, b in karate.edges)])
    with (folder / "nodes.csv").open("w", newline="") as file:
        club = {node: karate.nodes[node]["club"] for node in karate}
        rows = [(f"m-{node}", club[node], round(rng.normal(len(club[node])), 3), f"=x{node % 3}") for node in karate]
        csv.writer(file).writerows([("id", "club", "skill", "team"), *rows])
    return folder


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_describe(place, tmp_path):
    done = call("describe", place / "edges.csv", place / "nodes.csv", "--label", "club", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for words in (
        "guessed: ",
        "nodes 34",
        "edges 78",
        "most 17 (m-33)",
        "Mr. Hi 17, Officer 17",
        "skill number, scaled",
    ):
        assert words in said, words
    assert not any(len(line) > 80 for line in done.stdout.splitlines() if "guessed" not in line and "csv" not in line)
    done = call("describe", place / "edges.csv", place / "nodes.csv", "--label", "club", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["nodes"], found["edges"], found["components"], found["isolated"]) == (34, 78, 1, 0)
    assert found["classes"] == {"Mr. Hi": 17, "Officer": 17}
    assert all(each["seconds"] > 0 and each["bytes"] > 0 for each in found["estimates"])
    assert call("describe", "cora", "--json", cwd=tmp_path).returncode == 0


def test_links(place, tmp_path):
    done = call("links", place / "edges.csv", "--top", 30, "--out", "new/links.csv", "--json", "l.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, edges = rows_of(tmp_path / "new/links.csv"), rows_of(place / "edges.csv")
    assert len(found) == 30
    known = {frozenset((row["from"], row["to"])) for row in edges}
    named = [frozenset((row["source"], row["target"])) for row in found]
    assert not known & set(named)
    assert len(set(named)) == 30
    assert set().union(*named) <= set().union(*known)
    assert json.loads((tmp_path / "l.json").read_text())["links"][0]["source"] == found[0]["source"]
    judged = call("links", place / "edges.csv", "--trials", 2, cwd=tmp_path)
    assert "common neighbours" in judged.stdout
    assert call("links", "cora", "--top", 3, cwd=tmp_path).returncode == 0


def test_communities(place, tmp_path):
    tables = (place / "edges.csv", place / "nodes.csv", "--columns", "label=club")
    done = call("communities", *tables, "--out", "c.csv", "--json", "c.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {row["id"]: int(row["community"]) for row in rows_of(tmp_path / "c.csv")}
    assert [*found] == [row["id"] for row in rows_of(place / "nodes.csv")]
    record = json.loads((tmp_path / "c.json").read_text())
    assert record["communities"] == found
    assert (record["walk"], sum(record["sizes"])) == ("generic", 34)
    assert record["modularity"] > 0.38
    two = call("communities", *tables, "--k", 2, "--json", "c.json", cwd=tmp_path)
    assert two.returncode == 0
    assert json.loads((tmp_path / "c.json").read_text())["nmi"] > 0.7


def test_similar(place, tmp_path):
    done = call("similar", place / "edges.csv", "m-33", "--top", 4, "--out", "s.csv", "--json", "s.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = rows_of(tmp_path / "s.csv")
    assert found[0]["id"] == "m-32"  # the other head of that club
    assert [len(found), found[0]["edge"]] == [4, "yes"]
    assert json.loads((tmp_path / "s.json").read_text())["id"] == "m-33"
    assert call("similar", "cora", 7, cwd=tmp_path).returncode == 0


def test_thermodynamics_and_spectrum(place, tmp_path):
    done = call("thermodynamics", place / "edges.csv", "--L", 3, "--json", "t.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "t.json").read_text())
    assert len(record["ids"]) == len(record["log_partition"]) == 34
    assert record["ids"][0] == "m-0"
    done = call("spectrum", place / "edges.csv", "--json", "s.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "34 nodes, connected" in done.stdout


def test_train(place, tmp_path):
    tables = (place / "edges.csv", place / "nodes.csv", "--label", "club")
    done = call("train", *tables, "--trials", 2, "--epochs", 60, "--json", "t.json", "--save", "m", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "t.json").read_text())["runs"][0]
    assert record["dataset"].endswith("edges.csv")
    assert len(record["test_accuracy"]) == 2
    assert (tmp_path / "m" / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train",), "Missing argument"),
        (("train", "coar"), "'coar' is neither a built-in graph (cora, citeseer, pubmed) nor a folder: did you mean"),
        (("train", "{}/edges.csv"), "the labels are in a table of nodes"),
        (("train", "{}/edges.csv", "{}/nodes.csv"), "labels of two classes at least"),
        (("train", "{}/edges.csv", "{}/nodes.csv", "--label", "clbu"), "label='clbu' is no column of "),
        (("train", "{}/edges.csv", "{}/nodes.csv", "--results", "r"), "--results goes with a graph that has a name"),
        (("train", "cora", "{}/nodes.csv"), "goes with a table of edges, and 'cora' is none"),
        (("train", "cora", "pubmed", "{}/nodes.csv"), "a graph of tables is EDGES and NODES alone"),
        (("train", "cora", "--label", "x"), "--columns, --label and --directed go with tables"),
        (("describe", "{}/egdes.csv"), "edges.csv'?"),
        (("describe", "{}/edges.csv", "{}/noodes.csv"), "nodes.csv'?"),
        (("describe", "{}/edges.csv", "~nosuchuser/n.csv"), "'~nosuchuser/n.csv' cannot be found"),
        (("describe", "~nosuchuser/e.csv"), "'~nosuchuser/e.csv' cannot be found"),
        (("describe", "n" * 300 + ".csv"), ".csv' is not there"),
        (("describe", "cora", "{}/nodes.csv"), "goes with a table of edges, and 'cora' is none"),
        (("describe", "cora", "--label", "x"), "--label goes with a table of edges"),
        (("describe", "{}/edges.csv", "--columns", "sorce=a"), "did you mean"),
        (("describe", "{}/edges.csv", "--columns", "source=form,target=to"), "did you mean 'from'?"),
        (("similar", "{}/edges.csv", "m-333"), "did you mean 'm-33'?"),
        (("similar", "cora", "x"), "there is no node 'x' in cora: nodes are 0 … 2707"),
        (("links", "{}/edges.csv", "--out", "l.csv"), "--out and --walk go with --top"),
        (("links", "{}/edges.csv", "--top", "5", "--plot", "l.png"), "leave it out"),
        (("communities", "{}/edges.csv", "--k", "99"), "k must be at most the 34 nodes"),
        (("data", "export", "coar", "--csv", "--out", "x"), "did you mean 'cora'?"),
        (("data", "export", "cora"), "takes a graph and --csv: data export cora --csv"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(place, tmp_path, arguments, message):
    done = call(*(each.format(place) for each in arguments), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "arguments",
    [
        ("links", "edges.csv", "--top", 5, "--out"),
        ("communities", "edges.csv", "--k", 2, "--out"),
        ("similar", "edges.csv", "m-3", "--json"),
        ("thermodynamics", "edges.csv", "--L", 1, "--json"),
    ],
)
def test_a_disk_that_is_full_is_one_line_and_leaves_what_was_there(place, tmp_path, arguments):
    """A limit on the size of files does what a full disk does, and needs no disk of its own."""
    (tmp_path / "edges.csv").write_text((place / "edges.csv").read_text())
    (tmp_path / "out.csv").write_text("mine")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, hard))
    try:
        done = call(*arguments, "out.csv", cwd=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert done.code == 2
    assert done.stderr.splitlines()[-1].startswith("panconv: cannot write out.csv: the file would be larger than")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["edges.csv", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_tables_that_were_swapped_and_commands_that_take_none(place, tmp_path):
    done = call("describe", place / "nodes.csv", place / "edges.csv", cwd=tmp_path)
    assert (done.code, "hand over edges first and nodes second" in done.stderr) == (2, True)
    for command in (("search",), ("grid",), ("zoo", "gcn")):
        done = call(*command, place / "edges.csv", cwd=tmp_path)
        assert (done.code, "is a table, which panconv.read takes, and of the commands train" in done.stderr) == (
            2,
            True,
        )
    done = call("links", place, "--top", 3, cwd=tmp_path)
    assert f"edges '{place}' is a folder: name a file in it, such as '{place}/edges.csv'" in done.stderr


def test_two_nodes_are_one_community(tmp_path):
    (tmp_path / "e.csv").write_text("from,to\nann,bob\n")
    done = call("communities", "e.csv", "--json", "c.json", cwd=tmp_path)
    assert done.code == 0
    assert "one community by the generic walk" in done.stdout
    assert json.loads((tmp_path / "c.json").read_text())["communities"] == {"ann": 0, "bob": 0}


def test_strict_stops_at_what_is_otherwise_mended(place, tmp_path):
    (tmp_path / "e.csv").write_text((place / "edges.csv").read_text() + "m-0,m-0\n")
    done = call("describe", "e.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "line 80: 1 edge from a node to itself" in " ".join(done.stdout.split())
    done = call("describe", "e.csv", "--strict", cwd=tmp_path)
    assert done.returncode == 2
    assert "line 80: 1 edge from a node to itself; mend it, or read without strict" in done.stderr


def test_a_misspelt_name_is_said_before_torch_is_imported(place):
    code = """if True:
        import sys
        from panconv.cli import given
        for wrong in ("coar", sys.argv[1]):
            try:
                given.check(wrong)
            except ValueError as error:
                print("did you mean" in str(error), "torch" in sys.modules)"""
    arguments = [sys.executable, "-c", code, str(place / "egdes.csv")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"] * 2


def test_a_built_in_graph_as_tables(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("panconv.data.export.export", lambda name, folder: asked.append((name, folder)) or [folder])
    for out in ([], ["--out", "other"]):  # by default a folder of its name
        done = call("data", "export", "Cora", "--csv", *out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert asked == [("cora", Path("cora")), ("cora", Path("other"))]
    assert done.stdout == "written: other\n"  # what is, tests/data/test_csv_writing.py reads


# ---------------------------------------------------------------------- what is behind them


def test_figures(place):
    graph = read(place / "edges.csv", place / "nodes.csv", label="club")
    found = described(graph)
    assert found["degree"] | {"mean": 0} == {"least": 1, "median": 3.0, "mean": 0, "most": 17, "of": "m-33"}
    y, ends = graph.y, graph.edge_index.numpy()
    mixed = homophily(graph)
    assert mixed["within"] == round(float((y[ends[0]] == y[ends[1]]).mean()), 4)
    assert mixed["edges"] == 78
    assert homophily(read([("a", "b")])) is None
    lone = described(read(nx.Graph([(0, leaf) for leaf in range(1, 40)])))
    assert lone["suspicious"] == ["0 is joined to half of all nodes: is it a placeholder?"]


def test_a_split_of_the_labelled():
    y = torch.tensor([0] * 10 + [1] * 5 + [2] + [-1] * 9)
    train, val, test = labelled_split(y, 3)
    assert [int(part.sum()) for part in (train, val, test)] == [10, 3, 3]
    assert not bool(((train | val | test) & (y < 0)).any())
    assert not bool((train & val | train & test | val & test).any())
    assert [int((train & (y == c)).sum()) for c in range(3)] == [6, 3, 1]
    assert not torch.equal(train, labelled_split(y, 4)[0])


def test_what_is_trained_on(place):
    graph = read(place / "edges.csv", place / "nodes.csv", label="club")
    data = trainable(graph)
    assert data.x.shape[0] == 34
    assert data.y.tolist() == graph.y.tolist()
    with pytest.raises(ValueError, match="there is nothing to train on"):
        trainable(read([("a", "b")]))


def test_the_estimate_of_the_linear_head_is_near_what_a_fit_takes():
    """In time of one core, which others that use the machine do not change."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for name in ("cora", "planted"):
            graph = read(load("cora", sparse=True)) if name == "cora" else read(planted(600, classes=4, seed=0))
            x = graph.features()
            cells = x.nnz if sp.issparse(x) else x.size
            y = np.where(np.arange(graph.num_nodes) % 5 == 0, graph.y, -1)
            guess = estimates(graph.adjacency, x.shape[1], int((y >= 0).sum()), len(graph.classes), cells)[0]
            began = time.process_time()
            PANClassifier("linear").fit(graph, y)
            took = time.process_time() - began
            print(f"{name}: {guess.seconds:.2f} s estimated, {took:.2f} s taken: {guess.seconds / took:.2f}")
            assert 1 / 5 < guess.seconds / took < 5
    finally:
        torch.set_num_threads(threads)


def test_estimates_grow_with_the_work(place):
    adj = read(place / "edges.csv").adjacency
    small, large = estimates(adj, 4, 20, 2, 100), estimates(adj, 400, 2000, 9, 100_000)
    for one, other in zip(small, large, strict=True):
        assert one.model == other.model
        assert one.bytes < other.bytes
    assert small[0].seconds < large[0].seconds
