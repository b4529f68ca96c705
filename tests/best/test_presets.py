from pathlib import Path

import presets as tool  # tools/presets.py
import pytest
import untrained

from panconv import PAN
from panconv.best.across import Across
from panconv.best.presets import CHOICES
from panconv.records.ranking import Point
from panconv.records.record import Results
from panconv.training.pans import Pans
from panconv.training.presets import FILE, entries, preset
from panconv.training.recipe import Recipe

HOME = Path(__file__).parents[2]


def test_the_presets_are_what_the_records_decide():
    assert FILE.read_text(encoding="utf-8") == tool.text(tool.content(Results(tool.RECORDS).read()))
    assert entries()


def test_a_preset_says_which_space_it_is_from():
    assert {name: entries()[name]["chosen"]["space"] for name in ("cora", "pubmed", "general")} == {
        **{"cora": "random-propagation", "pubmed": "averaged-propagation", "general": "random-propagation"}
    }


def test_the_general_preset_without_a_graph_never_sees_it():
    for graph in ("cora", "citeseer", "pubmed"):
        searched = {each.graph for each in CHOICES[f"general-without-{graph}"].searches}
        assert searched == {"cora", "citeseer", "pubmed"} - {graph}
        without = CHOICES[f"general-without-{graph}"]
        drawn = without.searches[0].drawn_from().settings(range(without.searches[0].settings), 0, Pans().vectors("pan"))
        spelt = [Pans().spelt(each) for each in drawn]
        points = [Point(operator, 0.0, 0.0, 0.0, settings) for operator, settings in spelt]
        assert sum(without._published(point) for point in points) == 2


def test_searches_whose_settings_are_compared_are_of_one_space():
    for name, choice in CHOICES.items():
        if isinstance(choice, Across):
            assert len({(each.space, each.seeds) for each in choice.searches}) == 1, name


def test_whatever_is_tried_can_be_made():
    searches = [each for choice in CHOICES.values() for each in choice.searches]
    for each in searches:
        for drawn in each.drawn_from().settings(range(each.settings), 0, Pans().vectors("pan")):
            recipe = Recipe(*Pans().spelt(drawn))
            assert recipe.but(layers=1).model(10, 3).in_channels == 10
            assert recipe.options()["epochs"] > 1


def test_a_preset_is_a_recipe_and_the_user_s_own():
    name = next(iter(entries()))
    one = PAN.preset(name)
    assert one == preset(name)
    one.settings["lr"] = 99.0
    one.operator["method"] = 99
    assert preset(name) != one
    with pytest.raises(ValueError, match=f"a preset must be one of {name}.*, got 'corra'"):
        PAN.preset("corra")
    with pytest.raises(ValueError, match="a preset must be one of"):
        PAN.preset(3)


@pytest.mark.parametrize("name", entries())
def test_every_preset_makes_a_model(name):
    recipe = preset(name)
    model = recipe.model(5, 3, trials=2)
    assert len(model.layers()) == recipe.settings["layers"]
    recipe.options()


def test_the_tool_names_what_is_not_complete(monkeypatch, tmp_path, capsys):
    untrained.use(monkeypatch, presets=False)
    few = {"cora-warm": CHOICES["cora-warm"].quick(), "citeseer-warm": CHOICES["citeseer-warm"].quick()}
    monkeypatch.setattr(tool, "CHOICES", few)
    monkeypatch.setattr(tool, "FILE", tmp_path / "presets.json")
    few["cora-warm"].run(Results(tmp_path / "records"))
    monkeypatch.setattr(tool, "RECORDS", tmp_path / "none")
    tool.main([tmp_path / "records"])
    assert "citeseer-warm: its search is not complete" in capsys.readouterr().out
    found = tool.content(Results(tmp_path / "records").read())
    assert list(found) == ["cora-warm"]
    assert found["cora-warm"]["chosen"]["on"] == ["cora"]
    assert (tmp_path / "presets.json").read_text() == tool.text(found)
