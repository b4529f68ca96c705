import pytest
import torch
from torch_geometric.data import Data

from panconv.paper.zoo import METHODS, deepwalk, node2vec, trainer
from panconv.walkers import KINDS

SMALL = {"dimension": 8, "length": 10, "walks": 5, "window": 3, "epochs": 20, "batch": 40, "lr": 0.05}


def rings(k=10, alone=2):
    """Two rings with chords, and nodes without an edge; the features say nothing."""
    ring = torch.arange(k)
    one = torch.cat([torch.stack([ring, (ring + step) % k]) for step in (1, 2)], 1)
    one = torch.cat([one, one.flip(0)], 1)
    N = 2 * k + alone
    y = torch.full((N,), -1)  # of most nodes it is not known
    y[[0, k, 2, k + 2]] = torch.tensor([0, 1, 0, 1])
    masks = {"train_mask": torch.zeros(N, dtype=torch.bool), "val_mask": torch.zeros(N, dtype=torch.bool)}
    masks["train_mask"][[0, k]] = True
    masks["val_mask"][[2, k + 2]] = True
    return Data(x=torch.ones(N, 3), edge_index=torch.cat([one, one + k], 1), y=y, **masks)


@pytest.mark.parametrize("method", ["deepwalk", "node2vec"])
@pytest.mark.parametrize("walk", KINDS)
def test_the_class_comes_along_the_edges(method, walk):
    how = {**METHODS[method].settings, **SMALL, "walk": walk}
    told = []
    classes = trainer(method)(rings(), how, [0, 5], tell=told.append)
    assert classes.shape == (2, 22)
    assert (classes[:, :10] == 0).all()
    assert (classes[:, 10:20] == 1).all()
    assert told[-1] == 1
    assert torch.equal(classes[1:, :20], trainer(method)(rings(), how, [5])[:, :20])


def test_walks_leave_only_where_they_can():
    data = rings()
    _, starts = deepwalk.first_order(data, "generic", "cpu")
    assert starts.tolist() == list(range(20))


def test_the_walk_of_maximal_entropy_is_another():
    data = rings()
    data.edge_index = torch.cat([data.edge_index, torch.tensor([[0, 5], [5, 0]])], 1)
    generic, entropic = (deepwalk.first_order(data, kind, "cpu")[0].transition.to_dense() for kind in KINDS)
    assert not torch.allclose(generic, entropic)


def test_the_methods_differ_in_their_walks_and_losses(monkeypatch):
    seen = []
    monkeypatch.setattr(
        deepwalk, "embedded", lambda walk, starts, how, seeds, tell: seen.append((walk, how)) or made(seeds)
    )

    def made(seeds):
        return torch.randn(len(seeds), 22, 4, generator=torch.Generator().manual_seed(0))

    for method in (deepwalk, node2vec):
        name = method.__name__.split(".")[-1]
        method.train(rings(), {**METHODS[name].settings, "p": 0.5, "q": 4.0}, [0])
    (first, plain), (second, biased) = seen
    assert (type(first).__name__, type(second).__name__) == ("RandomWalk", "SecondOrderWalk")
    assert (plain["loss"], biased["loss"]) == ("hierarchical", "negative")
    back = second.transition.to_dense().max()
    assert back > 0.4 > first.transition.to_dense().max()  # p < 1 and q > 1: mostly where it came from


@pytest.mark.parametrize("method", [deepwalk, node2vec])
@pytest.mark.parametrize("scale", deepwalk.SCALES)
def test_logistic_regression_is_given_the_vectors_in_the_scale_that_is_asked(monkeypatch, method, scale):
    z = 3 + 2 * torch.randn(2, 22, 4)
    given = []
    monkeypatch.setattr(deepwalk, "embedded", lambda *args: z)
    monkeypatch.setattr(deepwalk, "classified", lambda vectors, *rest: given.append(vectors) or torch.zeros(2, 22))
    name = method.__name__.split(".")[-1]
    method.train(rings(), {**METHODS[name].settings, "scale": scale}, [0, 1])
    expected = {
        "none": z,
        "unit": torch.stack([node / node.square().sum().sqrt() for trial in z for node in trial]).reshape(z.shape),
        "standard": torch.stack([(trial - trial.mean(0)) / trial.var(0).sqrt() for trial in z]),
    }
    torch.testing.assert_close(given[0], expected[scale])
