from functools import lru_cache

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_classes import planted

from panconv import PAN, Adjacency, PANClassifier, PANRegressor
from panconv.estimator.explaining import deep, explain_model
from panconv.estimator.explaining.gated import Gated
from panconv.nn.norms import BatchNorm

N, F, C, NODE = 40, 5, 3, 7
EXACT = 1e-9
BENT = {"kind": "power-law", "alpha": 2.0, "trained": False}


@lru_cache(maxsize=1)
def small():
    """A graph, with an isolated node, and features of which one is never negative."""
    A, X, _, _ = planted(N=N, F=F)
    X[:, 0] = abs(X[:, 0])
    A = A.tolil()
    A[3], A[:, 3] = 0, 0
    return Adjacency.of(A.tocsr()), torch.from_numpy(X)


def made(model):
    """A model whose numbers are all drawn, those of its norms too, in float64."""
    torch.manual_seed(0)
    for p in model.parameters():
        if p.requires_grad:
            p.data += 0.3 * torch.randn_like(p)
    for norm in model.modules():
        if isinstance(norm, BatchNorm):
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2)
    return model.double().eval()


def by_autograd(model, x, adj, c):
    """The score, and what each feature of each node adds: at fixed gates, its number times its gradient."""
    x = x.clone().requires_grad_()
    scores = model(x, adj).reshape(N, -1, C).mean(1)
    (slope,) = torch.autograd.grad(scores[NODE, c], x)
    return float(scores[NODE, c].detach()), (x * slope).detach().numpy()


def assert_taken_apart(model, adj, x, c=1):
    """The parts are those of autograd and each kind adds up."""
    one = explain_model(model, x, adj, NODE, c, top=0)
    score, parts = by_autograd(model, x, adj, c)
    assert one.score == pytest.approx(score, abs=EXACT)
    ends, features = np.zeros(N), np.zeros(F)
    ends[[name for name, _ in one.ends]] = [value for _, value in one.ends]
    features[[int(name[1:]) for name, _ in one.features]] = [value for _, value in one.features]
    np.testing.assert_allclose(ends, parts.sum(1), atol=EXACT)
    np.testing.assert_allclose(features, parts.sum(0), atol=EXACT)
    assert one.bias + parts.sum() == pytest.approx(score, abs=EXACT)
    assert one.bias + sum(one.lengths) == pytest.approx(score, abs=EXACT)
    return one


def preset(name, **settings):
    return PAN.preset(name).but(**settings).model(F, C, trials=2)


MODELS = {
    "general": lambda: preset("general", hidden=4),
    "deep": lambda: preset("deep", hidden=4, layers=4),
    "heterophilous": lambda: preset("heterophilous", hidden=4, layers=3, norm="batch", residual="layer"),
    "pubmed": lambda: preset("pubmed", hidden=4),  # it normalises what is propagated
    "one trial": lambda: PAN(F, 4, C, num_layers=1, L=3),
    "L = 0": lambda: PAN(F, 4, C, L=0, act_kwargs={"inplace": True}),
    "cat": lambda: PAN(F, 4, C, num_layers=3, method=1, norm="batch", jk="cat"),
    "max": lambda: PAN(F, 4, C, num_layers=3, method=2, jk="max", act_first=True, norm="batch", trials=2),
    "trained weights": lambda: PAN(F, 4, C, num_layers=3, method=7, weights="boltzmann", trials=3),
    "lengths apart": lambda: PAN(F, 4, C, num_layers=3, method=6, concat=True, residual="layer", jk="last"),
    "input and max": lambda: PAN(F, 4, C, residual="input", jk="max", norm="batch"),
    "entrance": lambda: PAN(
        F, 4, C, residual="layer", inputs={"propagate": True, "norm": "batch", "drop_nodes": 0.2}, act="leaky_relu"
    ),
    "averaged": lambda: PAN(
        F,
        4,
        C,
        method=7,
        weights={"kind": "power-law", "alpha": 1.0, "temperature": 2.0, "trained": False},
        residual="layer",
        inputs={"propagate": True, "averaged": True, "drop_nodes": 0.2},
    ),
    "shortest": lambda: PAN(F, 4, C, paths="shortest", method=3),
    "self-avoiding": lambda: PAN(F, 4, C, paths="self_avoiding", method=6, act=None),
    "effective": lambda: PAN(
        F, 4, C, method=1, paths="effective", weights={"kind": "power-law", "alpha": 1.0, "trained": False}
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_parts_are_those_of_autograd_and_add_up(name):
    adj, x = small()
    assert_taken_apart(made(MODELS[name]()), adj, x)


class Held(torch.nn.Module):
    """ReLU whose gates are those of the first run, for all runs that follow."""

    def __init__(self, layers):
        super().__init__()
        self.layers, self.gates, self.at = layers, [], -1

    def forward(self, z):
        self.at = (self.at + 1) % self.layers
        if len(self.gates) < self.layers:
            self.gates.append((z > 0).to(z))
        return z * self.gates[self.at]


@pytest.mark.parametrize(
    ("kw", "activations"),
    [
        ({"num_layers": 3, "method": 5}, 2),
        ({"num_layers": 2, "method": 9, "concat": True, "residual": "layer", "jk": "cat", "norm": "batch"}, 2),
        ({"num_layers": 3, "method": 3, "residual": "input"}, 4),
    ],
)
def test_lengths_are_the_powers_of_what_a_step_weighs(kw, activations):
    # Where no method divides by Z, a step that weighs t times as much makes of paths of n steps tⁿ times as much.
    adj, x = small()
    L, w, steps = 2, np.array([0.5, 0.8, -0.4]), 2 * kw["num_layers"]
    original = made(PAN(F, 4, C, L=L, weights=w.tolist(), **kw))
    one = assert_taken_apart(original, adj, x)
    state = {name: value for name, value in original.state_dict().items() if "weights" not in name}
    act, scales = Held(activations), np.linspace(-1, 1, steps + 1)
    added = []
    for t in (1.0, *scales):
        model = PAN(F, 4, C, L=L, weights=(w * t ** np.arange(L + 1)).tolist(), **kw).double().eval()
        model.load_state_dict(state, strict=False)
        model.act = act
        added.append(float((model(x, adj) - model(0 * x, adj))[NODE, 1].detach()))
    lengths = np.linalg.solve(np.vander(scales, increasing=True), added[1:])
    np.testing.assert_allclose(one.lengths, lengths, atol=1e-8)
    assert added[0] + one.bias == pytest.approx(one.score, abs=EXACT)


def test_no_more_is_looked_at_than_the_node_sees(monkeypatch):
    ring = torch.arange(N)
    edges = torch.stack([torch.cat([ring, (ring + 1) % N]), torch.cat([(ring + 1) % N, ring])])
    model, x, seen = made(PAN(F, 4, C, num_layers=2, L=3, method=2, weights="boltzmann")), small()[1], []
    monkeypatch.setattr(deep, "Gated", lambda net, x, row: seen.append(len(x)) or Gated(net, x, row))
    one = assert_taken_apart(model, Adjacency.of(edges), x)
    assert seen == [13]
    assert {name for name, _ in one.ends} <= {(NODE + step) % N for step in range(-6, 7)}


# ---------------------------------------------------------------------- estimators


def assert_adds_up(one, score):
    assert one.score == pytest.approx(score, rel=1e-4, abs=1e-5)  # which is computed in float32
    for parts in (one.lengths, [value for _, value in one.ends], [value for _, value in one.features]):
        assert one.bias + sum(parts) == pytest.approx(one.score, abs=EXACT * max(1, abs(one.score)))


@lru_cache(maxsize=1)
def fitted():
    A, X, y, _ = planted(N=90, p_in=0.2)
    return PANClassifier("pan", seeds=3, epochs=3, cv=3).fit(X, y, graph=A)


def test_the_deep_head_of_a_classifier():
    clf = fitted()
    one, other = clf.explain(4), clf.explain(4, label=2)
    assert one.label == clf.predict(nodes=[4])[0]
    assert_adds_up(one, clf.decision_function(nodes=[4])[0, one.label])
    assert one.probability == pytest.approx(clf.predict_proba(nodes=[4])[0, one.label], abs=1e-5)
    assert_adds_up(other, clf.decision_function(nodes=[4])[0, 2])
    assert len(one.lengths) == 11
    assert one.ends[0].name in range(90)


def test_another_graph_of_a_deep_head():
    clf, (_, X, _, _) = fitted(), planted(N=90, p_in=0.2)
    alone = sp.csr_matrix((90, 90))
    one = clf.explain(8, X=X, graph=alone)
    assert_adds_up(one, clf.decision_function(X, graph=alone, nodes=[8]).max())
    assert [part.name for part in one.ends] == [8]


def test_standardised_features_are_measured_from_their_mean():
    A, X, y, _ = planted(N=90, p_in=0.2)
    X[:, 2] = 1e3 + X[:, 2]
    clf = PANClassifier("pan", seeds=3, epochs=2, cv=3).fit(X, y, graph=A)
    X[11] = X.mean(0)
    alone = clf.explain(11, X=X, graph=sp.csr_matrix((90, 90)))
    assert alone.bias == pytest.approx(alone.score, abs=1e-6)  # all is at the mean, so nothing is added
    assert all(abs(part.value) < 1e-6 for part in alone.features)


def test_shares_of_a_row_from_sparse_counts():
    A, X, y, _ = planted(N=90, p_in=0.2)
    counts = sp.csr_matrix(np.maximum(0, np.round(X - 1)))
    sparse, dense = (
        PANClassifier("pan", seeds=3, epochs=2, cv=3).fit(x, y, graph=A) for x in (counts, counts.toarray())
    )
    one, other = sparse.explain(5), dense.explain(5, label=sparse.explain(5).label)
    assert_adds_up(one, sparse.decision_function(nodes=[5])[0].max())
    np.testing.assert_allclose(one.lengths, other.lengths, atol=1e-5)


def test_numbers_in_their_own_units():
    A, X, _, truth = planted(N=90, p_in=0.2)
    two = np.stack([1e4 + 300.0 * truth, X[:, 1]], 1)
    one, both = (PANRegressor("pan", seeds=3, epochs=3).fit(X, y, graph=A) for y in (two[:, 0], two))
    assert_adds_up(one.explain(5), one.predict(nodes=[5])[0])
    assert np.isnan(one.explain(5).probability)
    assert_adds_up(both.explain(5, label=1), both.predict(nodes=[5])[0, 1])


def test_several_labels_of_a_node():
    A, X, _, truth = planted(N=90, p_in=0.2)
    y = np.stack([truth == 0, (truth == 1) | (X[:, 0] > 1)], 1).astype(float)
    clf = PANClassifier("pan", seeds=3, epochs=2, cv=3).fit(X, y, graph=A)
    one = clf.explain(4, label=1)
    assert_adds_up(one, clf.decision_function(nodes=[4])[0, 1])
    assert one.probability == pytest.approx(clf.predict_proba(nodes=[4])[0, 1], abs=1e-5)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: preset("heterophilous", hidden=4, layers=2), "norm LayerNorm divides by .* train with norm='batch'"),
        (lambda: PAN(F, 4, C, act="elu"), "act ELU is curved: train with act='relu'"),
        (lambda: PAN(F, 4, C, act=torch.tanh), "act tanh is curved"),
        (lambda: PAN(F, 4, C, jk="lstm"), "jk='lstm', which is curved"),
        (
            lambda: PAN(F, 4, C, method=1, paths="effective", weights=BENT),
            "by effective length: use alpha = 1, fixed",
        ),
    ],
)
def test_models_that_are_not_linear_at_their_gates(model, message):
    adj, x = small()
    with pytest.raises(ValueError, match=message):
        explain_model(model().double(), x, adj, NODE, 1)


def test_arguments_of_explain_model():
    adj, x = small()
    model = PAN(F, 4, C)
    before = {name: value.clone() for name, value in model.train().state_dict().items()}
    with pytest.raises(ValueError, match="c must be an integer of at least 0 and at most 2, got 3"):
        explain_model(model, x, adj, NODE, 3)
    with pytest.raises(ValueError, match=r"x must have in_channels = 5 columns, got shape \(40, 4\)"):
        explain_model(model, x[:, 1:], adj, NODE, 1)
    with pytest.raises(TypeError, match="model must be a PAN, got Linear"):
        explain_model(torch.nn.Linear(F, C), x, adj, NODE, 1)
    with pytest.raises(ValueError, match="names row 40"):
        explain_model(model, x, adj, 40, 1)
    one = explain_model(model, x.float(), torch.stack([adj.col.long(), adj.row]), NODE, 1)
    assert (one.node, one.label) == (NODE, 1)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
