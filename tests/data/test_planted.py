"""Planted graphs are what their arguments say."""

import pytest
import torch

from panconv.data.planted import planted


def test_edges_go_where_they_are_sent():
    for prefers, ahead in (("same", 0), ("next", 1)):
        graph = planted(3000, classes=3, degree=8, share=0.8, prefers=prefers)
        s, t = graph.edge_index
        difference = (graph.y[t] - graph.y[s]) % 3
        share = torch.bincount(difference, minlength=3).double() / len(difference)
        # Both ways: an edge into the next class is one into the class before, for its other end.
        expected = torch.full((3,), 0.2 / 3, dtype=torch.float64)
        expected[ahead] += 0.4
        expected[-ahead] += 0.4
        torch.testing.assert_close(share, expected, atol=0.02, rtol=0)
        assert 7.8 < graph.num_edges / 3000 <= 8
        assert not bool((s == t).any())
        assert graph.edge_index.unique(dim=1).size(1) == graph.num_edges


def test_classes_are_of_one_size_and_features_stand_about_their_centres():
    graph = planted(4000, classes=4, features=5, signal=2.0, seed=3)
    assert torch.bincount(graph.y).tolist() == [1000] * 4
    means = torch.stack([graph.x[graph.y == c].mean(0) for c in range(4)])
    assert means.norm(dim=1).sub(2).abs().max() < 0.15
    rest = graph.x - means[graph.y]
    assert rest.std(0).sub(1).abs().max() < 0.05


def test_a_seed_says_everything_and_no_features_are_none():
    one, same, other = planted(seed=1), planted(seed=1), planted(seed=2)
    assert torch.equal(one.edge_index, same.edge_index)
    assert torch.equal(one.x, same.x)
    assert not torch.equal(one.y, other.y)
    assert planted(50, features=0).x is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"share": 1.5}, "share must be a share of the edges, 0 … 1, got 1.5"),
        ({"degree": -1}, "degree must be at least 0 and finite, got -1"),
        ({"signal": float("inf")}, "signal must be at least 0 and finite, got inf"),
        ({"prefers": "other"}, "prefers must be one of same, next, got 'other'"),
        ({"classes": 1}, "classes must be an integer of at least 2, got 1"),
    ],
)
def test_misuse(given, message):
    with pytest.raises(ValueError, match=message):
        planted(**given)
