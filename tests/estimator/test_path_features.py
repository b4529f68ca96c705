import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import planted_classes
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from panconv import MET, METHODS, Adjacency, Walks, load, read
from panconv.estimator import PANClassifier, PathFeatures, terms


def random_graph(N=60, F=4, seed=0, directed=False):
    random = np.random.default_rng(seed)
    A = np.triu(random.random((N, N)) < 0.08, 1)
    A = (A | A.T) if not directed else random.random((N, N)) < 0.06
    y = np.arange(N) % 3
    return sp.csr_matrix(A.astype(np.float64)), random.normal(size=(N, F)) + y[:, None] * 0.7, y


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("directed", [False, True])
def test_the_blocks_are_the_terms_of_the_operator(method, directed):
    A, X, _ = random_graph(20, 3, directed=directed)
    made = PathFeatures(A, X, L=3, method=method, scale=False).fit(range(20)).transform(range(20))
    one_length = [MET(Walks(Adjacency.of(A), 3), [1.0] * 4, method)]
    total = made.reshape(20, 4, 3).sum(1)
    assert np.allclose(total, (one_length[0] @ torch.from_numpy(X)).numpy())
    if METHODS[method].overall is None:  # a weight for one length alone leaves that term
        for n in range(4):
            M = MET(Walks(Adjacency.of(A), 3), [float(m == n) for m in range(4)], method)
            assert np.allclose(made[:, 3 * n : 3 * n + 3], (M @ torch.from_numpy(X)).numpy())


def test_method_5_against_dense_powers():
    A, X, _ = random_graph()
    loops = A.toarray() + np.eye(60)
    root = loops.sum(1) ** -0.5
    Â = root[:, None] * loops * root
    made = PathFeatures(A, X, L=2, scale=False).fit_transform([3, 59, 3])
    assert np.allclose(made, np.hstack([X, Â @ X, Â @ Â @ X])[[3, 59, 3]])


def test_features_that_are_indexed_by_ids_are_put_in_their_order():
    A, X, _ = random_graph()
    names = [f"n{i}" for i in range(60)]
    edges = pd.DataFrame({"source": np.array(names)[A.nonzero()[0]], "target": np.array(names)[A.nonzero()[1]]})
    graph, frame = read(edges, pd.DataFrame({"id": names})), pd.DataFrame(X, index=names)
    mixed = np.random.default_rng(0).permutation(60)
    made = PathFeatures(graph, frame.iloc[mixed], L=1).fit_transform(names)
    assert np.array_equal(made, PathFeatures(graph, X, L=1).fit_transform(names))


def test_sparse_features_stay_sparse_where_their_terms_are():
    data = load("cora", sparse=True)
    X = sp.csr_matrix(data.x.to_dense().numpy())
    near = PathFeatures(data.edge_index, X, L=1).fit_transform(range(200))
    assert sp.issparse(near)
    assert near.shape == (200, 2 * 1433)
    dense = PathFeatures(data.edge_index, X.toarray(), L=1).fit_transform(range(200))
    assert np.abs(near - dense).max() < 1e-6
    assert isinstance(PathFeatures(data, L=1).fit_transform(range(5)), sp.csr_matrix)  # a PyG Data has features
    A, X, _ = random_graph()
    assert isinstance(PathFeatures(A, sp.csr_matrix(X), L=3).fit_transform([0]), np.ndarray)


def by_hand(A, X, y, folds, L):
    """The transductive loop: all nodes are propagated, and the labels of a fold are hidden."""
    terms = np.split(PathFeatures(A, X, L=L, scale=False).fit_transform(range(len(y))), L + 1, axis=1)
    Z = np.hstack([each / np.sqrt(((each - each.mean(0)) ** 2).sum(1).mean()) for each in terms])
    return [LogisticRegression().fit(Z[train], y[train]).score(Z[test], y[test]) for train, test in folds]


@pytest.mark.parametrize("splitter", [StratifiedKFold(4), GroupKFold(4), TimeSeriesSplit(4)])
def test_folds_hide_labels_alone(splitter):
    A, X, y = random_graph()
    nodes, groups = np.random.default_rng(0).permutation(60), None
    if isinstance(splitter, GroupKFold):
        groups = np.arange(60) // 6
    pipe = make_pipeline(PathFeatures(A, X, L=2), LogisticRegression())
    found = cross_val_score(pipe, nodes, y[nodes], cv=splitter, groups=groups)
    folds = [(nodes[a], nodes[b]) for a, b in splitter.split(nodes, y[nodes], groups)]
    assert np.array_equal(found, by_hand(A, X, y, folds, 2))


def test_grid_search_over_lengths_finds_the_terms_once(monkeypatch):
    A, X, y = random_graph()
    calls = []
    monkeypatch.setattr(
        terms, "blocks", lambda nodes, paths, real=terms.blocks: calls.append(paths) or real(nodes, paths)
    )
    pipe = make_pipeline(PathFeatures(A, X, L=4), StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipe, {"pathfeatures__L": [4, 3, 0], "pathfeatures__method": [5, 1]}, cv=3)
    search.fit(np.arange(60)[:, None], y)
    assert len(calls) == 4  # one for method 5, whose shorter paths begin the longer, and three for method 1
    assert search.best_score_ > 0.4
    assert search.best_estimator_[0]._store is pipe[0]._store


def test_clone_shares_graph_and_features():
    A, X, _ = random_graph()
    one = PathFeatures(A, X, L=2)
    pipe = clone(make_pipeline(one))
    for other in (clone(one), pipe[0]):
        assert other is not one
        assert other.graph is A
        assert other.X is X
        assert other._store is one._store
    one.fit([0])
    assert clone(one).fit([1]).transform([1]).base is None  # rows are copied out, the terms are not
    assert clone(one)._blocks() is one._blocks()
    with pytest.raises(ValueError, match="not fitted"):
        clone(one).transform([0])


def test_another_graph_or_other_features_are_not_those_of_before():
    A, X, _ = random_graph()
    one = PathFeatures(A, X, L=1, scale=False).fit([0])
    other = clone(one).set_params(X=X + 1).fit([0])
    assert np.allclose(other.transform([0])[0, :4], X[0] + 1)
    assert np.allclose(one.transform([0])[0, :4], X[0])


def test_pickled_it_travels_without_terms_and_finds_them_again():
    A, X, _ = random_graph()
    one = PathFeatures(A, X, L=2).fit([0])
    other = pickle.loads(pickle.dumps(one))
    assert not other._store._found
    assert np.array_equal(other.transform(range(60)), one.transform(range(60)))


@pytest.mark.parametrize("ids", [np.array([10**9, 7, 8]), np.array(["a", "b", "7"], dtype=object)])
def test_nodes_are_named_by_the_ids_of_a_graph(ids):
    X = np.eye(3)
    graph = SimpleNamespace(ids=ids, adjacency=Adjacency.of(torch.tensor([[0, 1], [1, 0]]), num_nodes=3))
    graph.features = lambda: X
    made = PathFeatures(graph, L=1, scale=False).fit(ids)
    assert np.array_equal(made.transform(ids[[2, 0]])[:, :3], X[[2, 0]])
    with pytest.raises(ValueError, match=r"nodes names '11', but there is no such id: they are as"):
        made.transform([11])


def test_lengths_are_of_one_size_and_a_pipeline_is_as_good_as_the_estimator():
    A, X, y, truth = planted_classes.planted()
    made = PathFeatures(A, X, L=3).fit([0])
    whole = made.transform(range(240)).reshape(240, 4, 8)
    assert np.allclose(((whole - whole.mean(0)) ** 2).sum(2).mean(0), 1)
    sparse = PathFeatures(A, sp.csr_matrix(X), L=0).fit([0])
    assert sparse.scales_ == pytest.approx(made.scales_[:1])
    assert PathFeatures(A, np.ones((240, 1)), L=0).fit([0]).scales_.tolist() == [1]
    known = np.flatnonzero(y >= 0)
    right = {}
    for scale in (True, False):
        pipe = make_pipeline(PathFeatures(A, X / 100, L=6, scale=scale), PANClassifier()).fit(known, y[known])
        right[scale] = (pipe.predict(np.flatnonzero(y < 0)) == truth[y < 0]).mean()
    alone = (PANClassifier("linear", L=6).fit(X, y, graph=A).predict() == truth)[y < 0].mean()
    assert right[True] > alone - 0.02
    assert right[False] < right[True]


def test_frames_hold_sparse_terms_too_and_clones_keep_what_was_set():
    pandas = pytest.importorskip("pandas")
    A, X, y = random_graph()
    made = PathFeatures(A, sp.csr_matrix(np.where(X > 2.3, X, 0)), L=1)
    plain = made.fit_transform([5, 6])
    assert sp.issparse(plain)
    for one in (made, clone(made.set_output(transform="pandas"))):
        found = one.fit_transform([5, 6])
        assert isinstance(found, pandas.DataFrame)
        assert np.array_equal(found, plain.toarray())
    assert cross_val_score(make_pipeline(made, LogisticRegression()), range(60), y, cv=2).min() > 0


def test_names_of_features_and_set_output():
    pandas = pytest.importorskip("pandas")
    A, X, _ = random_graph()
    made = PathFeatures(A, pandas.DataFrame(X, columns=list("abcd")), L=1).set_output(transform="pandas")
    found = made.fit_transform([5, 6])
    assert list(found.columns) == ["a_0", "b_0", "c_0", "d_0", "a_1", "b_1", "c_1", "d_1"]
    assert list(PathFeatures(A, X, L=0).fit([0]).get_feature_names_out()) == ["x0_0", "x1_0", "x2_0", "x3_0"]


A, X, _ = random_graph()


@pytest.mark.parametrize(
    ("given", "nodes", "error", "words"),
    [
        ({"X": None}, [0], ValueError, "X is missing, and the graph, csr_matrix, has no features"),
        ({"X": X[:50]}, [0], ValueError, "the graph has 60 nodes, but x has 50 rows"),
        ({"X": X[:, 0]}, [0], ValueError, r"X must be \(N, F\)"),
        ({"X": np.where(X > 2, np.nan, X)}, [0], ValueError, "X holds NaN or infinite numbers, as in column"),
        ({"X": X.astype(str)}, [0], TypeError, "X must hold real numbers"),
        ({"X": np.full((60, 1), "a", object)}, [0], TypeError, "X must hold numbers: could not convert"),
        ({"L": -1}, [0], ValueError, "L must be at least 0"),
        ({"method": 12}, [0], ValueError, "method must be"),
        ({"paths": "loops"}, [0], ValueError, "paths must be one of"),
        ({}, [60], ValueError, r"nodes names row 60, but the graph has the rows 0 … 59"),
        ({}, [-1], ValueError, "nodes names row -1"),
        ({}, [0.5], TypeError, "nodes must be row numbers"),
        ({}, ["a"], TypeError, "nodes must be row numbers"),
        ({}, [[0, 1]], ValueError, r"nodes must be ids or row numbers, \(n,\) or \(n, 1\)"),
    ],
)
def test_bad_input_is_refused_in_a_line(given, nodes, error, words):
    with pytest.raises(error, match=words) as caught:
        PathFeatures(**{"graph": A, "X": X, **given}).fit(nodes)
    assert "\n" not in str(caught.value)
