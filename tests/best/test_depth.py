import json

import pytest
import torch
import untrained
from two_communities import small

from panconv import Adjacency
from panconv.best import depth
from panconv.records.record import PAN, Results, Task
from panconv.spectral import dirichlet_energy
from panconv.training import pans
from panconv.training.runner import run


@pytest.fixture
def graph(monkeypatch):
    untrained.give_presets(monkeypatch)
    data = small()
    for place in (pans, depth):
        monkeypatch.setattr(place, "loaded", lambda *_: data)
    return data


def deepest(model, **settings):
    recipe = depth.models("cora")[model].but(layers=64, **settings)
    return [Task("cora", PAN, recipe.operator, "public", recipe.settings, seed, True) for seed in (0, 1)]


def test_every_model_at_every_depth(graph):
    rows = depth.DEPTH.rows("cora", {})
    assert len(rows) == 18
    assert {row.against for row in rows} == {"", *(depth.name_of("GCNII", layers) for layers in depth.DEPTHS)}
    assert [row.task.settings["layers"] for row in rows if "GCNII" in row.name] == list(depth.DEPTHS)


def test_a_look_is_what_the_models_say(graph, tmp_path, monkeypatch):
    tasks = deepest("GCNII", epochs=3)
    monkeypatch.setattr(depth, "models", lambda _: {"GCNII": depth.Recipe.of(tasks[0])})
    results = Results(tmp_path)
    records = run(tasks, results, trainer=depth.Looking(results=results))
    assert [record.seed for record in records] == [0, 1]
    (look,) = depth.looks(tmp_path, "cora")
    assert look.model == "GCNII"
    assert set(look.energy) == {1, *depth.DEPTHS}
    result = depth.Recipe.of(tasks[0]).fit(graph, [0, 1])
    adj = Adjacency.of(graph.edge_index, num_nodes=graph.num_nodes)
    energy = dirichlet_energy(adj, result.model.hidden(graph.x, adj)[7], relative=True).mean()
    assert look.energy[8] == pytest.approx(float(energy), rel=1e-4)
    assert look.all_layers[0] == pytest.approx(100 * sum(result.test_accuracy) / 2)
    few = result.model.without_layers(range(9, 65)).eval()
    classes = few(graph.x, adj).argmax(-1)[graph.test_mask]
    right = (classes == graph.y[graph.test_mask].unsqueeze(1)).float().mean()
    assert look.few[0] == pytest.approx(100 * float(right), abs=1e-4)


def test_looks_are_added_and_a_gcn_has_no_layers_to_take_out(graph, tmp_path, monkeypatch):
    tasks = deepest("GCN", epochs=2)
    result = depth.Recipe.of(tasks[0]).fit(graph, [0, 1])
    found = depth.look(tasks, result)
    assert "few" not in found
    assert len(found["energy"]) == 64
    depth.looks_file(tmp_path, "cora").write_text(json.dumps({"GCNII": {"energy": [1.0] * 64, "all": [0.5]}}))
    monkeypatch.setattr(depth, "models", lambda _: {"GCN": depth.Recipe.of(tasks[0])})
    depth._write(Results(tmp_path), tasks[0], found)
    assert [look.model for look in depth.looks(tmp_path, "cora")] == ["GCNII", "GCN"]
    assert list(depth.looks(tmp_path, "nowhere")) == []


def test_shallower_models_are_not_looked_into(graph, tmp_path):
    tasks = [Task("cora", PAN, *_of(depth.models("cora")["GCN"].but(epochs=2)), 0, True)]
    run(tasks, trainer=depth.Looking(results=Results(tmp_path)))
    assert not depth.looks_file(tmp_path, "cora").exists()


def _of(recipe):
    return recipe.operator, "public", {**recipe.settings, "layers": 2}


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
