"""Features of the nodes of many graphs: tags, a column for each, attributes as they are, or else the degrees."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

_MOST_DENSE, _MOST_COLUMNS = 2**26, 1000  # values of a small set; columns of a large one
_MOST_DEGREES = 128


def features_of(
    tags: np.ndarray | None,  # (N, K) of integers
    attributes: np.ndarray | None,  # (N, D)
    edge_index: Tensor,  # (2, E)
    num_nodes: int,
) -> tuple[Tensor, str]:
    """The features (N, F), float32, attributes first, and what they are in words."""
    parts, words = [], []
    if attributes is not None:
        parts.append(torch.from_numpy(attributes.astype(np.float32)))
        words.append(f"{attributes.shape[1]} node attributes")
    found = [np.unique(column, return_inverse=True) for column in (() if tags is None else tags.T)]
    columns = sum(len(kinds) for kinds, _ in found)
    if columns > _MOST_COLUMNS and columns * num_nodes > _MOST_DENSE:
        raise ValueError(
            f"{num_nodes:,} nodes have {columns:,} different tags, so that a column for each takes "
            f"{4 * num_nodes * columns / 2**30:.3g} GiB: join those that are rare"
        )
    for kinds, place in found:
        parts.append(_one_hot(torch.from_numpy(place), len(kinds)))
        words.append(f"{len(kinds)} node tags, one-hot")
    return (torch.cat(parts, 1), " and ".join(words)) if parts else degree_features(edge_index, num_nodes)


def degree_features(edge_index: Tensor, num_nodes: int) -> tuple[Tensor, str]:
    """The number of edges that arrive at each node, one-hot; the largest have one column."""
    degree = torch.bincount(edge_index[1], minlength=num_nodes)
    highest = int(degree.max()) if num_nodes else 0
    most = min(highest, _MOST_DEGREES)
    more = " and more" * (highest > most)
    return _one_hot(degree.clamp(max=most), most + 1), f"degrees, one-hot, 0 … {most}{more}"


def _one_hot(number: Tensor, count: int) -> Tensor:
    return torch.zeros(len(number), count, device=number.device).scatter_(1, number.unsqueeze(1), 1)
