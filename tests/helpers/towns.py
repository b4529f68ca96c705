"""A small graph to learn on: towns of nodes, most edges within a town, features that tell the town faintly."""

import torch
from torch_geometric.data import Data
from zoo_graph import classes

from panconv.paper.zoo import METHODS, stack, trainer


def towns(number: int = 3, size: int = 20, weighted: bool = False) -> Data:
    """`number` towns of `size` nodes, of which a fifth is labelled for training and a fifth for validation."""
    generator = torch.Generator().manual_seed(7)
    y = torch.arange(number).repeat_interleave(size)
    N = len(y)
    near = torch.where(y.unsqueeze(1) == y, 0.25, 0.01)
    upper = (torch.rand(N, N, generator=generator) < near).triu(1)
    edge_index = (upper | upper.T).nonzero().T
    x = torch.rand(N, 12, generator=generator) + torch.eye(number).repeat_interleave(4, dim=1)[y] * 0.5
    split = torch.arange(N) % 5
    train, val = split == 0, split == 1
    data = Data(x=x / x.sum(1, keepdim=True), edge_index=edge_index, train_mask=train, val_mask=val)
    data.towns, data.test_mask = y, ~(train | val)
    data.y = y.where(train | val, -1)
    if weighted:
        pair = edge_index.sort(dim=0).values  # one weight for both directions
        data.edge_weight = 0.2 + (pair[0] * 7 + pair[1] * 13) % 10 / 10
    return data


def settings(method: str, **changes):
    """The method's own settings, made short."""
    return {**METHODS[method].settings, "epochs": 40, "patience": 40, "weight_decay": 0.0, **changes}


def accuracy(data: Data, found: torch.Tensor) -> torch.Tensor:
    """Of each trial on the test nodes, (S,)."""
    return (found == data.towns)[:, data.test_mask].float().mean(1)


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    """Equal to the precision of float32."""
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, check_dtype=False)


def learns_and_repeats(method: str, better_than: float = 0.8, **changes) -> None:
    """It finds the towns of nodes that nobody told it, and a trial is the same alone or among others."""
    train, told = trainer(method), []
    data = towns()
    found = classes(train(data, settings(method, **changes), [3], tell=told.append))
    assert bool((accuracy(data, found) > better_than).all()), accuracy(data, found)
    assert told == sorted(told)
    assert 0 < told[-1] <= 1
    data, how = towns(weighted=True), settings(method, **{**changes, "epochs": 10})
    found = classes(train(data, how, [3, 4]))
    assert found.shape == (2, len(data.y))
    assert torch.equal(classes(train(data, how, [4]))[0], found[1])


def built(module, monkeypatch, data: Data, how) -> torch.nn.Module:
    """The network that the `train` of a module makes for one trial, untrained."""
    made = []

    def caught(make, data, *others):
        made.append(make(data.x.size(1), int(data.y.max()) + 1))
        return torch.zeros(1, len(data.y), dtype=torch.long)

    monkeypatch.setattr(stack, "fitted", caught)
    module.train(data, how, [0])
    return made[0].eval()


def walk(data: Data) -> torch.Tensor:
    """D⁻¹A, dense."""
    A = dense(data)
    return A / A.sum(1, keepdim=True)


def dense(data: Data) -> torch.Tensor:
    """A[receiver, sender] of the towns, with their weights if they have any."""
    weight = getattr(data, "edge_weight", None)
    N = len(data.y)
    ones = torch.ones(data.edge_index.size(1))
    return torch.zeros(N, N).index_put((data.edge_index[1], data.edge_index[0]), ones if weight is None else weight)
