"""Models of some of the trials: what each is, and that nothing of the others is left in it."""

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import PAN, PowerLaw
from panconv.base.by_trial import picked, plain
from panconv.training.by_trial import of_trials
from panconv.weights import trial_spec

EDGES = TRIANGLE_AND_TAIL
X = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
K = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [1.0, 2.0, 0.25]]  # of three trials, a row per length
WORDS = [
    {"weights": K, "dropout": [0.1, 0.5, 0.8]},
    {"residual": {"kind": "input", "share": [0.1, 0.4, 0.9], "identity": (0.5, 1.5, 0.1)}, "norm": "batch"},
    {"inputs": {"drop_nodes": torch.tensor([0.1, 0.5, 0.7]), "dropout": 0.3, "propagate": True, "norm": "layer"}},
    {"weights": PowerLaw(2, 1.0, [0.5, 1.0, 2.0]), "concat": True, "residual": "layer", "jk": "cat"},
    {"weights": {"kind": "layers", "of": [K, "free"]}, "inputs": {"drop_nodes": 0.5}},
]


def shaken(model):
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.rand_like(p))
    return model


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("training", [True, False])
def test_narrowed_and_repeated_are_the_trials_they_name(words, training):
    model = shaken(PAN(5, 4, 3, trials=3, **words)).train(training)
    model.decay = "all"
    model.convs[0].lin.weight.requires_grad_(False)
    ones = [model.trial(s) for s in range(3)]
    for other, rows in ((model.narrowed([2, 0]), [2, 0]), (model.repeated(2), [0, 0, 1, 1, 2, 2])):
        assert (other.trials, other.training, other.decay) == (len(rows), training, "all")
        assert not other.convs[0].lin.weight.requires_grad
        assert other.lin is None or other.lin.weight.requires_grad
        other.key([10 + row for row in rows], 4)
        scores = other(X, EDGES)
        for place, row in enumerate(rows):
            ones[row].key([10 + row], 4)
            torch.testing.assert_close(scores[:, place], ones[row](X, EDGES), rtol=1e-4, atol=1e-5)
            for name, value in other.trial(place).state_dict().items():
                if "running" not in name:
                    assert torch.equal(value, model.state_dict()[name][row]), name
        with torch.no_grad():  # its numbers are its own
            for p in other.parameters():
                p.zero_()
    assert all(p.abs().sum() > 0 for p in model.parameters() if p.requires_grad)


def test_a_model_for_one_is_repeated():
    model = shaken(PAN(5, 4, 3, residual="input", inputs={"drop_nodes": 0.2}, weights="power-law")).eval()
    twice = model.repeated(2)
    assert twice.trials == 2
    for s in range(2):
        torch.testing.assert_close(twice(X, EDGES)[:, s], model(X, EDGES))


def test_keys_of_draws_differ_and_the_first_is_the_plain_one():
    model = PAN(5, 4, 3, trials=2, inputs={"drop_nodes": 0.5})
    wide = model.repeated(3)
    model.key([5, 6], 2)
    wide.key([5, 6], 2, draws=3)
    modules = zip([*model.dropouts, model.entrance.drop_nodes], [*wide.dropouts, wide.entrance.drop_nodes], strict=True)
    seen = set()
    for one, many in modules:
        assert many.keys.shape == (6,)
        assert torch.equal(many.keys[::3], one.keys)
        seen.update(many.keys.tolist())
    assert len(seen) == 18  # no two of three dropouts, two trials and three draws
    assert wide(X, EDGES).shape == (4, 6, 3)
    alone = PAN(5, 4, 3)
    alone.key([5], 2, draws=3)
    assert torch.equal(alone.dropouts[0].keys, wide.dropouts[0].keys[:3])
    wide.key(None, 1, draws=3)
    assert wide.entrance.drop_nodes.keys is None


def test_what_weight_decay_falls_on():
    for words, first in (({}, "convs.0.lin.weight"), ({"residual": "input"}, "start.weight")):
        model = PAN(5, 4, 3, 2, **words)
        names = {id(p): name for name, p in model.named_parameters()}
        found = {}
        for model.decay in ("first", "layers", "all"):
            found[model.decay] = [names[id(p)] for p in model.decayed()]
        assert found["first"] == [first]
        assert found["layers"] == ["convs.0.lin.weight", "convs.1.lin.weight"]
        others = ["lin.weight", "start.weight"] if words else []
        assert found["all"] == [*found["layers"], *others]
    model.decay = "last"
    with pytest.raises(ValueError, match="decay must be one of first, layers, all, got 'last'"):
        model.decayed()


def test_settings_of_some_trials():
    config = {"trials": 3, "dropout": [0.1, 0.2, 0.3], "weights": K, "residual": "layer", "inputs": {"drop_nodes": 0.5}}
    assert of_trials(config, 1) == {**config, "trials": None, "dropout": 0.2, "weights": [1.0, 0.0, 2.0]}
    assert of_trials(config, [2, 2])["weights"] == [[2.0, 2.0], [0.5, 0.5], [0.25, 0.25]]
    law = {"kind": "power-law", "temperature": [1.0, 2.0, 3.0]}
    assert trial_spec({"kind": "layers", "of": [law, None]}, [0, 2])["of"] == [{**law, "temperature": [1.0, 3.0]}, None]
    assert plain({"a": (1, 2), "b": torch.ones(2), "c": "x"}) == {"a": [1, 2], "b": [1.0, 1.0], "c": "x"}
    assert picked([0.5], 3) == 0.5  # a list of one is that number, of all trials
    assert picked([0.5], [1, 1]) == [0.5, 0.5]


def test_draws_move_the_running_means_and_nothing_else():
    words = {"weights": [0.1, 0.7, 1.0], "norm": "batch", "dropout": [0.1, 0.5]}
    model = PAN(5, 4, 3, trials=2, residual={"kind": "input", "share": [0.1, 0.7]}, **words)
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    model.key([5, 6], 1)
    scores = model.drawn((X, EDGES), {}, 3)
    assert scores.shape == (4, 2, 3, 3)
    assert not torch.allclose(scores[:, :, 0], scores[:, :, 1])
    moved = [name for name, buffer in model.named_buffers() if not torch.equal(buffer, before[name])]
    assert moved == [f"norms.{i}.running_{what}" for i in range(2) for what in ("mean", "var")]
