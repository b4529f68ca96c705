"""Models on a fixed graph as ONNX files: onnxruntime gives what torch gives."""

import importlib.util

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import PAN, Adjacency, PANConv, PowerLaw
from panconv.nn import LanczosConv, PANAttention, PANEdgeAttention, SpectralConv, to_onnx

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

DIRECTED = torch.tensor([[0, 1, 2, 3, 0, 4, 4], [1, 2, 0, 1, 3, 4, 1]])  # node 4 has a self-loop, node 5 no edge
WEIGHT = torch.tensor([0.5, 2.0, 1.0, 0.25, 3.0, 1.0, 0.5])


class Side(torch.nn.Module):
    """Layers of all kinds in one file, side by side: most of an export's time does not depend on the model."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x, graph):
        return torch.cat([layer(x, graph).flatten(1) for layer in self.layers], 1)


def check(model, path, graph, edge_weight=None, num_nodes=6):
    x = torch.randn(num_nodes, 5)
    to_onnx(model, x, graph, path, edge_weight)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [given.name for given in session.get_inputs()] == ["x"]
    assert {node.domain for node in onnx.load(path).graph.node} == {""}  # standard operators alone
    adj = Adjacency.of(graph, edge_weight, num_nodes)
    training = model.training
    for given in (x, torch.randn(num_nodes, 5)):
        (y,) = session.run(None, {"x": given.numpy()})
        torch.testing.assert_close(torch.from_numpy(y), model.eval()(given, adj).detach(), rtol=1e-5, atol=1e-5)
    model.train(training)


def test_a_model_of_two_layers(tmp_path):
    model = PAN(5, 8, 3, method=1, dropout=0.9).train()
    check(model, tmp_path / "model.onnx", DIRECTED, WEIGHT)
    assert model.training
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["undirected", "directed", "weighted", "without edges"])
def test_every_method_and_width(graph, tmp_path):
    edges = {"undirected": TRIANGLE_AND_TAIL, "without edges": TRIANGLE_AND_TAIL[:, :0]}.get(graph, DIRECTED)
    layers = [PANConv(5, width, L=3, method=method) for method in range(1, 12) for width in (2, 9)]
    layers += [PANConv(5, 2, method=1, weights=kind) for kind in ("power-law", [1.0, 0.5, 0.25], PowerLaw(2, 1.5))]
    layers += [PANConv(5, 2, concat=True), PANConv(5, 2, L=0), PANConv(5, 2, trials=3), PANConv(5, 7, L=25, method=2)]
    check(Side(*layers), tmp_path / "model.onnx", edges, WEIGHT if graph == "weighted" else None)


@pytest.mark.slow
def test_other_layers_and_paths(tmp_path):
    layers = [PANConv(5, 2, method=1, paths=paths) for paths in ("shortest", "self_avoiding")]
    layers += [PANAttention(5, 2), PANEdgeAttention(5, 2)]
    check(Side(*layers), tmp_path / "model.onnx", TRIANGLE_AND_TAIL, num_nodes=4)


@pytest.mark.slow
def test_what_cannot_be_traced_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^model cannot be traced.*$"):
        to_onnx(SpectralConv(5, 2), torch.randn(4, 5), TRIANGLE_AND_TAIL, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_what_hangs_on_rounding_is_written_rightly_or_not_at_all(tmp_path):
    """Lanczos divides by what is left of a vector, which may be little."""
    refused = pytest.raises(ValueError, match=r"^model gives other numbers.*$")
    path = tmp_path / "model.onnx"
    try:
        check(LanczosConv(5, 2), path, TRIANGLE_AND_TAIL, num_nodes=4)
    except ValueError as error:
        with refused:
            raise error
        assert not path.exists()


def test_bad_arguments(tmp_path, monkeypatch):
    conv, x, path = PANConv(5, 2), torch.randn(4, 5), tmp_path / "model.onnx"
    for error, words, args in (
        (TypeError, "model must be a torch.nn.Module", ("conv", x, TRIANGLE_AND_TAIL, path)),
        (TypeError, "x must be a dense tensor", (conv, x.to_sparse(), TRIANGLE_AND_TAIL, path)),
        (ValueError, "only 2 nodes", (conv, x[:2], TRIANGLE_AND_TAIL, path)),
        (ValueError, "in_channels = 5", (conv, x[:, :3], TRIANGLE_AND_TAIL, path)),
        (ValueError, "it is a folder", (conv, x, TRIANGLE_AND_TAIL, tmp_path)),
        (TypeError, "model must return one tensor", (Twice(conv), x, TRIANGLE_AND_TAIL, path)),
    ):
        with pytest.raises(error, match=words):
            to_onnx(*args)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"^to_onnx needs onnx and onnxscript: .*panconv\[onnx\]'$"):
        to_onnx(conv, x, TRIANGLE_AND_TAIL, path)
    assert not list(tmp_path.iterdir())


class Twice(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, graph):
        return self.model(x, graph), x
