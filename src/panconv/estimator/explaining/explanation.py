"""`Explanation`: the score of a class at a node, taken apart so that the parts add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from panconv.estimator.explaining.text import lines


class Part(NamedTuple):
    """What a node or a feature adds to the score."""

    name: Any  # the id of the node, or the name of the feature
    value: float


class PathPart(NamedTuple):
    """What a single path adds to the score."""

    nodes: tuple[Any, ...]  # ids, from the node that is explained to the one whose features it hears
    value: float


@dataclass(frozen=True)
class Explanation:
    """Why a node has the score that it has. `score` is `bias` plus the sum of any one of `lengths`, `ends`, `features`.

    Args:
        node: its id.
        label: the class that is explained; of a regressor the column of y, None where there is but one.
        score: of that class, uncalibrated.
        probability: of that class, calibrated; NaN of a regressor.
        bias: what is added whatever the features are: of the linear head for every node alike, of a deep model what the
            biases of its layers come to at the gates of this node.
        lengths: what paths of n = 0, 1, … steps add; of several layers, of n steps in all.
        ends: what each node adds by its features, the largest first, those that add nothing left out.
        features: what each feature adds, over all nodes, the largest first, those that add nothing left out.
        paths: the single paths that add most, the largest first; there may be very many others. Through two layers the
            same nodes may come more than once, with another one in the middle; of a model of more layers no paths are
            listed.

    "Largest" means largest in absolute value throughout. Printed, it is a few lines of text.
    """

    node: Any
    label: Any
    score: float
    probability: float
    bias: float
    lengths: tuple[float, ...]
    ends: tuple[Part, ...]
    features: tuple[Part, ...]
    paths: tuple[PathPart, ...]

    def __str__(self) -> str:
        return "\n".join(lines(self))
