"""What records were before: of PAN, of the zoo and of the study of operators three kinds, which are read as the one.

A line is upgraded before it is checked, so that nothing may be taken for granted here. Never imports torch.
"""

from __future__ import annotations

from typing import Any

from panconv.records.schema import PAN, is_whole, shown

SCHEMA = "panconv-record-1"
_SETTINGS_OF_RUN_1 = ("hidden", "layers", "lr", "dropout", "weight_decay", "epochs", "patience")
# What lines of the zoo carry of a method that never looked at it. What an M says itself (normalize, walk) is idle too.
_IDLE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("agnn", "dynamic_filter", "gat", "mlp"), ("normalize",)),
    "dcnn": ("hidden",),
    "sgc": ("hidden", "dropout"),
}
_NOT_KEPT: dict[str, Any] = {"val_loss": None, "best_epoch": None, "loss_curve": [], "accuracy_curve": []}
_NOT_KEPT |= {"path_weights": [], "temperatures": [], "dropped": None}


def _from_run_1(content: dict[str, Any]) -> dict[str, Any]:
    """Of the first version: a setting that was misspelt had no effect, and was written all the same."""
    how = content.get("settings")
    known = {name: how[name] for name in how if name in _SETTINGS_OF_RUN_1} if isinstance(how, dict) else how
    return {**content, "schema": "panconv-run-2", "settings": known}


def _from_run_2(content: dict[str, Any]) -> dict[str, Any]:
    """Of PAN: the operator was three fields, and the figures at the chosen epoch stood in the curves alone."""
    names = {"method", "L", "weights"}
    rest = {name: value for name, value in content.items() if name not in names}
    loss, accuracy, epoch = content.get("val_loss"), content.get("val_accuracy"), content.get("best_epoch")
    return {
        **rest,
        **{"schema": SCHEMA, "model": PAN, "split": "public", "tested": True, "temperatures": [], "dropped": None},
        "operator": {name: content[name] for name in content if name in names},
        **{"loss_curve": loss, "accuracy_curve": accuracy},
        **{"val_loss": _at(loss, epoch), "val_accuracy": _at(accuracy, epoch) or 0.0},
    }


def _at(curve: Any, epoch: Any) -> Any:
    return curve[epoch - 1] if isinstance(curve, list) and is_whole(epoch, 1) and epoch <= len(curve) else None


def _from_zoo_1(content: dict[str, Any]) -> dict[str, Any]:
    """Of a baseline, maybe with idle settings, or of PAN on random splits, whose k(n) stood among its settings."""
    rest = {name: value for name, value in content.items() if name != "method"}
    rest |= {"schema": SCHEMA, "model": content.get("method"), **_NOT_KEPT}
    how = rest.get("settings")
    if rest["model"] == PAN and isinstance(how, dict) and isinstance(how.get("k"), list):
        rest["operator"] = {"method": 5, "L": len(how["k"]) - 1, "weights": how["k"]}
        rest["settings"] = {name: value for name, value in how.items() if name != "k"}
    elif isinstance(rest["model"], str) and isinstance(how, dict):
        operator = rest.get("operator")
        idle = {*_IDLE.get(rest["model"], ()), *(operator if isinstance(operator, dict) else ())}
        rest["settings"] = {name: value for name, value in how.items() if name not in idle}
    return rest


def _from_operator_1(content: dict[str, Any]) -> dict[str, Any]:
    """Of a model on its usual operator or on M: trained by other code, so that its settings stay what they were.

    They are spelt otherwise than the zoo's: none of these counts as a training of the zoo.
    """
    kept = {name: value for name, value in _NOT_KEPT.items() if name not in content}
    model = "chebnet" if content.get("model") == "cheb" else content.get("model")
    return {**content, **kept, "schema": SCHEMA, "model": model, "split": "public", "command": ""}


_UPGRADES = {  # from an older schema to one that is less old
    "panconv-run-1": _from_run_1,
    "panconv-run-2": _from_run_2,
    "panconv-zoo-1": _from_zoo_1,
    "panconv-operator-1": _from_operator_1,
}


def upgraded(content: Any, where: str) -> dict[str, Any]:
    """What is said to be a record, as a record of now has it; what is of no known schema is refused."""
    said = content.get("schema") if isinstance(content, dict) else None
    while isinstance(said, str) and said in _UPGRADES:
        content = _UPGRADES[said](content)
        said = content["schema"]
    if said != SCHEMA:
        raise ValueError(f"{where} is of another schema ({shown(said)}, not {SCHEMA!r}): name another results folder")
    return content
