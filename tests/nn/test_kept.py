"""The propagated features are found once, and again whenever anything that they hang on has changed."""

import copy
import gc
import pickle

import numpy as np
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from two_communities import small

from panconv import MET, PAN, Adjacency, fit
from panconv.compute.features import SparseRows

ADJ = Adjacency.of(TRIANGLE_AND_TAIL)
INPUTS = {"propagate": True, "drop_nodes": 0.25}


@pytest.fixture
def products(monkeypatch):
    """How often M has been applied in the first layer, whose features are five wide."""
    count, apply = [], MET.apply
    monkeypatch.setattr(MET, "apply", lambda M, x: (x.shape[-1] == 5 and count.append(1), apply(M, x))[1])
    return count


def fresh(model, x, adj=ADJ):
    return copy.deepcopy(model)(x, adj)


@pytest.mark.parametrize("trials", [None, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_found_once_while_nothing_changes(products, trials, sparse):
    model = PAN(5, 8, 3, weights=[0.0, 1.0, 1.0], inputs=INPUTS, trials=trials).eval()
    x = torch.randn(4, 5)
    x = SparseRows.of(x.to_sparse()) if sparse else x
    first = model(x, ADJ)
    assert torch.equal(model(x, ADJ), first)
    assert torch.equal(model(x, ADJ), first)
    assert len(products) == 1
    model.train()  # nodes are dropped: M has something new to do each time
    model(x, ADJ)
    model(x, ADJ)
    assert len(products) == 3


def test_every_change_is_noticed(products):
    model = PAN(5, 8, 3, weights={"kind": "power-law", "trained": False}, inputs=INPUTS).eval()
    numbers = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    x = torch.from_numpy(numbers)
    before = model(x, ADJ).detach()

    def in_place():
        x.mul_(2)

    def behind_torch():
        numbers[0] += 1

    def weights_in_place():
        model.convs[0].weights.log_temperature.add_(1)

    def weights_loaded():
        model.convs[0].weights.load_state_dict({"log_temperature": torch.tensor(-1.0)}, assign=True)

    for change in (in_place, behind_torch, weights_in_place, weights_loaded):
        change()
        after = model(x, ADJ).detach()
        assert not torch.allclose(after, before), change
        assert torch.equal(after, fresh(model, x)), change
        before = after
    other = Adjacency.of(TRIANGLE_AND_TAIL[:, 2:], num_nodes=4)
    assert torch.equal(model(x, other), fresh(model, x, other))
    assert torch.equal(model(x.clone(), ADJ), model(x, ADJ))


def test_what_is_trained_is_never_kept(products):
    x = torch.randn(4, 5)
    free = PAN(5, 8, 3, weights="free", inputs=INPUTS).eval()
    free(x, ADJ)
    free(x, ADJ).sum().backward()
    assert len(products) == 2
    assert free.convs[0].weights.k.grad.abs().sum() > 0
    fixed = PAN(5, 8, 3, weights=[0.0, 1.0, 1.0], inputs=INPUTS).eval()
    x.requires_grad_()
    fixed(x, ADJ)
    fixed(x, ADJ).sum().backward()
    assert x.grad.abs().sum() > 0
    assert len(products) == 4


def test_it_serves_training_after_inference_and_goes_with_the_features():
    model = PAN(5, 8, 3, weights=[0.0, 1.0, 1.0], inputs={"propagate": True}).eval()
    x = torch.randn(4, 5)
    with torch.inference_mode():
        model(x, ADJ)
    model(x, ADJ).sum().backward()
    assert model.convs[0].lin.weight.grad.abs().sum() > 0
    assert torch.equal(pickle.loads(pickle.dumps(model))(x, ADJ), model(x, ADJ))
    assert model.entrance._kept._found
    del x
    gc.collect()
    assert not model.entrance._kept._found


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_it_is_kept_while_a_training_lasts(products):
    """In the training as on a CPU, though the steps are replayed there; and nothing is kept behind it."""
    data = small()
    data.x = data.x.double()[:, :5]

    def trained(device, epochs):
        model = PAN(5, 4, 2, 1, jk="last", L=2, weights=[0.2, 0.5, 0.3], trials=2, inputs=INPUTS).double()
        products.clear()
        return fit(model, data, seeds=[0, 1], epochs=epochs, patience=epochs, device=device), len(products)

    (here, _), (there, few), (_, many) = trained("cpu", 12), trained("cuda", 12), trained("cuda", 40)
    torch.testing.assert_close(here.history, there.history, rtol=1e-6, atol=1e-8, equal_nan=True)
    assert not there.model.entrance._kept._found
    steps = 3 + 1  # of training, before and while a GPU records
    assert few == many == steps + 1 + 1  # one evaluation for all epochs, and what it predicts behind them


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_what_a_gpu_has_recorded_goes_on_reading_it_whatever_the_model_is_called_with():
    data = small()
    data.x, other = data.x[:, :5], torch.randn(len(data.x), 5, device="cuda")
    adj, histories = Adjacency.of(data.edge_index).to("cuda"), []
    for watches in (False, True):
        model = PAN(5, 4, 2, 1, jk="last", L=2, weights=[0.2, 0.5, 0.3], trials=2, inputs=INPUTS)

        def watch(_, model=model):
            with torch.no_grad():
                model(other, adj)
            torch.cuda.empty_cache()
            torch.full_like(other, torch.nan).repeat(50, 1)  # into memory that nobody holds

        how = {"epochs": 60, "patience": 60, "callback": watch if watches else None}
        histories.append(fit(model, data, seeds=[0, 1], device="cuda", **how).history)
    torch.testing.assert_close(*histories, equal_nan=True)
