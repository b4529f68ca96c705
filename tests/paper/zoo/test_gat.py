import copy

import torch
import torch.nn.functional as F
from torch.testing import assert_close as close
from zoo_graph import check_dropouts, settings, small

from panconv import Adjacency, METTransform
from panconv.paper.zoo import gat
from panconv.paper.zoo.operator import with_loops
from panconv.paper.zoo.stack import edges


def dense(layer, x, adj, concat):
    """The layer head by head, with dense scores."""
    outputs = []
    for head in range(layer.heads):
        rows = slice(head * layer.out_channels, (head + 1) * layer.out_channels)
        h = x @ layer.lin.weight[rows].T
        scores = (h @ layer.att_dst[0, head])[:, None] + (h @ layer.att_src[0, head])[None, :]
        scores = F.leaky_relu(scores, 0.2).masked_fill(adj.to_dense() == 0, -torch.inf)
        outputs.append(scores.softmax(1) @ h)
    return torch.cat(outputs, 1) if concat else torch.stack(outputs).mean(0)


def test_heads_of_trained_attention():
    data, _ = small()
    adj = Adjacency.of(with_loops(data).edge_index, num_nodes=60)
    model = gat.network(settings("gat", out_heads=3), 8, 2).eval()
    for layer in (model.first, model.second):  # scores large enough to matter
        layer.att_src.data *= 20
        layer.att_dst.data *= 20
    hidden = F.elu(dense(model.first, data.x, adj, True))
    close(model(data.x, adj), dense(model.second, hidden, adj, False), rtol=1e-4, atol=1e-5)


def test_attention_is_dropped_and_nothing_else_in_the_layer():
    data, _ = small()
    adj = Adjacency.of(with_loops(data).edge_index, num_nodes=60)
    layer = gat.Attention(8, 4, 2, 0.5, concat=True)
    layer.drop.keys = torch.tensor(7)
    once, again = layer(data.x, *edges(adj)), layer(data.x, *edges(adj))
    close(once, again)
    layer.drop.keys = torch.tensor(8)
    assert not torch.allclose(layer(data.x, *edges(adj)), once)
    layer.drop.p = 0.0
    close(layer(data.x, *edges(adj)), layer.eval()(data.x, *edges(adj)))


def test_the_inputs_and_the_attention_of_both_layers_are_dropped():
    data, _ = small()
    adj = Adjacency.of(with_loops(data).edge_index, num_nodes=60)
    names = ["first.drop", "second.drop", "drop_input", "drop_hidden"]
    model = gat.network(settings("gat", dropout=0.3), 8, 2)
    check_dropouts(model, 0.3, lambda model: model(data.x, adj), names)


def test_of_m_it_takes_the_pattern():
    data, _ = small()
    on_m, how = METTransform(2, 2, [1, 1, 1], ("top_k", 5))(data), settings("gat", epochs=5)
    given = gat.train(on_m, how, [0, 1])
    other = copy.copy(on_m)
    other.edge_weight = torch.rand(on_m.num_edges)
    assert torch.equal(gat.train(other, how, [0, 1]), given)
    layer = gat.Attention(8, 4, 2, 0.0, concat=True)
    assert not torch.allclose(*(layer(data.x, with_loops(each).edge_index) for each in (data, on_m)))
