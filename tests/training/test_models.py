import copy

import numpy as np
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import METHODS, PAN, Adjacency, Boltzmann, PowerLaw, Walks
from panconv.compute.features import SparseRows
from panconv.testing import assert_equivariant, close

EDGES = TRIANGLE_AND_TAIL


def test_two_layers_are_the_papers_classifier():
    x, adj = torch.randn(4, 5), Adjacency.from_edge_index(EDGES)
    model = PAN(5, 8, 3).eval()
    first, second = (conv.met(adj) for conv in model.convs)
    hidden = (first @ x @ model.convs[0].lin.weight + model.convs[0].bias).relu()
    expected = second @ hidden @ model.convs[1].lin.weight + model.convs[1].bias
    torch.testing.assert_close(model(x, EDGES), expected)


@pytest.mark.parametrize(("num_layers", "widths"), [(1, [(5, 3)]), (3, [(5, 8), (8, 8), (8, 3)])])
def test_depth(num_layers, widths):
    model = PAN(5, 8, 3, num_layers)
    assert [(conv.in_channels, conv.out_channels) for conv in model.convs] == widths
    assert model(torch.randn(4, 5), EDGES).shape == (4, 3)


def test_each_layer_has_path_weights_of_its_own():
    model = PAN(5, 8, 3, method=2, weights=Boltzmann([0.0, 1.0, 2.0]))
    one, two = (conv.weights for conv in model.convs)
    assert one is not two
    close(one().detach(), two().detach())


def test_dropout_while_training_only():
    model, x = PAN(5, 8, 3, dropout=0.5), torch.randn(4, 5)
    assert not torch.equal(model(x, EDGES), model(x, EDGES))
    model.eval()
    assert torch.equal(model(x, EDGES), model(x, EDGES))


def test_equivariant():
    assert_equivariant(PAN(5, 8, 3, method=2).eval(), torch.randn(4, 5), EDGES)


def test_seeded_trials_are_the_models_alone():
    many = PAN(5, 8, 3, trials=4)
    many.seed([3, 1, 4, 1])
    x = torch.randn(4, 5)
    for s, seed in enumerate([3, 1, 4, 1]):
        one = PAN(5, 8, 3)
        one.seed([seed])
        for name, state in one.state_dict().items():
            assert torch.equal(state, many.state_dict()[name][s])
        many.eval(), one.eval()
        torch.testing.assert_close(many(x, EDGES)[:, s], one(x, EDGES))
        close(many.trial(s)(x, EDGES), one(x, EDGES))
    assert torch.equal(many.trial(1).convs[0].lin.weight, many.trial(3).convs[0].lin.weight)
    assert not torch.equal(many.trial(0).convs[0].lin.weight, many.trial(1).convs[0].lin.weight)


@pytest.mark.parametrize("trials", [None, 3])
@pytest.mark.parametrize("weights", [None, [0.0, 1.0, 1.0], "power-law", PowerLaw(2, 1.5, 0.5, trained=False)])
def test_saved_and_loaded_to_the_same_bits(tmp_path, trials, weights):
    model = PAN(5, 8, 3, method=5, weights=weights, trials=trials)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.rand_like(p))
    model.save(tmp_path / "new" / "model")
    loaded = PAN.load(tmp_path / "new" / "model")
    x = torch.randn(4, 5)
    assert torch.equal(loaded(x, EDGES), model.eval()(x, EDGES))
    assert not list((tmp_path / "new" / "model").glob(".*"))


def test_saved_in_the_dtype_it_has_and_from_any_numbers(tmp_path):
    for i, (weights, dtype) in enumerate([(np.array([0, 1, 1.0]), torch.float64), ((0, 1, 1), torch.bfloat16)]):
        model = PAN(5, 8, 3, weights=weights, trials=2).to(dtype)
        model.save(tmp_path / str(i))
        x = torch.randn(4, 5, dtype=dtype)
        assert torch.equal(PAN.load(tmp_path / str(i))(x, EDGES), model.eval()(x, EDGES))
        eps = (
            16 * torch.finfo(dtype).eps
        )  # alone and among others it is the same to rounding: MKL sums in another order
        torch.testing.assert_close(model.trial(1)(x, EDGES), model(x, EDGES)[:, 1], rtol=eps, atol=eps)


def test_a_lazy_model_saves_once_it_knows_its_width(tmp_path):
    model, x = PAN(-1, 8, 3), torch.randn(4, 5)
    model.eval()(x, EDGES)
    model.save(tmp_path)
    assert torch.equal(PAN.load(tmp_path)(x, EDGES), model(x, EDGES))


def test_path_weights_of_each_trial_are_taken_apart():
    k = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]).T
    model, x = PAN(5, 8, 3, weights=k, trials=2).eval(), torch.randn(4, 5)
    for s in range(2):
        close(model.trial(s).convs[0].weights(), k[:, s].double())
        torch.testing.assert_close(model.trial(s)(x, EDGES), model(x, EDGES)[:, s])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_saves(tmp_path, method):
    model = PAN(5, 8, 3, method=method)
    model.save(tmp_path)
    x = torch.randn(4, 5)
    assert torch.equal(PAN.load(tmp_path)(x, EDGES), model.eval()(x, EDGES))


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no saved model: No such file"):
        PAN.load(tmp_path)
    PAN(5, 8, 3).save(tmp_path)
    content = (tmp_path / "model.safetensors").read_bytes()
    for damaged in (content[: len(content) // 2], content.replace(b"panconv-model-2", b"another-model-2")):
        (tmp_path / "model.safetensors").write_bytes(damaged)
        with pytest.raises(ValueError, match="holds no saved model"):
            PAN.load(tmp_path)


def test_bad_options():
    with pytest.raises(ValueError, match="num_layers must be an integer of at least 1"):
        PAN(5, 8, 3, 0)
    with pytest.raises(ValueError, match="seeds must be 1"):
        PAN(5, 8, 3).seed([1, 2])
    with pytest.raises(ValueError, match="trial must be one of 0 … 1, got 2"):
        PAN(5, 8, 3, trials=2).trial(2)


def test_deep_copies_do_not_share():
    model = PAN(5, 8, 3)
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.convs[0].lin.weight.zero_()
    assert model.convs[0].lin.weight.abs().sum() > 0


def test_paths_with_options_are_saved(tmp_path):
    x, edges = torch.randn(4, 5), TRIANGLE_AND_TAIL
    weight = torch.tensor([1.0, 1.0, 0.3, 0.3, 0.7, 0.7, 2.0, 2.0])
    for paths in ("shortest", {"kind": "self_avoiding", "memory_limit": 2**25}, {"kind": "effective", "width": 0.2}):
        kind = {"kind": "power-law", "alpha": 2.0} if isinstance(paths, dict) and "width" in paths else None
        model = PAN(5, 4, 3, method=1, paths=paths, weights=kind).eval()
        model.save(tmp_path / "model")
        torch.testing.assert_close(PAN.load(tmp_path / "model")(x, edges, weight), model(x, edges, weight))
    with pytest.raises(ValueError, match="no option 'breadth', only: width"):
        PAN(5, 4, 3, method=1, paths={"kind": "effective", "breadth": 1})
    with pytest.raises(ValueError, match="paths must be plain"):
        PAN(5, 4, 3, paths=Walks)


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # the compiler, about itself, where it has to break off
@pytest.mark.parametrize("form", ["dense", "csr", "rows"])
@pytest.mark.parametrize("trials", [None, 3])
def test_the_compiler_takes_dense_and_sparse_features(form, trials):
    dense = torch.rand(8, 5) * (torch.rand(8, 5) < 0.5)
    x = {"dense": dense, "csr": dense.to_sparse_csr(), "rows": SparseRows.of(dense.to_sparse())}[form]
    adj = Adjacency.of(torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8]))
    words = {"norm": "batch", "jk": "cat", "act": "elu"} if form == "dense" else {}
    model = PAN(5, 4, 3, trials=trials, **words)
    model.key(range(trials or 1), 1)
    torch._dynamo.reset()
    grads = []
    for function in (model, torch.compile(model, backend="aot_eager")):
        model.zero_grad()
        scores = function(x, adj)
        scores.square().sum().backward()
        grads.append([scores.detach(), *(p.grad.clone() for p in model.parameters() if p.requires_grad)])
    for a, b in zip(*grads, strict=True):  # of what a norm takes away again, only rounding is left
        torch.testing.assert_close(a, b, **({"rtol": 1e-4, "atol": 1e-4} if words else {}))


@pytest.mark.parametrize("sparse", [False, True])
def test_many_gradients_at_a_time_through_keyed_dropout(sparse):
    edge_index = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    adj = Adjacency.from_edge_index(edge_index)
    model = PAN(5, 6, 2, trials=2)
    model.train()
    model.key([3, 4], 1)
    x = torch.rand(4, 5)
    y = model(x.to_sparse_csr() if sparse else x, adj)
    parameters = list(model.parameters())
    G = torch.randn(3, *y.shape)
    together = torch.autograd.grad(y, parameters, G, is_grads_batched=True, retain_graph=True)
    for i, g in enumerate(G):
        for many, one in zip(together, torch.autograd.grad(y, parameters, g, retain_graph=True), strict=True):
            torch.testing.assert_close(many[i], one, rtol=1e-4, atol=1e-6)
