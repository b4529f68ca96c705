import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

from panconv.nn.between import act_from, checked_graphs, jumping_from, norm_from
from panconv.nn.norms import BatchNorm, LayerNorm


def test_activations():
    assert isinstance(act_from("relu"), nn.ReLU)
    assert isinstance(act_from("LeakyReLU"), nn.LeakyReLU)
    assert act_from("leaky_relu", {"negative_slope": 0.2}).negative_slope == 0.2
    assert act_from(torch.tanh) is torch.tanh
    assert act_from(None) is None
    assert isinstance(act_from("prelu"), nn.PReLU)


def test_normalisations():
    assert norm_from(None, 8) is None
    for name in ("batch", "BatchNorm", "batch_norm"):
        assert isinstance(norm_from(name, 8, trials=2), BatchNorm)
    assert isinstance(norm_from("layer", 8, {"mode": "node"}), LayerNorm)
    assert isinstance(norm_from("graph", 8), pyg.GraphNorm)
    assert isinstance(norm_from("pair", 8), pyg.PairNorm)
    assert isinstance(norm_from("diff_group", 8, {"groups": 2}), pyg.DiffGroupNorm)
    mine = nn.LayerNorm(8)
    assert norm_from(mine, 8) is mine


def test_jumping():
    assert jumping_from(None, 8, 2) is None
    assert jumping_from("last", 8, 2) is None
    assert jumping_from("lstm", 8, 2).mode == "lstm"


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: act_from("rel"), ValueError, r"act must be the name of an activation .*, got 'rel'$"),
        (lambda: act_from("module"), TypeError, "act must be the name of an activation"),
        (lambda: act_from(3), TypeError, "act must be the name of an activation"),
        (lambda: act_from(nn.ReLU), TypeError, "act must be the name of an activation"),
        (
            lambda: act_from("elu", {"slope": 1}),
            ValueError,
            "'elu' with act_kwargs = {'slope': 1} cannot be made, .*keyword",
        ),
        (lambda: act_from("elu", [1]), TypeError, r"act_kwargs must be a dict of options for act, or None, got \[1\]"),
        (lambda: act_from(nn.ELU(), {"alpha": 1}), ValueError, "act_kwargs go with the name of act"),
        (lambda: act_from("prelu", {"device": "cpu"}), ValueError, "act_kwargs must leave out device"),
        (lambda: act_from("prelu", None, 2), ValueError, "act must have no parameters where there are trials"),
        (lambda: norm_from("bach", 8), ValueError, r"norm must be the name of a normalisation of PyG, .* got 'bach'$"),
        (lambda: norm_from(3, 8), TypeError, "norm must be the name"),
        (lambda: norm_from("batch", 8, {"speed": 1}), ValueError, "'batch' with norm_kwargs = {'speed': 1} cannot"),
        (
            lambda: norm_from("message", True),
            ValueError,
            "norm must need the features alone, got 'message', .* msg",
        ),
        (lambda: norm_from("graph", 8, None, 2), ValueError, "norm must be one of batch, layer where there are trials"),
        (lambda: norm_from(nn.LayerNorm(8), 8, None, 2), ValueError, "norm must be one of batch, layer where there"),
        (
            lambda: jumping_from("first", 8, 2),
            ValueError,
            "jk must be one of last, cat, max, lstm, or None, got",
        ),
        (lambda: jumping_from(["cat"], 8, 2), ValueError, "jk must be one of last, cat, max, lstm, or None"),
        (lambda: jumping_from("lstm", 8, 2, 3), ValueError, "jk must not be 'lstm' where there are trials"),
        (lambda: checked_graphs([0, 0], None, 2), ValueError, "batch must be 2 numbers of graphs"),
        (lambda: checked_graphs(torch.zeros(3).long(), None, 2), ValueError, "batch must be 2 numbers of graphs"),
        (
            lambda: checked_graphs(torch.tensor([0, -1]), None, 2),
            ValueError,
            "batch must name graphs from 0 on",
        ),
        (lambda: checked_graphs(torch.tensor([0, 1]), 0, 2), ValueError, "batch_size must be an integer of at least 1"),
    ],
)
def test_bad_words(make, error, words):
    with pytest.raises(error, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_graphs_are_counted_once():
    batch = torch.tensor([0, 2, 1])
    assert checked_graphs(None, None, 3) == (None, None)
    assert checked_graphs(batch, None, 3)[1] == 3
    assert checked_graphs(batch, 5, 3)[1] == 5
    assert checked_graphs(batch[:0], None, 0)[1] == 1
