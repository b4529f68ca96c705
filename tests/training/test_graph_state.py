"""`PANGraph` on disk: the same bits come back, and what is no such model is refused in a line."""

import json

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from safetensors.torch import save as serialised

from panconv import PAN
from panconv.nn.graph_convs import CONVS
from panconv.training import graph_models
from panconv.training.graph_models import PANGraph

F, H, C = 3, 4, 2
X, EDGES = torch.randn(4, F, dtype=torch.float64), TRIANGLE_AND_TAIL
OPTIONS = [
    {},
    {"weights": "power-law", "method": 2, "concat": False},
    {"weights": {"kind": "layers", "of": ["free", [0.5, 1.0, 2.0]]}, "readout": "attention", "residual": "layer"},
    {"in_channels": -1, "num_layers": 0, "jk": "sum", "head": "linear"},
    *({"conv": kind, "update": "linear"} for kind in CONVS if kind != "pan"),
]


def made(trials=None, **options):
    settings = {"in_channels": F, "hidden_channels": H, "out_channels": C, "num_layers": 2, "trials": trials, **options}
    model = PANGraph(**settings).double()
    model.materialize(F)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.rand_like(p) - 0.5)
    return model


@pytest.mark.parametrize("trials", [None, 2])
@pytest.mark.parametrize("options", OPTIONS)
def test_saved_and_loaded_to_the_same_bits(tmp_path, trials, options):
    model = made(trials, dropout=[0.5] if trials is None else [0.1, 0.2], **options)
    model(X, EDGES)
    model.save(tmp_path / "model")
    loaded = PANGraph.load(tmp_path / "model")
    assert not loaded.training
    assert torch.equal(loaded(X, EDGES), model.eval()(X, EDGES))


def test_files_of_other_models(tmp_path):
    PAN(F, H, C).save(tmp_path / "nodes")
    PANGraph(F, H, C, pool={"kind": "sag"}, norm="GraphNorm").save(tmp_path / "graphs")
    assert PANGraph.load(tmp_path / "graphs")(X.float(), EDGES).shape == (1, C)
    with pytest.raises(ValueError, match=r"holds no saved model: its config does not say .*again with PANGraph\.save"):
        PANGraph.load(tmp_path / "nodes")
    with pytest.raises(ValueError, match="holds no saved model: its config does not say"):
        PAN.load(tmp_path / "graphs")
    with pytest.raises(ValueError, match="the model has no numbers yet"):
        PANGraph(-1, H, C).save(tmp_path)
    model = PANGraph(F, H, C, pool={"kind": "topk"})
    model.pools.clear()
    with pytest.raises(ValueError, match=r"its settings ask for a tensor pools\.1.* which is not there"):
        model.save(tmp_path)
    with pytest.raises(TypeError, match="the model's settings must be plain to be saved, got Tanh"):
        PANGraph(F, H, C, act=torch.nn.Tanh()).save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def without(name):
    return lambda config, state: state.pop(name)


def resized(name, *shape):
    return lambda config, state: state.update({name: torch.zeros(shape, dtype=torch.float64)})


def told(**settings):
    return lambda config, state: config.update(settings)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (told(num_layers=10**9), "num_layers = 1000000000 makes as many tensors at least, it has"),
        (told(num_layers=3), "its settings ask for a tensor blocks.2"),
        (told(hidden_channels=2**20), "its settings ask for .* of shape"),
        (told(hidden_channels=2**30), "out_channels must be an integer of at least 1 and at most"),
        (told(trials=2**30), "must be of 1073741824 trials, it is of shape"),
        (told(L=10**6), "L = 1000000 makes path weights of 1000001, it has"),
        (told(L=10**7), "L must be at least 0 and at most"),
        (told(residual="layer"), "its settings ask for a tensor blocks.0.beside.weight, which is not there"),
        (told(norm="layer", conv="gin"), "its settings ask for"),
        (told(colour="red"), "unexpected keyword argument 'colour'|got an unexpected"),
        (told(pool={"kind": "topk", "ratio": 0.5}), "pool goes with one trial"),
        (without("lin.weight"), r"its settings ask for a tensor lin\.weight"),
        (without("blocks.0.conv.weights.k"), "its settings ask for a tensor"),
        (resized("lin.weight", 2, H, C + 1), r"ask for lin.weight of shape \(2, 4, 2\), it has \(2, 4, 3\)"),
        (resized("more", 2, 3), "it has a tensor more, which its settings do not ask for"),
        (lambda config, state: state.update({"lin.bias": torch.zeros(2, C)}), "lin.bias is of torch.float32, where"),
        (lambda config, state: state.update({"lin.bias": torch.zeros(2, C).long()}), "no dtype that a model is saved"),
    ],
)
def test_what_does_not_go_together_is_refused_before_it_is_built(tmp_path, monkeypatch, change, words):
    model = made(2)
    config, state = {"format": graph_models._FORMAT, **model.config}, dict(model.state_dict())
    change(config, state)
    file = tmp_path / "model.safetensors"
    file.write_bytes(serialised(state, {"panconv": json.dumps(config)}))
    with pytest.raises(ValueError, match="holds no saved model") as refusal:
        PANGraph.load(file)
    assert "\n" not in str(refusal.value)
    assert refusal.match(words)


def test_power_laws_of_any_length_are_not_built(tmp_path):
    model = made(weights="power-law", concat=False, method=2)
    config = {"format": graph_models._FORMAT, **model.config, "L": 10**6, "num_layers": 2}
    states = {f"blocks.{i}.conv.weights.log_temperature": torch.zeros(20, dtype=torch.float64) for i in range(2)}
    file = tmp_path / "model.safetensors"
    file.write_bytes(serialised({**model.state_dict(), **states}, {"panconv": json.dumps(config)}))
    with pytest.raises(ValueError, match="L = 1000000 is too long for a saved model of 40 power laws"):
        PANGraph.load(file)
