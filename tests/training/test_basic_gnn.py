"""`PAN` in the words of PyG's `BasicGNN`: built by the same keywords, it is PyG's GCN where its operator is GCN's."""

import copy
import json

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from safetensors.torch import save as serialised
from torch import nn
from torch_geometric.nn import GCN
from two_communities import small

from panconv import PAN, fit
from panconv.training import fit as train

EDGES = TRIANGLE_AND_TAIL
GCN_OPERATOR = {"L": 1, "method": 5, "weights": [0.0, 1.0]}
WORDS = {"in_channels": 5, "hidden_channels": 8, "num_layers": 3, "dropout": 0.0}
X = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))


def pair(**words):
    """PyG's GCN and a PAN of the same operator, by the same keywords, with the same numbers other than the start's."""
    words = WORDS | words
    torch.manual_seed(0)
    theirs, ours = GCN(**words), PAN(**words, **GCN_OPERATOR)
    with torch.no_grad():
        for p in theirs.parameters():
            p.copy_(torch.randn_like(p) / 2)
    state = {}
    for name, value in theirs.state_dict().items():
        name = name.replace(".module.", ".") if name.startswith("norms") and words["norm"] == "batch" else name
        turned = name.endswith("lin.weight")
        state[name] = value.T.contiguous() if turned else value.clone()
    kept = {name: value for name, value in state.items() if "num_batches" not in name}
    missing, unexpected = ours.load_state_dict(kept, strict=False)
    assert not unexpected
    assert all(name.endswith("weights.k") for name in missing)
    return theirs, ours


@pytest.mark.parametrize("jk", [None, "last", "cat", "max", "lstm"])
@pytest.mark.parametrize("norm", [None, "batch", "layer", "graph", "pair"])
@pytest.mark.parametrize("act", ["relu", "elu"])
def test_the_same_words_make_the_same_model(jk, norm, act):
    theirs, ours = pair(out_channels=3, jk=jk, norm=norm, act=act)
    for training in (True, False):  # without dropout the two agree in training too, and so do their running means
        expected, found = theirs.train(training)(X, EDGES), ours.train(training)(X, EDGES)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
        if jk == "lstm":
            continue
        for a, b in ((theirs, expected), (ours, found)):
            a.zero_grad()
            b.square().sum().backward()
        ours_grad, theirs_grad = (model.convs[0].lin.weight.grad for model in (ours, theirs))
        torch.testing.assert_close(ours_grad, theirs_grad.T, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"jk": "cat"},
        {"num_layers": 1, "out_channels": 3},
        {"num_layers": 1, "jk": "max"},
        {"out_channels": 3, "act": None, "norm": "layer", "norm_kwargs": {"mode": "node"}},
        {"out_channels": 3, "act": "leaky_relu", "act_kwargs": {"negative_slope": 0.3}, "norm": "batch"},
        {"out_channels": 3, "act_first": True, "norm": "batch", "norm_kwargs": {"momentum": 0.5, "eps": 0.1}},
        {"out_channels": 3, "act": nn.Tanh(), "norm": nn.LayerNorm(8), "jk": "last"},
        {"out_channels": 3, "act": torch.sigmoid, "jk": "last"},
    ],
)
def test_further_words(words):
    theirs, ours = pair(norm=words.get("norm"), **{key: value for key, value in words.items() if key != "norm"})
    for training in (True, False):
        expected, found = theirs.train(training)(X, EDGES), ours.train(training)(X, EDGES)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    for name in ("in_channels", "hidden_channels", "num_layers", "out_channels", "supports_edge_weight"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("supports_edge_attr", "supports_norm_batch", "jk_mode", "act_first"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert len(ours.norms) == len(theirs.norms)


@pytest.mark.parametrize("norm", ["layer", "graph", "batch"])
def test_graphs_in_a_batch(norm):
    theirs, ours = pair(out_channels=3, norm=norm)
    x, edges = torch.randn(8, 5), torch.cat([EDGES, EDGES + 4], 1)
    batch = torch.arange(8) // 4
    weight = torch.rand(edges.size(1)).add(0.5)
    for given in ({"batch": batch}, {"batch": batch, "batch_size": 2}):
        torch.testing.assert_close(ours(x, edges, **given), theirs(x, edges, **given), rtol=1e-4, atol=1e-5)
        found, expected = ours(x, edges, weight, None, **given), theirs(x, edges, weight, None, **given)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    if norm != "batch":
        alone = torch.cat([ours(x[:4], EDGES, batch=batch[:4]), ours(x[4:], EDGES, batch=batch[:4])])
        torch.testing.assert_close(ours(x, edges, batch=batch), alone)
        assert not torch.allclose(ours(x, edges), alone)
    with pytest.raises(
        TypeError, match=r"edge_attr is nothing that PAN takes.*: give a weight per edge as edge_weight"
    ):
        ours(x, edges, edge_attr=torch.rand(edges.size(1), 2))


def test_dropout_comes_before_every_matrix():
    """The paper's order: the features are dropped too, and with jk what goes into the last map."""
    model = PAN(5, 8, 3, 2, dropout=0.999, jk="cat", norm="batch", bias=False)
    assert len(model.dropouts) == 3
    model.key([0], 1)
    assert (model(torch.ones(4, 5), EDGES) == model.lin.bias).float().mean() > 0.9


SURROUNDED = [
    {"norm": "batch"},
    {"norm": "layer", "jk": "max", "act": "elu"},
    {"norm": "batch", "jk": "cat", "norm_kwargs": {"momentum": 0.2}},
    {"jk": "last", "act": "leaky_relu", "act_kwargs": {"negative_slope": 0.3}, "out_channels": None},
    {"norm": "batch", "act_first": True},
]
ALONE = [
    {"jk": "lstm"},
    {"act": "prelu"},
    {"norm": "graph", "jk": "max"},
    {"norm": "diff_group", "norm_kwargs": {"groups": 2}},
]


def shaken(model):
    """In the middle of a training: all numbers other than those of the start."""
    model.train()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.rand_like(p))
        model(torch.randn(4, 5), EDGES)
    return model


@pytest.mark.parametrize(
    ("words", "trials"), [(w, S) for w in SURROUNDED for S in (None, 3)] + [(w, None) for w in ALONE]
)
def test_saved_and_loaded_to_the_same_bits(tmp_path, words, trials):
    model = shaken(PAN(**{"in_channels": 5, "hidden_channels": 4, "out_channels": 3, **words}, trials=trials))
    model.save(tmp_path)
    loaded = PAN.load(tmp_path)
    assert loaded.config == model.config
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name]), name
    assert torch.equal(loaded(X, EDGES), model.eval()(X, EDGES))
    for s in range(trials or 0):
        torch.testing.assert_close(model.trial(s)(X, EDGES), model(X, EDGES)[:, s])
        assert len(model.trial(s).state_dict()) == len(model.state_dict())
    twin = copy.deepcopy(model)
    assert torch.equal(twin(X, EDGES), model(X, EDGES))


@pytest.mark.parametrize("words", [*SURROUNDED, *ALONE])
def test_a_seed_starts_all_of_a_model_anew(words):
    one = PAN(**{"in_channels": 5, "hidden_channels": 4, "out_channels": 3, **words})
    one.seed([7])
    first = {name: state.clone() for name, state in one.state_dict().items()}
    torch.manual_seed(99)
    shaken(one).seed([7])
    for name, state in one.state_dict().items():
        assert torch.equal(state, first[name]), name
    if words in SURROUNDED:
        many = PAN(**one.config | {"trials": 2})
        shaken(many).seed([3, 7])
        for name, state in many.state_dict().items():
            assert torch.equal(state[1], first[name]), name


@pytest.mark.parametrize(
    ("words", "changed", "said"),
    [
        ({"jk": "cat"}, {"jk": None}, "convs.1.lin.weight of shape (4, 3), it has (4, 4)"),
        ({"jk": "cat"}, {"jk": "max"}, "lin.weight of shape (4, 3), it has (8, 3)"),
        ({"jk": "cat"}, {"jk": ["cat"]}, "jk must be one of"),
        ({"norm": "batch"}, {"norm": None}, "has a tensor 'norms.0.bias', which its settings do not ask for"),
        ({"norm": "batch"}, {"norm": "graph"}, "ask for a tensor norms.0.mean_scale, which is not there"),
        ({}, {"norm": "batch"}, "ask for a tensor norms.0.weight, which is not there"),
        ({}, {"act": "prelu", "act_kwargs": {"num_parameters": 10**12}}, "ask for a tensor act.weight"),
        ({}, {"act": "prelu", "act_kwargs": {"num_parameters": 10**12, "device": "cpu"}}, "must leave out device"),
        ({}, {"norm": "diff_group", "norm_kwargs": {"groups": 10**12}}, "ask for a tensor norms.0"),
        ({}, {"act": "nonsense"}, "act must be the name of an activation"),
        ({}, {"act_first": "no"}, "act_first must be True or False"),
    ],
)
def test_settings_are_compared_with_the_tensors(tmp_path, words, changed, said):
    model = PAN(5, 4, 3, **words)
    text = json.dumps({"format": "panconv-model-2", **model.config, **changed})
    (tmp_path / "model.safetensors").write_bytes(serialised(model.state_dict(), {"panconv": text}))
    with pytest.raises(ValueError, match="holds no saved model") as refused:
        PAN.load(tmp_path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_not_plain_is_used_and_not_saved(tmp_path):
    model = PAN(5, 4, 3, act=nn.Sequential(nn.Tanh(), nn.ReLU()))
    model(X, EDGES)
    with pytest.raises(TypeError, match=r"settings must be plain to be saved, got Sequential\( \(0\): Tanh"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("words", "dtype"),
    [
        ({"norm": "batch", "bias": False}, torch.float32),
        ({"norm": "batch", "jk": "max"}, torch.float64),  # a bias that batch norm takes away learns from rounding alone
        ({"norm": "layer", "jk": "cat"}, torch.float32),
    ],
)
def test_a_trial_among_others_is_the_trial_alone(words, dtype):
    settings, data = {"epochs": 20, "patience": 5, "lr": 0.05}, small()
    data.x = data.x.to(dtype)
    together = fit(PAN(6, 8, 2, trials=4, **words).to(dtype), data, seeds=range(4), **settings)
    for s in (0, 3):
        alone = fit(PAN(6, 8, 2, **words).to(dtype), data, seeds=[s], **settings)
        assert alone.best_epoch == [together.best_epoch[s]]
        assert alone.val_loss[0] == pytest.approx(together.val_loss[s], rel=1e-3)
        for name, state in together.model.trial(s).state_dict().items():
            torch.testing.assert_close(state, alone.model.state_dict()[name], rtol=1e-2, atol=1e-3)


def test_the_running_means_are_those_of_the_best_epoch():
    data = small()
    result = fit(PAN(6, 8, 2, trials=5, norm="batch"), data, seeds=range(5), epochs=30, patience=8, lr=0.2)
    assert min(last - best for last, best in zip(result.stopped_epoch, result.best_epoch, strict=True)) > 0
    scores = result.model(data.x, data.edge_index)[data.val_mask]
    for s in range(5):
        loss = nn.functional.cross_entropy(scores[:, s].detach(), data.y[data.val_mask])
        assert float(loss) == pytest.approx(result.val_loss[s], rel=1e-5)


def test_weight_decay_falls_on_what_it_fell_on():
    model = PAN(5, 4, 3, jk="cat", norm="batch")
    assert [p is model.convs[0].lin.weight for p in model.decayed()] == [True]
    model.decay = "all"
    assert [tuple(p.shape) for p in model.decayed()] == [(5, 4), (4, 4), (8, 3)]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("words", [{"norm": "batch", "bias": False}, {"norm": "layer", "jk": "cat"}])
def test_a_gpu_replays_epochs_to_the_same_end(words, monkeypatch):
    made, replayed = [], train.Replayed
    monkeypatch.setattr(train, "Replayed", lambda *a: made.append(replayed(*a)) or made[-1])
    settings = {"seeds": range(3), "epochs": 20, "patience": 10, "lr": 0.02}
    cpu, gpu = (fit(PAN(6, 8, 2, trials=3, **words), small(), device=d, **settings) for d in ("cpu", "cuda"))
    assert [step.captured for step in made if step.captured is not False] == [True]  # on the GPU, once
    n = min(len(cpu.history["val_loss"]), len(gpu.history["val_loss"]))
    a, b = (run.history["val_loss"][:n].nan_to_num(0) for run in (cpu, gpu))
    torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-3)
