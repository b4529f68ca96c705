"""A small graph to train the baselines on, as they get it: labels of the test nodes are −1."""

import torch
from torch_geometric.data import Data

from panconv.zoo import METHODS


def small(seed=0):
    """Two communities of 30 nodes, and their classes. A third of the nodes, all of the test nodes among them, have no
    features: what they are only their neighbours can tell."""
    generator = torch.Generator().manual_seed(seed)
    truth, turn = torch.arange(60) % 2, torch.arange(60) // 2 % 6
    same = truth[:, None] == truth[None, :]
    A = (torch.rand(60, 60, generator=generator) < torch.where(same, 0.25, 0.02)).triu(1)
    x = torch.rand(60, 8, generator=generator)
    x[:, 0] += 0.8 * truth
    x[turn >= 4] = 0
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    train, val, test = turn <= 2, turn == 3, turn >= 4
    y = torch.where(test, -1, truth)
    return Data(x=x, edge_index=(A | A.T).nonzero().T, y=y, train_mask=train, val_mask=val, test_mask=test), truth


def settings(name, **changes):
    """Those of the registry, with fewer epochs."""
    return {**METHODS[name].settings, "epochs": 25, "lr": 0.1, **changes}


def share_right(predicted, truth, mask):
    return float((predicted == truth)[:, mask].float().mean())
