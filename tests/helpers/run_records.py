"""Records of runs that never were."""

from panconv.records.runs import Run

SETTINGS = {"hidden": 16, "layers": 2, "lr": 0.01, "dropout": 0.5, "weight_decay": 5e-3, "epochs": 3, "patience": 3}


def make(seed=0, **changes):
    values = {
        **{"dataset": "cora", "method": 5, "weights": [0.0, 1.0, 1.0], "L": 2, "settings": SETTINGS, "seed": seed},
        **{"test_accuracy": 0.8, "best_epoch": 2, "val_loss": [1.0, 0.5, 0.6], "val_accuracy": [0.3, 0.7, 0.6]},
        **{"path_weights": [[0.0, 1.0, 1.0]] * 2, "seconds": 0.1, "device": "cpu"},
        **{"versions": {"torch": "2"}, "command": "panconv"},
    }
    return Run(**{**values, **changes})
