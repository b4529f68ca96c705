"""What a graph brings along reaches the head in the right rows, in the right kind, and without what is for testing."""

import numpy as np
import pandas as pd
import pytest
import torch
from planted_classes import planted
from torch_geometric.data import Data

from panconv import Adjacency, PANClassifier, PANRegressor, read
from panconv.estimator.given import Given, by_id


def masked(y):
    data = Data(edge_index=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]), y=y, num_nodes=4)
    data.train_mask, data.val_mask = (
        torch.tensor([True, False, False, False]),
        torch.tensor([False, True, False, False]),
    )
    return data


def test_labels_for_testing_are_not_handed_over_of_whatever_kind():
    given = Given.of(masked(torch.tensor([2, 1, 0, 3])), None, None)
    assert given.y.tolist() == [2, 1, -1, -1]
    assert Given.of(masked(torch.tensor([[2], [1], [0], [3]])), None, None).y.tolist() == [2, 1, -1, -1]
    for y, numbers in ((torch.tensor([2.0, 1.0, 0.0, 3.0]), False), (torch.tensor([2, 1, 0, 3]), True)):
        found = Given.of(masked(y), None, None, numbers=numbers).y
        assert found[:2].tolist() == [2.0, 1.0]
        assert bool(found[2:].isnan().all())
    several = masked(torch.tensor([2, 1, 0, 3]))
    several.train_mask = several.train_mask.unsqueeze(1).expand(-1, 3)
    for take in (lambda: Given.of(several, None, None), lambda: read(several)):
        with pytest.raises(ValueError, match=r"train_mask has 3 splits: choose one, such as data.train_mask = "):
            take()


def test_a_regressor_takes_the_numbers_of_a_table():
    truth = np.arange(40) // 4
    edges = [(i, j) for i in range(40) for j in range(i) if truth[i] == truth[j]]
    nodes = pd.DataFrame(
        {"id": range(40), "size": truth, "score": [f"{10 * t}" if i % 2 else "" for i, t in enumerate(truth)]}
    )
    graph = read(pd.DataFrame(edges, columns=["source", "target"]), nodes, label="score")
    one = PANRegressor("linear", L=1).fit(graph)
    assert int(one._known.sum()) == 20
    assert np.abs(one.predict() - 10 * truth[[int(name) for name in one.ids_]]).max() < 5


def test_columns_of_another_graph_are_taken_as_those_that_were_learned_from():
    random = np.random.default_rng(0)
    city = np.array(["Bern", "Rome"])[random.integers(0, 2, 40)]
    edges = pd.DataFrame({"source": range(39), "target": range(1, 40)})
    nodes = pd.DataFrame({"id": range(40), "city": city, "topic": np.where(city == "Rome", "b", "a")})
    clf = PANClassifier("linear", L=0).fit(read(edges, nodes, label="topic"))
    other = pd.DataFrame({"id": range(40), "city": np.where(city == "Rome", "Rome", "Sofia")})
    found = clf.predict(graph=read(edges, other))
    assert (found[city == "Rome"] == "b").all()


def test_what_is_indexed_by_ids_is_put_in_their_order():
    A, X, y, _ = planted()
    ids = [f"n{i}" for i in range(len(y))]
    mixed = np.random.default_rng(0).permutation(len(y))
    frame, labels = pd.DataFrame(X, index=ids), pd.Series(y, index=ids)
    edges = pd.DataFrame(np.stack(A.nonzero()).T, columns=["source", "target"]).map(lambda i: f"n{i}")
    graph = read(edges, pd.DataFrame({"id": ids}))
    one = PANClassifier("linear").fit(X, y, graph=Adjacency.of(A))
    two = PANClassifier("linear").fit(frame.iloc[mixed], labels.iloc[mixed[::-1]], graph=graph)
    place = [int(name[1:]) for name in graph.ids]
    assert (one.predict()[place] == two.predict()).mean() > 0.99
    with pytest.raises(
        ValueError, match="X is indexed by ids, but has no row for 'n0': give a row for each of the 240 nodes"
    ):
        PANClassifier("linear").fit(frame.iloc[1:], labels, graph=graph)
    assert by_id(frame.reset_index(drop=True), graph.ids, "X").index[0] == 0  # which has nothing to do with ids


@pytest.mark.filterwarnings("error")
def test_a_frame_is_taken_without_a_warning():
    A, X, y, _ = planted(N=60)
    PANClassifier("linear", L=1).fit(pd.DataFrame(X), y, graph=A)
    X.flags.writeable = False
    PANClassifier("linear", L=1).fit(X, y, graph=A)


def friends(ids, seed=0):
    """A graph of people with these ids, a frame, classes and weights by id, and an order of their rows."""
    random, c = np.random.default_rng(seed), np.arange(len(ids)) % 2
    pairs = [(i, j) for i in range(len(ids)) for j in range(i) if random.random() < (0.2 if c[i] == c[j] else 0.05)]
    edges = pd.DataFrame([(ids[i], ids[j]) for i, j in pairs], columns=["source", "target"])
    frame = pd.DataFrame({"a": c + random.normal(size=len(ids)), "b": random.normal(size=len(ids))}, index=ids)
    y, weight = pd.Series(np.array(["x", "y"])[c], index=ids), pd.Series(random.random(len(ids)), index=ids)
    return read(edges, pd.DataFrame({"id": ids})), frame, y, weight, random.permutation(len(ids))


def test_weights_and_what_is_scored_are_put_in_the_order_of_ids_too():
    graph, frame, y, weight, mixed = friends([f"n{i}" for i in range(50)])
    one = PANClassifier("linear", L=1).fit(frame, y, weight, graph=graph)
    two = PANClassifier("linear", L=1).fit(frame, y, weight.iloc[mixed], graph=graph)
    assert np.array_equal(one.predict_proba(), two.predict_proba())
    share = one.score(y=y, sample_weight=weight)
    for given in ({}, {"X": frame.iloc[mixed], "graph": graph}):
        assert one.score(y=y.iloc[mixed], sample_weight=weight.iloc[mixed[::-1]], **given) == share
    some = graph.ids[:20]
    share = one.score(y=y.loc[some].to_numpy(), nodes=some)
    assert share == one.score(y=y.loc[some[::-1]], nodes=some) == one.score(frame, y.loc[some], graph=graph, nodes=some)
    assert 0 < share < 1
    assert one.score(y=y.loc[["n3", "n3"]], nodes=["n3", "n3"]) in (0, 1)
    values = frame["a"] + frame["b"]
    reg = PANRegressor("linear", L=1).fit(frame, values, weight.iloc[mixed], graph=graph)
    assert reg.score(y=values.iloc[mixed]) == reg.score(y=values) > 0.9
    with pytest.raises(ValueError, match="sample_weight is indexed by ids, but has no row for 'n0'"):
        one.score(y=y, sample_weight=weight.iloc[1:])


@pytest.mark.parametrize("ids", [np.arange(1, 51), np.random.default_rng(1).permutation(50)])
def test_an_index_that_nobody_gave_counts_rows(ids):
    """Where ids are whole numbers, 0 … N−1 look like some of them."""
    graph, frame, y, _, mixed = friends(ids)
    plain = PANClassifier("linear", L=1).fit(frame.to_numpy(), y.to_numpy(), graph=graph)
    counted = PANClassifier("linear", L=1).fit(frame.reset_index(drop=True), y.reset_index(drop=True), graph=graph)
    named = PANClassifier("linear", L=1).fit(frame.iloc[mixed], y.iloc[mixed], graph=graph)
    for one in (counted, named):
        assert np.array_equal(one.predict_proba(), plain.predict_proba())


def test_unknown_labels_in_lists_and_pandas_own():
    A, X, y, _ = planted()
    names = [("a", "b", "c")[c] if c >= 0 else np.nan for c in y]
    assert PANClassifier("linear").fit(X, names, graph=A).classes_.tolist() == ["a", "b", "c"]
    text = pd.Series([None if c < 0 else "abc"[c] for c in y], dtype="string")
    assert PANClassifier("linear").fit(X, text, graph=A).classes_.tolist() == ["a", "b", "c"]


def test_a_score_of_one_class_or_of_too_few_rows():
    A, X, y, truth = planted()
    clf = PANClassifier("linear").fit(X, y, graph=A)
    assert 0 <= clf.score(y=np.where(truth == 0, 0, -1)) <= 1
    with pytest.raises(ValueError, match="y must have 240 rows, one per node that is asked for, got 5"):
        clf.score(y=truth[:5])


@pytest.mark.parametrize("scale", [1e-30, 1e25])
def test_features_of_any_size(scale):
    A, X, y, _ = planted()
    one = PANClassifier("linear").fit((X * scale).astype(np.float32), y, graph=A)
    other = PANClassifier("linear").fit(X.astype(np.float32), y, graph=A)
    assert (one.predict() == other.predict()).mean() > 0.98


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_weight": {7: 1.0}}, "class_weight names 7, which is no class"),
        ({"class_weight": {0: -3}}, "class_weight of 0 must be at least 0 and finite, got -3"),
        ({"class_weight": {0: float("nan")}}, "class_weight of 0 must be at least 0 and finite, got nan"),
        ({"head": "auto", "budget": -1}, "budget must be"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    A, X, y, _ = planted()
    with pytest.raises((ValueError, TypeError), match=message):
        PANClassifier(**{"head": "linear", **settings}).fit(X, y, graph=A)


@pytest.mark.parametrize("kind", [PANClassifier, PANRegressor])
def test_tables_in_another_order_give_the_same_answers(kind):
    A, X, y, _ = planted(N=120)
    names = np.array([f"n{i}" for i in range(120)])
    edges = pd.DataFrame({"source": names[A.nonzero()[0]], "target": names[A.nonzero()[1]]})
    nodes = pd.DataFrame({"id": names, "a": X[:, 0], "b": X[:, 1], "label": np.where(y < 0, None, y)})

    def answers(edges, nodes):
        graph = read(edges, nodes, label="label")
        return dict(zip(graph.ids, kind("linear").fit(graph).predict(), strict=True))

    mixed = edges.sample(frac=1, random_state=2)
    there, again = answers(edges, nodes), answers(mixed, nodes.sample(frac=1, random_state=1))
    given, found = ([float(each[name]) for name in names] for each in (there, again))
    np.testing.assert_allclose(found, given, rtol=1e-5)
