"""panconv search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panconv.cli import checks, screen
from panconv.cli.options import RESULTS, Device, Graph, Out, json_of
from panconv.paper.zoo.registry import METHODS, checked
from panconv.records.record import PAN

if TYPE_CHECKING:
    from panconv.records.ranking import Point
    from panconv.training.search import Found, Searcher
    from panconv.training.spaces import Space

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def search(
    graph: Graph,
    model: Annotated[str, typer.Option(help="pan, or a baseline: panconv zoo lists them.")] = PAN,
    space: Annotated[
        str | None, typer.Option(metavar="NAME", help="PAN's space: random-propagation, paper, deep, heterophilous.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="As many settings as fit, such as in 90s, 10m, 1h.")
    ] = None,
    tried: Annotated[
        int | None, typer.Option("--settings", metavar="N", help="Settings to try: 32, or as many as fit.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each setting.")] = 2,
    finalists: Annotated[int, typer.Option(help="How many of the best are trained again.")] = 10,
    reruns: Annotated[int, typer.Option(help="Trainings of each finalist, with other seeds.")] = 10,
    trials: Annotated[int, typer.Option(help="Trainings of the choice, with fresh seeds, which are tested.")] = 10,
    seed: Annotated[int, typer.Option(help="What is drawn, and all trainings, follow from it.")] = 0,
    metric: Annotated[
        str | None,
        typer.Option(metavar="accuracy|auc", help="What is measured; left out, what suits the graph."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="At most so many epochs, in place of the space's.")] = None,
    device: Device = "cpu",
    results: Out = RESULTS,
    json_file: Annotated[Path | None, json_of("the finalists, the choice and its test")] = None,
) -> None:
    """Search the settings of a model on a graph: many side by side, the best again, then fresh seeds for the choice.

    Validation alone decides, and the test nodes are looked at once, in the last trainings. Half of a --budget is for
    trying settings. The same command again goes on where it stopped.

    Example: panconv search cora --budget 10m --device cuda
    """
    from panconv.data.heterophilous import METRIC_OF
    from panconv.training.search import search as searched

    checks.work(trials, device, None, json_file)
    for option, count in (("--seeds", seeds), ("--finalists", finalists), ("--reruns", reruns)):
        checks.count(count, option)
    if tried is not None:
        checks.count(tried, "--settings", most=10_000)
    seconds = None if budget is None else _seconds(budget)
    name = checks.readable([graph])[0]
    known, trainer, drawn = _trained(model, space, name, metric=metric or METRIC_OF.get(name), epochs=epochs)
    store, _ = checks.open_results(results)
    planned = (tried or (8 if budget else 32)) * seeds + finalists * reruns + trials
    counts = {"seeds": seeds, "finalists": finalists, "reruns": reruns, "fresh": trials}
    how: dict[str, Any] = {"settings": tried, **counts, "budget": seconds, "seed": seed}
    how |= {"results": store, "device": device, "command": checks.command_line(), "trainer": trainer}
    with screen.Batches(planned) as bar:
        found = searched(name, drawn, known, callback=bar.show, **how)
    _show(found, f"{screen.title(name)}, {_title(known)}")
    screen.say("records", store.folder)
    screen.write_json(json_file, _plain(found), "search")


def _seconds(text: str) -> float:
    """A time such as 90s, 10m or 1h."""
    read = re.fullmatch(r"(\d{1,7}(?:\.\d{1,3})?)([smh])", text.strip())
    if read is None or not float(read[1]):
        raise ValueError(f"--budget must be a time above 0, such as 90s, 10m or 1h, got {text!r:.60}")
    return float(read[1]) * _UNITS[read[2]]


def _trained(model: str, space: str | None, dataset: str, **given: Any) -> tuple[str, Searcher, Space]:
    """The model's name as records have it, how it is trained, and what its settings may be."""
    from panconv.paper.zoo.runner import Baselines
    from panconv.paper.zoo.spaces import space as space_of
    from panconv.training.pans import Pans
    from panconv.training.spaces import SPACES, checked_space

    changes = {name: value for name, value in given.items() if value is not None}
    if model.strip().lower() == PAN:
        found = checked_space("random-propagation" if space is None else space, SPACES)
        return PAN, Pans(), found.with_values(**changes)
    if space is not None:
        raise ValueError(f"--space goes with --model pan, which has several; {checked(model)} has one")
    return checked(model), Baselines(), space_of(model, dataset).with_values(**changes)


def _title(model: str) -> str:
    return "PAN" if model == PAN else METHODS[model].title


def _show(found: Found, heading: str) -> None:
    """The finalists, the choice among them, and what it is worth."""
    points = found.ranking
    differing = [name for name in _flat(points[0]) if len({str(_flat(point).get(name)) for point in points}) > 1]
    rows = screen.table(("val. (%)", "trials", "settings"), texts=("settings",))
    for point in points:
        rows.add_row(_validation(point), f"{point.trials}", _words(point, differing))
    screen.out.print(screen.bold(heading, ": the best by validation, and where they differ"), rows)
    screen.out.print(screen.bold("Choice: ", _words(found.choice, _flat(found.choice))))
    if found.fresh:
        figures = [100 * (record.test_accuracy or 0.0) for record in found.fresh]
        mean = f"{sum(figures) / len(figures):.1f}{screen.spread(figures)}"
        trained = f" on {len(figures)} fresh seed{'s' * (len(figures) > 1)}"
        screen.out.print(screen.bold(f"Test: {mean} %", trained))


def _validation(point: Point) -> str:
    return f"{100 * point.val_accuracy:.2f}" + (f" ± {100 * point.std:.2f}" if point.trials > 1 else "")


def _flat(point: Point) -> dict[str, Any]:
    """Operator and settings in one, the weights in words."""
    from panconv.base.words import in_words

    flat = {**point.operator, **point.settings}
    return {**flat, "weights": in_words(flat["weights"])} if "weights" in flat else flat


def _words(point: Point, names: Sequence[str] | dict[str, Any]) -> str:
    flat = _flat(point)
    shown = {name: flat[name] for name in names if name in flat}
    words = (f"{name} {f'{value:g}' if isinstance(value, float) else value}" for name, value in shown.items())
    return screen.one_line(", ".join(words))


def _plain(found: Found) -> dict[str, Any]:
    """For machines."""
    return {
        "choice": vars(found.choice),
        "finalists": [vars(point) for point in found.ranking],
        "test_accuracy": {record.seed: record.test_accuracy for record in found.fresh},
        "trainings": len(found.records),
        "seconds": round(sum(record.seconds for record in found.records), 3),
    }
