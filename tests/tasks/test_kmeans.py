import itertools

import pytest
import torch

from panconv.tasks.kmeans import kmeans


def squares(x, label):
    return sum(float(((x[label == c] - x[label == c].mean(0)) ** 2).sum()) for c in label.unique())


def test_the_best_of_all_partitions_of_a_few_points():
    for seed in range(3):
        x = torch.randn(7, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        best = min(squares(x, torch.tensor(p)) for p in itertools.product(range(3), repeat=7) if len(set(p)) == 3)
        assert squares(x, kmeans(x, 3, restarts=30)) == pytest.approx(best, rel=1e-9)


def test_clouds_far_apart_are_told_apart():
    truth = torch.arange(5).repeat_interleave(60)
    x = torch.randn(300, 3) + 30 * torch.eye(5, 3)[truth] - 30 * (truth == 4)[:, None]
    label = kmeans(x, 5)
    assert len({(a, b) for a, b in zip(truth.tolist(), label.tolist(), strict=True)}) == 5


def test_more_restarts_never_do_worse_and_a_seed_repeats():
    x = torch.rand(200, 2, dtype=torch.float64)
    one, many = kmeans(x, 12, restarts=1, seed=0), kmeans(x, 12, restarts=40, seed=0)
    assert squares(x, many) < squares(x, one)  # the first of the forty is the one
    assert torch.equal(many, kmeans(x, 12, restarts=40, seed=0))
    assert not torch.equal(one, kmeans(x, 12, restarts=1, seed=1))


def test_points_that_coincide_and_as_many_clusters_as_points():
    x = torch.tensor([[1.0], [1.0], [1.0], [2.0]])
    label = kmeans(x, 3)
    assert len(label[:3].unique()) == 1
    assert label[3] != label[0]
    assert len(kmeans(torch.arange(6.0).unsqueeze(1), 6).unique()) == 6
    assert kmeans(x, 1).tolist() == [0, 0, 0, 0]


def test_every_seed_of_63_bits_is_taken():
    x = torch.rand(40, 2, generator=torch.Generator().manual_seed(0))
    found = {tuple(kmeans(x, 8, restarts=1, seed=seed, iterations=1).tolist()) for seed in (0, 2**32, 2**62, 2**63 - 1)}
    assert len(found) == 4
