import pytest
import torch
from torch_geometric.data import Data

from panconv import load
from panconv.data.splits import SPLITS, random_split, with_random_splits, with_split, with_splits, without_test
from panconv.records import schema


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


def test_of_the_splits_that_a_graph_brings_a_trial_has_the_one_of_its_seed():
    masks = torch.rand(3, 8, 4, generator=torch.Generator().manual_seed(0)) < 0.5
    data = Data(y=torch.arange(8), train_mask=masks[0], val_mask=masks[1], test_mask=masks[2], num_nodes=8)
    split = with_splits(data, "given", [1, 7, 40])
    for found, given in zip((split.train_mask, split.val_mask, split.test_mask), masks, strict=True):
        assert torch.equal(found, given[:, [1, 3, 0]])
    assert data.train_mask.shape == (8, 4)  # ours is as it was
    one = with_split(data, *masks[:, :, 2])
    assert torch.equal(with_splits(one, "given", [5, 6]).val_mask, masks[1][:, [2, 2]])
    assert with_splits(one, "public", [5]) is one
    with pytest.raises(ValueError, match=r"split 'public' is one for all trials, .* has 4: choose split 'given'"):
        with_splits(data, "public", [5])


def test_splits_that_a_graph_brings_may_have_no_test():
    masks = torch.rand(2, 8, 4, generator=torch.Generator().manual_seed(0)) < 0.5
    data = Data(y=torch.arange(8), train_mask=masks[0], val_mask=masks[1], num_nodes=8)
    split = with_splits(data, "given", [1, 6])
    assert torch.equal(split.val_mask, masks[1][:, [1, 2]])
    assert "test_mask" not in split


def test_splits_by_name():
    data = load("citeseer")
    drawn = with_splits(data, "random", [3, 4]).val_mask
    assert torch.equal(drawn[:, 1], random_split(data.y, 4)[1])
    assert set(SPLITS) == set(schema.SPLITS)


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
