"""Small graphs of a few communities, with masks and hidden labels as the methods of the zoo are given them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data


def citations(classes: int = 3, size: int = 30, words: int = 60, inside: float = 0.2, between: float = 0.01) -> Data:
    """Communities whose nodes share words a little and edges more; test labels are −1, the truth is `data.truth`."""
    draw = torch.Generator().manual_seed(0)
    N = classes * size
    truth = torch.arange(N) % classes
    same = truth[:, None] == truth[None, :]
    linked = torch.rand(N, N, generator=draw) < torch.where(same, inside, between)
    edge_index = (linked.triu(1) | linked.triu(1).T).nonzero().T
    topic = torch.arange(words)[None, :] % classes == truth[:, None]
    x = (torch.rand(N, words, generator=draw) < torch.where(topic, 0.25, 0.12)).float()
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    part = torch.arange(N) // classes  # the first four of each class to learn from, the next six to choose by
    data = Data(x=x, edge_index=edge_index, y=truth.clone(), truth=truth)
    data.train_mask, data.val_mask, data.test_mask = part < 4, (part >= 4) & (part < 10), part >= 10
    data.y[data.test_mask] = -1
    return data


def accuracy(predicted: Tensor, data: Data) -> float:
    """Of classes (S, N), the share of test nodes that are right."""
    return float((predicted == data.truth)[:, data.test_mask].float().mean())
