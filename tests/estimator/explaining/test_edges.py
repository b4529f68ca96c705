from itertools import pairwise

import numpy as np
import pytest
import torch
from enumerated_paths import apart
from torch_geometric.explain import CaptumExplainer, Explainer

from panconv import METHODS, PAN, PANConv
from panconv.estimator.explaining import explain_model
from panconv.estimator.explaining.edges import edge_parts

N, F, C, NODE = 9, 3, 2, 4


def small(loop=True):
    """A directed graph as edges and as A[receiver, sender], with features; node 0 hears itself."""
    random = np.random.default_rng(0)
    A = (random.random((N, N)) < 0.25) | np.eye(N, k=1, dtype=bool)
    np.fill_diagonal(A, False)
    A[0, 0] = loop
    target, source = A.nonzero()
    edges = torch.from_numpy(np.stack([source, target])[:, random.permutation(len(source))])
    return edges, torch.from_numpy(A).double(), torch.from_numpy(random.normal(size=(N, F)))


def split(edge_index, paths):
    """Paths by hand: to each edge its even share of what the paths over it add."""
    found = dict.fromkeys(map(tuple, edge_index.T.tolist()), 0.0)
    for path, value in paths:
        taken = [(heard, hears) for hears, heard in pairwise(path) if hears != heard]
        for pair in taken:
            found[pair] += value / len(taken)
    return list(found.values())


def drawn(model):
    torch.manual_seed(1)
    for p in model.parameters():
        p.data.normal_()
    return model.double().eval()


@pytest.mark.parametrize("L", [1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_single_paths_of_a_layer_split_by_hand(method, L):
    edges, A, x = small()
    layer = drawn(PANConv(F, C, L, method, [1.0] * (L + 1), concat=True))
    W = layer.lin.weight.detach().unflatten(-1, (L + 1, C))[..., 1]
    every = apart(A, NODE, torch.ones(L + 1), method, "walks", (x @ W).T.numpy())
    np.testing.assert_allclose(edge_parts(layer, x, edges, NODE, 1), split(edges, every.items()), atol=1e-9)


@pytest.mark.parametrize(
    "how", [{}, {"num_layers": 1, "jk": "last"}, {"method": 3, "act": "leaky_relu", "norm": "batch"}]
)
def test_single_paths_of_a_deep_model_split_by_hand(how):
    edges, _, x = small(loop=False)
    model = drawn(PAN(F, 4, C, **{"L": 2, "num_layers": 2, **how}))
    every = explain_model(model, x, edges, NODE, 1, top=10**5).paths
    found = edge_parts(model, x, edges, NODE, 1)
    np.testing.assert_allclose(found, split(edges, every), atol=1e-9)
    assert (found != 0).sum() > 3


def test_parts_are_what_paths_with_edges_add():
    edges, _, x = small()
    model = drawn(PAN(F, 4, C, num_layers=3, L=1, method=3, trials=2))
    one = explain_model(model, x, edges, NODE, 0)
    assert float(edge_parts(model, x, edges, NODE, 0).sum()) == pytest.approx(sum(one.lengths[1:]), abs=1e-9)


def test_of_a_layer_they_are_captums_integrated_gradients():
    edges, _, x = small()
    layer = drawn(PANConv(F, C, 3, 5, [1.0] * 4, concat=True)).float()
    config = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
    algorithm = CaptumExplainer("IntegratedGradients", n_steps=8)
    explainer = Explainer(layer, algorithm, "model", config, edge_mask_type="object")
    c = int(layer(x.float(), edges)[NODE].argmax())
    theirs = explainer(x.float(), edges, index=NODE).edge_mask.detach()
    theirs[edges[0] == edges[1]] = 0
    np.testing.assert_allclose(edge_parts(layer, x, edges, NODE, c), theirs, atol=1e-4)


def test_the_model_stays_as_it_is():
    edges, _, x = small()
    model = PAN(F, 4, C).train()
    edge_parts(model, x.float(), edges, NODE, 0)
    assert model.training
    assert isinstance(model.act, torch.nn.ReLU)
    assert all(p.dtype == torch.float32 and p.requires_grad for p in model.parameters())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"jk": "max"}, "jk='max' chooses too: use 'cat'"),
        ({"act": "elu"}, "act ELU is curved"),
        ({"paths": "shortest"}, "paths must be 'walks'"),
    ],
)
def test_models_whose_paths_cannot_be_split(how, message):
    edges, _, x = small()
    with pytest.raises(ValueError, match=message):
        edge_parts(PAN(F, 4, C, **how), x, edges, NODE, 0)
