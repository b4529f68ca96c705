import pickle
import warnings
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from planted_classes import planted
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from torch_geometric.data import Data

from panconv import Adjacency, PANClassifier, PathFeatures, read
from panconv.estimator.labels import class_labels


@lru_cache(maxsize=1)
def usual():
    """A linear head on the planted graph, fitted once for those that only look at it."""
    A, X, y, _ = planted()
    return PANClassifier("linear").fit(X, y, graph=A)


def test_scikit_learns_contract_without_a_graph():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(PANClassifier(cv=3), on_skip=None)
    assert {each["status"] for each in found} <= {"passed", "skipped"}


def test_the_graph_in_every_form_gives_the_same():
    A, X, y, truth = planted()
    edge_index = torch.from_numpy(np.stack(A.nonzero()))
    graph = SimpleNamespace(adjacency=Adjacency.of(A), y=y, ids=None, features=lambda: X)
    data = Data(x=torch.from_numpy(X), edge_index=edge_index, y=torch.from_numpy(y))
    one = PANClassifier("linear", L=1).fit(X, y, graph=A)
    assert accuracy_score(truth[y < 0], one.predict()[y < 0]) > 0.8
    others = [PANClassifier("linear", L=1).fit(X, y, graph=each) for each in (edge_index, Adjacency.of(A), graph)]
    others += [PANClassifier("linear", L=1).fit(each) for each in (graph, data)]
    for other in others:
        assert np.allclose(other.predict_proba(), one.predict_proba(), atol=1e-4)
    assert np.allclose(one.predict_proba(X, graph=A), one.predict_proba())
    assert np.array_equal(one.predict(nodes=[5, 3]), one.predict()[[5, 3]])
    assert one.score(y=truth) == accuracy_score(truth, one.predict())
    assert others[-1].score(data) == accuracy_score(y[y >= 0], one.predict()[y >= 0])


def test_masks_hide_what_is_for_testing():
    A, X, y, truth = planted()
    data = Data(x=torch.from_numpy(X), edge_index=torch.from_numpy(np.stack(A.nonzero())), y=torch.from_numpy(truth))
    data.train_mask, data.val_mask = torch.from_numpy(y >= 0), torch.zeros(240, dtype=torch.bool)
    assert np.allclose(PANClassifier("linear").fit(data).predict_proba(), usual().predict_proba())


@pytest.mark.parametrize("kind", ["float", "text", "object"])
def test_what_is_not_known_may_be_said_in_several_ways(kind):
    A, X, y, _ = planted()
    names = np.array(["a", "b", "c"])
    given = {
        "float": np.where(y < 0, np.nan, y),
        "text": np.array([None if each < 0 else names[each] for each in y], dtype=object),
        "object": np.array([float("nan") if each < 0 else int(each) for each in y], dtype=object),
    }[kind]
    one, other = usual(), PANClassifier("linear").fit(X, given, graph=A)
    assert np.array_equal(one.decision_function(), other.decision_function())
    assert np.array_equal(other.predict(), names[one.predict()] if kind == "text" else one.predict())


def test_ids_and_names_of_a_graph_that_was_read():
    A, X, y, truth = planted()
    ids = np.array([f"node-{i}" for i in range(240)], dtype=object)
    graph = SimpleNamespace(
        adjacency=Adjacency.of(A), y=y, ids=ids, features=lambda: X, classes=("red", "green", "blue")
    )
    one = PANClassifier("linear").fit(graph)
    assert list(one.classes_) == ["red", "green", "blue"]
    assert np.array_equal(one.ids_, ids)
    assert one.predict(nodes=["node-7"])[0] == one.predict()[7]
    assert one.score(graph) == pytest.approx((one.predict() == np.array(graph.classes)[truth])[y >= 0].mean())
    with pytest.raises(ValueError, match="there is no such id"):
        one.predict(nodes=["node-240"])
    some = [*np.flatnonzero(y >= 0)[:20], *np.flatnonzero(y < 0)[:5]]
    named = np.where(y < 0, None, np.array(graph.classes, dtype=object)[y])
    right = (one.predict() == np.array(graph.classes)[truth])[some[:20]].mean()
    assert one.score(graph, nodes=ids[some]) == one.score(y=named[some], nodes=ids[some]) == right
    assert one.score(graph=graph, nodes=ids[some[::-1]]) == pytest.approx(right)
    with pytest.raises(ValueError, match="y has no labels of the nodes that are asked for"):
        one.score(graph, nodes=ids[some[20:]])
    with pytest.raises(ValueError, match="y must have 25 rows, one per node that is asked for, got 240"):
        one.score(y=named, nodes=ids[some])


def test_two_tables_are_enough(tmp_path):
    """Ids, class names and columns of any kind go in, and come out."""
    random, N = np.random.default_rng(0), 60
    topic = np.arange(N) % 2
    pairs = [(i, j) for i in range(N) for j in range(i) if random.random() < (0.2 if topic[i] == topic[j] else 0.01)]
    (tmp_path / "edges.csv").write_text("from,to\n" + "".join(f"n{i},n{j}\n" for i, j in pairs))
    cells = (f"n{i},{random.normal():.3f},{'red' if random.random() < 0.5 else 'blue'}" for i in range(N))
    names = ("cats", "dogs")
    lines = (f"{cell},{names[topic[i]] if i < 20 else ''}\n" for i, cell in enumerate(cells))
    (tmp_path / "nodes.csv").write_text("id,age,colour,topic\n" + "".join(lines))
    graph = read(tmp_path / "edges.csv", tmp_path / "nodes.csv", label="topic")
    clf = PANClassifier(head="linear").fit(graph)
    assert clf.classes_.tolist() == ["cats", "dogs"]
    right = clf.predict() == np.array(names)[topic[[int(name[1:]) for name in clf.ids_]]]
    assert right.mean() > 0.9  # the columns say nothing: it is the edges
    assert clf.predict(nodes=["n59"]) == clf.predict()[graph.index("n59")]


def test_minus_one_is_a_class_where_there_is_no_graph():
    _, X, y, _ = planted()
    assert list(PANClassifier().fit(X, y).classes_) == [-1, 0, 1, 2]


@pytest.mark.parametrize("head", ["linear", "pan"])
def test_several_labels_per_node(head):
    A, X, y, truth = planted()
    labels = np.where(y[:, None] < 0, -1, np.stack([truth == 0, truth != 1], 1))
    one = PANClassifier(head, seeds=3, epochs=80).fit(X, labels, graph=A)
    assert one.predict().shape == one.predict_proba().shape == (240, 2)
    assert (one.predict()[:, 0] == (truth == 0)).mean() > 0.8
    assert (one.predict()[:, 1] == (truth != 1)).mean() > 0.8
    assert one.scores_[head] < 2 * np.log(2)


def test_weights_by_class_and_by_node():
    A, X, y, _ = planted(C=2)
    rare = np.where((y == 1) & (np.arange(240) % 3 > 0), -1, y)
    even = PANClassifier("linear", L=1).fit(X, rare, graph=A).predict()
    balanced = PANClassifier("linear", L=1, class_weight="balanced").fit(X, rare, graph=A)
    assert (balanced.predict() == 1).sum() >= (even == 1).sum()
    counts = np.bincount(rare[rare >= 0])
    weight = np.where(rare >= 0, counts.sum() / (2 * counts[rare]), 1.0)
    by_node = PANClassifier("linear", L=1).fit(X, rare, weight, graph=A)
    assert np.allclose(by_node.decision_function(), balanced.decision_function())
    dropped = PANClassifier("linear", L=1).fit(X, y, (np.arange(240) % 2).astype(float), graph=A)
    hidden = PANClassifier("linear", L=1).fit(X, np.where(np.arange(240) % 2, y, -1), graph=A)
    assert np.allclose(dropped.decision_function(), hidden.decision_function())


def test_without_a_graph_it_goes_where_estimators_go():
    pandas = pytest.importorskip("pandas")
    _, X, _, truth = planted(signal=2.0)
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    search = GridSearchCV(make_pipeline(StandardScaler(), PANClassifier()), {"panclassifier__cv": [2, 3]}, cv=2)
    assert search.fit(frame, truth).best_score_ > 0.7
    assert list(PANClassifier().fit(frame, truth).feature_names_in_) == list("abcdefgh")
    A, _, y, _ = planted()
    with_graph = PANClassifier("linear", L=1).fit(frame, y, graph=A)
    assert list(with_graph.feature_names_in_) == list("abcdefgh")
    assert with_graph.n_features_in_ == 8
    piped = make_pipeline(PathFeatures(A, X, L=1), PANClassifier()).fit(np.flatnonzero(y >= 0), y[y >= 0])
    assert piped.predict([1, 2]).shape == (2,)
    assert clone(PANClassifier("pan", L=5)).get_params() == PANClassifier("pan", L=5).get_params()


def test_splits_in_time_and_pickles():
    A, X, y, _ = planted()
    one = PANClassifier("linear", L=1, cv=TimeSeriesSplit(4)).fit(X, y, graph=A)
    assert np.array_equal(pickle.loads(pickle.dumps(one)).predict_proba(X, graph=A), one.predict_proba())
    pairs = list(TimeSeriesSplit(4).split(np.flatnonzero(y >= 0)))
    assert np.array_equal(
        PANClassifier("linear", L=1, cv=pairs).fit(X, y, graph=A).predict_proba(), one.predict_proba()
    )


def test_columns_that_are_worlds_apart_are_all_seen():
    A, X, y, truth = planted()
    one = PANClassifier("linear").fit(X, y, graph=A)
    wide = X * np.where(np.arange(8) == 3, 1e9, 1.0) + 5
    assert (PANClassifier("linear").fit(wide, y, graph=A).predict() == truth).mean() > one.score(y=truth) - 0.03


def test_few_labels():
    A, X, _, truth = planted()
    lone = np.full(240, -1)
    lone[[0, 1, 2]] = truth[[0, 1, 2]]
    lone[3] = np.flatnonzero(np.bincount(truth[:3], minlength=3) == 0)[0] if len(set(truth[:3])) < 3 else truth[3]
    one = PANClassifier("linear").fit(X, lone, graph=A)
    assert np.isfinite(one.predict_proba()).all()
    many = np.where(truth == 2, -1, truth)
    many[np.flatnonzero(truth == 2)[0]] = 2  # a class of one member
    rare = PANClassifier("linear", L=1).fit(X, many, graph=A)
    assert list(rare.classes_) == [0, 1, 2]
    assert np.allclose(rare.predict_proba().sum(1), 1)


A, X, y, _ = planted()


@pytest.mark.parametrize(
    ("given", "settings", "error", "words"),
    [
        ({"y": np.full(240, -1)}, {}, ValueError, "y has no labels"),
        ({"y": np.where(y == 1, 1, -1)}, {}, ValueError, "y must have labels of at least 2 classes, got 1 class: 1$"),
        ({"y": np.where(y == 1, "x", "")}, {}, ValueError, "got 1 class: 'x'$"),
        ({"y": y[:100]}, {}, ValueError, "y must have a row per node, 240, got 100"),
        ({"y": y[:, None, None]}, {}, ValueError, r"y must be \(N,\) or \(N, K\)"),
        ({"y": y[:, None] * np.ones((1, 2), int)}, {}, ValueError, r"y must be \(N,\), or \(N, K\) of 0 and 1"),
        ({"y": y + 0.5}, {}, ValueError, "Unknown label type"),
        ({"y": None}, {}, ValueError, "requires y to be passed"),
        ({"X": np.where(X > 2, np.nan, X)}, {}, ValueError, "X holds NaN or infinite numbers"),
        ({"X": X[:100]}, {}, ValueError, "240"),
        ({"graph": "cora"}, {}, TypeError, "the graph must be an Adjacency"),
        ({}, {"head": "deep"}, ValueError, "head must be one of linear, pan, auto, got 'deep'"),
        ({}, {"class_weight": "even"}, ValueError, "class_weight must be 'balanced'"),
        ({}, {"cv": 1}, ValueError, "cv must be an integer of at least 2"),
        ({}, {"head": "pan", "seeds": 2}, ValueError, "seeds must be an integer of at least 3"),
        ({}, {"head": "pan", "cv": TimeSeriesSplit(2)}, ValueError, "head='pan' needs a graph, and a number for cv"),
        ({"graph": None}, {"head": "pan"}, ValueError, "head='pan' needs a graph"),
        ({"sample_weight": np.zeros(240)}, {}, ValueError, "Sample weights must contain at least one"),
        ({"y": np.where(np.arange(240) < 2, np.arange(240), -1)}, {"head": "pan"}, ValueError, "needs 3 seeds, and of"),
    ],
)
def test_bad_input_is_refused_in_a_line(given, settings, error, words):
    named = {"X": X, "y": y, "graph": A, **given}
    with pytest.raises(error, match=words) as caught:
        PANClassifier(**{"head": "linear", **settings}).fit(**named)
    assert "\n" not in str(caught.value)


def test_answers_that_cannot_be_given():
    one = usual()
    with pytest.raises(ValueError, match="graph is missing, and features alone tell no paths"):
        one.predict(X)
    with pytest.raises(ValueError, match="the estimator was fitted without one"):
        PANClassifier().fit(X, y).predict(X, graph=A)
    with pytest.raises(ValueError, match="X is missing: without a graph"):
        PANClassifier().fit(X, y).predict()
    with pytest.raises(ValueError, match="y is missing: give the labels"):
        one.score()


def test_numbers_are_not_compared_with_texts():
    """As they are in a graph that was read, where a class "1" may well be that of number 0."""
    A, X, y, truth = planted()
    one = PANClassifier("linear", L=1).fit(X, np.where(y < 0, None, (y + 1).astype(str).astype(object)), graph=A)
    with pytest.raises(
        ValueError, match=r"y holds numbers, such as 0, but the classes are texts, such as '1', '2', '3'"
    ):
        one.score(y=truth)
    with pytest.raises(
        ValueError, match="y holds texts, such as 'a', but the classes are numbers, such as 0, 1, 2: give"
    ):
        usual().score(y=["a"] * 240)
    assert one.score(y=(truth + 1).astype(str)) > 0.8


def test_classes_that_only_weightless_rows_have_are_gone():
    labels = class_labels(np.array([0, 1, 2, -1]), True).without(np.array([1.0, 0.0, 1.0, 1.0]))
    assert labels.classes.tolist() == [0, 2]
    assert labels.y.tolist() == [0, -1, 1, -1]
    assert labels.targets.tolist() == [[1, 0], [0, 1]]
