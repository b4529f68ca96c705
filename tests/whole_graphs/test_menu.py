"""The menu: every model of it can be made, and learns; nobody has more to choose from than eight settings."""

import re
from pathlib import Path

import pytest
from ring_set import rings

from panconv.records.record import Task
from panconv.training.authors_pan import AUTHORS_RUNS
from panconv.whole_graphs.menu import COMMON, MENU, VECTORS, checked, entry_of, recorded
from panconv.whole_graphs.models import made
from panconv.whole_graphs.trainer import WholeGraphs

RINGS = rings(18)


@pytest.mark.parametrize("name", MENU)
def test_every_model_is_trained_under_all_its_settings(name):
    points = MENU[name].points()
    assert 1 <= len(points) <= 8
    assert len({str(point) for point in points}) == len(points)
    shown = points[-1:] if name == "authors" else points[:: max(1, len(points) - 1)]
    small = {"epochs": 1, "hidden": 4, "folds": 2, "batch": 9}
    tasks = [Task("rings", recorded(name), None, "given", {**point, **small}, 0, True) for point in shown]
    for task in tasks:
        WholeGraphs().check(task)
        (record,) = WholeGraphs(RINGS).train([task], "cpu", "", lambda *_: None)
        assert 0 <= record.test_accuracy <= 1


@pytest.mark.parametrize("name", ["pan-pool", "pan-pool-diagonal", "sagpool", "topk"])
def test_pools_stand_behind_the_second_of_four_layers(name):
    entry = MENU[name]
    model = made(entry, RINGS, entry.points()[0], None)
    assert list(model.pools) == ["2" if name.startswith("pan") else "1"]  # counted from 1, and from 0


def test_all_have_the_same_where_they_have_it():
    for name, entry in MENU.items():
        for point in entry.points():
            chosen = {*entry.grid, *entry.settings}
            for setting in COMMON.keys() - chosen if not entry.apart else ():
                assert point[setting] == COMMON[setting], name
            assert entry.points()[0].keys() == point.keys()
    others = [entry for name, entry in MENU.items() if name != "authors"]
    assert all(entry.grid == MENU["pan"].grid for entry in others)
    assert {len(entry.points()) for entry in others} == {8}
    assert set(VECTORS) <= COMMON.keys()


def test_a_first_look_is_short():
    for entry in MENU.values():
        assert len(entry.points(quick=True)) <= 2
        assert {point["epochs"] for point in entry.points(quick=True)} == {10}


@pytest.mark.parametrize(
    ("mine", "theirs"), [("NCI1", "NCI1"), ("PROTEINS", "PROTEINS"), ("point-patterns-0.35", "PointPattern 0.35")]
)
def test_the_authors_settings_are_theirs(mine, theirs):
    (point,) = MENU["authors"].points(mine)
    run = AUTHORS_RUNS[theirs]
    assert (point["L"], point["batch"], point["lr"]) == (run.L, run.batch_size, run.lr)
    assert (point["weight_decay"], point["epochs"], point["hidden"]) == (
        run.weight_decay,
        run.epochs,
        run.hidden_channels,
    )
    assert point["ratio"] == run.ratio


def test_names():
    assert checked(" GIN ") == "gin"
    with pytest.raises(ValueError, match=r"model must be one of pan, .*, got 'gni': did you mean 'gin'"):
        checked("gni")
    assert entry_of(recorded("gin")) is MENU["gin"]
    assert entry_of("gin") is entry_of("graphs:none") is entry_of("pan") is None


def test_the_page_names_them_all():
    page = (Path(__file__).parents[2] / "docs/graphs.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[1])) == sorted(MENU)


def test_the_authors_settings_are_those_of_a_fraction_however_many_graphs_there_are():
    for name in ("point-patterns-0.35", "point-patterns-0.35-900"):
        assert (MENU["authors"].points(name)[0]["L"], MENU["authors"].points(name)[0]["batch"]) == (4, 64)
    assert MENU["authors"].points("point-patterns-0.355")[0]["L"] == 3
