import numpy as np
import torch
from citations import accuracy, citations
from sklearn.linear_model import Ridge

from panconv.paper.zoo import METHODS
from panconv.paper.zoo.classical import features
from panconv.paper.zoo.manireg import fitted_scores, roughness, train


def test_without_smoothness_it_is_ridge_regression():
    data = citations()
    known = data.train_mask
    target = 2 * torch.eye(3)[data.y[known]] - 1
    ridge = Ridge(alpha=0.3).fit(data.x[known].double().numpy(), target.numpy())
    assert np.allclose(fitted_scores(data, 0.3, 0.0), ridge.predict(data.x.double().numpy()))


def test_the_penalty_is_what_differs_along_the_edges():
    data = citations()
    f = data.x.double()
    i, j = data.edge_index
    once = i < j
    differences = (f[i[once]] - f[j[once]]).numpy()
    assert np.allclose(roughness(data, features(data)), differences.T @ differences)


def test_more_of_it_is_smoother_and_better():
    data = citations()
    i, j = data.edge_index.numpy()
    rough = []
    for smooth in (0.0, 0.01, 0.1, 1.0):
        f = fitted_scores(data, 1e-3, smooth)
        rough.append(((f[i] - f[j]) ** 2).sum() / ((f - f.mean(0)) ** 2).sum())
    assert rough == sorted(rough, reverse=True)
    how = METHODS["manireg"].settings
    with_edges, without = (train(data, {**how, "ridge": 1e-3, "smooth": smooth}, [0, 1]) for smooth in (0.1, 0.0))
    assert accuracy(with_edges, data) > accuracy(without, data) + 0.05
    assert with_edges.shape == (2, 90)


def test_on_a_directed_graph_it_is_the_mean_of_both_directions():
    data = citations()
    f = data.x.double()
    i, j = data.edge_index
    data.edge_weight = 0.5 + (i * 7 + j * 3) % 5  # not the same both ways
    differences = f[i] - f[j]  # an entry of A in each direction counts half
    expected = (differences.T @ (differences * data.edge_weight.double().unsqueeze(1)) / 2).numpy()
    assert np.allclose(roughness(data, features(data)), expected)
    once = i < j
    data.edge_index, data.edge_weight = data.edge_index[:, once], data.edge_weight[once]
    differences = differences[once]
    expected = (differences.T @ (differences * data.edge_weight.double().unsqueeze(1)) / 2).numpy()
    assert np.allclose(roughness(data, features(data)), expected)
