import pytest
import torch
from torch_geometric.nn import SSGConv
from towns import close, dense, learns_and_repeats, settings, towns

from panconv.paper.zoo import ssgc
from panconv.paper.zoo.operator import renormalized


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("K", "alpha"), [(1, 0.5), (2, 0.0), (16, 0.05)])
def test_features_are_averaged_as_by_pyg(K, alpha, weighted):
    data = towns(weighted=weighted)
    theirs = SSGConv(12, 12, alpha, K, bias=False)
    theirs.lin.weight.data = torch.eye(12)
    ours = ssgc.averaged(renormalized(data, {"normalize": True}), data.x, K, alpha)
    close(ours, theirs(data.x, data.edge_index, data.edge_weight if weighted else None))


def test_the_formula_with_the_weights_as_the_operator():
    data = towns(weighted=True)
    M, x = dense(data), data.x
    ours = ssgc.averaged(renormalized(data, {"normalize": False}), x, 3, 0.1)
    close(ours, 0.1 * x + 0.9 / 3 * (M @ x + M @ M @ x + M @ M @ M @ x))


def test_a_regression_on_them(monkeypatch):
    """The model sees no edges, and the graph that was handed in keeps its features."""
    seen, data = {}, towns()

    def caught(make, z, *others):
        seen.update(x=z, model=make(12, 3))

    monkeypatch.setattr(ssgc, "fitted_alone", caught)
    ssgc.train(data, settings("ssgc", K=2, alpha=0.3), [0])
    assert torch.equal(data.x, towns().x)
    close(seen["x"], ssgc.averaged(renormalized(data, {"normalize": True}), data.x, 2, 0.3))
    linear = seen["model"]
    close(linear(seen["x"], None), seen["x"] @ linear.weight.T + linear.bias)


def test_it_learns():
    learns_and_repeats("ssgc", lr=0.2)
