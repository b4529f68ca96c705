from itertools import product

import numpy as np
import pytest
import torch
from enumerated_paths import assert_best, factors
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import METHODS, PAN, Adjacency
from panconv.estimator.explaining import deep_paths, explain_model
from panconv.met.methods import METHODS as RULES

KINDS = ("walks", "shortest", "self_avoiding")
F, H, C, S = 3, 2, 2, 2
COMPLETE = {
    "one layer": {"num_layers": 1, "jk": "last", "inputs": {"propagate": True, "drop_nodes": 0.4}},
    "one, with all": {"num_layers": 1, "residual": "layer", "concat": True, "jk": "last", "norm": "batch"},
    "one, to the input": {"num_layers": 1, "residual": "input"},
    "two": {"trials": 2, "act": "leaky_relu"},
    "two, with all": {"residual": "layer", "concat": True, "jk": "cat", "norm": "batch", "act_first": True},
    "two, to the input": {"residual": "input", "jk": "max", "trials": 2},
}


def made(seed=0, **options):
    torch.manual_seed(seed)
    model = PAN(F, H, C, **options).double().eval()
    for p in model.parameters():
        if p.requires_grad:
            p.data += 0.3 * torch.randn_like(p)
    return model


def problem(graph):
    random = np.random.default_rng(graph.num_nodes)
    x = torch.from_numpy(random.normal(size=(graph.num_nodes, F)))
    return Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes), x


def every_path(model, A, adj, x, row, c):
    """What each path through the two layers of plain trials adds, by its nodes and where in them the middle one is."""
    values = {}
    for s in range(S):
        alone = model.trial(s)
        first, second = alone.layers()
        how = first.method, first.paths
        gates = (alone.hidden(x, adj)[0] > 0).double()
        maps = [conv.lin.weight.detach().unflatten(-1, (-1, conv.out_channels)) for conv in (first, second)]
        maps = [W.expand(-1, first.L + 1, -1) for W in maps]
        ahead = {m: factors(A, m, first.weights().detach(), *how) for m in range(len(A))}
        for way, by in factors(A, row, second.weights().detach(), *how).items():
            m, n = way[-1], len(way) - 1
            for rest, then in ahead[m].items():
                heard = x[rest[-1]] @ maps[0][:, len(rest) - 1]
                value = by * then * float((heard * gates[m]) @ maps[1][:, n, c]) / S
                values[way + rest[1:], n] = values.get((way + rest[1:], n), 0) + value
    return values


@settings(max_examples=20)
@given(
    graphs(min_nodes=1, max_nodes=4, zeros=False),
    st.sampled_from([(m, k, cat) for m, k, cat in product(METHODS, KINDS, (False, True))]),
    st.integers(0, 2),
    st.data(),
)
def test_the_best_through_two_layers_are_those_of_all(graph, how, L, data):
    (method, kind, concat), row = how, data.draw(st.integers(0, graph.num_nodes - 1))
    weights = "boltzmann" if RULES[method].overall else "free"
    model = made(L=L, method=method, paths=kind, concat=concat, weights=weights, trials=S)
    adj, x = problem(graph)
    every = {path: value for path, value in every_path(model, graph.dense(), adj, x, row, 1).items() if value}
    sizes = np.sort([abs(value) for value in every.values()])[::-1]
    by_nodes = {}
    for (nodes, _), value in every.items():
        by_nodes.setdefault(nodes, []).append(value)
    for top in (3, 10**4):
        found = explain_model(model, x, adj, row, 1, top=top).paths
        np.testing.assert_allclose([abs(value) for _, value in found], sizes[:top], rtol=1e-9)
        for nodes, value in found:
            assert min(abs(value - other) for other in by_nodes[nodes]) <= 1e-9 * abs(value)


@pytest.mark.parametrize("kw", COMPLETE.values(), ids=COMPLETE)
@pytest.mark.parametrize("method", [2, 3, 5])
def test_all_paths_together_are_all_parts(kw, method):
    edges = torch.tensor([[0, 1, 1, 2, 0, 2, 3, 3], [1, 0, 2, 1, 2, 0, 3, 1]])  # node 4 is alone, and 3 has a loop
    adj, x = Adjacency.from_edge_index(edges, num_nodes=5), torch.randn(5, F, dtype=torch.float64)
    model = made(3, L=2, method=method, **{"num_layers": 2, **kw})
    for row in (1, 4):
        one = explain_model(model, x, adj, row, 0, top=10**5)
        assert one.bias + sum(value for _, value in one.paths) == pytest.approx(one.score, abs=1e-9)
        ends, lengths = dict.fromkeys(range(5), 0.0), np.zeros(len(one.lengths))
        for nodes, value in one.paths:
            assert nodes[0] == row
            ends[nodes[-1]] += value
            lengths[len(nodes) - 1] += value
        np.testing.assert_allclose(lengths, one.lengths, atol=1e-9)
        assert {name: ends[name] for name, _ in one.ends} == pytest.approx(dict(one.ends), abs=1e-9)
        few = explain_model(model, x, adj, row, 0, top=3).paths
        sizes = [abs(value) for _, value in one.paths]
        np.testing.assert_allclose([abs(value) for _, value in few], sizes[:3], rtol=1e-9)


def test_one_layer_of_several_seeds_of_their_own_weights():
    edges = torch.tensor([[0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0]])
    adj, x = Adjacency.from_edge_index(edges), torch.randn(3, F, dtype=torch.float64)
    model = made(L=2, num_layers=1, method=1, weights="boltzmann", trials=S)
    values = {}
    for s in range(S):
        alone = model.trial(s).layers()[0]
        for path, by in factors(adj.to_dense(), 0, alone.weights().detach(), 1, "walks").items():
            values[path] = values.get(path, 0) + by * float(x[path[-1]] @ alone.lin.weight[:, 1].detach()) / S
    assert_best(explain_model(model, x, adj, 0, 1, top=4).paths, values, 4)


def test_few_middle_nodes_are_looked_at(monkeypatch):
    N = 60
    ring = torch.arange(N)
    adj = Adjacency.from_edge_index(torch.stack([torch.cat([ring, (ring + 1) % N]), torch.cat([(ring + 1) % N, ring])]))
    x = torch.randn(N, F, dtype=torch.float64)
    x[0] *= 100
    model, middles = made(L=8, method=3), []
    through = deep_paths._Two._through
    monkeypatch.setattr(deep_paths._Two, "_through", lambda *given: middles.append(given[2]) or through(*given))
    assert len(explain_model(model, x, adj, 0, 1, top=3).paths) == 3
    assert len(middles) < 40  # of 9 · 17 lengths and middle nodes


def test_a_far_node_that_is_loud_is_heard_first():
    chain, x = torch.tensor([[1, 2, 3, 4, 4], [0, 1, 2, 3, 0]]), torch.zeros(5, F, dtype=torch.float64)
    x[3], x[4] = 100.0, 0.01  # node 4 is heard at once, node 3 by one way alone
    one = explain_model(made(L=2, method=5, act=None), x, Adjacency.from_edge_index(chain), 0, 1, top=1)
    assert one.paths[0].nodes == (0, 1, 2, 3)


def test_what_stays_where_it_is_comes_first_however_little_passes_the_layers():
    edges, x = torch.tensor([[0, 1], [1, 0]]), torch.tensor([[1.0] * F, [10.0] * F], dtype=torch.float64)
    model = made(L=1, weights=[1e-6, 1e-3], residual={"kind": "input", "share": 0.9}, act=None)
    every, one = (explain_model(model, x, Adjacency.from_edge_index(edges), 0, 1, top=top) for top in (100, 1))
    assert one.paths == every.paths[:1]
    assert one.paths[0].nodes == (0,)


def test_of_more_layers_no_paths_are_listed():
    adj, x = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]])), torch.randn(2, F, dtype=torch.float64)
    assert explain_model(made(num_layers=3), x, adj, 0, 1).paths == ()
