import torch

from panconv import load
from panconv.walkers import SecondOrderWalk
from panconv.zoo import METHODS
from panconv.zoo.deepwalk import first_order, leaving
from panconv.zoo.node2vec import train


def test_without_a_bias_its_walk_is_deepwalks_and_with_one_it_reaches_elsewhere():
    data = load("cora")
    first = first_order(data, "generic", "cpu")
    starts = leaving(first)
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
