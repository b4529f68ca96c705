"""Layers under the tracers and modes of torch: compiled with a raw edge_index, TorchScript, autocast."""

import io

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch_geometric.data import Batch, Data

from panconv import PAN, Adjacency, PANConv

cuda = pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))


class Net(torch.nn.Module):
    def __init__(self, method=5):
        super().__init__()
        self.first, self.second = PANConv(5, 8, method=method), PANConv(8, 3, method=method)

    def forward(self, x, graph, edge_weight=None):
        return self.second(self.first(x, graph, edge_weight).relu(), graph, edge_weight)


def batch(seed, sizes=(4, 1, 7, 3)):
    """Small graphs in one, of which the second has no edges."""
    torch.manual_seed(seed)
    edges = [torch.randint(0, n, (2, n if n > 1 else 0)) for n in sizes]
    both = [torch.cat([e, e.flip(0)], 1) for e in edges]
    return Batch.from_data_list([Data(torch.randn(n, 5), e) for n, e in zip(sizes, both, strict=True)])


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # the compiler, about itself, where it has to break off
def test_a_raw_edge_index_is_prepared_outside_of_the_trace():
    torch.compiler.reset()
    conv = PANConv(5, 3, method=1)
    compiled = torch.compile(conv, backend="eager")
    for seed in range(2):
        data = batch(seed)
        for weight in (None, 0.5 + torch.rand(data.num_edges)):
            ours, expected = (
                [out, *torch.autograd.grad(out.sin().sum(), conv.parameters())]
                for out in (f(data.x, data.edge_index, weight) for f in (compiled, conv))
            )
            torch.testing.assert_close(ours, expected)


def test_without_leave_to_break_it_says_what_to_do():
    torch.compiler.reset()
    x, conv, remedy = torch.randn(4, 5), PANConv(5, 3), "make adj = panconv.Adjacency.from_edge_index"
    with pytest.raises(torch._dynamo.exc.Unsupported, match=remedy):
        torch.compile(conv, backend="eager", fullgraph=True)(x, TRIANGLE_AND_TAIL)
    with pytest.raises(ValueError, match=f"^a graph cannot be prepared inside of a trace: {remedy}.*$"):
        torch.export.export(conv, (x, TRIANGLE_AND_TAIL))


@pytest.mark.parametrize("model", [PANConv(5, 3), PAN(5, 4, 3)], ids=["layer", "model"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_is_refused(model):
    x, adj = torch.randn(4, 5), Adjacency.of(TRIANGLE_AND_TAIL)
    for attempt in (
        lambda: torch.jit.trace(model, (x, TRIANGLE_AND_TAIL)),
        lambda: torch.jit.trace(lambda x: model(x, adj), (x,)),
        lambda: torch.jit.script(model),
        lambda: torch.jit.script(torch.nn.Sequential(model)),
        lambda: torch.onnx.export(model, (x, TRIANGLE_AND_TAIL), io.BytesIO(), dynamo=False),
    ):
        with pytest.raises(ValueError, match=r"^TorchScript .* use torch\.export\.export.*to_onnx$"):
            attempt()
    assert model(x, adj).shape == (4, 3)


@pytest.mark.parametrize("device", [pytest.param("cpu", marks=pytest.mark.slow), cuda])
@pytest.mark.parametrize("method", [1, 5])
@pytest.mark.filterwarnings("ignore")
def test_reduce_overhead_on_batches(method, device):
    torch.compiler.reset()
    model = Net(method).to(device)
    compiled = torch.compile(model, mode="reduce-overhead")
    for seed in (0, 0, 0, 1):  # often enough for a recording
        data = batch(seed).to(device)
        adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
        ours, expected = (
            [out.clone(), *torch.autograd.grad(out.sin().sum(), model.parameters())]
            for out in (f(data.x, adj) for f in (compiled, model))
        )
        torch.testing.assert_close(ours, expected)


@pytest.mark.parametrize("device", ["cpu", cuda])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("method", range(1, 12))
def test_autocast_on_batches(method, dtype, device):
    model, data = Net(method).to(device), batch(0).to(device)
    exact = model(data.x, data.edge_index)
    size = float(exact.detach().abs().max())
    for graph in (data.edge_index, Adjacency.of(data.edge_index, num_nodes=data.num_nodes)):
        with torch.autocast(device, dtype=dtype):
            out = model(data.x, graph)
        assert out.dtype == dtype
        torch.testing.assert_close(out.float(), exact, rtol=0.05, atol=0.02 * size)
        grads = torch.autograd.grad(out.float().square().sum(), model.parameters())
        true = torch.autograd.grad(exact.square().sum(), model.parameters(), retain_graph=True)
        for ours, expected in zip(grads, true, strict=True):
            torch.testing.assert_close(ours, expected, rtol=0.1, atol=0.05 * float(expected.abs().max()))
