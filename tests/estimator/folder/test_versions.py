import json

import numpy as np
import pytest

from panconv import PANClassifier, load_model
from panconv.estimator.folder import versions


@pytest.fixture
def folder(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    PANClassifier("linear", cv=2).fit(X, np.arange(12) % 2).save(tmp_path / "model")
    return tmp_path / "model"


def rewritten(folder, **said):
    content = json.loads((folder / "model.json").read_text()) | said
    (folder / "model.json").write_text(json.dumps(content))


def test_an_older_format_is_brought_up_to_date_step_by_step(folder, monkeypatch):
    """Two made-up versions: the first calls classes "names", and the second the temperature "heat"."""
    monkeypatch.setattr(versions, "VERSION", 3)
    monkeypatch.setattr(
        versions,
        "MIGRATIONS",
        {
            1: lambda content: {**content, "heat": content["warmth"] / 2},
            2: lambda content: {**content, "temperature": content["heat"]},
        },
    )
    rewritten(folder, version=1, warmth=3.0, temperature=None)
    assert load_model(folder).temperature_ == 1.5
    rewritten(folder, version=2, heat=7.0)
    assert load_model(folder).temperature_ == 7.0
    rewritten(folder, version=3, temperature=5.0)
    assert load_model(folder).temperature_ == 5.0
    rewritten(folder, version=1, warmth="x")
    with pytest.raises(ValueError, match=r"model\.json holds no saved model"):
        load_model(folder)


def test_there_is_a_way_from_every_version():
    assert set(versions.MIGRATIONS) == set(range(1, versions.VERSION))


def test_a_newer_format_is_refused(folder):
    rewritten(folder, version=2, panconv="9.1.0")
    with pytest.raises(ValueError, match=r"version 2, newer than 1, .* newer one, panconv 9.1.0: update panconv"):
        load_model(folder)
    for version in (0, "1", None, 1.0, True):
        rewritten(folder, version=version)
        with pytest.raises(ValueError, match="its version must be a whole number of at least 1"):
            load_model(folder)
    rewritten(folder, version=1, format="another")
    with pytest.raises(ValueError, match='it does not say "format": "panconv model folder"'):
        load_model(folder)
