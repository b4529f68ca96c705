"""GWNN: local filters in the basis of wavelets, and an MLP where those are the identity."""

import pytest
import torch
from rings import ring, two_rings
from torch.nn import functional as F
from zoo_graph import classes

from panconv import Adjacency
from panconv.paper.zoo import METHODS, gwnn, stack, trainer
from panconv.paper.zoo.gwnn import WaveletConv
from panconv.paper.zoo.stack import Layers
from panconv.paper.zoo.symmetric import symmetric
from panconv.paper.zoo.wavelets import wavelets


def dense(psi):
    return psi @ torch.eye(psi.scale.size(0))


def test_without_a_scale_and_with_a_constant_filter_it_is_an_mlp():
    M, x = symmetric(ring(12, 5), "D^−½AD^−½"), torch.randn(12, 6)
    for s in (0.0, 0.5):
        both = wavelets(M, s, 1e-6)
        model = Layers(WaveletConv(6, 4, *both), WaveletConv(4, 3, *both), 0.5).eval()
        with torch.no_grad():
            model.first.filter.fill_(0.7)
        mlp = F.relu(0.7 * x @ model.first.lin.weight.T) @ model.second.lin.weight.T
        assert torch.allclose(model(x, ring(12)), mlp, atol=1e-5) == (s == 0)


def test_a_filter_at_one_wavelet_reaches_its_neighbourhood_alone():
    both = wavelets(symmetric(ring(40), "D^−½AD^−½"), 0.5, 1e-3)
    conv, x = WaveletConv(5, 2, *both), torch.randn(40, 5)
    before = conv(x).detach()
    with torch.no_grad():
        conv.filter[7] = 3.0
    changed = (conv(x) - before).abs().amax(1) > 1e-6
    assert changed[7]
    assert not changed[20:].any()


def test_gradients_are_those_of_the_dense_product():
    psi, inverse = wavelets(symmetric(ring(15, 9), "D^−½AD^−½"), 0.8, 1e-4)
    x, conv = torch.randn(15, 4, requires_grad=True), WaveletConv(4, 3, psi, inverse)
    found = torch.autograd.grad(conv(x).square().sum(), [x, conv.filter])
    plain = dense(psi) @ (conv.filter * (dense(inverse) @ conv.lin(x)))
    for a, b in zip(found, torch.autograd.grad(plain.square().sum(), [x, conv.filter]), strict=True):
        assert torch.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("normalize", [True, False])
def test_training_uses_the_graph(normalize):
    data = two_rings()
    if not normalize:
        data.edge_weight = torch.rand(data.edge_index.size(1)) + 5  # an operator with a spectrum of its own
    how = {**METHODS["gwnn"].settings, "normalize": normalize, "epochs": 60, "s": 2.0, "lr": 0.05}
    both = classes(trainer("gwnn")(data, how, [3, 4]))
    assert both.shape == (2, 40)
    hidden = ~(data.train_mask | data.val_mask)
    assert (both == data.truth)[:, hidden].float().mean() > 0.8
    assert torch.equal(classes(trainer("gwnn")(data, how, [4]))[0], both[1])


@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize(("s", "threshold"), [(0.4, 1e-4), (1.5, 1e-4), (1.5, 0.03)])
def test_both_layers_have_the_wavelets_that_the_settings_ask_for(monkeypatch, s, threshold, rows):
    data = two_rings()
    monkeypatch.setattr(stack, "fitted", lambda make, *others: make(5, 2))  # the module before any training
    model = gwnn.train(data, {**METHODS["gwnn"].settings, "s": s, "threshold": threshold, "rows": rows}, [0])
    adj = Adjacency.of(data.edge_index, None, 40)
    L = torch.eye(40, dtype=torch.float64) - adj.base("D^−½AD^−½").to_dense(torch.float64)
    for conv in (model.first, model.second):
        for found, x in ((conv.psi, -s), (conv.inverse, s)):
            exact = torch.linalg.matrix_exp(x * L)
            exact = exact.where(exact >= threshold, 0)
            exact = exact / exact.sum(1, keepdim=True) if rows else exact
            assert torch.allclose(dense(found).double(), exact, atol=1e-5)
