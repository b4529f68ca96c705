import torch
from zoo_graph import classes, settings, share_right, small

from panconv.paper.zoo import trainer

train = trainer("mlp")


def test_it_sees_no_edges():
    data, _ = small()
    predicted = train(data, settings("mlp"), [0, 1])
    blind = data.clone()
    blind.edge_index = torch.empty(2, 0, dtype=torch.long)
    assert torch.equal(predicted, train(blind, settings("mlp"), [0, 1]))
    # and so it says one and the same of all nodes without features
    assert all(len(row[data.test_mask].unique()) == 1 for row in classes(predicted))


def test_it_learns_what_features_tell():
    data, truth = small()
    assert share_right(train(data, settings("mlp", epochs=60, dropout=0.0), [0, 1, 2]), truth, data.val_mask) > 0.7
