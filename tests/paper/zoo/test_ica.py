import numpy as np
import pytest
import scipy.sparse as sp
import torch
from citations import accuracy, citations
from sklearn.linear_model import LogisticRegression

from panconv.paper.zoo import METHODS
from panconv.paper.zoo.ica import by_class, iterated, train

HOW = {**METHODS["ica"].settings, "C": 10.0, "link": "count", "scale": 0.3}


@pytest.mark.parametrize("classes", [2, 3])
def test_with_no_edges_it_is_logistic_regression(classes):
    data = citations(classes)
    data.edge_index = data.edge_index[:, :0]
    known = data.train_mask
    x = data.x.double().numpy()
    plain = LogisticRegression(C=HOW["C"], max_iter=1000).fit(x[known], data.y[known].numpy()).predict(x)
    predicted = train(data, HOW, [0])[0]
    assert torch.equal(predicted[~known], torch.from_numpy(plain)[~known])
    assert torch.equal(predicted[known], data.y[known])


@pytest.mark.parametrize("passes", [0, 1])
def test_what_it_says_is_said_by_a_classifier_of_the_features_and_then_by_one_of_both(passes):
    data = citations(inside=0.1, between=0.03)
    known, N = data.train_mask.numpy(), len(data.y)
    x, A = data.x.double().numpy(), np.zeros((N, N))
    A[data.edge_index[1], data.edge_index[0]] = 1
    y = data.y.numpy()[known]
    first = LogisticRegression(C=HOW["C"], max_iter=1000).fit(x[known], y).predict(x)
    first[known] = y
    degree = np.maximum(A.sum(1, keepdims=True), 1)
    said = set()
    for link, scale in (("count", 0.3), ("count", 3.0), ("proportion", 0.3), ("proportion", 3.0)):
        expected = first
        if passes:
            both = np.hstack([x, scale * (A if link == "count" else A / degree) @ np.eye(3)[first]])
            expected = LogisticRegression(C=HOW["C"], max_iter=1000).fit(both[known], y).predict(both)
            expected[known] = y
        how = {**HOW, "link": link, "scale": scale, "passes": passes, "parts": 1}
        assert np.array_equal(train(data, how, [0])[0].numpy(), expected)
        said.add(tuple(expected))
    assert len(said) == (4 if passes else 1)  # so that none of the settings can stand for another


def test_where_every_class_is_known_nothing_is_left_to_say():
    data = citations()
    data.y, data.train_mask = data.truth, torch.ones(90, dtype=torch.bool)
    assert torch.equal(train(data, HOW, [0, 1]), data.truth.expand(2, -1))


def test_one_class_to_learn_from_is_refused():
    data = citations()
    data.train_mask &= data.truth == 1
    with pytest.raises(ValueError, match=r"train_mask must hold .* two classes or more, got classes \[1\]: add"):
        train(data, HOW, [0])


@pytest.mark.parametrize("link", ["count", "proportion"])
def test_the_classes_of_neighbours_help(link):
    data = citations()
    how = {**HOW, "link": link, "scale": 1.0 if link == "proportion" else 0.3}
    first, last = (accuracy(train(data, {**how, "passes": passes}, range(3)), data) for passes in (0, 10))
    assert first < last - 0.05


def test_each_pass_sees_what_the_one_before_has_changed():
    line = sp.diags([np.ones(5), np.ones(5)], [-1, 1], format="csr")  # six nodes; the first is known, of class 1
    state, own = np.eye(2)[[1, 0, 0, 0, 0, 0]], np.array([[0.5, 0.0]] * 6)
    weight = np.array([[0.0, 0.0], [0.0, 1.0]])  # a neighbour of class 1 is reason enough
    for passes in range(5):
        how = {"passes": passes, "parts": 1}
        end = iterated(state, own, line, weight, np.arange(1, 6), how, np.random.default_rng(0)).argmax(1)
        assert end.nonzero()[0].max() == passes
    how = {"passes": 5, "parts": 5}
    one_by_one = iterated(state, own, line, weight, np.arange(1, 6), how, np.random.default_rng(0))
    assert one_by_one.argmax(1).tolist() == [1] * 6


def test_a_seed_repeats_and_a_trial_is_its_own():
    data = citations(inside=0.1, between=0.03)
    many = train(data, {**HOW, "passes": 1}, [3, 4, 5])
    assert torch.equal(many[1], train(data, {**HOW, "passes": 1}, [4])[0])
    assert not torch.equal(many[0], many[1])  # the order matters


def test_a_class_without_a_training_node_is_never_said():
    x = np.random.default_rng(0).random((9, 4))
    model = LogisticRegression().fit(x, np.array([0, 2, 3] * 3))
    weight, bias = by_class(model, slice(None), 5)
    assert np.array_equal((x @ weight + bias).argmax(1), model.predict(x))
