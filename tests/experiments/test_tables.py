import torch

from panconv import METHODS
from panconv.experiments.curves import learning_curves
from panconv.experiments.paper import reported
from panconv.experiments.settings import PAPER, Settings, settings


def test_settings_are_the_papers_but_for_the_decay_under_z():
    for name in PAPER:
        for method, rule in METHODS.items():
            how = settings(name, method)
            assert (how.epochs, how.patience, how.dropout) == ((100, 15, 0.4) if name == "pubmed" else (200, 50, 0.5))
            assert (how.weight_decay == 5e-4) == bool(rule.overall)
    assert settings("my graph", 5) == Settings()


def test_the_papers_figure_stands_beside_the_training_it_belongs_to():
    assert reported("cora", 5, "fixed", [0, 1, 1], 2) == 82.0
    assert reported("cora", 5, "fixed", [0, 0.5, 0.5], 2) == 82.0
    assert reported("cora", 5, "fixed", [1, 1, 1], 2) is None
    assert reported("citeseer", 2, "boltzmann", None, 2) == 70.1
    assert reported("citeseer", 2, "power-law", None, 2) is None
    assert reported("cora", 5, "free", None, 3) is None
    assert reported("mine", 5, "free", None, 2) is None


def test_curves_are_drawn_even_where_trials_have_stopped(tmp_path):
    history = {"val_loss": torch.rand(20, 3), "val_accuracy": torch.rand(20, 3)}
    for values in history.values():
        values[10:, 0] = torch.nan
        values[15:] = torch.nan
    for ending in ("png", "svg"):
        learning_curves({"Cora": history, "Pubmed": history}, tmp_path / f"curves.{ending}")
        assert (tmp_path / f"curves.{ending}").stat().st_size > 5000
