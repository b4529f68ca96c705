import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from towns import close, towns

from panconv.compute import spmm as products
from panconv.nn import Stacked
from panconv.paper.zoo.convs import GAT, GCN, SAGE, Pattern
from panconv.paper.zoo.operator import graph, renormalized, with_loops


def pair(kind, inputs, outputs, data):
    """Our layer, and PyG's with the same parameters."""
    if kind == "gcn":
        ours, theirs = GCN(inputs, outputs, *renormalized(data, {})), GCNConv(inputs, outputs)
    elif kind == "sage":
        operands = graph(data).base("D⁻¹A").operands(torch.float32)
        ours, theirs = SAGE(inputs, outputs, *operands), SAGEConv(inputs, outputs)
    else:
        ours, theirs = GAT(inputs, outputs, Pattern.of(graph(with_loops(data))), 2), GATConv(inputs, outputs // 2, 2)
    assert {n: p.shape for n, p in ours.named_parameters()} == {n: p.shape for n, p in theirs.named_parameters()}
    with torch.no_grad():
        for p in ours.parameters():
            p.copy_(torch.randn(p.shape))
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


def directed():
    """Some edges have no way back, so that a matrix is not its transpose."""
    data = towns()
    data.edge_index = data.edge_index[:, torch.arange(data.num_edges) % 5 > 0]
    return data


@pytest.mark.parametrize("outputs", [4, 30])
@pytest.mark.parametrize("kind", ["gcn", "sage", "gat"])
def test_layers_and_their_gradients_are_those_of_pyg(kind, outputs):
    data = directed()
    ours, theirs = pair(kind, 12, outputs, data)
    found = []
    for layer, rest in ((ours, ()), (theirs, (data.edge_index,))):
        x = data.x.clone().requires_grad_()
        out = layer(x, *rest)
        out.square().sum().backward()
        found.append([out, x.grad, *(p.grad for _, p in sorted(layer.named_parameters()))])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("most", [0, 2**30])
@pytest.mark.parametrize("kind", ["gcn", "sage", "gat"])
def test_side_by_side_they_are_what_they_are_alone(kind, most, monkeypatch):
    """Whether messages of all trials are held at once, or their products are made one after another."""
    monkeypatch.setattr(products, "_SMALL", most)
    data = directed()
    model = Stacked(lambda: pair(kind, 12, 6, data)[0], 12, 6, trials=3)
    model.seed([4, 5, 6])
    together = model(data.x)
    (together * torch.arange(3.0).reshape(1, 3, 1)).sum().backward()
    alone = model.trial(2)
    out = alone(data.x)
    (2 * out).sum().backward()
    close(together[:, 2], out)
    for p, one in zip(model.stack, alone.parameters(), strict=True):
        torch.testing.assert_close(p.grad[2], one.grad, rtol=1e-3, atol=1e-3)


def test_heads_that_do_not_divide_the_width():
    with pytest.raises(ValueError, match="heads must divide hidden, got heads = 3 and hidden = 8"):
        GAT(4, 8, Pattern.of(graph(towns())), 3)
