"""The classes are what they are called, of one density, and a set is the same wherever and however it is made."""

import hashlib
import math
import time

import numpy as np
import pytest
import torch
from scipy.spatial import cKDTree
from torch_geometric.loader import DataLoader

from panconv.data import point_patterns
from panconv.data.points import nearest_distances, pair_correlation, patterns


@pytest.fixture(scope="module")
def graphs():
    return point_patterns(0.4, graphs=60, nodes=100, chains=6)


def test_a_graph_joins_near_points_and_knows_their_degrees(graphs):
    assert graphs.y.tolist() == [0, 1, 2] * 20
    for i in (0, 1, 2, 59):
        data = graphs[i]
        assert data.y.tolist() == [i % 3]
        tree = cKDTree(data.pos.double().numpy(), boxsize=1)
        pairs = tree.query_pairs(1.3 / math.sqrt(100), output_type="ndarray")
        expected = sorted([*map(tuple, pairs.tolist()), *map(tuple, pairs[:, ::-1].tolist())])
        assert list(map(tuple, data.edge_index.T.tolist())) == expected
        assert torch.equal(data.x[:, 0], torch.bincount(data.edge_index[1], minlength=100).float())


def test_all_graphs_side_by_side_are_the_graphs(graphs):
    assert len(graphs) == 60
    assert (
        repr(graphs) == f"PointPatterns(point patterns 0.4: 60 graphs of 100 nodes, {graphs.edge_ptr[-1] // 2:,} edges)"
    )
    (batch,) = DataLoader(graphs, batch_size=60)
    tensors = graphs.tensors
    for name in ("x", "edge_index", "y", "ptr"):
        assert torch.equal(tensors[name], batch[name]), name
    assert torch.equal(graphs.points.flatten(0, 1), batch.pos)
    assert tensors["classes"] == ("hard disks", "Poisson", "random sequential adsorption")
    assert [data.y.item() for data in graphs[1::29]] == [1, 0, 2]
    assert torch.equal(graphs[-1].pos, graphs[59].pos)
    for wrong in (60, -61, 1.5):
        with pytest.raises(IndexError, match="the index of a graph must be an integer from -60 to 59"):
            graphs[wrong]


def test_disks_do_not_overlap_as_they_are_given_and_poisson_points_do(graphs):
    diameter = 2 * math.sqrt(0.4 / (100 * math.pi))
    closest = nearest_distances(graphs.points.numpy()).min(1)
    assert closest[0::3].min() >= diameter
    assert closest[2::3].min() >= diameter
    assert closest[1::3].max() < diameter / 2
    assert 0 <= graphs.points.min() <= graphs.points.max() < 1


def test_what_is_rounded_up_to_the_border_comes_back_on_the_other_side(monkeypatch):
    monkeypatch.setattr(patterns, "equilibrium", lambda key, points, *_: np.full_like(points, 1 - 1e-12))
    assert point_patterns(graphs=1, nodes=32).points.max() == 0


def test_the_order_of_nodes_says_nothing(graphs):
    assert bool((graphs.points[..., 0].diff() >= 0).all())


def test_the_same_seed_is_the_same_set(graphs, monkeypatch):
    def same(other, count):
        edges = graphs.edge_index[:, : graphs.edge_ptr[count]]
        return torch.equal(other.points, graphs.points[:count]) and torch.equal(other.edge_index, edges)

    def made(**other):
        return point_patterns(0.4, **{"graphs": 9, "nodes": 100, "chains": 6, **other})

    assert same(made(), 9)
    assert not same(made(seed=1), 9)
    assert not (made(seed=1).points == graphs.points[:9]).any()
    monkeypatch.setattr(patterns, "_TOGETHER", 7)
    assert same(made(graphs=20), 20)


def test_a_set_is_the_same_on_every_machine():
    made = point_patterns(0.35, graphs=12, nodes=64, chains=4)
    found = [hashlib.sha256(each.numpy().tobytes()).hexdigest()[:16] for each in (made.points, made.edge_index)]
    assert found == ["6b020146ab302fd7", "ab2888a6a4c5b5cf"]


def test_poisson_points_are_as_near_as_chance_has_it():
    graphs = point_patterns(0.3, graphs=900, nodes=64, chains=0)
    r = np.sort(nearest_distances(graphs.points[1::3].numpy()).ravel())
    below = 1 - (1 - math.pi * r**2) ** 63
    assert np.abs(below - np.arange(r.size) / r.size).max() < 2 / math.sqrt(r.size)  # Kolmogorov's, at 0.1 %
    assert graphs.points[0::3].shape == (300, 64, 2)


def test_bad_input():
    for fraction in (0, 0.46, -1, float("nan"), "a", None, True):
        with pytest.raises(ValueError, match=r"fraction must be a share of the area above 0 and at most 0.45"):
            point_patterns(fraction)
    for threshold in (0, 8, float("inf"), "a"):
        with pytest.raises(ValueError, match=r"threshold must be above 0 and below 7.07"):
            point_patterns(threshold=threshold)
    for name, value in (("graphs", 0), ("nodes", 31), ("chains", -1), ("seed", -1)):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least"):
            point_patterns(**{name: value})


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.3, 0.35, 0.4])
def test_degrees_alone_do_not_tell_the_classes_and_distances_do(fraction):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    begun = time.process_time()
    graphs = point_patterns(fraction, graphs=3000)
    assert time.process_time() - begun < 36  # a fifth of three minutes
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    degree = graphs.x.view(3000, 200).long()
    histogram = torch.nn.functional.one_hot(degree).double().mean(1).numpy()
    distances = pair_correlation(graphs.points.numpy(), np.linspace(0, 0.3, 60))
    folds = StratifiedShuffleSplit(5, test_size=0.2, random_state=0)
    by_degree, by_distance = (cross_val_score(model, x, graphs.y, cv=folds).mean() for x in (histogram, distances))
    assert 0.70 < by_degree < 0.82
    assert by_distance > by_degree + 0.08
