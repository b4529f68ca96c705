import json
import os

import numpy as np
import pandas as pd
import pytest
import torch
from full_disk import largest_file
from planted_classes import planted

from panconv import PAN, PANClassifier, PANRegressor, load_model, read
from panconv.estimator.saving import save

HEADS = {
    "linear": lambda: PANClassifier("linear", L=2),
    "shortest": lambda: PANClassifier("linear", L=2, method=3, paths={"kind": "shortest"}),
    "pan": lambda: PANClassifier("pan", epochs=4, seeds=3),
}


@pytest.fixture(scope="module")
def data():
    A, X, y, _ = planted(N=90, seed=0)
    return A, X, y


@pytest.fixture(scope="module")
def fitted(data):
    A, X, y = data
    return {name: make().fit(X, y, graph=A) for name, make in HEADS.items()}


@pytest.mark.parametrize("head", HEADS)
def test_what_comes_back_answers_as_what_was_saved(fitted, data, head, tmp_path):
    (A, X, _), clf = data, fitted[head]
    clf.save(tmp_path / "model")
    assert sorted(os.listdir(tmp_path / "model")) == ["model.json", "model.safetensors"]
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X, graph=A), clf.decision_function(X, graph=A))
    np.testing.assert_allclose(again.predict_proba(X, graph=A), clf.predict_proba(), rtol=0, atol=1e-6)
    assert (again.predict(X, graph=A) == clf.predict()).all()
    assert (again.predict_set(X, graph=A, alpha=0.2) == clf.predict_set(alpha=0.2)).all()
    assert again.get_params() == clf.get_params()
    assert again.summary() == clf.summary()
    assert again.scores_ == clf.scores_
    assert again.classes_.dtype == clf.classes_.dtype
    for one, other in zip(again.held_out_, clf.held_out_, strict=True):
        np.testing.assert_array_equal(one, other)
    assert vars(again).keys() == vars(clf).keys()  # nothing that `fit` sets is forgotten
    again.save(tmp_path / "again")
    for name in os.listdir(tmp_path / "model"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_a_folder_that_does_not_say_what_was_chosen(fitted, tmp_path):
    fitted["linear"].save(tmp_path / "model")
    content = json.loads((tmp_path / "model/model.json").read_text())
    (tmp_path / "model/model.json").write_text(json.dumps({**content, "choice": None, "seconds": None}))
    again = load_model(tmp_path / "model")
    assert (again.choice_, again.seconds_, again.head_) == (None, None, "linear")
    again.save(tmp_path / "again")
    assert load_model(tmp_path / "again").choice_ is None


def test_what_needs_the_graph_says_so(fitted, data, tmp_path):
    (A, X, y), clf = data, fitted["pan"]
    clf.save(tmp_path)
    again = load_model(tmp_path)
    for ask in (again.predict, again.predict_proba, again.hops_to_label, again.disagreement, lambda: again.explain(3)):
        with pytest.raises(ValueError, match="graph is missing: a model that was loaded has none of its own"):
            ask()
    np.testing.assert_array_equal(again.disagreement(X=X, graph=A), clf.disagreement())
    assert again.score(X, y, graph=A) == clf.score(y=y)


def test_extra_files_appear_at_once_and_a_former_model_is_replaced(fitted, tmp_path):
    path, clf = tmp_path / "model", fitted["linear"]
    save(clf, path, {"README.md": "a model\n", "predicted.csv": b"id,class\n"})
    assert (path / "README.md").read_text() == "a model\n"
    save(clf, path)
    assert sorted(os.listdir(path)) == ["model.json", "model.safetensors"]
    (path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"model holds 'notes.txt', which is not of the model there"):
        save(clf, path)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("")
    with pytest.raises(ValueError, match=r"photos holds other files, such as cat.jpg: name a new or an empty folder"):
        save(clf, tmp_path / "photos")
    for name in ("../x", "a/b", "", ".hidden", "model.json", "a\\b", "C:x", "new\nline"):
        with pytest.raises(ValueError, match="is no name for a file of a model folder"):
            save(clf, tmp_path / "new", {name: ""})
    with pytest.raises(TypeError, match="must be bytes or a text"):
        save(clf, tmp_path / "new", {"a": 3})
    assert not (tmp_path / "new").exists()


def test_a_full_disk_leaves_the_former_model(fitted, data, tmp_path):
    A, X, _ = data
    fitted["linear"].save(tmp_path / "model")
    with largest_file(500), pytest.raises(ValueError, match=r"cannot write .*model: the file would be larger"):
        fitted["pan"].save(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    assert (load_model(tmp_path / "model").predict(X, graph=A) == fitted["linear"].predict()).all()


def test_a_graph_that_was_read_and_its_columns(tmp_path):
    random = np.random.default_rng(0)
    ids = [f"n{i}" for i in range(60)]
    edges = [(ids[i], ids[(i + step) % 60]) for i in range(60) for step in (1, 2)]
    kinds = [None if i % 3 else f"k{i // 30}" for i in range(60)]
    towns = ["ab"[i < 30] for i in range(60)]
    nodes = {"id": ids, "age": np.arange(60) % 7 + random.normal(size=60), "town": towns, "kind": kinds}

    g = read(pd.DataFrame(edges, columns=["from", "to"]), pd.DataFrame(nodes), label="kind")
    clf = PANClassifier("linear", L=1).fit(g)
    clf.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(graph=g), clf.decision_function(graph=g))
    assert (again.predict(graph=g, nodes=["n3", "n40"]) == clf.predict(nodes=["n3", "n40"])).all()
    assert str(again.explain("n3", graph=g)) == str(clf.explain("n3"))
    assert (again.hops_to_label(graph=g) == clf.hops_to_label()).all()
    assert (again.hops_to_label(["n1"], graph=g) == clf.hops_to_label(["n1"])).all()
    said = json.loads((tmp_path / "model" / "model.json").read_text())
    assert said["graph"] == {"weighted": False, "directed": False, "label": "kind"}
    assert said["classes"] == {"dtype": "str", "values": ["k0", "k1"]}
    text = (tmp_path / "model" / "model.json").read_bytes() + (tmp_path / "model" / "model.safetensors").read_bytes()
    assert b"n17" not in text  # no ids


def test_without_a_graph_and_of_numbers_and_several_labels(data, tmp_path):
    A, X, y = data
    rows = PANClassifier().fit(X, y)  # −1 is a class
    rows.save(tmp_path / "rows")
    again = load_model(tmp_path / "rows")
    np.testing.assert_array_equal(again.predict_proba(X), rows.predict_proba(X))
    with pytest.raises(ValueError, match="X is missing"):
        again.predict()
    several = np.where(y[:, None] < 0, -1, np.eye(int(y.max()) + 1)[y])
    both = PANClassifier("linear", L=1).fit(X, several, graph=A)
    both.save(tmp_path / "several")
    np.testing.assert_array_equal(load_model(tmp_path / "several").predict(X, graph=A), both.predict())
    numbers = np.where(np.arange(90) % 2, X[:, 0] * 3 + 5, np.nan)
    for each in (numbers, np.stack([numbers, numbers], 1)):
        for head in (PANRegressor("linear", L=1), PANRegressor("pan", epochs=3, seeds=3)):
            head.fit(X, each, graph=A).save(tmp_path / "numbers")
            found = load_model(tmp_path / "numbers")
            np.testing.assert_array_equal(found.predict(X, graph=A), head.predict(X, graph=A))
            assert found.predict(X, graph=A).shape == each.shape
            assert vars(found).keys() == vars(head).keys()


def test_a_deep_model_alone(tmp_path):
    model = PAN(4, 3, 2)
    model.save(tmp_path)
    x, ring = torch.rand(5, 4), torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
    assert torch.equal(load_model(tmp_path)(x, ring), model.eval()(x, ring))
    assert torch.equal(load_model(tmp_path / "model.safetensors")(x, ring), model(x, ring))


def test_what_cannot_be_saved(data, fitted, tmp_path):
    A, X, y = data
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import StratifiedKFold

    from panconv import Walks

    with pytest.raises(NotFittedError):
        PANClassifier().save(tmp_path / "model")
    with pytest.raises(TypeError, match="estimator must be one of PANClassifier, PANRegressor"):
        save(PAN(3, 2, 2), tmp_path / "model")
    with pytest.raises(TypeError, match="path must be a folder, got 5"):
        fitted["linear"].save(5)
    own = PANClassifier("linear", L=1, paths=lambda adj, L: Walks(adj, L)).fit(X, y, graph=A)
    with pytest.raises(ValueError, match="paths must be plain, to be saved with the model"):
        own.save(tmp_path / "model")
    assert not os.listdir(tmp_path)
    split = PANClassifier("linear", L=1, cv=StratifiedKFold(3)).fit(X, y, graph=A)
    split.save(tmp_path / "model")
    assert load_model(tmp_path / "model").cv == 5
    assert json.loads((tmp_path / "model" / "model.json").read_text())["left_out"] == ["cv"]
