import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from panconv import PAN, Adjacency, PANClassifier, PANRegressor, Walks, read
from panconv.estimator import asked as asked_module
from panconv.estimator.asked import Around, Asked
from panconv.estimator.base import LinearModel
from panconv.estimator.deep import DeepHead, Scaling, Units
from panconv.estimator.linear import LinearHead
from panconv.estimator.penalties import Chosen
from panconv.estimator.terms import Paths

N, F, C = 200, 6, 3
ROWS = np.array([150, 3, 3, 77])


def ring(directed=False, weighted=False):
    """A long ring with a chord here and there: what lies around a node is little of it."""
    near = torch.arange(N)
    source, target = torch.cat([near, near[::7]]), torch.cat([(near + 1) % N, (near[::7] + 3) % N])
    edges = torch.stack([source, target])
    edges = edges if directed else torch.cat([edges, edges.flip(0)], 1)
    value = 0.5 + (edges.sum(0) % 5).double() if weighted else None
    return Adjacency.from_edge_index(edges, value, num_nodes=N)


@pytest.fixture(autouse=True)
def no_graph_is_small(monkeypatch):
    monkeypatch.setattr(asked_module, "SMALL", 0)


@pytest.fixture
def looked_at(monkeypatch):
    """Of how many nodes features were made, each time."""
    seen = []
    make = Asked.x

    def watched(self, rows=None):
        seen.append(self.num_nodes if rows is None else len(rows))
        return make(self, rows)

    monkeypatch.setattr(Asked, "x", watched)
    return seen


def linear(L, method=5, kind="walks"):
    """A linear head of any coefficients."""
    random = torch.Generator().manual_seed(0)
    coefs = [torch.randn(F, C, generator=random, dtype=torch.float64) for _ in range(L + 1)]
    head = LinearHead(
        coefs, torch.arange(C).double(), "even", Chosen(1.0, 0.0, {}, torch.empty(0, C), torch.empty(0)), {}
    )
    return LinearModel(head, Paths(L, method, kind))


def deep(**options):
    """An ensemble of any weights."""
    model = PAN(F, 4, C, trials=3, **options).eval()
    model.seed([0, 1, 2])
    return DeepHead(model, Scaling(np.zeros(F), np.ones(F)), Units(torch.ones(C).double(), torch.ones(C).double()), 1)


def asked(adj, dtype=np.float64):
    return Asked.of(adj, np.random.default_rng(0).normal(size=(N, F)).astype(dtype), None)


@pytest.mark.parametrize("method", range(1, 12))
@pytest.mark.parametrize("kind", ["walks", "shortest", "self_avoiding"])
@pytest.mark.parametrize("directed", [False, True])
def test_few_nodes_as_on_the_whole_graph(method, kind, directed, looked_at):
    graph, model = asked(ring(directed, weighted=kind == "walks")), linear(2, method, kind)
    whole = model.decision(graph.whole())
    looked_at.clear()
    torch.testing.assert_close(model.decided(graph, ROWS), whole[ROWS], rtol=1e-9, atol=1e-9)
    assert len(looked_at) == 1
    assert looked_at[0] < N / 3
    assert model.decided(graph, ROWS[:0]).shape == (0, C)


def test_paths_of_a_users_own_are_taken_on_the_whole_graph(looked_at):
    graph, model = asked(ring()), linear(2, kind=Walks)
    found = model.decided(graph, ROWS)
    assert looked_at == [N]
    torch.testing.assert_close(found, linear(2).decided(graph, ROWS), rtol=1e-9, atol=1e-9)


def test_where_most_of_the_graph_is_near_it_is_taken_whole(looked_at):
    graph, model = asked(ring()), linear(40)
    found = model.decided(graph, ROWS)
    assert looked_at == [N]
    torch.testing.assert_close(found, model.decision(graph.whole())[ROWS], rtol=0, atol=0)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_few_features_at_a_time(sparse, monkeypatch):
    graph, model = asked(ring()), linear(2)
    if sparse:
        graph = graph._replace(names=graph.names._replace(x=sp.csr_matrix(graph.names.x)))
    whole = model.decided(graph, None)
    monkeypatch.setattr(asked_module, "AT_ONCE", N * 100)
    widths = []
    decision = LinearModel.decision
    monkeypatch.setattr(LinearModel, "decision", lambda s, nodes: widths.append(nodes.x.shape[1]) or decision(s, nodes))
    torch.testing.assert_close(model.decided(graph, None), whole, rtol=1e-12, atol=1e-12)
    assert sum(widths) == F
    assert max(widths) <= 2


SETTINGS = {
    "one": {"num_layers": 1, "L": 2},
    "two": {"num_layers": 2, "L": 1, "norm": "batch", "method": 2},
    "propagated": {"num_layers": 1, "L": 2, "jk": "last", "inputs": {"propagate": True}},
    "graph": {"num_layers": 2, "L": 1, "norm": "layer"},  # which looks at all nodes
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_deep_head_in_blocks(name, looked_at, monkeypatch):
    graph, model = asked(ring(weighted=True), np.float32), deep(**SETTINGS[name])
    whole = model.decision(graph.whole())
    looked_at.clear()
    torch.testing.assert_close(model.decided(graph, None), whole, rtol=0, atol=0)
    torch.testing.assert_close(model.decided(graph, ROWS), whole[ROWS], rtol=1e-5, atol=1e-5)
    assert looked_at[0] == N
    assert (looked_at[1] < N / 3) == (name != "graph")
    looked_at.clear()
    monkeypatch.setattr(asked_module, "AT_ONCE", 24 * 12 * 60)  # sixty nodes
    torch.testing.assert_close(model.decided(graph, None), whole, rtol=1e-5, atol=1e-5)
    assert (max(looked_at) <= 60) == (name != "graph")
    torch.testing.assert_close(model.decided(graph, ROWS), whole[ROWS], rtol=1e-5, atol=1e-5)
    monkeypatch.setattr(asked_module, "_TIMES", 0.5)  # blocks are too much work
    looked_at.clear()
    torch.testing.assert_close(model.decided(graph, None), whole, rtol=1e-5, atol=1e-5)
    assert looked_at[-1] == N


def test_batches_are_of_each_node_once_and_as_large_as_fits():
    graph, model = asked(ring()), PAN(F, 2, C, num_layers=1, L=2)
    rows = torch.arange(0, N, 2)
    found = list(Around(graph, model).batches(rows, 50))
    assert torch.equal(torch.cat([some for some, _ in found]), rows)
    assert max(nodes.adj.num_nodes for _, nodes in found) <= 50
    assert max(len(some) for some, _ in found) > 1


def test_features_are_made_for_the_nodes_that_are_looked_at(looked_at):
    random = np.random.default_rng(0)
    ids = np.array([f"n{i}" for i in range(N)])
    edges = pd.DataFrame({"from": ids, "to": np.roll(ids, 1)})
    nodes = pd.DataFrame({"id": ids, "age": random.normal(size=N), "town": np.where(np.arange(N) % 5, "a", "b")})
    nodes["kind"] = [None if i % 3 else f"k{i // 100}" for i in range(N)]
    g = read(edges, nodes, label="kind")
    clf = PANClassifier("linear", L=2, cv=2).fit(g)
    found = clf.predict_proba(graph=g, nodes=["n5", "n100"])
    assert looked_at == [2 * 5]
    np.testing.assert_allclose(found, clf.predict_proba(nodes=["n5", "n100"]), rtol=1e-6)
    numbers = PANRegressor("linear", L=1, cv=2).fit(g, np.arange(N) / N)
    np.testing.assert_allclose(numbers.predict(graph=g, nodes=["n7"]), numbers.predict(nodes=["n7"]), rtol=1e-6)
