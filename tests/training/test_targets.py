"""What `fit` learns beside classes, and what a node counts for."""

import pytest
import torch
import torch.nn.functional as F
from two_communities import small

from panconv import PAN, fit

HOW = {"seeds": [0, 1], "epochs": 20, "lr": 0.05}


def test_several_labels_per_node():
    data, classes = small(False), small(False).y
    data.y = torch.stack([classes == 0, classes == 1, torch.arange(len(classes)) % 2 == 0], 1)
    result = fit(PAN(6, 8, 3, trials=2), data, **HOW)
    assert result.metric == "label_accuracy"
    assert result.predicted.dtype == torch.bool
    with torch.no_grad():
        scores = result.model(data.x, data.edge_index)
    assert torch.equal(result.predicted, scores > 0)
    for s in range(2):
        y, mine = data.y[data.val_mask], scores[data.val_mask, s]
        assert result.val_loss[s] == pytest.approx(float(F.binary_cross_entropy_with_logits(mine, y.float())), rel=1e-4)
        assert (result.predicted[:, s, 0] == (classes == 0)).float().mean() > 0.8
    with pytest.raises(ValueError, match=r"data\.y has 3 labels per row, but the model gives 2"):
        fit(PAN(6, 8, 2), data)
    with pytest.raises(ValueError, match="label_accuracy, label_auc where y holds several labels per row, got 'auc'"):
        fit(PAN(6, 8, 3), data, metric="auc")


def test_a_node_of_no_weight_is_a_node_left_out():
    data, fewer = small(False), small(False)
    data.sample_weight = torch.rand(len(data.y), generator=torch.Generator().manual_seed(0)) + 0.5
    fewer.sample_weight = 3 * data.sample_weight  # only what they are to each other counts
    out = data.train_mask.nonzero().flatten()[::2]
    data.sample_weight[out] = 0
    fewer.train_mask[out] = False
    one, other = (fit(PAN(6, 8, 2, trials=2), each, **HOW) for each in (data, fewer))
    for name in ("train_loss", "val_loss"):
        torch.testing.assert_close(one.history[name], other.history[name])
    plain = small(False)
    plain.train_mask[out] = False
    again = fit(PAN(6, 8, 2, trials=2), plain, **HOW)
    assert not torch.allclose(again.history["train_loss"], one.history["train_loss"], rtol=1e-3)
    for name, odd, words in (
        ("shape", torch.ones(3), "must be a floating-point tensor"),
        ("negative", -torch.ones(len(data.y)), "must be finite and at least 0"),
        ("none", torch.zeros(len(data.y)), "is 0 for all nodes of data.train_mask"),
    ):
        data.sample_weight = odd
        with pytest.raises(ValueError, match=words):
            fit(PAN(6, 8, 2), data), name
    with pytest.raises(ValueError, match="sample_weight goes with one graph"):
        fit(PAN(6, 8, 2), [data], val=[data])
