"""2 to 64 layers, and whether the deep ones are used: `panconv reproduce depth`.

Beside the accuracy of every depth, two looks into the models of 64 layers: the Dirichlet energy of what comes out of
each layer, and the accuracy once the layers from the ninth on are taken out. They go into a file of their own beside
the records.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from panconv.base.files import replacing
from panconv.best.ladder import row
from panconv.best.study import Row, Study
from panconv.data.splits import with_splits
from panconv.graph import Adjacency
from panconv.paper.published import GRAPHS
from panconv.paper.zoo.registry import METHODS
from panconv.records.ranking import Point, std
from panconv.records.record import PAN, Record, Results, Task
from panconv.spectral import dirichlet_energy
from panconv.training.fit import FitResult
from panconv.training.metrics import METRICS
from panconv.training.models import PAN as Model
from panconv.training.pans import Pans, loaded, train_batch
from panconv.training.presets import entries, preset
from panconv.training.recipe import Recipe
from panconv.training.runner import Tell

DEPTHS = (2, 4, 8, 16, 32, 64)
LEFT = 8  # layers that stay when the others are taken out
_LOOKED_AT = 10  # trials: what comes out of 64 layers is 64 times as large as what a training holds of it
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
    return {**found, "PAN": preset("deep")} if "deep" in entries() else found


def name_of(model: str, layers: int) -> str:
    return f"{model}, {layers} layers"


def _rows(graph: str, _: Mapping[str, Point]) -> list[Row]:
    rows = []
    for (model, recipe), layers in product(models(graph).items(), DEPTHS):
        against = name_of("GCNII", layers) if model != "GCNII" else ""
        rows.append(row(name_of(model, layers), graph, recipe.but(layers=layers), against))
    return rows


# ---------------------------------------------------------------------- looks into the deepest


@dataclass(frozen=True)
class Looking(Pans):
    """Trains PANs, and looks into the deepest ones."""

    results: Results | None = None

    def train(self, tasks: list[Task], device: str, command: str, tell: Tell) -> list[Record]:
        records, result = train_batch(tasks, device=device, command=command, tell=tell)
        if self.results is not None and tasks[0].settings["layers"] == DEPTHS[-1]:
            _write(self.results, tasks[0], look(tasks, result, device))
        return records


def look(tasks: list[Task], result: FitResult[Model], device: str = "cpu") -> dict[str, Any]:
    """By layer the relative Dirichlet energy, the mean over the first trials; their test accuracies with all layers,
    and with few."""
    one, seeds = tasks[0], result.seeds[:_LOOKED_AT]
    model = result.model.narrowed(range(len(seeds))).to(device)
    data = with_splits(loaded(one.dataset, Recipe.of(one).setting("rows")), one.split, seeds).to(device)
    adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
    energies = (dirichlet_energy(adj, each, relative=True).mean() for each in model.hidden(data.x, adj))
    found: dict[str, Any] = {"energy": [*map(float, energies)], "all": result.test_accuracy[: len(seeds)]}
    if one.settings.get("residual") == "input":  # others have no layers that could be taken out
        few = model.without_layers(range(LEFT + 1, one.settings["layers"] + 1)).eval()
        found["few"] = _accuracy(few, data, adj)
    return found


def _accuracy(model: Model, data: Any, adj: Adjacency) -> list[float]:
    """Of each trial, on the test nodes."""
    scores, mask = model(data.x, adj).detach(), data.test_mask
    y = data.y[mask].unsqueeze(1).expand(-1, scores.size(1))
    return METRICS["accuracy"].of(scores[mask], y, None).tolist()


def looks_file(folder: Path, graph: str) -> Path:
    return folder / f"depth-{graph}.json"


def _write(results: Results, task: Task, found: dict[str, Any]) -> None:
    """Adds a look to those of its graph."""
    path, mine = looks_file(results.folder, task.dataset), Recipe.of(task)
    model = next((name for name, each in models(task.dataset).items() if each.but(layers=DEPTHS[-1]) == mine), PAN)
    known = json.loads(path.read_text()) if path.exists() else {}
    with replacing(path) as temporary:
        temporary.write_text(json.dumps({**known, model: found}, indent=1) + "\n")


@dataclass(frozen=True)
class Look:
    """What was seen in a model of 64 layers, in percent where it is an accuracy."""

    model: str
    energy: dict[int, float]  # by layer
    all_layers: tuple[float, float]  # mean and standard deviation
    few: tuple[float, float] | None  # the same with the first layers alone


def looks(folder: Path, graph: str) -> Iterator[Look]:
    """Those of a graph, where there are any."""
    path = looks_file(folder, graph)
    for model, found in json.loads(path.read_text()).items() if path.exists() else ():
        energy = {layer: found["energy"][layer - 1] for layer in (1, *DEPTHS)}
        few = _spread(found["few"]) if "few" in found else None
        yield Look(model, energy, _spread(found["all"]), few)


def _spread(shares: list[float]) -> tuple[float, float]:
    values = [100 * share for share in shares]
    return statistics.fmean(values), std(values)


DEPTH = Study("2 to 64 layers", GRAPHS, _rows, pans=lambda results: Looking(results=results))
