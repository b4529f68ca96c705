import pytest
import torch
from rings import two_rings

from panconv import load
from panconv.paper.zoo import METHODS, node2vec
from panconv.paper.zoo.deepwalk import first_order
from panconv.paper.zoo.node2vec import train
from panconv.walkers import SecondOrderWalk


def test_without_a_bias_its_walk_is_deepwalks_and_with_one_it_reaches_elsewhere():
    data = load("cora")
    first, starts = first_order(data, "generic", "cpu")
    plain = first.sample(starts, 10, seed=1)
    assert torch.equal(SecondOrderWalk(first, 1.0, 1.0).sample(starts, 10, seed=1), plain)

    def places(p, q):  # how many nodes a walk sees
        walks = SecondOrderWalk(first, p, q).sample(starts, 10, seed=1).sort(1).values
        return float((walks.diff(dim=1) != 0).sum(1).float().mean())

    assert places(0.25, 4.0) < places(1.0, 1.0) < places(4.0, 0.25)


def test_p_and_q_change_what_it_learns():
    generator = torch.Generator().manual_seed(0)
    data = load("cora").subgraph(torch.arange(300))
    data.y, seen = data.y.clone(), torch.rand(300, generator=generator)
    data.train_mask, data.val_mask = seen < 0.2, (seen >= 0.2) & (seen < 0.4)
    data.y[seen >= 0.4] = -1
    small = {"dimension": 8, "length": 10, "walks": 2, "window": 3, "epochs": 2, "batch": 40, "lr": 0.05}
    how = {**METHODS["node2vec"].settings, **small}
    one, other = train(data, {**how, "p": 1.0, "q": 1.0}, [0]), train(data, {**how, "p": 0.25, "q": 4.0}, [0])
    assert one.shape == other.shape == (1, 300)
    assert not torch.equal(one, other)


@pytest.mark.parametrize(("p", "q", "least", "most"), [(0.01, 1.0, 0.95, 1.0), (100.0, 1.0, 0.0, 0.02)])
def test_a_small_p_goes_straight_back_and_a_large_one_hardly_ever(monkeypatch, p, q, least, most):
    """q = 1 takes no part: back against on, a walker's odds are 1/p to the number of other ways, here 3."""
    seen = []
    monkeypatch.setattr(node2vec, "from_walks", lambda walk, starts, *rest: seen.append((walk, starts)))
    train(two_rings(), {**METHODS["node2vec"].settings, "p": p, "q": q}, [0])
    ((walk, starts),) = seen
    paths = walk.sample(starts.repeat(20), 20, seed=1)
    assert least <= float((paths[:, 2:] == paths[:, :-2]).float().mean()) <= most


def test_a_large_q_stays_among_the_neighbours_of_the_node_before(monkeypatch):
    seen, data = [], two_rings()
    monkeypatch.setattr(node2vec, "from_walks", lambda walk, starts, *rest: seen.append((walk, starts)))
    train(data, {**METHODS["node2vec"].settings, "p": 1.0, "q": 100.0}, [0])
    ((walk, starts),) = seen
    paths = walk.sample(starts.repeat(20), 20, seed=1)
    near = torch.eye(40).bool()
    near[tuple(data.edge_index)] = True
    assert float(near[paths[:, :-2], paths[:, 2:]].float().mean()) > 0.95
