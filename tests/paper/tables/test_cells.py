import math
import random

import pytest
from run_records import make

from panconv import METHODS
from panconv.paper.figures.band import band
from panconv.paper.figures.curves import learning_curves
from panconv.paper.figures.heat import heat_map
from panconv.paper.published import GRAPHS, TABLE1, TABLE2, reported
from panconv.paper.settings import PAPER, UNDER_Z, Settings, settings, start
from panconv.paper.tables import cells
from panconv.paper.tables.reproduce import Asked
from panconv.records.ranking import Point
from panconv.records.record import SETTINGS
from panconv.weights import weights_from


def test_settings_are_the_papers_but_for_the_decay_under_z():
    for name in PAPER:
        for method, rule in METHODS.items():
            how = settings(name, method)
            assert (how.epochs, how.patience, how.dropout) == ((100, 15, 0.4) if name == "pubmed" else (200, 50, 0.5))
            if method != 7:  # chosen by validation
                assert (how.weight_decay == 5e-4) == bool(rule.overall)
    assert settings("my graph", 5) == Settings()


def test_method_7_starts_away_from_the_corner_it_would_train_into():
    assert weights_from(start(7, 3), 3)().tolist() == pytest.approx([math.exp(-2), 1, 1, 1])
    assert start(2, 2) == "boltzmann"
    assert start(5, 2) == "free"


def test_the_papers_tables_are_whole():
    assert len(TABLE2) == 24
    assert set(TABLE1) < set(TABLE2)
    assert sum(figure is None for figures in TABLE2.values() for figure in figures) == 6


def test_what_each_experiment_trains():
    tasks, later = cells.wanted("table3", [], GRAPHS, 10)
    assert (len(tasks), later) == (3 * (7 * 10 + 27 * 3), 3 * 10)
    drawn = cells.wanted("figure2", [], GRAPHS, 4)[0][::4]
    assert [(job.operator["L"], job.weights) for job in drawn] == [(2, [0, 1, 1]), (1, [0, 1])]
    (quick,) = cells.wanted("table1", [], ["citeseer"], 1, quick=True)[0]
    assert (quick.dataset, quick.seed, quick.settings["epochs"]) == ("citeseer", 0, 10)
    winner = cells.winner_tasks("cora", Point({"weights": [1.0, 1.0, 1.0]}, 0.8, 0.5, 0.0), 10)
    assert {job.seed for job in winner} == set(range(1000, 1010))
    assert Asked(["table1", "table2"]).missing([]) == 30
    assert Asked(cells.EXPERIMENTS, datasets=["cora"]).missing([]) == 7 * 10 + 27 * 3 + 7 + 10 + 10


def test_settings_know_the_methods():
    """Without torch they cannot look at METHODS: they must agree with it."""
    assert [m for m, rule in METHODS.items() if rule.overall] == list(UNDER_Z)
    assert all(start(m, 2) == rule.weights for m, rule in METHODS.items() if m != 7)
    assert Settings().plain() == SETTINGS


def test_heat_maps_of_any_grid(tmp_path):
    ks = [
        Point({"weights": [a, b, c]}, 0.7 + 0.01 * a, 0.5, 0.01)
        for a in (0.0, 1.0)
        for b in (1.0, 2.0)
        for c in (1.0, 2.0)
    ]
    law = {"kind": "power-law", "alpha": 1.0}
    laws = [Point({"weights": {**law, "temperature": T}}, 0.7, 0.5, 0.0) for T in (1.0, 2.0)]
    for i, points in enumerate((ks, laws, ks[:1])):
        heat_map(points, "a title", tmp_path / f"{i}.png")
        assert (tmp_path / f"{i}.png").stat().st_size > 5000


def test_the_papers_figure_stands_beside_the_training_it_belongs_to():
    assert reported("cora", 5, "fixed", [0, 1, 1], 2) == 82.0
    assert reported("cora", 5, "fixed", [0, 0.5, 0.5], 2) == 82.0
    assert reported("cora", 5, "fixed", [1, 1, 1], 2) is None
    assert reported("citeseer", 2, "boltzmann", None, 2) == 70.1
    assert reported("citeseer", 2, "power-law", None, 2) is None
    assert reported("cora", 5, "free", None, 3) is None
    assert reported("mine", 5, "free", None, 2) is None


def test_curves_are_drawn_even_where_trials_have_stopped(tmp_path):
    """Mean and spread are of those that still run; an epoch where a loss is not finite has none."""
    draw = random.Random(0).random
    long, short, lost = ([draw() for _ in range(epochs)] for epochs in (20, 15, 10))
    records = [make(seed, loss_curve=c, accuracy_curve=c) for seed, c in enumerate((long, short, lost))]
    records.append(make(3, loss_curve=[None] * 20, accuracy_curve=long))
    epochs, means, spreads = band(records, "loss_curve", 1.0)
    assert epochs == list(range(1, 21))
    assert means[12] == pytest.approx((long[12] + short[12]) / 2)
    assert spreads[12] == pytest.approx(abs(long[12] - short[12]) / math.sqrt(2))
    assert (means[15:], spreads[15:]) == (long[15:], [0.0] * 5)
    for ending in ("png", "svg"):
        learning_curves({"Cora": records, "Pubmed": records[:1]}, tmp_path / f"curves.{ending}")
        assert (tmp_path / f"curves.{ending}").stat().st_size > 5000
