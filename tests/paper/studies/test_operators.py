import copy
import dataclasses
import json

import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from panconv import METHODS
from panconv.paper.studies.operators import models, records, run, table, training

SETTINGS = models.Settings(4, 0.05, 1e-3, "first", 0.0, 60, 7)
SETTINGS_ALL = dataclasses.replace(SETTINGS, decay="all")


def small(seed=0):
    """Two clusters whose features tell them apart, a few of them known."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(60) % 2
    source, target = torch.randint(0, 60, (2, 400), generator=generator)
    alike = y[source] == y[target]
    mask = torch.arange(60) // 20
    return Data(
        x=torch.randn(60, 5, generator=generator) + 2 * y[:, None],
        y=y,
        edge_index=torch.stack([source, target])[:, alike],
        **{f"{name}_mask": mask == i for i, name in enumerate(("train", "val", "test"))},
    )


# ---------------------------------------------------------------------- the models


@pytest.mark.parametrize("name", models.MODELS)
def test_each_model_learns_on_the_usual_operator_and_on_m(name):
    data, recipe = small(), models.MODELS[name]
    for operator in (None, *table.menu(name)):
        torch.manual_seed(0)
        graph = data if operator is None else table.transform_of(operator)(data)
        how = dataclasses.replace(recipe.settings, epochs=50)
        model = recipe.make(5, 2, how, operator is None or operator.normalize)
        outcome = training.train(model, graph, how, test=True)
        assert outcome.test_accuracy > 0.9, operator


def test_the_settings_of_a_graph():
    assert models.MODELS["gat"].on("pubmed").heads == 8
    assert models.MODELS["gat"].on("cora").heads == 1
    assert models.MODELS["sgc"].on("citeseer").epochs == 150
    for name, recipe in models.MODELS.items():
        for graph in ("cora", "citeseer", "pubmed"):
            how = recipe.on(graph)
            model = recipe.make(5, 3, how, True)
            decayed, others = training._groups(model, how)
            assert decayed["weight_decay"] == how.weight_decay
            assert len(decayed["params"]) + len(others["params"]) == len(list(model.parameters()))
            assert bool(others["params"]) == (name in ("cheb", "gcn", "appnp"))


def test_taking_m_as_it_stands_makes_a_difference():
    """Only where a normalisation would change it: not for method 7, whose rows sum to 1."""
    data = small()
    whole = {method: table.transform_of(table.Operator(method, 2, (1, 1, 1), 60))(data) for method in (5, 7)}
    for name in ("gcn", "appnp"):
        for method, same in ((5, False), (7, True)):
            scores = []
            for normalize in (True, False):
                torch.manual_seed(0)
                model = models.MODELS[name].make(5, 2, SETTINGS, normalize).eval()
                scores.append(model(data.x, whole[method].edge_index, whole[method].edge_weight))
            assert torch.allclose(*scores, atol=1e-5) == same, (name, method)


# ---------------------------------------------------------------------- a training


class Scripted(nn.Module):
    """A model that counts the epochs down; after epoch n its cross entropy for class 0 is the script's n-th."""

    def __init__(self, losses):
        super().__init__()
        self.first = nn.ParameterList([torch.zeros(1)])
        self.losses = losses

    def forward(self, x, edge_index, edge_weight):
        p = torch.exp(-torch.tensor(self.losses[-int(self.first[0].item()) - 1]))
        return torch.stack([p.log(), torch.log1p(-p)]).expand(len(x), 2) + 0 * self.first[0]


def test_the_state_of_the_lowest_validation_loss_comes_back(monkeypatch):
    losses = [0.9, 0.5, 0.7, 0.4, 0.6, 0.6, 0.6, 0.6, 0.6, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]

    class Down(torch.optim.Optimizer):
        """One step down an epoch, whatever the gradient."""

        def __init__(self, groups, lr):
            super().__init__(groups, {"lr": lr})

        def step(self):
            with torch.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        p -= 1

    monkeypatch.setattr(torch.optim, "Adam", Down)
    data = small()
    data.y = torch.zeros_like(data.y)
    for patience, best in ((1, 2), (2, 4), (5, 4), (6, 10)):
        model = Scripted(losses)
        how = dataclasses.replace(SETTINGS, epochs=20, patience=patience)
        outcome = training.train(model, data, how, test=False)
        # Between two looks it trains on, but what it finds after its patience has run out does not count.
        assert outcome.best_epoch == best
        assert outcome.val_loss == pytest.approx(losses[best - 1], abs=1e-5)
        assert model.first[0].item() == -best
        assert outcome.test_accuracy is None


def test_a_training_does_not_see_the_test_nodes():
    data = small()
    other = copy.copy(data)
    other.y = torch.where(data.test_mask, 1 - data.y, data.y)
    outcomes = []
    for graph in (data, other):
        torch.manual_seed(3)
        model = models.MODELS["gcn"].make(5, 2, SETTINGS, True)
        outcomes.append(training.train(model, graph, SETTINGS, test=True))
    assert outcomes[0].val_loss == outcomes[1].val_loss
    assert outcomes[0].test_accuracy == pytest.approx(1 - outcomes[1].test_accuracy)


def test_losses_that_are_never_finite_are_told():
    data = small()
    data.x = data.x * torch.inf
    outcome = training.train(models.MODELS["sgc"].make(5, 2, SETTINGS, True), data, SETTINGS_ALL, test=False)
    assert outcome.best_epoch == 0


# ---------------------------------------------------------------------- the table


def test_the_menu():
    for name, recipe in models.MODELS.items():
        choices = table.menu(name)
        assert len(set(choices)) == len(choices) <= 8
        assert all(operator.normalize for operator in choices) or recipe.switch
        assert all(len(operator.weights) == operator.L + 1 and operator.method in METHODS for operator in choices)


@pytest.fixture
def scripted(monkeypatch):
    """Trainings that take no time: each gets an accuracy by its operator and seed, and leaves a trace."""
    asked = []

    def fake(self, trial, operator, how):
        asked.append(trial)
        method = 0 if operator is None else operator.method
        value = {0: 0.5, 1: 0.55, 2: 0.6, 7: 0.7, 5: 0.65}[method] + 0.001 * (trial.seed % 1000)
        test = value if trial.tested else None
        return records.Record(
            **vars(trial),
            best_epoch=1,
            val_loss=None if method == 5 else 1 - value,
            val_accuracy=value,
            test_accuracy=test,
            dropped=0.1 * bool(method),
            seconds=0.0,
            device="cpu",
            versions={},
        )

    monkeypatch.setattr(table._Trainer, "_trained", fake)
    return asked


def test_m_is_chosen_by_validation_with_other_seeds_and_then_tested(scripted, tmp_path):
    steps = []
    (cell,) = run(tmp_path, datasets=["cora"], models=["gcn"], trials=3, callback=steps.append)
    assert cell.usual == pytest.approx([0.5, 0.501, 0.502])
    assert cell.met == pytest.approx([0.7, 0.701, 0.702])
    assert cell.difference == pytest.approx(0.2)
    assert (cell.chosen["method"], cell.dropped) == (7, 0.1)
    assert len(cell.candidates) == 7
    best = max(cell.candidates, key=lambda candidate: candidate["val_accuracy"])
    assert best["method"] == 7
    assert [step.done for step in steps] == list(range(3 + 7 * 2 + 3))
    assert {step.total for step in steps} == {20}
    choosing = [trial for trial in scripted if not trial.tested]
    assert {trial.seed for trial in choosing} == {1000, 1001}
    assert {trial.seed for trial in scripted if trial.tested} == {0, 1, 2}


def test_records_are_gone_on_from(scripted, tmp_path):
    first = run(tmp_path, datasets=["cora"], models=["gcn", "gat"], trials=2)
    count = len(scripted)
    assert run(tmp_path, datasets=["cora"], models=["gcn", "gat"], trials=2) == first
    assert len(scripted) == count
    run(tmp_path, datasets=["cora"], models=["gcn"], trials=3)
    assert len(scripted) == count + 2  # a seed on each of the two operators
    run(tmp_path, datasets=["cora"], models=["gcn"], quick=True)
    assert len(scripted) == count + 2 + 4  # few epochs: other trainings
    damaged = next(path for path in sorted(tmp_path.glob("cora-gcn-*")) if '"operator": null' in path.read_text())
    damaged.write_text(damaged.read_text()[:-30])
    with pytest.warns(UserWarning, match="is cut short or damaged: skipped"):
        kept = records.Records(tmp_path)
    assert len(kept._found) == count + 2 + 4 - 1


def test_a_real_training_comes_out_again(tmp_path):
    options = {"datasets": ["cora"], "models": ["gcn"], "quick": True}
    cells = [run(tmp_path / name, **options) for name in ("a", "b")]
    assert cells[0] == cells[1]
    lines = [json.loads(line) for path in (tmp_path / "a").glob("*.jsonl") for line in path.read_text().splitlines()]
    assert {line["schema"] for line in lines} == {"panconv-operator-1"}
    assert len(lines) == 4
    assert sum(line["test_accuracy"] is None for line in lines) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ["coda"]}, "datasets must be of cora, citeseer, pubmed, got 'coda'"),
        ({"datasets": []}, "got none"),
        ({"models": ["gcn", "gnc"]}, "models must be of cheb, .*got 'gnc'"),
        ({"trials": 0}, "trials must be an integer of at least 1"),
    ],
)
def test_mistakes(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run(tmp_path, **options)


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        records.Records(tmp_path / "file")
    (tmp_path / "runs.jsonl").write_text('{"schema": "panconv-run-1"}\n')
    with pytest.raises(ValueError, match="is of another schema \\('panconv-run-1'"):
        records.Records(tmp_path)
    (tmp_path / "runs.jsonl").write_text('{"schema": "panconv-operator-1", "odd": 1}\n')
    with pytest.raises(ValueError, match=r"missing or unknown fields .*odd"):
        records.Records(tmp_path)
