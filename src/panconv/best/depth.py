"""2 to 64 layers, and whether the deep ones are used: `panconv reproduce depth`.

Beside the accuracy of every depth, two looks into the models of 64 layers: the Dirichlet energy of what comes out of
each layer, and the accuracy once the layers from the ninth on are taken out. They go into a file of their own beside
the records.
"""

from __future__ import annotations

import copy
import json
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from panconv.base.files import replacing
from panconv.best.ladder import row
from panconv.best.study import Row, Study
from panconv.graph import Adjacency
from panconv.paper.published import GRAPHS
from panconv.paper.zoo.registry import METHODS
from panconv.records.ranking import Point, std
from panconv.records.record import Results, Task
from panconv.spectral import dirichlet_energy
from panconv.training.fit import FitResult
from panconv.training.metrics import METRICS
from panconv.training.models import PAN as Model
from panconv.training.pans import loaded, train_batch
from panconv.training.presets import entries, preset
from panconv.training.recipe import Recipe
from panconv.training.runner import Step
from panconv.training.search import FRESH

DEPTHS = (2, 4, 8, 16, 32, 64)
LEFT = 8  # layers that stay when the others are taken out
_LOOKED_AT = 10  # trials at most: they are trained in one batch
_SHOWN = (1, 2, 8, 32, 64)  # layers whose energy is
_A_HAT = {"method": 5, "L": 1, "weights": [0.0, 1.0]}  # M = Â, which is GCN's operator and GCNII's


def _gcn(graph: str) -> Recipe:
    """GCN, 64 channels wide."""
    how = METHODS["deep_gcn"].on(graph)
    names = ("hidden", "lr", "dropout", "weight_decay", "epochs", "patience")
    return Recipe(_A_HAT, {name: how[name] for name in names})


def _gcnii(graph: str) -> Recipe:
    """GCNII with its published settings, 64 channels wide: those of the zoo, in a PAN's words."""
    how = METHODS["gcnii"].on(graph)
    names = ("lr", "dropout", "weight_decay", "decay_others", "epochs", "patience", "share", "identity")
    same = {name: how[name] for name in names}
    return Recipe(_A_HAT, {**same, "hidden": 64, "residual": "input", "decay": "layers"})


def models(graph: str) -> dict[str, Recipe]:
    """What is compared, at any depth."""
    found = {"GCN": _gcn(graph), "GCNII": _gcnii(graph)}
    return {**found, "PAN": preset(name)} if (name := f"{graph}-deep") in entries() else found


def name_of(model: str, layers: int) -> str:
    return f"{model}, {layers} layers"


def _rows(graph: str, _: Mapping[str, Point]) -> list[Row]:
    rows = []
    for (model, recipe), layers in product(models(graph).items(), DEPTHS):
        rows.append(row(name_of(model, layers), graph, recipe.but(layers=layers), _against(model, layers)))
    return rows


def _against(model: str, layers: int) -> str:
    """A PAN is compared with the deepest, and the deepest with GCNII; a GCN with GCNII of its depth."""
    if model == "PAN" and layers < DEPTHS[-1]:
        return name_of("PAN", DEPTHS[-1])
    return "" if model == "GCNII" else name_of("GCNII", layers)


# ---------------------------------------------------------------------- looks into the deepest


def look_into(
    graph: str, results: Results, trials: int, device: str, command: str, callback: Callable[[Step], None] | None
) -> None:
    """Trains the deepest models, where nobody has looked into these yet, and looks."""
    for model, recipe in models(graph).items():
        task = row(model, graph, recipe.but(layers=DEPTHS[-1])).task
        known = seen(results.folder, graph)
        if _is_of(known.get(model, {}), task):
            continue
        tasks = [replace(task, seed=FRESH + t) for t in range(min(trials, _LOOKED_AT))]
        if callback is not None:
            callback(Step(0, 1, tasks, 0.0))
        records, result = train_batch(tasks, device=device, command=command)
        there = {record.key() for record in results.read()}
        results.add([record for record in records if record.key() not in there])
        write_looks(results.folder, graph, {**known, model: look(task, result, device)})


def _is_of(look: Mapping[str, Any], task: Task) -> bool:
    """Whether it is a look into models of that operator and these settings."""
    return (look.get("operator"), look.get("settings")) == (task.operator, task.settings)


def seen(folder: Path, graph: str) -> dict[str, Any]:
    """The looks into a graph's models that a folder has, by model."""
    path = looks_file(folder, graph)
    return json.loads(path.read_text()) if path.exists() else {}


def write_looks(folder: Path, graph: str, looks: Mapping[str, Any]) -> None:
    with replacing(looks_file(folder, graph)) as path:
        path.write_text(json.dumps(looks, indent=1) + "\n")


def look(task: Task, result: FitResult[Model], device: str = "cpu") -> dict[str, Any]:
    """By layer the relative Dirichlet energy, the mean over the trials; their test accuracies with all layers, and with
    few."""
    model = result.model.to(device)
    data = loaded(task.dataset, Recipe.of(task).setting("rows"))
    data = copy.copy(data).to(device)  # the graph that others load stays where it is
    adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
    energies = (dirichlet_energy(adj, each, relative=True).mean() for each in model.hidden(data.x, adj))
    found: dict[str, Any] = {"operator": task.operator, "settings": task.settings}
    found |= {"energy": [*map(float, energies)], "all": result.test_accuracy}
    if task.settings.get("residual") == "input":  # others have no layers that could be taken out
        few = model.without_layers(range(LEFT + 1, task.settings["layers"] + 1)).eval()
        found["few"] = _accuracy(few, data, adj)
    return found


def _accuracy(model: Model, data: Any, adj: Adjacency) -> list[float]:
    """Of each trial, on the test nodes."""
    scores, mask = model(data.x, adj).detach(), data.test_mask
    y = data.y[mask].unsqueeze(1).expand(-1, scores.size(1))
    return METRICS["accuracy"].of(scores[mask], y, None).tolist()


def looks_file(folder: Path, graph: str) -> Path:
    return folder / f"depth-{graph}.json"


@dataclass(frozen=True)
class Look:
    """What was seen in a model of 64 layers, in percent where it is an accuracy."""

    model: str
    energy: dict[int, float]  # by layer
    all_layers: tuple[float, float]  # mean and standard deviation
    few: tuple[float, float] | None  # the same with the first layers alone


def looks(folder: Path, graph: str) -> Iterator[Look]:
    """Those of a graph, where there are any."""
    for model, found in seen(folder, graph).items():
        energy = dict(enumerate(found["energy"], start=1))
        few = _spread(found["few"]) if "few" in found else None
        yield Look(model, energy, _spread(found["all"]), few)


def looks_table(folder: Path, graph: str) -> tuple[list[str], list[list[str]]]:
    """What was seen on a graph, as the head and the rows of a table."""
    rows = []
    for each in looks(folder, graph):
        energies = (f"{each.energy[layer]:.2g}" for layer in _SHOWN)
        accuracies = ("–" if of is None else f"{of[0]:.1f} ± {of[1]:.1f}" for of in (each.all_layers, each.few))
        rows.append([each.model, *energies, *accuracies])
    return ["layer", *map(str, _SHOWN), "test (%)", f"of {LEFT} layers"], rows


def _spread(shares: list[float]) -> tuple[float, float]:
    values = [100 * share for share in shares]
    return statistics.fmean(values), std(values)


DEPTH = Study("2 to 64 layers", GRAPHS, _rows, before=look_into)
