import copy

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close as close
from zoo_graph import check_dropouts, settings, small

from panconv import Adjacency, METTransform
from panconv.compute import kernels
from panconv.paper.zoo import gat
from panconv.paper.zoo.operator import with_loops


def dense(layer, x, adj, concat):
    """The layer head by head, with dense scores."""
    outputs = []
    for head in range(layer.heads):
        width = layer.att_src.size(-1)
        rows = slice(head * width, (head + 1) * width)
        h = x @ layer.lin.weight[rows].T
        scores = (h @ layer.att_dst[0, head])[:, None] + (h @ layer.att_src[0, head])[None, :]
        scores = F.leaky_relu(scores, 0.2).masked_fill(adj.to_dense() == 0, -torch.inf)
        outputs.append(scores.softmax(1) @ h)
    return torch.cat(outputs, 1) if concat else torch.stack(outputs).mean(0)


def test_heads_of_trained_attention():
    data, _ = small()
    adj, (pattern,) = Adjacency.of(with_loops(data).edge_index, num_nodes=60), gat.pattern(data, {}, "cpu")
    model = gat.network(settings("gat", out_heads=3), 8, 2, pattern).eval()
    for layer in (model.first, model.second):  # scores large enough to matter
        layer.att_src.data *= 20
        layer.att_dst.data *= 20
    hidden = F.elu(dense(model.first, data.x, adj, True))
    close(model(data.x, adj), dense(model.second, hidden, adj, False), rtol=1e-4, atol=1e-5)


def test_the_kernels_of_a_gpu_hear_each_head_by_its_own_coefficients(monkeypatch):
    """Which lie beside those of the others. Through Triton's interpreter where there is no GPU."""
    pytest.importorskip("triton")
    data, _ = small()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = gat.network(settings("gat", heads=2, hidden=2, out_heads=2), 8, 2, *gat.pattern(data, {}, device))
    x = data.x.to(device)
    results = []
    for kernel in (None, kernels._triton()):
        monkeypatch.setattr(kernels, "_gpu", lambda x, kernel=kernel: kernel)
        scores = model.to(device).eval()(x, None)
        results.append((scores, *torch.autograd.grad(scores.square().sum(), list(model.parameters()))))
    close(*results, rtol=1e-4, atol=1e-5)


def test_attention_is_dropped_and_nothing_else_in_the_layer():
    data, _ = small()
    layer = gat.Averaged(8, 4, *gat.pattern(data, {}, "cpu"), 2, 0.5)
    layer.drop.keys = torch.tensor(7)
    once, again = layer(data.x), layer(data.x)
    close(once, again)
    layer.drop.keys = torch.tensor(8)
    assert not torch.allclose(layer(data.x), once)
    layer.drop.p = 0.0
    close(layer(data.x), layer.eval()(data.x))


def test_the_inputs_and_the_attention_of_both_layers_are_dropped():
    data, _ = small()
    adj = Adjacency.of(with_loops(data).edge_index, num_nodes=60)
    names = ["first.drop", "second.drop", "drop_input", "drop_hidden"]
    model = gat.network(settings("gat", dropout=0.3), 8, 2, *gat.pattern(data, {}, "cpu"))
    check_dropouts(model, 0.3, lambda model: model(data.x, adj), names)


def test_of_m_it_takes_the_pattern():
    data, _ = small()
    on_m, how = METTransform(2, 2, [1, 1, 1], ("top_k", 5))(data), settings("gat", epochs=5)
    given = gat.train(on_m, how, [0, 1])
    other = copy.copy(on_m)
    other.edge_weight = torch.rand(on_m.num_edges)
    assert torch.equal(gat.train(other, how, [0, 1]), given)
    model, on = gat.network(settings("gat"), 8, 2, *gat.pattern(data, {}, "cpu")).eval(), gat.pattern(on_m, {}, "cpu")
    theirs = gat.network(settings("gat"), 8, 2, *on).eval()
    theirs.load_state_dict(model.state_dict())
    assert not torch.allclose(*(each(data.x, Adjacency.of(data.edge_index, num_nodes=60)) for each in (model, theirs)))
