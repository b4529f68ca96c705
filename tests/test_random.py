import torch

from panconv import random


def test_uniform_depends_on_key_and_position_alone():
    seeds = torch.arange(10)
    together = random.uniform(random.keys(seeds, 3), (40, 50))
    alone = random.uniform(random.keys(torch.tensor(7), 3), (40, 50))
    assert torch.equal(together[7], alone)
    assert not torch.equal(together[7], random.uniform(random.keys(torch.tensor(7), 4), (40, 50)))


def test_uniform_is_uniform_and_uncorrelated():
    u = random.uniform(random.keys(torch.arange(8), 0), (40_000,))
    assert u.min() >= 0
    assert u.max() < 1
    deciles = torch.histc(u, 10, 0, 1) / u.numel()
    assert (deciles - 0.1).abs().max() < 5 * (0.1 * 0.9 / u.numel()) ** 0.5
    correlation = torch.corrcoef(u) - torch.eye(8)
    assert correlation.abs().max() < 5 / 40_000**0.5
    assert torch.corrcoef(torch.stack([u[0, 1:], u[0, :-1]]))[0, 1].abs() < 5 / 40_000**0.5


def test_words_use_all_their_bits():
    words = random.words(random.keys(torch.arange(8), 0), (40_000,))
    assert words.min() >= 0
    assert words.max() < 2**32
    ones = torch.stack([((words >> bit) & 1).double().mean() for bit in range(32)])
    assert (ones - 0.5).abs().max() < 5 * (0.25 / words.numel()) ** 0.5


def test_masks_have_their_density_and_share_nothing():
    n = 40_000
    position = random.position_hash(n, torch.device("cpu"))
    for p in (0.1, 0.4, 0.5, 0.9):
        keys = torch.cat([random.keys(torch.arange(10), 2, epoch) for epoch in range(20)])
        masks = random.kept(torch.ones(n), position, keys[:, None], p)  # 200 trials and epochs
        assert (masks.mean(1) - (1 - p)).abs().max() < 5 * (p * (1 - p) / n) ** 0.5
        correlation = torch.corrcoef(masks) - torch.eye(200)
        assert correlation.std() < 1.2 / n**0.5  # chance


def test_nothing_dropped_at_zero():
    position = random.position_hash(1000, torch.device("cpu"))
    assert random.kept(torch.ones(1000), position, random.keys(torch.tensor(1)), 0.0).all()
