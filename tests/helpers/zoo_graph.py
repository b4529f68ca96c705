"""A small graph to train the baselines on, as they get it: labels of the test nodes are −1."""

import torch
from torch_geometric.data import Data

from panconv.nn import Dropout
from panconv.paper.zoo import METHODS


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


def classes(found):
    """The class of each node by trial, (S, N), from what a method gives: scores (S, N, C), or classes."""
    return found.argmax(-1) if found.dim() == 3 else found


def share_right(predicted, truth, mask):
    return float((classes(predicted) == truth)[:, mask].float().mean())


def check_dropouts(model, p, run, names):
    """Each of the dropouts named, and no other, is there with probability p, and alone it already drops something."""
    drops = {name: module for name, module in model.named_modules() if isinstance(module, Dropout)}
    assert {name: drop.p for name, drop in drops.items()} == dict.fromkeys(names, p)
    whole = run(model.eval())
    model.train()
    for one in drops.values():
        for drop in drops.values():
            drop.p = p if drop is one else 0.0
        one.keys = torch.tensor(3)
        dropped = run(model)
        torch.testing.assert_close(dropped, run(model))  # by its key
        assert not torch.allclose(dropped, whole, atol=1e-5)
    one.p = 0.0
    torch.testing.assert_close(run(model), whole)  # and nothing else is dropped
