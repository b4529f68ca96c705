from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv.training.parts import checked_masks, part_of


@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 2**20), st.sampled_from([None, 1, 2]))
@settings(max_examples=60)
def test_a_column_keeps_its_nodes_and_is_filled_up_with_one_of_them(N, S, seed, C):
    draw = torch.Generator().manual_seed(seed)
    mask = torch.rand(N, S, generator=draw) < 0.5
    mask[torch.randint(N, (S,), generator=draw), torch.arange(S)] = True
    y = torch.arange(N) if C is None else torch.randn(N, C)
    rows, target, weight, filled = part_of(y, mask)
    counts = mask.sum(0)
    assert (weight is None) == (not filled) == (len(counts.unique()) == 1)
    own = torch.rand(N, generator=draw)
    weighed = part_of(y, mask, own)
    assert weighed.filled == filled
    expected = own[rows] if weight is None else own[rows] * weight
    assert torch.equal(weighed.weight, expected)
    assert rows.shape == (int(counts.max()), S)
    assert torch.equal(target, y[rows])
    for s in range(S):
        n = int(counts[s])
        assert rows[:n, s].tolist() == mask[:, s].nonzero().flatten().tolist()
        assert mask[rows[:, s], s].all()
        if weight is not None:
            assert weight[:, s].tolist() == [1.0] * n + [0.0] * (len(rows) - n)


def test_one_mask_for_all():
    rows, target, weight, _ = part_of(torch.tensor([5, 6, 7]), torch.tensor([True, False, True]))
    assert (rows.tolist(), target.tolist(), weight) == ([0, 2], [[5], [7]], None)
    weighed = part_of(torch.tensor([5, 6, 7]), torch.tensor([True, False, True]), torch.tensor([2.0, 3.0, 4.0]))
    assert weighed.weight.tolist() == [[2], [4]]


def test_masks_and_numbers_side_by_side():
    data = SimpleNamespace(train_idx=torch.tensor([3, 0], dtype=torch.int32), val_mask=torch.arange(4) == 1)
    masks = checked_masks(data, 4, None)
    assert masks["train"].tolist() == [True, False, False, True]
    assert list(masks) == ["train", "val"]
    data.test_idx = torch.tensor([2, 3])
    with pytest.raises(ValueError, match=r"data.train_mask and data.test_mask share 1 nodes, such as 3"):
        checked_masks(data, 4, None)
    data.test_idx = [2]
    with pytest.raises(TypeError, match=r"data.test_idx must be a tensor, got list"):
        checked_masks(data, 4, None)
