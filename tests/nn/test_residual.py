"""Residual forms of `PAN`: by hand, beside PyG's GCN2Conv, and each trial as it is alone."""

import copy

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import GCN2Conv

from panconv import PAN, Adjacency
from panconv.data import SeedLoader
from panconv.nn.residual import InputConv, residual_from

EDGES = TRIANGLE_AND_TAIL
X = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
DEEP = {"kind": "input", "share": 0.2, "identity": 0.7}
GCN_OPERATOR = {"L": 1, "method": 5, "weights": [0.0, 1.0]}


def test_the_input_form_is_gcn2():
    model = PAN(5, 8, 3, 4, residual=DEEP, **GCN_OPERATOR).eval()
    model.seed([3])
    h = first = (X @ model.start.weight + model.start.bias).relu()
    for number, conv in enumerate(model.layers(), 1):
        theirs = GCN2Conv(8, alpha=0.2, theta=0.7, layer=number, shared_weights=True)
        theirs.weight1 = torch.nn.Parameter(conv.lin.weight.detach().clone())
        h = theirs(h, first, EDGES).relu()
    expected = h @ model.lin.weight + model.lin.bias
    torch.testing.assert_close(model(X, EDGES), expected)
    assert expected.std() > 0.01
    assert [name for name in model.state_dict() if "convs.0" in name] == ["convs.0.weights.k", "convs.0.lin.weight"]


def test_the_layer_form_adds_the_layers_own_input():
    model = PAN(5, 8, 3, 3, L=2, residual="layer", norm="layer").eval()
    adj, h = Adjacency.of(EDGES), X
    for i, (conv, R) in enumerate(zip(model.layers(), model.residuals, strict=True)):
        h = conv.met(adj) @ h @ conv.lin.weight + conv.bias + h @ R.weight
        h = model.norms[i](h).relu() if i < 2 else h
    torch.testing.assert_close(model(X, EDGES), h)


def test_old_models_start_and_drop_as_before():
    """What is new has streams of its own: the matrices of before start where they started without it."""
    for trials in (None, 2):
        plain = PAN(5, 8, 3, trials=trials)
        with_it = PAN(5, 8, 3, trials=trials, residual="layer", inputs={"drop_nodes": 0.1})
        for model in (plain, with_it):
            model.seed([4, 7][: trials or 1])
            model.key([4, 7][: trials or 1], 3)
        for name, value in plain.state_dict().items():
            assert torch.equal(value, with_it.state_dict()[name]), name
        for a, b in zip(plain.dropouts, with_it.dropouts, strict=True):
            assert torch.equal(a.keys, b.keys)
        R = with_it.residuals[0].weight
        assert not torch.equal(R, with_it.convs[0].lin.weight)
        assert R.abs().max() <= (6 / 13) ** 0.5


WAYS = [
    {"residual": {"kind": "input", "share": [0.1, 0.4, 0.9], "identity": [0.5, 1.5, 0.1]}, "dropout": [0.2, 0.5, 0.0]},
    {"residual": "layer", "dropout": [0.2, 0.5, 0.0], "norm": "batch"},
    {"residual": DEEP, "norm": "batch", "jk": "cat"},
    {"residual": DEEP, "norm": "layer", "jk": "max", "act": "elu", "weights": [[0.0, 1.0, 1.0], [1.0] * 3, [0, 1, 2]]},
    {"concat": True, "residual": "layer", "method": 9},
]


@pytest.mark.parametrize("words", WAYS)
@pytest.mark.parametrize("training", [True, False])
def test_each_trial_is_as_it_is_alone(words, training):
    model = PAN(5, 4, 3, 3, trials=3, **words).train(training)
    model.seed([3, 1, 4])
    ones = [model.trial(s) for s in range(3)]
    model.key([3, 1, 4], 2)
    together = model(X, EDGES)
    together.square().sum().backward()
    for s, (one, seed) in enumerate(zip(ones, [3, 1, 4], strict=True)):
        one.key([seed], 2)
        alone = one(X, EDGES)
        torch.testing.assert_close(alone, together[:, s], rtol=1e-4, atol=1e-5)
        alone.square().sum().backward()
        for (name, p), q in zip(one.named_parameters(), model.parameters(), strict=True):
            if p.requires_grad or q.requires_grad:  # a bias in front of a batch norm does not
                torch.testing.assert_close(p.grad, q.grad[s], rtol=1e-3, atol=1e-4, msg=name)
    assert not torch.allclose(together[:, 0], together[:, 1])


@pytest.mark.parametrize("words", [{"residual": DEEP}, {"residual": "layer"}, {"inputs": {"propagate": True}}])
def test_explainers_see_through(words):
    """A mask of ones changes nothing, under a mask of zeros nodes are strangers, and an explainer finds its mask."""
    model = PAN(5, 8, 3, 2, **words).eval()

    def masked(value, x):
        for conv in model.convs:
            conv._edge_mask, conv._apply_sigmoid, conv._explain = torch.full((EDGES.size(1),), value), False, True
        out = model(x, EDGES)
        for conv in model.convs:
            conv._edge_mask, conv._explain = None, None
        return out

    moved = X.clone()
    moved[0] += 1
    torch.testing.assert_close(masked(1.0, X), model(X, EDGES))
    assert not torch.allclose(model(moved, EDGES)[1], model(X, EDGES)[1])
    torch.testing.assert_close(masked(0.0, moved)[1:], masked(0.0, X)[1:])
    assert not torch.allclose(masked(0.0, moved)[0], masked(0.0, X)[0])
    how = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
    algorithm = GNNExplainer(epochs=3)
    explainer = Explainer(model, algorithm, explanation_type="model", model_config=how, edge_mask_type="object")
    assert explainer(X, EDGES, index=0).edge_mask.max() > 0


@pytest.mark.parametrize("words", [{"residual": DEEP}, {"residual": "layer"}, {"inputs": {"propagate": True}}])
def test_batches_of_seeds_give_the_same(words):
    ring = torch.stack([torch.arange(30), (torch.arange(30) + 1) % 30])
    x, edges = torch.randn(30, 5), torch.cat([ring, ring.flip(0)], 1)
    model = PAN(5, 6, 3, 3, L=2, method=2, **words).eval()
    assert model.num_hops == 8  # 3 layers of 2 steps, and 2 for Z
    batch = next(iter(SeedLoader(Data(x=x, edge_index=edges), model, seeds=[4, 17], batch_size=2)))
    assert batch.num_nodes < 30
    torch.testing.assert_close(model(batch.x, batch.adj)[:2], model(x, edges)[[4, 17]])


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("words", [{"residual": {**DEEP, "share": [0.1, 0.3]}}, {"inputs": {"propagate": True}}])
def test_the_compiler_takes_them(words):
    model, adj = PAN(5, 4, 3, trials=2, **words), Adjacency.of(EDGES)
    model.key([0, 1], 1)
    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(model, backend="aot_eager")(X, adj), model(X, adj))


def test_shares_move_with_the_model_and_are_not_saved():
    model = PAN(5, 8, 3, trials=2, residual={"kind": "input", "share": [0.1, 0.2]})
    assert not [name for name in model.state_dict() if "share" in name or "beta" in name]
    assert model.to("meta").convs[0].share.is_meta
    model.to_empty(device="cpu").reset_parameters()
    assert model.convs[0].share.flatten().tolist() == [0.1, 0.2]
    twin = copy.deepcopy(model).double()
    assert twin(X.double(), EDGES).dtype == torch.float64


def test_layers_are_taken_out_and_keep_their_numbers():
    per_layer = {"kind": "layers", "of": [[0.0, 1.0], [1.0, 0.5], [0.2, 1.0], [1.0, 1.0]]}
    model = PAN(5, 8, 3, 4, L=1, residual=DEEP, norm="batch", weights=per_layer).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.rand_like(p))
    fewer = model.without_layers([2, 4])
    assert [conv.beta for conv in fewer.layers()] == [model.layers()[0].beta, model.layers()[2].beta]
    h = first = model.start(X).relu()
    for i in (0, 2):
        h = model.norms[i](model.convs[i](h, first, EDGES)).relu()
    torch.testing.assert_close(fewer(X, EDGES), model.lin(h))
    assert not fewer.training
    one = fewer.without_layers([1])
    assert one.config["residual"]["numbers"] == [3]
    for wrong in ([0], [5], [1, 2, 3, 4], ["a"]):
        with pytest.raises(ValueError, match="numbers must name layers"):
            model.without_layers(wrong)
    for other in (PAN(5, 8, 3), PAN(5, 8, 3, residual="layer"), PAN(5, 8, 3, residual=DEEP, jk="cat")):
        with pytest.raises(ValueError, match="layers can be taken out where all are alike"):
            other.without_layers([1])


@pytest.mark.parametrize(
    ("given", "trials", "words"),
    [
        ("x", None, "residual must be one of layer, input"),
        (3, None, "residual must be one of layer, input"),
        ({"share": 0.1}, None, "residual must be one of layer, input"),
        ({"kind": []}, None, "residual must be one of layer, input"),
        ({"kind": "layer", "share": 0.1}, None, "residual of kind 'layer' has no option 'share', only: none"),
        ({"kind": "input", "alpha": 0.1}, None, "has no option 'alpha', only: share, identity, numbers"),
        ({"kind": "input", "share": 1.1}, None, "residual share must be at least 0 and at most 1"),
        ({"kind": "input", "share": [0.1, 0.2]}, None, "residual share must be one number, for one trial"),
        ({"kind": "input", "identity": [0.1, 0.2]}, 3, "residual identity must be a number, or 3 numbers"),
        ({"kind": "input", "identity": -1}, None, "residual identity must be at least 0 and finite"),
        ({"kind": "input", "identity": float("inf")}, None, "residual identity must be at least 0 and finite"),
        ({"kind": "input", "numbers": [1]}, None, "residual numbers must be 2 integers"),
        ({"kind": "input", "numbers": [1, 10**400]}, None, "residual numbers must be 2 integers"),
        ({"kind": "input", "numbers": [0, 1]}, None, "residual numbers must be 2 integers"),
    ],
)  # fmt: skip
def test_what_is_no_residual_is_refused(given, trials, words):
    with pytest.raises(ValueError, match=words):
        residual_from(given, 2, trials)


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match=r"concat=True has no one M: choose one"):
        PAN(5, 8, 3, residual=DEEP, concat=True)
    with pytest.raises(ValueError, match=r"residual 'input' starts from the features as they are"):
        PAN(5, 8, 3, residual=DEEP, inputs={"propagate": True})


def test_under_autocast_what_is_kept_of_the_input_keeps_its_digits():
    """A stream that was rounded to bfloat16 in each of 64 layers would be off by a percent."""
    layer, found = InputConv(X.size(1), 0.1, 0.02, L=2), []
    for enabled in (False, True):
        h = X
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            for _ in range(64):
                h = layer(h, X, EDGES)
        found.append(h)
    exact, rounded = found
    assert rounded.dtype == torch.float32
    assert float((rounded - exact).abs().max()) < 1e-3 * float(exact.abs().max())
