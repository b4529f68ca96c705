import numpy as np
import torch
from citations import citations
from torch_geometric.data import Data

from panconv.paper.zoo.classical import classes, features, labels, operator


def test_the_operator_is_that_of_the_graph_or_the_weights_as_they_stand():
    data = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    assert np.allclose(operator(data, "D⁻¹A").toarray(), [[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]])
    data.edge_weight = torch.tensor([1.0, 2.0, 3.0, 4.0])  # from source to target: A[target, source]
    assert np.allclose(operator(data, "D⁻¹A", normalize=False).toarray(), [[0, 2, 0], [1, 0, 4], [0, 3, 0]])
    assert np.allclose(operator(data, "D⁻¹A").sum(1), 1)


def test_labels_are_those_of_the_training_nodes_alone():
    data = citations()
    nodes, hot = labels(data)
    assert np.array_equal(nodes, data.train_mask.nonzero().squeeze(1).numpy())
    assert np.array_equal(hot[nodes].argmax(1), data.truth[nodes].numpy())
    assert hot.sum() == len(nodes)
    assert np.allclose(features(data).toarray(), data.x.numpy())


def test_a_node_that_nothing_reached_gets_the_commonest_class():
    scores = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.2], [0.0, 0.0, 0.5], [1.0, 0.0, 0.0]])
    assert classes(scores, 2).tolist() == [[2, 2, 2, 0]] * 2
    assert classes(np.zeros((2, 3)), 1).tolist() == [[0, 0]]
