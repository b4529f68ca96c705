import pytest
import torch
import torch.nn.functional as F

from panconv.paper.zoo.skipgram import LOSSES, contrast, embedded, lookup, nearness, walks
from panconv.walkers import RandomWalk

HOW = {"dimension": 8, "length": 10, "walks": 10, "window": 3, "epochs": 20, "batch": 30, "lr": 0.05, "negatives": 5}
CPU = torch.device("cpu")


def cliques(k=6):
    """Two cliques of k nodes, joined by one edge."""
    edges = [(i, j) for c in (0, k) for i in range(c, c + k) for j in range(c, c + k) if i != j]
    return torch.tensor([*edges, (k - 1, k), (k, k - 1)]).T


def test_walks_start_everywhere_in_another_order_by_seed():
    walk, starts = RandomWalk.generic(cliques()), torch.arange(12)
    made = walks(walk, starts, 5, 3, torch.tensor([0, 1]))
    assert made.shape == (2, 36, 5)
    for trial in made:
        assert torch.equal(trial[:, 0].reshape(3, 12).sort(1).values, starts.expand(3, 12))
    assert not torch.equal(made[0], made[1])
    assert torch.equal(made[1:], walks(walk, starts, 5, 3, torch.tensor([1])))


def test_nearer_pairs_count_more_and_those_outside_the_window_nothing():
    near = nearness(6, 4, CPU)
    assert near[0].tolist() == [0, 1, 0.75, 0.5, 0.25, 0]
    assert torch.equal(near, near.T)


def test_negative_sampling_by_its_formula():
    u, v, noise = (torch.randn(1, 2, 4, 3, generator=torch.Generator().manual_seed(k)) for k in range(3))
    near, total = nearness(4, 2, CPU), 0.0
    for walk in range(2):
        for i in range(4):
            for j in range(4):
                if near[i, j]:
                    met = F.logsigmoid(u[0, walk, i] @ v[0, walk, j])
                    others = F.logsigmoid(-(noise[0, walk] @ u[0, walk, i])).mean()
                    total -= float(near[i, j] * (met + 5 * others))
    assert float(contrast(u, v, noise, near, 5)) == pytest.approx(total, rel=1e-5)


def test_hierarchical_softmax_is_a_distribution():
    """The loss of a walk of two nodes is −log Pr of one given the other; over all nodes Pr sums to 1."""
    visits = torch.tensor([[5, 9, 1, 2, 30]])
    loss, inner = LOSSES["hierarchical"](visits, 3, torch.tensor([0]), {"length": 2, "window": 1})
    inner.data = torch.randn(inner.shape, generator=torch.Generator().manual_seed(0))
    u = torch.zeros(1, 5, 2, 3)
    u[0, :, 0] = torch.tensor([1.0, -2.0, 0.5])
    u.requires_grad_()
    there = torch.stack([torch.zeros(5).long(), torch.arange(5)], 1)[None]  # the second foretells node 0, with u = 0
    both = [float(loss(u[:, k : k + 1], there[:, k : k + 1], 0).detach()) for k in range(5)]
    still = [float(loss(0 * u[:, k : k + 1], there[:, k : k + 1], 0).detach()) for k in range(5)]
    fair = (2.0 ** -torch.tensor([3.0, 2, 4, 4, 1])).log()  # Pr with u = 0: by the lengths of the codes
    log = torch.tensor(still) - torch.tensor(both) + fair
    torch.testing.assert_close(log.exp().sum(), torch.tensor(1.0), rtol=1e-4, atol=0)


@pytest.mark.parametrize("kind", LOSSES)
def test_nodes_that_walks_join_have_vectors_alike(kind):
    walk, starts = RandomWalk.generic(cliques()), torch.arange(12)
    told = []
    z = F.normalize(embedded(walk, starts, {**HOW, "loss": kind}, [0, 1], told.append), dim=-1)
    alike = z @ z.mT
    assert (alike[:, :6, :6].mean() + alike[:, 6:, 6:].mean()) / 2 > alike[:, :6, 6:].mean() + 0.4
    assert told[-1] == 1
    alone = F.normalize(embedded(walk, starts, {**HOW, "loss": kind}, [1]), dim=-1)
    torch.testing.assert_close(alone[0], z[1], rtol=0, atol=1e-3)


def test_each_trial_has_its_own_table():
    table = torch.arange(12.0).reshape(2, 3, 2)
    assert lookup(table, torch.tensor([[0, 2], [1, 1]])).tolist() == [[[0, 1], [4, 5]], [[8, 9], [8, 9]]]


def test_noise_is_drawn_by_the_visits_to_the_power_of_three_quarters():
    """Walks that stay on a node without visits, which noise never is: the slope of any other counts its draws."""
    visits = torch.tensor([[1, 16, 81, 0], [81, 1, 16, 0]])
    how = {"length": 4, "window": 1, "negatives": 1}
    loss, context = LOSSES["negative"](visits, 1, torch.tensor([0, 1]), how)
    loss(torch.ones(2, 5000, 4, 1), torch.full((2, 5000, 4), 3), 0).backward()
    drawn = context.grad[:, :3, 0] / context.grad[:, :3, 0].sum(1, keepdim=True)
    torch.testing.assert_close(drawn * 36, torch.tensor([[1.0, 8, 27], [27, 1, 8]]), rtol=0, atol=0.5)


@pytest.fixture
def steps(monkeypatch):
    """Of each step, the vectors and the walks, with a loss of the same slope at all steps."""
    seen = []

    def plain(visits, d, seed, how):
        return lambda u, batch, step: seen.append((u.detach(), batch)) or u.sum(), torch.zeros(1, requires_grad=True)

    monkeypatch.setitem(LOSSES, "plain", plain)
    return seen


def test_an_epoch_sees_every_walk_once(steps):
    walk, starts, how = RandomWalk.generic(cliques()), torch.arange(12), {**HOW, "loss": "plain", "epochs": 3}
    embedded(walk, starts, {**how, "batch": 50}, [0, 1])
    made = walks(walk, starts, 10, 10, torch.tensor([0, 1]))
    assert len(steps) == 3 * 3  # 120 walks, at most 50 per step
    for epoch in range(3):
        batches = [batch for _, batch in steps[3 * epoch : 3 * epoch + 3]]
        assert max(batch.size(1) for batch in batches) <= 50
        for s in range(2):
            assert sorted(torch.cat(batches, 1)[s].tolist()) == sorted(made[s].tolist())


def test_the_rate_falls_evenly_to_nothing(steps):
    """Where the slope stays the same, each of Adam's steps is as long as its rate."""
    embedded(RandomWalk.generic(cliques()), torch.arange(12), {**HOW, "loss": "plain", "epochs": 5, "batch": 120}, [0])
    vectors = torch.stack([u for u, _ in steps])
    fallen = (vectors[:-1] - vectors[1:]).flatten(1)
    rate = 0.05 * torch.tensor([[1.0], [0.8], [0.6], [0.4]])
    torch.testing.assert_close(fallen, rate.expand_as(fallen), rtol=1e-3, atol=0)
