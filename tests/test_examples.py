"""The examples run, and show what they say."""

import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

import panconv
from panconv import PANClassifier

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_node_classification(capsys):
    assert runpy.run_path(str(EXAMPLES / "node_classification.py"))["main"](epochs=40) > 0.75
    assert "k(n) of the first layer" in capsys.readouterr().out


def test_temperature():
    means = runpy.run_path(str(EXAMPLES / "temperature.py"))["main"]()
    assert means == sorted(means)
    assert means[0] < 0.01


def test_met_transform(capsys):
    usual, on_met = runpy.run_path(str(EXAMPLES / "met_transform.py"))["main"](epochs=20)
    assert min(usual, on_met) > 0.6
    assert "% of |M|" in capsys.readouterr().out


def test_spectrum(capsys):
    assert runpy.run_path(str(EXAMPLES / "spectrum.py"))["main"](epochs=30) > 0.6
    assert "the eigenvalue 1 occurs 78 times" in capsys.readouterr().out


def test_merw():
    rates = runpy.run_path(str(EXAMPLES / "merw.py"))["main"]()
    assert rates["maximal-entropy"] > rates["generic"] + 0.5


def test_link_prediction():
    found = runpy.run_path(str(EXAMPLES / "link_prediction.py"))["main"]()
    assert min(found.values()) > 0.75


def test_communities():
    found = runpy.run_path(str(EXAMPLES / "communities.py"))["main"]()
    assert all(modularity > 0.7 and shared > 0.15 for modularity, shared in found.values())


def test_graph_regression():
    found = runpy.run_path(str(EXAMPLES / "graph_regression.py"))["main"](count=200, epochs=8)
    assert list(found) == ["no edges", "GIN", "PAN"]
    assert found["PAN"] > 0.5


def test_the_readme_runs(tmp_path, monkeypatch):
    edges = [f"node-{i},node-{(i + step) % 20}\n" for i in range(20) for step in (2, 4)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(edges))
    nodes = [f"node-{i},{'ab'[i % 2] if i < 4 else ''}\n" for i in range(20)]
    (tmp_path / "nodes.csv").write_text("id,topic\n" + "".join(nodes))
    monkeypatch.chdir(tmp_path)
    text = (EXAMPLES.parent / "README.md").read_text()
    names: dict[str, object] = {}
    for block in text.split("```python\n")[1:]:
        exec(block.split("```")[0], names)
    assert names["out"].shape == (2708, 7)
    assert names["panconv"].load_model(tmp_path / "model").predict(graph=names["g"], nodes=["node-17"]) == "b"


def test_localisation(tmp_path):
    even, gathered = runpy.run_path(str(EXAMPLES / "localisation.py"))["main"](str(tmp_path / "localisation.png"))
    assert even < 1e-3  # on a lattice without defects every node is alike
    assert gathered > 3
    assert (tmp_path / "localisation.png").stat().st_size > 10_000


def test_paths(capsys):
    found = runpy.run_path(str(EXAMPLES / "paths.py"))["main"]()
    assert found["Walks"][:2] == found["ShortestPaths"][:2] == found["SelfAvoidingPaths"][:2] == [2708, 10556]
    assert found["Walks"][3] > found["SelfAvoidingPaths"][3] > found["ShortestPaths"][3]
    assert "E(l) = l^2" in capsys.readouterr().out


def test_layers():
    found = runpy.run_path(str(EXAMPLES / "layers.py"))["main"](epochs=15)
    assert len(found) == 10
    assert min(found.values()) > 0.25
    assert found["PANConv, method 5"] > 0.5


def test_filters():
    kinds = runpy.run_path(str(EXAMPLES / "filters.py"))["main"]()
    assert set(kinds.values()) == {("all-pass", "low-pass")}


def test_cutoff():
    factors = runpy.run_path(str(EXAMPLES / "cutoff.py"))["main"](("citeseer",), long=200)
    assert min(factors) >= 1 - 1e-9
    assert max(factors) < 100


def test_mini_batches(capsys):
    accuracy, apart = runpy.run_path(str(EXAMPLES / "mini_batches.py"))["main"](epochs=10)
    assert accuracy > 0.7
    assert apart < 1e-5
    assert "a node looks 4 hops far, 3 where" in capsys.readouterr().out


def test_explain(capsys):
    assert runpy.run_path(str(EXAMPLES / "explain.py"))["main"](explained=2) > 0.7
    assert "of 5 edges within two steps" in capsys.readouterr().out


def test_export_onnx(capsys):
    pytest.importorskip("onnxruntime")
    assert runpy.run_path(str(EXAMPLES / "export_onnx.py"))["main"](epochs=5) < 1e-5
    assert "largest difference between torch and onnxruntime" in capsys.readouterr().out


def test_random_propagation(capsys):
    found = runpy.run_path(str(EXAMPLES / "random_propagation.py"))["main"](epochs=25)
    assert min(found.values()) > 0.6
    assert "three draws that agree: validation accuracy" in capsys.readouterr().out


def test_graph_classification(capsys):
    found = runpy.run_path(str(EXAMPLES / "graph_classification.py"))["main"](count=120, epochs=15, folds=3)
    assert found.keys() == {"PAN", "GIN", "no edges"}
    assert found["PAN"] > found["no edges"]
    assert "degrees, one-hot" in capsys.readouterr().out


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A model of two circles of friends, and what answers for it."""
    place = tmp_path_factory.mktemp("served")
    pairs = [(f"p{i}", f"p{j}") for i in range(40) for j in range(i) if i % 2 == j % 2 and (i * j) % 5 == 1]
    (place / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    rows = (f"p{i},{i % 2 + 0.7 * (i % 7)},{'xy'[i % 11 % 2] if i % 3 else ''}\n" for i in range(40))
    (place / "nodes.csv").write_text("id,age,label\n" + "".join(rows))
    files = place / "edges.csv", place / "nodes.csv"
    PANClassifier("linear").fit(panconv.read(*files)).save(place / "model")
    names = runpy.run_path(str(EXAMPLES / "serve.py"))
    return names, names["Answerer"](place / "model", *files), place


NEW = {"ids": ["new", "p3"], "nodes": [{"id": "new", "age": 1.2}], "edges": [["new", "p1"], ["new", "p3"]]}


def test_serve_answers_for_nodes_that_it_has_never_seen(served):
    _, answerer, _ = served
    found = answerer(*NEW.values())
    assert set(found["new"]) == {"x", "y"}
    assert found["new"]["y"] != found["p3"]["y"]
    assert sum(found["p3"].values()) == pytest.approx(1)
    assert answerer(["p3"], [], []) != {"p3": found["p3"]}  # which has a friend more
    assert len(answerer.nodes) == 40
    with pytest.raises(ValueError, match="no such id"):
        answerer(["nobody"], [], [])


def test_serve_starts_by_itself():
    done = subprocess.run([sys.executable, EXAMPLES / "serve.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "python examples/serve.py MODEL EDGES NODES\n")


def test_serve_reads_tables_as_people_have_them(served, tmp_path):
    """Neither need the ends come first, nor commas stand between cells, nor the id be called so."""
    names, _, place = served
    lines = (place / "edges.csv").read_text().splitlines()[1:]
    edges = "".join(f"2024-01-{1 + i % 28:02};{line.replace(',', ';')};{1 + i % 3},5\n" for i, line in enumerate(lines))
    (tmp_path / "edges.csv").write_text(f"when;from;to;weight\n{edges}")
    rows = [line.split(",") for line in (place / "nodes.csv").read_text().splitlines()[1:]]
    cells = "".join(f"{label};{age.replace('.', ',')};0{i % 3};{id}\n" for i, (id, age, label) in enumerate(rows))
    (tmp_path / "nodes.csv").write_text(f"label;age;code;name\n{cells}")
    files = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    graph = panconv.read(*files)
    assert {name: one.kind for name, one in graph.columns.items()} == {"age": "number", "code": "category"}
    PANClassifier("linear").fit(graph).save(tmp_path / "model")
    answerer = names["Answerer"](tmp_path / "model", *files)
    again = answerer.with_new([], [])
    assert torch.equal(again.adjacency.to_dense(), graph.adjacency.to_dense())
    assert np.array_equal(again.features(), graph.features())
    new = [{"id": "new", "age": 1.2, "code": "01"}]
    near, far = (answerer(["new"], new, [["new", "p1", w], ["new", "p3", 1.0]])["new"] for w in (0.5, 50.0))
    assert near != far
    for wrong in ([["new", "p1"]], [["new", "p1", None]]):
        with pytest.raises(ValueError, match=r"row \d+, column 'weight': the weight '' is no finite number"):
            answerer(["new"], new, wrong)
    assert set(answerer(["p1"], new, [])["p1"]) == {"x", "y"}


def test_serve_reads_tables_as_the_model_was_told(served, tmp_path):
    """The two columns of ends do not come first, and edges lead one way."""
    names, answerer, place = served
    place = shutil.copytree(place, tmp_path / "place")
    lines = (place / "edges.csv").read_text().splitlines()[1:]
    (place / "edges.csv").write_text("note,payer,payee\n" + "".join(f"x,{line}\n" for line in lines))
    run = '[graph]\nedges = "../edges.csv"\nsource = "payer"\ntarget = "payee"\nlabel = "gone"\ndirected = true\n'
    (place / "model" / "run.toml").write_text(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model learned from edges that lead both ways
        told = names["Answerer"](place / "model", place / "edges.csv", place / "nodes.csv")
        assert told.graph.directed
        assert told.graph.num_edges == answerer.graph.num_edges
        assert set(told(*NEW.values())["new"]) == {"x", "y"}


def test_serve_over_http(served):
    pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install fastapi httpx2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its client has opinions on which version of httpx there should be
        try:
            from fastapi.testclient import TestClient
        except RuntimeError as error:
            pytest.skip(f"FastAPI's TestClient lacks something: {error}")
    names, answerer, _ = served
    client = TestClient(names["app"](answerer))
    reply = client.post("/predict", json=NEW)
    assert reply.status_code == 200
    assert reply.json() == answerer(*NEW.values())
    for wrong in ({"ids": ["nobody"]}, {"ids": []}, {}, {"ids": ["p1"], "nodes": [{"id": "p1", "age": 99}]}):
        reply = client.post("/predict", json=wrong)
        assert reply.status_code == 422
    assert "the id 'p1' stood in row 2" in reply.json()["detail"]
