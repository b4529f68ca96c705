from dataclasses import replace

import pytest
import torch
import untrained
from two_communities import small

from panconv import Adjacency
from panconv.best import ablation, contests, elsewhere, ladder
from panconv.best.study import Line
from panconv.paper.zoo.registry import METHODS
from panconv.paper.zoo.spaces import space
from panconv.training.recipe import Recipe
from panconv.training.spaces import PUBLISHED, SPACES, TUNED


@pytest.fixture(autouse=True)
def presets(monkeypatch):
    untrained.give_presets(monkeypatch)


def tasks(study, graph="cora"):
    return {row.name: row.task for row in study.rows(graph, {})}


def test_the_ladder_and_what_temperature_brings():
    rows = tasks(ladder.LADDER)
    assert list(rows) == [
        *(ladder.PAPER, ladder.WARM, ladder.RANDOM, ladder.BEST, ladder.HOT, ladder.GENERAL, ladder.DEEP),
    ]
    best, hot = rows[ladder.BEST], rows[ladder.HOT]
    assert hot.settings == best.settings
    assert {name for name in best.operator if best.operator[name] != hot.operator[name]} == {"weights"}
    assert hot.weights == [0.2] * 5
    assert rows[ladder.RANDOM].weights == [1 / 9] * 9
    assert rows[ladder.RANDOM].settings["draws"] == PUBLISHED["cora"]["draws"] == 4
    assert ladder.WARM not in tasks(ladder.LADDER, "citeseer")  # whose preset is not there


def test_elsewhere_every_row_has_the_same_split():
    rows = tasks(elsewhere.ELSEWHERE)
    assert {task.split for task in rows.values()} == {"random"}
    assert {task.model for task in rows.values()} == {"pan", *elsewhere.PEERS}


OF_AVERAGES = {"sums over the nodes left", "all labels at each step", "no limit to gradients", "a hidden layer"}
_NORM = "batch norm, layer by layer"
OF_ROWS = {"W first, all nodes", "100 nodes", "1000 nodes", "8 nearest", "128 nearest", "no ramp"}
BY_ROWS = {"propagate": True, "nearest": 3, "nodes": 5, "ramp": 2}
AVERAGED = {**BY_ROWS, "method": 7, "averaged": True, "labelled": 2, "clip": 0.1, "jk": None, "norm_input": "batch"}
# By what is changed, the rows that change nothing.
AS_IT_IS = [
    ({}, {"2 draws", "method 5", *OF_AVERAGES, *OF_ROWS}),
    (BY_ROWS, {"2 draws", "method 5", *OF_AVERAGES, "M first, 300 nodes, 32 nearest"}),
    (AVERAGED, {"2 draws", "M first, 300 nodes, 32 nearest", "k(n) trained", "method 7", _NORM}),
]


@pytest.mark.parametrize(("rows", "same"), AS_IT_IS)
@pytest.mark.parametrize("name", ablation.CHANGES)
def test_every_change_is_one_thing_and_can_be_trained(name, rows, same):
    best = Recipe(**untrained.RECIPE).but(**rows)
    changed = ablation.CHANGES[name](best)
    if not ablation._same(changed, best):
        data = small()
        model = changed.model(data.x.size(1), 2, trials=2)
        model.seed([0, 1])
        assert bool(model(data.x, Adjacency.of(data.edge_index, num_nodes=data.num_nodes)).isfinite().all())
        given = {"nearest": None, "averaged": False}  # which do not go with every operator
        assert changed.operator == best.operator or changed.but(**given).settings == best.but(**given).settings
        changed.but(epochs=2).fit(data, seeds=[0, 1])
    else:
        assert name in {"α = 1", "L = 4", "no batch norm"} | same


def test_an_ablation_changes_the_preset_and_compares_paths_at_one_length():
    rows = ablation.ABLATION.rows("cora", {})
    assert rows[0].name == ladder.BEST
    against = {row.name: row.against for row in rows}
    assert against["shortest paths, L = 3"] == against["self-avoiding paths, L = 3"] == "walks, L = 3"
    assert {against[name] for name in against if "paths" not in name} == {"", ladder.BEST}
    assert not ablation.ABLATION.rows("nowhere", {})


def test_where_all_lengths_weigh_the_same_the_rows_of_alpha_are_compared_at_a_temperature(monkeypatch):
    hot = ladder.at_infinite_temperature(Recipe(**untrained.RECIPE))
    monkeypatch.setitem(untrained.PRESETS, "cora", {"operator": hot.operator, "settings": hot.settings})
    untrained.give_presets(monkeypatch)
    rows = {row.name: row for row in ablation.ABLATION.rows("cora", {})}
    assert rows["T = 8"].against == ladder.BEST
    for name, alpha in (("α = 2", 2.0), ("α trained", 1.0)):
        warm, one = rows["T = 8"].task.weights, rows[name].task.weights
        assert rows[name].against == "T = 8"
        assert (one["temperature"], one["alpha"]) == (warm["temperature"], alpha)


def test_trained_numbers_begin_with_those_of_the_preset():
    best = Recipe(**untrained.RECIPE)
    of = [each.model(4, 2).layers()[0].weights() for each in (best, ablation.CHANGES["k(n) trained"](best))]
    torch.testing.assert_close(of[0], of[1], check_dtype=False)
    trained = ablation.CHANGES["T trained"](best).model(4, 2).layers()[0].weights
    torch.testing.assert_close(of[0], trained(), check_dtype=False)
    assert trained.log_temperature.requires_grad


def test_pan_and_its_peers_may_be_alike_where_neighbours_differ():
    ours = SPACES["heterophilous"].values
    for name in ("res_gcn", "res_sage", "res_gat"):  # the other peer has neither depth nor norm nor residual
        theirs = space(name, "minesweeper").values
        assert all(theirs[each] == ours[each] for each in TUNED)
    drawn = [each.drawn_from().values for each in contests._alike("cora").values()]
    assert {(each["epochs"], each["patience"]) for each in drawn} == {(500, 50)}


def test_standing():
    pan = Line("PAN", 3, 80.0, 1.0, 1.0, "cpu")
    peers = [Line("a", 3, 78.0, 1.0, 1.0, "cpu", "PAN", (-1.0, -2.0, -3.0)), Line("b", 3, 70.0, 1.0, 1.0, "cpu")]
    assert contests.standing([pan, *peers]) == "PAN is 2.0 ahead of its best peer, a, 3.5 paired standard errors."
    behind = replace(peers[0], mean=81.0, changes=(1.0, 2.0))
    assert contests.standing([pan, behind]) == "PAN is 1.5 behind its best peer, a, 3.0 paired standard errors."
    assert contests.standing([pan, replace(peers[0], changes=(1.0,))]) == ""  # one trial decides nothing
    assert contests.standing([pan]) == contests.standing([]) == ""


def test_a_preset_at_infinite_temperature_is_not_shown_twice(monkeypatch):
    hot = ladder.at_infinite_temperature(Recipe(**untrained.RECIPE))
    monkeypatch.setitem(untrained.PRESETS, "cora", {"operator": hot.operator, "settings": hot.settings})
    untrained.give_presets(monkeypatch)
    assert ladder.HOT not in tasks(ladder.LADDER)
    rows = [row.task.alike() for row in ablation.ABLATION.rows("cora", {})]
    assert len(set(rows)) == len(rows)


def test_everyone_is_tuned_by_the_same_numbers():
    for searches in (contests._alike("cora"), contests._differing("minesweeper")):
        counts = {(each.settings, each.seeds, each.finalists, each.reruns) for each in searches.values()}
        assert len(counts) == 1
    assert len(contests.ALIKE) == len(set(contests.ALIKE)) == 12
    assert all(METHODS[name].by_fit for name in (*contests.ALIKE, *contests.PEERS))
