"""Fitted estimators on disk: a folder that another person can be given, without a pickle and without the graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from panconv.base.checks import shown
from panconv.estimator.folder.files import SETTINGS, WRITER, read, write
from panconv.estimator.folder.fitted import ESTIMATORS, described, restored
from panconv.training.models import PAN
from panconv.training.saving import refusing


def save(estimator: Any, path: str | os.PathLike[str], extra: Mapping[str, str | bytes] | None = None) -> None:
    """Writes a fitted estimator as a folder of plain files, whole or not at all.

    The folder holds what was learned, and no graph: neither edges nor ids nor features of the nodes, but row numbers,
    labels and scores of those that were labelled (docs/folder.md).

    Args:
        estimator: a fitted `PANClassifier` or `PANRegressor`.
        path: a new or empty folder, or that of a former model, which is replaced.
        extra: other files that are to be in the folder, texts or bytes by their names.
    """
    if type(estimator).__name__ not in ESTIMATORS or type(estimator) is not ESTIMATORS[type(estimator).__name__]:
        raise TypeError(f"estimator must be one of {', '.join(ESTIMATORS)}, got {shown(type(estimator).__name__)}")
    check_is_fitted(estimator, "n_features_in_")
    write(_folder(path), *described(estimator), extra or {})


def load_model(path: str | os.PathLike[str]) -> Any:
    """What `save` of an estimator or of a `PAN` wrote, ready to predict.

    An estimator comes back without the graph that it was fitted on: ask it about a graph that you give,
    ``clf.predict(graph=g)``. Nothing in the folder is run, and whatever is wrong with it is one ValueError.

    Args:
        path: the folder; of a `PAN` also a file that ends in ``.safetensors``.

    >>> import tempfile
    >>> from panconv import PANClassifier
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     PANClassifier("linear").fit(X, y).save(folder)
    ...     load_model(folder).predict([[0.2], [0.8]]).tolist()
    ['low', 'high']
    """
    folder = _folder(path)
    if not os.path.lexists(folder / SETTINGS) and (folder.suffix == ".safetensors" or _holds_pan(folder)):
        return PAN.load(folder)
    content, state = read(folder)
    with refusing(folder / SETTINGS, WRITER):
        return restored(content, state)


def _holds_pan(folder: Path) -> bool:
    return os.path.lexists(folder / "model.safetensors")


def _folder(path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a folder, got {shown(path)}")
    return Path(path)
