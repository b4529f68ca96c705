import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from towns import built, close, learns_and_repeats, settings, towns
from zoo_graph import check_dropouts

from panconv.paper.zoo import res_gat, res_gcn, res_sage
from panconv.paper.zoo.operator import graph

MODULES = {"res_gcn": res_gcn, "res_sage": res_sage, "res_gat": res_gat}


def theirs(name, inputs, how, bias):
    """PyG's layer of the same widths."""
    if name == "res_gat":
        return GATConv(inputs, how["hidden"] // how["heads"], how["heads"], bias=bias)
    return {"res_gcn": GCNConv, "res_sage": SAGEConv}[name](inputs, how["hidden"], bias=bias)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("norm", [None, "batch", "layer"])
@pytest.mark.parametrize("name", MODULES)
def test_it_is_the_stack_of_pyg_s_layers(name, norm, residual, monkeypatch):
    data = towns()
    how = settings(name, hidden=8, layers=3, norm=norm, residual=residual)
    model = built(MODULES[name], monkeypatch, data, how)
    with torch.no_grad():
        for each in (*model.parameters(), *model.buffers()):  # biases and running means start at 0
            each.copy_(torch.rand(each.shape) - (0.5 if isinstance(each, nn.Parameter) else 0))
    x = data.x
    for i, conv in enumerate(model.convs):
        layer = theirs(name, x.size(1), how, bias=norm != "batch")
        layer.load_state_dict(conv.state_dict())
        out = layer(x, data.edge_index)
        if residual:
            out = out + model.lins[i](x)
        if norm is not None:
            plain = nn.BatchNorm1d(8).eval() if norm == "batch" else nn.LayerNorm(8)
            plain.load_state_dict(model.norms[i].state_dict(), strict=False)
            out = plain(out)
        x = out.relu()
    close(model(data.x, graph(data)), x @ model.last.weight.T + model.last.bias)
    assert sum(isinstance(lin, nn.Linear) for lin in model.lins) == (3 if residual else 0)


@pytest.mark.parametrize("name", MODULES)
def test_no_bias_stands_before_a_batch_norm_which_would_take_it_out(name, monkeypatch):
    """Adam would make steps of full size of the rounding in its gradient, others alone than among trials."""
    for norm in ("batch", "layer", None):
        model = built(MODULES[name], monkeypatch, towns(), settings(name, hidden=8, norm=norm))
        names = [n for n, _ in model.named_parameters() if n.startswith(("convs.", "lins.")) and n.endswith("bias")]
        assert bool(names) == (norm != "batch")


def test_what_each_layer_gives_is_dropped_and_all_decays(monkeypatch):
    data = towns()
    model = built(res_gcn, monkeypatch, data, settings("res_gcn", dropout=0.3, layers=3))
    check_dropouts(model, 0.3, lambda model: model(data.x, graph(data)), ["drops.0", "drops.1", "drops.2"])
    assert settings("res_gcn")["decay"] == ""


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_it_learns(name, norm):
    """And a trial is the same among others: with its own running means, too."""
    learns_and_repeats(name, 0.6, norm=norm, layers=2, hidden=16, lr=0.02)
