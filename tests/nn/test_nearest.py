import copy
import pickle

import pytest
import torch
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st
from two_communities import small

from panconv import MET, PAN, Adjacency, Walks
from panconv.compute.features import SparseRows
from panconv.nn import nearest as module
from panconv.nn.nearest import _TABLES, Nearest
from panconv.weights import weights_from

WARM = [0.4, 0.3, 0.2, 0.1]


@given(graph=graphs(), method=st.sampled_from([1, 2, 3, 5, 6, 8, 9]), seed=st.integers(0, 9))
def test_with_all_entries_it_is_the_product(graph, method, seed):
    torch.manual_seed(seed)
    N, x = graph.num_nodes, torch.rand(graph.num_nodes, 3)
    M = MET(Walks(Adjacency.of(graph.edge_index, graph.edge_weight, N), 3), WARM, method)
    rows, factor = torch.randint(max(N, 1), (4 if N else 0, 1)), (torch.rand(N, 1) < 0.5).float()
    found = Nearest(9)(M).times(x, rows, factor)
    torch.testing.assert_close(found.squeeze(1), (M @ (factor * x))[rows.squeeze(1)], rtol=1e-4, atol=1e-5)


def test_the_largest_entries_make_up_for_the_others():
    data = small()
    M = MET(Walks(Adjacency.of(data.edge_index), 3), WARM)
    table, dense = Nearest(5)(M), M.to_dense()
    assert table.node.shape == (1, 40, 5)
    for i in range(40):
        largest = dense[i].topk(5)
        assert set(table.node[0, i].tolist()) == set(largest.indices.tolist())
        expected = largest.values * dense[i].sum() / largest.values.sum()
        torch.testing.assert_close(table.value[0, i].sort(descending=True).values, expected.float())


def test_trials_of_different_weights_and_lengths():
    data, x = small(), torch.rand(40, 3)
    walks, columns = Walks(Adjacency.of(data.edge_index), 3), [WARM, [0.5, 0.5, 0.0, 0.0], WARM]
    M, rows = MET(walks, torch.tensor(columns).T.tolist()), torch.randint(40, (6, 3))
    nearest, factor = Nearest(7), torch.rand(40, 3)
    found = nearest(M).times(x, rows, factor)
    assert nearest(M).node.shape[0] == 2  # what two trials share is found once
    for s, column in enumerate(columns):
        alone = Nearest(7)(MET(walks, column)).times(x, rows[:, [s]], factor[:, [s]])
        torch.testing.assert_close(found[:, s], alone[:, 0])


def test_another_graph_has_another_table():
    data, other, nearest = small(), small(seed=1), Nearest(5)
    first, second = (MET(Walks(Adjacency.of(each.edge_index), 3), WARM) for each in (data, other))
    assert not torch.equal(nearest(first).node, nearest(second).node)
    torch.testing.assert_close(nearest(first), Nearest(5)(first))


def test_a_graph_keeps_some_tables(monkeypatch):
    monkeypatch.setattr(module, "_KEPT", 5 * 40 * 3 * (8 + 4))
    walks = Walks(Adjacency.of(small().edge_index), 1)
    for i in range(7):
        M = MET(walks, [1.0, 0.1 * (i + 1)])
        nearest = Nearest(3)
        assert nearest(M) is nearest(M)
    assert len(_TABLES[M.paths.adj]) == 5


def test_in_double_precision():
    data = small()
    M, x, rows = MET(Walks(Adjacency.of(data.edge_index), 3), WARM), torch.rand(40, 3).double(), torch.arange(40)
    found = Nearest(40)(M, torch.float64).times(x, rows.unsqueeze(1))
    torch.testing.assert_close(found.squeeze(1), M @ x, rtol=1e-13, atol=1e-14)


def test_sparse_features_are_made_dense_once():
    x, nearest = SparseRows.of(small(sparse=True).x), Nearest(3)
    first = nearest.dense(x)
    assert nearest.dense(x) is first
    x.value.mul_(2)
    torch.testing.assert_close(nearest.dense(x), 2 * first)
    assert nearest.dense(x) is not first


@pytest.mark.parametrize("trials", [None, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_whoever_evaluates_takes_m_itself(trials, sparse):
    data = small(sparse)
    inputs = {"propagate": True, "drop_nodes": 0.3}
    options = {"num_layers": 1, "L": 3, "weights": WARM, "jk": "last", "trials": trials}
    model = PAN(6, 8, 2, inputs={**inputs, "nearest": 2}, **options)
    whole = PAN(6, 8, 2, inputs=inputs, **options)
    whole.load_state_dict(model.state_dict())
    adj = Adjacency.of(data.edge_index)
    torch.testing.assert_close(model.eval()(data.x, adj), whole.eval()(data.x, adj))
    keys = torch.arange(trials or 1)
    for each in (model.train(), whole.train()):
        each.key(keys, 1)
    assert not torch.allclose(model(data.x, adj), whole(data.x, adj))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.key(keys, 1)
        torch.testing.assert_close(other(data.x, adj), model(data.x, adj))


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("trials", [None, 2])
@pytest.mark.parametrize("words", [{"inputs": {"propagate": True}, "jk": "last"}, {"num_layers": 2}, {"norm": "batch"}])
def test_scores_of_some_nodes(words, trials, own):
    data, S = small(), trials or 1
    model = PAN(6, 8, 2, trials=trials, **{"num_layers": 1, "L": 3, "weights": WARM, **words}).eval()
    rows = torch.randint(40, (5, S)) if own else torch.tensor([3, 0, 3])
    scores, found = model(data.x, data.edge_index), model(data.x, data.edge_index, rows=rows)
    for s in range(S):
        mine = rows[:, s] if own else rows
        all_of_it, some = (scores[:, s], found[:, s]) if trials else (scores, found)
        torch.testing.assert_close(some, all_of_it[mine])


@given(graph=graphs(min_nodes=1, zeros=False), method=st.sampled_from([5, 8, 9]))
def test_trained_weights(graph, method):
    """With all entries, the product and its derivative are those of M."""
    torch.manual_seed(0)
    N, k = graph.num_nodes, torch.tensor([0.5, -0.2, 0.4, 0.1], requires_grad=True)
    weights = weights_from({"kind": "free", "k": k.tolist()}, 3)
    M, x = MET(Walks(Adjacency.of(graph.edge_index, graph.edge_weight, N), 3), weights, method), torch.rand(N, 3)
    found, expected = Nearest(9)(M).times(x, torch.arange(N).unsqueeze(1)).squeeze(1), M @ x
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    y = torch.rand(N, 3)
    a, b = (torch.autograd.grad((each * y).sum(), list(weights.parameters()))[0] for each in (found, expected))
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_trained_weights_keep_their_nodes():
    data, x = small(), torch.rand(40, 3)
    weights = weights_from({"kind": "power-law", "alpha": 1.0, "temperature": 1.0, "trained": True}, 3)
    M, nearest, rows = MET(Walks(Adjacency.of(data.edge_index), 3), weights), Nearest(4), torch.arange(40).unsqueeze(1)
    before, first = nearest(M), nearest(M).times(x, rows)
    with torch.no_grad():
        weights.log_temperature += 1
    assert nearest(M).node is before.node
    assert not torch.allclose(nearest(M).times(x, rows), first)


def by_nearest(trials=None, weights=WARM, **words):
    inputs = {"propagate": True, "nearest": 4, "dropout": 0.0}
    return PAN(6, 8, 2, 1, L=3, weights=weights, jk="last", dropout=0.0, trials=trials, inputs=inputs, **words)


@pytest.mark.filterwarnings("ignore")
def test_compiled():
    data = small()
    model, other = by_nearest(), by_nearest(weights=[0.1, 0.2, 0.3, 0.4])
    adj = Adjacency.of(data.edge_index)
    compiled = torch.compile(model, backend="aot_eager")
    torch.testing.assert_close(compiled(data.x, adj), model(data.x, adj))
    model.load_state_dict(other.state_dict())
    torch.testing.assert_close(compiled(data.x, adj), other(data.x, adj))
    with pytest.raises(Exception, match=r"call model.eval\(\) before torch.export"):
        torch.export.export(model, (data.x, adj))


def test_a_norm_that_looks_at_other_nodes_sees_them_all():
    class Centred(torch.nn.Module):
        def forward(self, x):
            return x - x.mean(0)

    data = small()
    model = PAN(6, 8, 2, 1, jk="last", L=3, weights=WARM, norm=Centred(), inputs={"propagate": True}).eval()
    rows = torch.tensor([3, 0])
    torch.testing.assert_close(model(data.x, data.edge_index, rows=rows), model(data.x, data.edge_index)[rows])


def test_a_model_that_was_saved_whole_before_there_was_any():
    data, model = small(), PAN(6, 8, 2, 1, jk="last", inputs={"propagate": True})
    del model.entrance.__dict__["nearest"]
    assert model.train()(data.x, data.edge_index).shape == (40, 2)


def test_rows_are_checked():
    data = small()
    for model in (by_nearest(3), PAN(6, 8, 2, trials=3)):
        for rows, error, words in (
            (
                data.train_mask,
                TypeError,
                r"rows must be a tensor of node numbers, \(n,\) or \(n, 3\), got .* take mask",
            ),
            ([1, 2], TypeError, "rows must be a tensor of node numbers"),
            (torch.zeros(4, 1, dtype=torch.long), ValueError, r"of shape \(n,\) or \(n, 3\), got shape \(4, 1\)"),
            (torch.tensor([0, -1]), ValueError, "rows must be between 0 and 39, got -1 … 0"),
            (torch.tensor([40]), ValueError, "rows must be between 0 and 39, got 40 … 40"),
        ):
            with pytest.raises(error, match=words):
                model(data.x, data.edge_index, rows=rows)


def test_what_cannot_be():
    data = small()
    weight = torch.ones(data.edge_index.size(1), requires_grad=True)
    with pytest.raises(ValueError, match="inputs nearest goes with edge weights that nobody trains: detach them"):
        by_nearest()(data.x, data.edge_index, weight)
    with pytest.raises(ValueError, match=r"features that all trials share, \(N, F\), got shape \(40, 3, 6\)"):
        by_nearest(3)(data.x.unsqueeze(1).expand(-1, 3, -1), data.edge_index)
    with pytest.raises(ValueError, match="inputs nearest goes with fixed path weights where something is divided by"):
        by_nearest(method=1, weights=None)
    law = {"kind": "power-law", "alpha": 1.0, "temperature": 1.0}
    with pytest.raises(ValueError, match="inputs nearest goes with paths whose steps are counted"):
        by_nearest(weights=law, paths="effective", method=1)
    with pytest.raises(ValueError, match="inputs nearest goes with propagate=True, got nearest = 2: say both"):
        PAN(6, 8, 2, inputs={"nearest": 2})
    with pytest.raises(ValueError, match="inputs nearest must be an integer of at least 1, got 0"):
        PAN(6, 8, 2, inputs={"propagate": True, "nearest": 0})
