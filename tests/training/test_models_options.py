"""`PAN`'s concat, residual and inputs on disk: read back to the same bits, or refused in a line."""

import copy
import json
import pickle

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from safetensors.torch import save as serialised
from two_communities import small

from panconv import PAN, Adjacency, fit
from panconv.nn import layers

EDGES = TRIANGLE_AND_TAIL
X = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
ALONE = [
    {"concat": True, "L": 3},
    {"residual": "layer", "norm": "batch", "concat": True},
    {"residual": "input", "norm": "layer"},
    {"residual": {"kind": "input", "share": 0.3, "identity": 1}, "jk": "cat", "num_layers": 5},
    {"residual": {"kind": "input", "numbers": [3, 7]}, "out_channels": None},
    {"inputs": {"drop_nodes": 0.5, "dropout": 0.2, "propagate": True, "norm": "batch"}},
    {"inputs": {"propagate": True}, "residual": "layer", "bias": False},
]
BY_TRIAL = [
    {"residual": {"kind": "input", "share": [0.1, 0.2], "identity": [0.3, 0.4]}, "dropout": [0.1, 0.2]},
    {"inputs": {"drop_nodes": [0.1, 0.2], "dropout": [0.3, 0.4], "propagate": True, "norm": "layer"}},
]


@pytest.mark.parametrize(("words", "trials"), [(w, S) for w in ALONE for S in (None, 2)] + [(w, 2) for w in BY_TRIAL])
def test_saved_and_loaded_to_the_same_bits(tmp_path, words, trials):
    model = PAN(**{"in_channels": 5, "hidden_channels": 4, "out_channels": 3, **words}, trials=trials)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.rand_like(p))
        model(X, EDGES)  # moves running means
    model.save(tmp_path)
    loaded = PAN.load(tmp_path)
    assert loaded.config == model.config
    assert loaded.state_dict().keys() == model.state_dict().keys()
    for training in (True, False):
        for each in (loaded, model):
            each.train(training).key(range(trials or 1), 3)
        assert torch.equal(loaded(X, EDGES), model(X, EDGES))


@pytest.mark.parametrize("residual", ["layer", "input"])
def test_a_lazy_model_saves_once_it_knows_its_width(tmp_path, residual):
    model = PAN(-1, 8, 3, residual=residual)
    model.eval()(X, EDGES)
    assert model.in_channels == 5
    model.save(tmp_path)
    assert torch.equal(PAN.load(tmp_path)(X, EDGES), model(X, EDGES))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"residual": "x"}, "residual must be one of layer, input"),
        ({"residual": {"kind": "input", "share": "x"}}, "residual share must be at least 0 and at most 1"),
        ({"residual": {"kind": "input", "share": [0.1, 0.2]}}, "residual share must be one number, for one trial"),
        ({"residual": {"kind": "input", "numbers": [1]}}, "residual numbers must be 2 integers of at least 1"),
        ({"residual": {"kind": "input", "numbers": 10**9}}, "residual numbers must be 2 integers of at least 1"),
        ({"residual": None}, "num_layers = 2 makes 6 tensors, it has 4"),
        ({"residual": "layer"}, "num_layers = 2 makes 6 tensors, it has 4"),
        ({"inputs": 3}, "inputs must be a dict of"),
        ({"inputs": {"surprise": 1}}, "inputs has no option 'surprise'"),
        ({"inputs": {"drop_nodes": [0.1] * 9}}, "inputs drop_nodes must be one number, for one trial"),
        ({"concat": True}, "concat=True has no one M"),
        ({"concat": 1}, "concat must be True or False"),
        ({"bias": "no"}, "bias must be True or False"),
        ({"num_layers": 10**9}, "num_layers = 1000000000 makes 2000000000 tensors, it has 4"),
        ({"in_channels": 10**9}, "ask for start.weight of shape (1000000000, 8), it has (5, 8)"),
    ],
)
def test_malformed_settings_are_refused_before_anything_is_built(tmp_path, monkeypatch, changed, words):
    model = PAN(5, 8, 3, residual="input")
    text = json.dumps({"format": "panconv-model-2", **model.config, **changed})
    (tmp_path / "model.safetensors").write_bytes(serialised(model.state_dict(), {"panconv": text}))
    monkeypatch.setattr(layers, "InputConv", None)
    with pytest.raises(ValueError, match="holds no saved model") as refused:
        PAN.load(tmp_path)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "dropped", "named"),
    [
        ({"residual": "layer"}, "residuals.1.weight", "residuals.1.weight"),
        ({"residual": "input"}, "start.bias", "start.bias"),
        ({"inputs": {"propagate": True, "norm": "batch"}}, "entrance.norm.running_var", "entrance.norm.running_var"),
    ],
)
def test_every_tensor_is_asked_for(tmp_path, words, dropped, named):
    model = PAN(5, 8, 3, **words)
    state, text = model.state_dict(), json.dumps({"format": "panconv-model-2", **model.config})
    state.pop(dropped)
    (tmp_path / "model.safetensors").write_bytes(serialised(state, {"panconv": text}))
    with pytest.raises(ValueError, match=f"its settings ask for a tensor {named}, which is not there"):
        PAN.load(tmp_path)


def test_a_matrix_per_length():
    model = PAN(5, 4, 3, L=2, method=9, concat=True).eval()
    adj, h = Adjacency.of(EDGES), X
    for i, conv in enumerate(model.layers()):
        W = conv.lin.weight.unflatten(1, (3, -1))
        h = sum(term @ W[:, n] for n, term in enumerate(conv.met(adj).terms(h))) + conv.bias
        h = h.relu() if i == 0 else h
    torch.testing.assert_close(model(X, EDGES), h)


def test_what_comes_out_of_each_layer():
    model = PAN(5, 8, 3, 3, norm="batch", dropout=0.5)
    outputs = model.hidden(X, EDGES)
    assert model.training
    assert model.norms[0].running_mean.abs().sum() == 0
    assert [out.shape for out in outputs] == [(4, 8), (4, 8), (4, 3)]
    assert not outputs[0].requires_grad
    torch.testing.assert_close(outputs[-1], model.eval()(X, EDGES))
    torch.testing.assert_close(outputs[0], model.norms[0](model.convs[0](X, EDGES)).relu())
    deep = PAN(5, 8, 3, 4, residual="input").eval()
    torch.testing.assert_close(deep.lin(deep.hidden(X, EDGES)[-1]), deep(X, EDGES))


@pytest.mark.parametrize("words", BY_TRIAL)
def test_trials_of_other_settings_train_as_they_do_alone(words):
    data = small()
    data.x = data.x.float()
    model = PAN(data.x.size(1), 4, 2, trials=2, **words)
    together = fit(model, data, seeds=[3, 4], epochs=5)
    for s, seed in enumerate([3, 4]):
        alone = fit(PAN(data.x.size(1), 4, 2, trials=2, **words).trial(s), data, seeds=[seed], epochs=5)
        curve = together.history["train_loss"][:, s]
        torch.testing.assert_close(curve, alone.history["train_loss"][:, 0], rtol=1e-3, atol=1e-4)


def test_models_pickled_before_there_was_any_of_this():
    model = PAN(5, 8, 3, norm="batch", jk="cat").eval()
    old = copy.deepcopy(model)
    for name in ("entrance", "residuals"):
        del old._modules[name]
    for name in ("start", "propagates", "norms_by_graph", "entrance_by_graph"):
        old.__dict__.pop(name)
    for name in ("concat", "residual", "inputs"):
        old.config.pop(name)
    with torch.no_grad():
        model.norms[0].running_mean.add_(1)
        old.norms[0].running_mean.add_(1)
    again = pickle.loads(pickle.dumps(old))
    assert torch.equal(again(X, EDGES), model(X, EDGES))
    before = torch.random.get_rng_state()
    copy.deepcopy(again)
    assert torch.equal(torch.random.get_rng_state(), before)  # a copy draws nothing


NORMED = [
    ({"norm": "batch"}, [False, False, True]),  # the last layer is not normalised
    ({"norm": "batch", "jk": "cat", "residual": "layer"}, [False, False, False]),
    ({"norm": "batch", "act_first": True}, [True, True, True]),  # what it takes out is not the bias
    ({"norm": "batch", "act_first": True, "act": None}, [False, False, True]),
    ({"norm": "layer"}, [True, True, True]),
]


@pytest.mark.parametrize(("words", "trained"), NORMED)
def test_no_bias_is_trained_that_a_batch_norm_takes_out(words, trained, tmp_path):
    data = small()
    model = fit(
        PAN(6, 8, 2, 3, trials=2, **words), data, seeds=[0, 1], lr=[0.02, 0.1], decay_others=0.1, epochs=4
    ).model
    model.save(tmp_path)
    for each in (
        model,
        model.narrowed([1]),
        model.trial(0),
        model.repeated(2),
        copy.deepcopy(model),
        PAN.load(tmp_path),
    ):
        assert [conv.bias.requires_grad for conv in each.convs] == trained
        assert [bool(conv.bias.any()) for conv in each.convs] == trained
    with torch.no_grad():  # a model saved before this has numbers there, which count as they did
        model.convs[0].bias.add_(1)
    model.save(tmp_path)
    torch.testing.assert_close(PAN.load(tmp_path)(data.x, data.edge_index), model.eval()(data.x, data.edge_index))


@pytest.mark.parametrize("words", [{}, {"concat": True, "residual": "layer", "jk": "last"}])
def test_with_batch_norm_a_trial_is_the_same_alone_and_among_others(words):
    data, how = small(), {"epochs": 30, "patience": 30, "lr": 0.02}

    def trained(seeds):
        model = PAN(6, 16, 2, 3, norm="batch", trials=len(seeds), weights=[0.2, 0.5, 0.3], **words)
        return fit(model, data, seeds=seeds, **how)

    together, alone = trained([0, 1, 2]), trained([0])
    for name, curve in together.history.items():
        torch.testing.assert_close(curve[:, :1], alone.history[name], rtol=1e-5, atol=1e-5)
    for beside, own in zip(together.model.norms[:2], alone.model.norms[:2], strict=True):
        torch.testing.assert_close(beside.running_mean[:1], own.running_mean, rtol=1e-5, atol=1e-5)
