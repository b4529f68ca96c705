import torch

from panconv import load
from panconv.data.splits import random_split, with_random_splits, without_test


def test_a_random_split_is_like_the_public_one():
    y = load("citeseer").y
    splits = [random_split(y, seed) for seed in (0, 0, 1)]
    assert all(torch.equal(a, b) for a, b in zip(*splits[:2], strict=True))
    assert not torch.equal(splits[0][0], splits[2][0])
    train, val, test = splits[2]
    assert torch.bincount(y[train]).tolist() == [20] * 6
    assert (int(val.sum()), int(test.sum())) == (500, 1000)
    assert int(torch.stack([train, val, test]).sum(0).max()) == 1
    share = torch.bincount(y[test]) / 1000
    assert (share - torch.bincount(y) / len(y)).abs().max() < 0.05  # neither the first nodes nor one class


def test_validation_and_test_nodes_are_from_anywhere_and_others_for_each_seed():
    N, seeds = 4000, 20
    splits = [random_split(torch.arange(N) % 4, seed) for seed in range(seeds)]
    for part, size in ((1, 500), (2, 1000)):
        masks = torch.stack([split[part] for split in splits])  # (seeds, N)
        by_place = masks.reshape(seeds, 10, -1).sum((0, 2)) / (seeds * size)
        assert (by_place - 0.1).abs().max() < 0.02  # as many from each tenth of the nodes
        common = int((masks[0] & masks[1]).sum())
        assert abs(common - size**2 / (N - 80)) < 5 * (size**2 / N) ** 0.5  # no more than by chance


def test_without_test_there_are_no_labels_but_those_that_may_be_seen():
    data = load("cora")
    shown = without_test(data)
    assert (shown.y >= 0).equal(data.train_mask | data.val_mask)
    assert "test_mask" not in shown
    assert "test_mask" in data  # ours is as it was
    split = with_random_splits(data, [0, 1])
    seen = (split.train_mask | split.val_mask).any(1)
    assert (without_test(split).y >= 0).equal(seen)
    assert "test_mask" not in without_test(shown)
