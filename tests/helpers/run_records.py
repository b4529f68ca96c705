"""Records of runs that never were."""

from panconv.records.record import Record, pan_task

SETTINGS = {"hidden": 16, "layers": 2, "lr": 0.01, "dropout": 0.5, "weight_decay": 5e-3, "epochs": 3, "patience": 3}


def make(seed=0, **changes):
    """The record of a PAN; what is changed of its operator (method, L, weights) or of its other fields."""
    operator = {"method": 5, "weights": [0.0, 1.0, 1.0], "L": 2}
    operator |= {name: changes.pop(name) for name in operator if name in changes}
    task = pan_task("cora", **operator, settings=SETTINGS, seed=seed)
    values = {
        **{"test_accuracy": 0.8, "val_accuracy": 0.7, "val_loss": 0.5, "best_epoch": 2},
        **{"loss_curve": [1.0, 0.5, 0.6], "accuracy_curve": [0.3, 0.7, 0.6]},
        **{"path_weights": [[0.0, 1.0, 1.0]] * 2, "seconds": 0.1, "device": "cpu"},
        **{"versions": {"torch": "2"}, "command": "panconv"},
    }
    return Record(**{**vars(task), **values, **changes})
