import pytest

from panconv.paper.zoo.registry import METHODS
from panconv.paper.zoo.runner import Baselines
from panconv.paper.zoo.spaces import OTHERS, space
from panconv.records.record import Task

FOUND = [name for name in OTHERS if name in METHODS]


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("dataset", ["cora", "pubmed", "mine"])
def test_every_setting_is_one_that_the_method_takes(name, dataset):
    trainer, offered = Baselines(), space(name, dataset)
    found = offered.settings(range(40), 0, trainer.vectors(name))
    assert found[0] == METHODS[name].on(dataset)  # its own is one of them
    for settings in found:
        assert settings.keys() == found[0].keys()
        trainer.check(Task(dataset, name, *_spelt(trainer, {**settings, "halving": [5]}), 0, False))
    assert len({str(each) for each in found}) > 20 or name == "harmonic"  # which is one of two


def _spelt(trainer, drawn):
    operator, settings = trainer.spelt(drawn)
    return operator, "public", settings


def test_ranges_are_around_the_method_s_own():
    offered = space("GCN", "cora").values
    assert (offered["lr"].low, offered["lr"].high) == (0.0025, 0.04)
    assert (offered["weight_decay"].low, offered["weight_decay"].high) == (5e-5, 5e-3)
    assert (offered["dropout"].low, offered["dropout"].high) == (0.0, 0.8)
    assert offered["epochs"] == METHODS["gcn"].settings["epochs"]
    assert "dropout" not in space("sgc", "cora").values  # which has none
    assert space("sgc", "cora").values["lr"].high == 0.5  # and takes large steps already
    assert METHODS["gcn"].settings["hidden"] in offered["hidden"].values


def test_enough_methods_that_fit_trains_have_a_space():
    assert sum(METHODS[name].by_fit for name in FOUND) >= 12
    assert Baselines().vectors("gcn") == {"lr", "weight_decay", "decay_others", "dropout", "dropout_scores"}
    assert {"dropout", "dropout_scores"} <= {name for name, each in space("gprgnn", "x").values.items() if each != 0.5}
    assert Baselines().vectors("lp") == Baselines().vectors("fastgcn") == set()


def test_every_method_has_something_to_search():
    for name, method in METHODS.items():
        offered = space(name, "cora").settings(range(9), 0, ())
        assert any(each != method.on("cora") for each in offered), name
    with pytest.raises(ValueError, match="is no method of the zoo"):
        space("gnc", "cora")
