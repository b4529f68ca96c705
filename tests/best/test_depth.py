import pytest
import torch
import untrained
from two_communities import small

from panconv import Adjacency
from panconv.best import depth
from panconv.records.record import Results
from panconv.spectral import dirichlet_energy
from panconv.training import pans
from panconv.training.search import FRESH


@pytest.fixture
def graph(monkeypatch):
    untrained.give_presets(monkeypatch)
    data = small()
    for place in (pans, depth):
        monkeypatch.setattr(place, "loaded", lambda *_: data)
    return data


def test_every_model_at_every_depth(graph):
    rows = depth.DEPTH.rows("cora", {})
    assert len(rows) == 18
    against = {row.name: row.against for row in rows}
    assert {against[depth.name_of("PAN", n)] for n in depth.DEPTHS[:-1]} == {"PAN, 64 layers"}
    assert against["PAN, 64 layers"] == against["GCN, 64 layers"] == "GCNII, 64 layers"
    assert against["GCN, 2 layers"] == "GCNII, 2 layers"
    assert [row.task.settings["layers"] for row in rows if "GCNII" in row.name] == list(depth.DEPTHS)


def test_looks_are_what_the_models_say_and_are_taken_once(graph, tmp_path, monkeypatch):
    recipes = {name: each.but(epochs=3, hidden=8) for name, each in depth.models("cora").items() if name != "PAN"}
    monkeypatch.setattr(depth, "models", lambda _: recipes)
    results = Results(tmp_path)
    depth.look_into("cora", results, 2, "cpu", "a test", None)
    records = results.read()
    assert {record.seed for record in records} == {FRESH, FRESH + 1}
    assert len(records) == 4
    assert all(record.tested and record.settings["layers"] == 64 for record in records)
    gcn, gcnii = depth.looks(tmp_path, "cora")
    assert (gcn.model, gcn.few, gcnii.model) == ("GCN", None, "GCNII")  # a GCN has no layers that could be taken out
    assert list(gcnii.energy) == [*range(1, 65)]
    result = recipes["GCNII"].but(layers=64).fit(graph, [FRESH, FRESH + 1])
    adj = Adjacency.of(graph.edge_index, num_nodes=graph.num_nodes)
    energy = dirichlet_energy(adj, result.model.hidden(graph.x, adj)[7], relative=True).mean()
    assert gcnii.energy[8] == pytest.approx(float(energy), rel=1e-4)
    assert gcnii.all_layers[0] == pytest.approx(100 * sum(result.test_accuracy) / 2)
    few = result.model.without_layers(range(9, 65)).eval()
    classes = few(graph.x, adj).argmax(-1)[graph.test_mask]
    right = (classes == graph.y[graph.test_mask].unsqueeze(1)).float().mean()
    assert gcnii.few[0] == pytest.approx(100 * float(right), abs=1e-4)
    monkeypatch.setattr(depth, "train_batch", None)
    depth.look_into("cora", results, 2, "cpu", "a test", None)  # nothing is left to look into
    recipes["GCNII"] = recipes["GCNII"].but(share=0.3)
    with pytest.raises(TypeError):  # other settings are another model
        depth.look_into("cora", results, 2, "cpu", "a test", None)
    head, rows = depth.looks_table(tmp_path, "cora")
    assert [len(row) for row in rows] == [len(head)] * 2
    assert rows[0][-1] == "–"
    assert depth.looks_table(tmp_path, "nowhere")[1] == []


def test_gcnii_in_a_pan_s_words_is_the_zoo_s(graph):
    from panconv.paper.zoo.gcnii import Residual
    from panconv.paper.zoo.operator import renormalized
    from panconv.paper.zoo.registry import METHODS

    adj = Adjacency.of(graph.edge_index, num_nodes=graph.num_nodes)
    ours = depth.models("cora")["GCNII"].but(layers=3).model(graph.x.size(1), 2).eval()
    ours.seed([0])
    how = {**METHODS["gcnii"].on("cora"), "hidden": 64, "layers": 3}
    theirs = Residual(how, graph.x.size(1), 2, *renormalized(graph, how)).eval()
    with torch.no_grad():
        theirs.first.weight.copy_(ours.start.weight.T)
        theirs.first.bias.copy_(ours.start.bias)
        theirs.last.weight.copy_(ours.lin.weight.T)
        theirs.last.bias.copy_(ours.lin.bias)
        for conv, mine in zip(theirs.convs, ours.layers(), strict=True):
            conv.weight.copy_(mine.lin.weight.T)
    torch.testing.assert_close(ours(graph.x, adj), theirs(graph.x, adj), rtol=1e-4, atol=1e-5)
