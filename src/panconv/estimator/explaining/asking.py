"""What is asked for: a node by its id, a class by its name; and the head at that node."""

from __future__ import annotations

from typing import Any

import numpy as np

from panconv.base.checks import as_integer, kind_of, shown
from panconv.base.near import nearest
from panconv.estimator.base import LinearModel
from panconv.estimator.explaining.deep import DeepAt
from panconv.estimator.explaining.linear import LinearAt
from panconv.estimator.explaining.parts import At
from panconv.estimator.nodes import Nodes

_MOST_NAMES = 12  # of classes that a message lists


def head_at(model: Any, nodes: Nodes, node: Any) -> tuple[At, int]:
    """The head at a node, and the number of its row."""
    row = _row(nodes, node)
    if isinstance(model, LinearModel) and model.paths is not None:
        return LinearAt(model.head, model.paths, nodes, row), row
    return DeepAt.of_head(model, nodes, row), row


def _row(nodes: Nodes, node: Any) -> int:
    if isinstance(node, (list, tuple, set, dict)) or np.ndim(node):
        raise TypeError(f"node must be one id or row number, got {kind_of(node)}: explain one after another")
    return int(nodes.rows([node])[0])


def class_number(classes: np.ndarray, label: Any, scores: np.ndarray) -> int:
    """The number of the class that is named, by its name or by how that is written; of the predicted one for None."""
    if label is None:
        return int(scores.argmax())
    names = classes.tolist()
    if label in names and not isinstance(label, bool):
        return names.index(label)
    written = [str(name) for name in names]
    if str(label) in written:
        return written.index(str(label))
    near = nearest(str(label), written)
    few = ", ".join(written[:_MOST_NAMES]) + (" …" if len(written) > _MOST_NAMES else "")
    hint = f"they are {few}" if near is None else f"did you mean {names[written.index(near)]!r}?"
    raise ValueError(f"label must be one of the {len(names)} classes, got {shown(label)}: {hint}")


def column_number(columns: int, label: Any) -> int:
    """The column of y that is meant; None will do where there is one."""
    number = 0 if label is None and columns == 1 else as_integer(label)
    if number is None or not 0 <= number < columns:
        raise ValueError(f"label must be a column number of y, 0 … {columns - 1}, got {shown(label)}")
    return number
