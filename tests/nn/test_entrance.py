"""What happens to the features before the first matrix, by hand with dense matrices."""

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch_geometric.nn import LayerNorm

from panconv import PAN, Adjacency
from panconv.compute.features import SparseRows
from panconv.nn.entrance import entering_from

EDGES = TRIANGLE_AND_TAIL
X = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
FORMS = {"dense": lambda x: x, "csr": lambda x: x.to_sparse_csr(), "rows": lambda x: SparseRows.of(x.to_sparse())}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("trials", [None, 2])
def test_propagated_before_the_matrix(form, trials):
    """W·norm(M·(1 − p)x) in evaluation, whatever the sizes."""
    model = PAN(5, 8, 3, L=3, method=3, trials=trials, inputs={"propagate": True, "drop_nodes": 0.3, "norm": "batch"})
    model.seed(range(trials or 1))
    model.eval()
    mean, var = model.entrance.norm.running_mean.uniform_(-1, 1), model.entrance.norm.running_var.uniform_(0.5, 2)
    adj, scores = Adjacency.of(EDGES), model(FORMS[form](X), EDGES)
    for s in range(trials or 1):
        one = model if trials is None else model.trial(s)
        M, at = [conv.met(adj).to_dense() for conv in one.convs], slice(None) if trials is None else s
        entered = (M[0] @ (0.7 * X) - mean[at]) / (var[at] + 1e-5).sqrt()
        hidden = (entered @ one.convs[0].lin.weight + one.convs[0].bias).relu()
        expected = M[1] @ hidden @ one.convs[1].lin.weight + one.convs[1].bias
        torch.testing.assert_close(scores[:, at], expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "words",
    [
        {"inputs": {"drop_nodes": [0.1, 0.5, 0.7], "dropout": [0.0, 0.3, 0.6], "propagate": True, "norm": "layer"}},
        {"inputs": {"drop_nodes": [0.1, 0.5, 0.7], "dropout": 0.2}, "dropout": [0.3, 0.5, 0.8]},
        {"inputs": {"drop_nodes": 0.4, "propagate": True}, "residual": "layer"},
        {"inputs": {"drop_nodes": 0.4, "dropout": [0.0, 0.3, 0.6]}, "residual": "input", "norm": "batch"},
    ],
)
def test_each_trial_is_as_it_is_alone(form, words):
    model = PAN(5, 4, 3, trials=3, **words)
    model.seed([3, 1, 4])
    for training in (True, False):
        model.train(training)
        ones = [model.trial(s) for s in range(3)]
        model.key([3, 1, 4], 2)
        together = model(FORMS[form](X), EDGES)
        for s, (one, seed) in enumerate(zip(ones, [3, 1, 4], strict=True)):
            one.key([seed], 2)
            torch.testing.assert_close(one(FORMS[form](X), EDGES), together[:, s], rtol=1e-4, atol=1e-5)


LAW = {"kind": "power-law", "alpha": 1.0, "temperature": 2.0, "trained": False}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("nearest", [None, 4])
@pytest.mark.parametrize("method", [1, 7, 10, 11])
def test_averaged_is_the_mean_over_the_nodes_that_are_left(method, nearest, form):
    """(Σⱼ Mᵢⱼεⱼxⱼ) / (Σⱼ Mᵢⱼεⱼ) while training, and M·x otherwise, whose rows add up to 1."""
    inputs = {"drop_nodes": 0.5, "propagate": True, "averaged": True, "nearest": nearest, "dropout": 0.0}
    model = PAN(5, 4, 3, 1, L=2, method=method, weights=LAW, trials=2, inputs=inputs)
    model.seed([0, 1])
    M, W = model.trial(0).convs[0].met(Adjacency.of(EDGES)).to_dense(), model.convs[0].lin.weight
    torch.testing.assert_close(M.sum(1), torch.ones(4))
    patterns = set()
    for step in range(12):
        model.train().key([0, 1], step)
        scores, left = model(FORMS[form](X), EDGES), model.entrance.drop_nodes.factor(X)  # (4, 2, 1): 1 or 0
        for s in range(2):
            e = left[:, s, 0] if left.dim() == 3 else left[:, 0]
            total = M @ e
            mean = (M @ (e.unsqueeze(1) * X)) / total.where(total > 0, 1).unsqueeze(1)
            torch.testing.assert_close(scores[:, s], mean @ W[s])
            patterns.add(tuple(e.tolist()))
    assert len(patterns) > 4
    model.eval()
    torch.testing.assert_close(model(FORMS[form](X), EDGES)[:, 1], M @ X @ W[1])


@pytest.mark.parametrize("nearest", [None, 4])
def test_a_mean_needs_entries_that_are_not_negative(nearest):
    inputs = {"drop_nodes": 0.5, "propagate": True, "averaged": True, "nearest": nearest}
    signed = Adjacency.from_edge_index(EDGES, torch.full((EDGES.size(1),), -0.1), num_nodes=4)
    ours = PAN(5, 4, 3, 1, L=1, method=7, weights=LAW, inputs=inputs)
    signed_paths = PAN(5, 4, 3, 1, L=1, method=7, weights=[1.0, -0.1], inputs=inputs)
    for model, graph in ((ours, signed), (signed_paths, EDGES)):
        with pytest.raises(ValueError, match="averaged needs edge weights and path weights that are not negative"):
            model.train()(X, graph)
        assert bool(model.eval()(X, graph).isfinite().all())


def test_nodes_are_dropped_before_they_are_propagated():
    """Each row of M·x is a sum of rows of x, of which some are missing: columns of M that are there or not."""
    model = PAN(5, 4, 3, 1, L=1, inputs={"drop_nodes": 0.5, "propagate": True}, dropout=0.0, weights=[0.0, 1.0])
    M, W, b = model.convs[0].met(Adjacency.of(EDGES)).to_dense(), model.convs[0].lin.weight, model.convs[0].bias
    seen = set()
    for epoch in range(20):
        model.key([0], epoch)
        out = model(X, EDGES)
        those = [
            kept for kept in range(16)
            if torch.allclose(M @ (X * torch.tensor([[kept >> i & 1] for i in range(4)])) @ W + b, out, atol=1e-5)
        ]  # fmt: skip
        assert len(those) == 1
        seen.update(those)
    assert len(seen) > 5


def test_the_layer_beside_takes_the_features_as_they_are():
    model = PAN(5, 8, 3, 1, inputs={"propagate": True}, residual="layer").eval()
    conv = model.convs[0]
    expected = conv.met(Adjacency.of(EDGES)) @ X @ conv.lin.weight + conv.bias + X @ model.residuals[0].weight
    torch.testing.assert_close(model(X, EDGES), expected)


def test_a_norm_is_told_which_graph_a_node_is_in():
    model = PAN(5, 8, 3, 1, inputs={"propagate": True, "norm": "layer"}).eval()
    assert model.supports_norm_batch
    x, edges, batch = torch.cat([X, 3 * X]), torch.cat([EDGES, EDGES + 4], 1), torch.arange(8) // 4
    conv = model.convs[0]
    entered = LayerNorm(5)(conv.met(Adjacency.of(edges)) @ x, batch)
    torch.testing.assert_close(model(x, edges, batch=batch), entered @ conv.lin.weight + conv.bias)


def test_the_dropout_of_the_features_is_their_own():
    model = PAN(5, 8, 3, dropout=0.5, inputs={"dropout": 0.0})
    assert [dropout.p for dropout in model.dropouts] == [0.0, 0.5]
    model = PAN(5, 8, 3, dropout=0.5, inputs={"dropout": 0.25}, residual="input")
    assert [dropout.p for dropout in model.dropouts] == [0.25, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("x", TypeError, "inputs must be a dict of drop_nodes, dropout, .* averaged, or None"),
        ({"drop": 0.1}, ValueError, "inputs has no option 'drop', only: drop_nodes, dropout, propagate, norm, nearest"),
        ({"drop_nodes": 1.0}, ValueError, "inputs drop_nodes must be at least 0 and below 1"),
        ({"drop_nodes": [0.1, 0.2]}, ValueError, "inputs drop_nodes must be one number, for one trial, got 2 of them"),
        ({"dropout": "x"}, ValueError, "inputs dropout must be at least 0 and below 1"),
        ({"propagate": 1}, TypeError, "inputs propagate must be True or False"),
        ({"norm": "batch"}, ValueError, "inputs norm goes with propagate=True"),
        ({"averaged": True}, ValueError, "inputs averaged goes with propagate=True"),
        ({"averaged": 1, "propagate": True}, TypeError, "inputs averaged must be"),
        ({"norm": "graph", "propagate": True}, ValueError, "inputs norm must be one of batch, layer, or None"),
    ],
)
def test_what_cannot_be_done_to_features_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        entering_from(given, None)


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match="concat=True does not: choose one"):
        PAN(5, 8, 3, concat=True, inputs={"propagate": True})
    with pytest.raises(ValueError, match=r"goes with methods whose .*, got method 5: choose one of 1, 7, 1"):
        PAN(5, 8, 3, inputs={"propagate": True, "averaged": True})
    with pytest.raises(ValueError, match="in_channels must be the number of features where inputs has a norm"):
        PAN(-1, 8, 3, inputs={"propagate": True, "norm": "batch"})
