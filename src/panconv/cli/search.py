"""panconv search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panconv.base.near import meant
from panconv.cli import checks, given, screen
from panconv.cli.options import GRAPH_NAMES, RESULTS, SPACES, Device, Out, json_of
from panconv.paper.zoo.registry import METHODS, checked
from panconv.records.record import PAN

if TYPE_CHECKING:
    from panconv.records.ranking import Point
    from panconv.training.search import Found, Searcher
    from panconv.training.space import Space

_ON_A_CPU = "10m"  # where nothing is said: some settings are made for a GPU, and would take hours


def search(
    graph: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH",
            help="cora, citeseer, pubmed, a heterophilous graph, or a folder.",
            autocompletion=GRAPH_NAMES,
        ),
    ],
    model: Annotated[str, typer.Option(help="pan, or a baseline: panconv zoo lists them.")] = PAN,
    space: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What PAN's settings may be: random-propagation, warm, deep or heterophilous; left out, what suits "
            "the graph.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="About so long, half of it for trying settings: 90s, 10m, 1h. Default on a CPU: 10m, unless "
            "--settings is given.",
        ),
    ] = None,
    tried: Annotated[
        int | None,
        typer.Option("--settings", metavar="N", help="How many settings to draw; on a GPU 32, or as a budget allows."),
    ] = None,
    near: Annotated[int, typer.Option(metavar="N", help="Try so many more, near the best of these.")] = 0,
    seeds: Annotated[int, typer.Option(help="Trainings of each setting that is tried.")] = 2,
    finalists: Annotated[int, typer.Option(help="How many of the best are trained again.")] = 10,
    reruns: Annotated[int, typer.Option(help="Trainings of each finalist, with other seeds.")] = 10,
    trials: Annotated[int, typer.Option(help="Trainings of the choice, with fresh seeds: they alone are tested.")] = 10,
    seed: Annotated[int, typer.Option(help="The settings that are drawn and all trainings follow from it.")] = 0,
    metric: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="accuracy, auc or macro_f1; left out, what suits the graph."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="At most so many epochs, in place of the space's.")] = None,
    device: Device = "auto",
    results: Out = RESULTS,
    json_file: Annotated[Path | None, json_of("the finalists, the choice and its test")] = None,
) -> None:
    """Search the settings of a model on a graph: many side by side, the best again, then fresh seeds for the choice.

    Validation alone decides; the test nodes are looked at once, at the end.
    The same command again goes on where it stopped.

    Example: panconv search cora --budget 10m --device cuda
    """
    checks.one_of(space, SPACES, "--space")
    _known(model)
    given.check(graph)

    from panconv.base.times import checked_seconds
    from panconv.training.search import search as searched

    device = checks.work(trials, device, None, json_file)
    for option, count in (("--seeds", seeds), ("--finalists", finalists), ("--reruns", reruns)):
        checks.count(count, option)
    if tried is not None:
        checks.count(tried, "--settings", most=10_000)
    checks.count(near, "--near", 0, 10_000)
    if near and budget is not None:
        raise ValueError(f"--near goes with --settings, not with --budget, got --near {near}")
    if budget is None and tried is None and not near and device == "cpu":
        budget = _ON_A_CPU
    seconds = None if budget is None else checked_seconds(budget, "--budget")
    if epochs is not None:
        checks.count(epochs, "--epochs")
    benchmark = _benchmark(graph)
    name = checks.readable([graph.lower() if graph.lower() == benchmark else graph])[0]
    known, trainer, drawn = _trained(model, space, benchmark, metric=_metric(metric, benchmark), epochs=epochs)
    store, _ = checks.open_results(results)
    first = tried or (8 if budget else 32)
    planned = (first + near) * seeds + min(finalists, first) * reruns + trials
    counts = {"seeds": seeds, "finalists": finalists, "reruns": reruns, "fresh": trials}
    how: dict[str, Any] = {"settings": tried, "near": near, **counts, "budget": seconds, "seed": seed}
    how |= {"results": store, "device": device, "command": checks.command_line(), "trainer": trainer}
    with screen.Batches(planned, seconds) as bar:
        found = searched(name, drawn, known, callback=bar.show, **how)
    _show(found, f"{screen.title(name)}, {_title(known)}")
    _say_time(found, seconds)
    screen.say("records", store.folder)
    screen.write_json(json_file, _plain(found, space=_space(space, benchmark) if known == PAN else None), "search")


def _benchmark(graph: str) -> str:
    """The name by which a benchmark knows a graph, in large letters or small, or given as its file; any other graph is
    called as it is."""
    from panconv.data import DATASETS
    from panconv.data.heterophilous import METRIC_OF

    stem = Path(graph).stem.lower()
    if graph.endswith(".npz") and stem in METRIC_OF:
        return stem
    return graph.lower() if graph.lower() in (*DATASETS, *METRIC_OF) else graph


def _metric(given: str | None, dataset: str) -> str | None:
    """What is measured: as asked, or as the graph's benchmark has it."""
    from panconv.data.heterophilous import METRIC_OF
    from panconv.training.metrics import CLASSES, metrics_of

    able = metrics_of(CLASSES)
    if given is not None and given not in able:
        raise ValueError(f"--metric must be one of {', '.join(able)}, got {given!r:.60}{meant(given, able)}")
    return METRIC_OF.get(dataset) if given is None else given


def _space(given: str | None, dataset: str) -> str:
    """The name of PAN's space: as asked, or the one made for such graphs."""
    from panconv.data.heterophilous import METRIC_OF
    from panconv.training.spaces import SPACES

    if given is not None and given not in SPACES:
        raise ValueError(f"--space must be one of {', '.join(SPACES)}, got {given!r:.60}{meant(given, SPACES)}")
    return given or ("heterophilous" if dataset in METRIC_OF else "random-propagation")


def _trained(model: str, space: str | None, dataset: str, **given: Any) -> tuple[str, Searcher, Space]:
    """The model's name as records have it, how it is trained, and what its settings may be."""
    from panconv.paper.zoo.runner import Baselines
    from panconv.paper.zoo.spaces import space as space_of
    from panconv.training.pans import Pans
    from panconv.training.spaces import SPACES

    changes = {name: value for name, value in given.items() if value is not None}
    name = _known(model)
    if name == PAN:
        return PAN, Pans(), SPACES[_space(space, dataset)].with_values(**changes)
    if space is not None:
        raise ValueError(f"--space goes with --model pan, which has several; {name} has one")
    return name, Baselines(), space_of(model, dataset).with_values(**changes)


def _known(model: str) -> str:
    """The model's name as records have it."""
    try:
        return PAN if model.strip().lower() == PAN else checked(model)
    except ValueError as error:
        raise ValueError(f"--model must be {PAN} or a baseline: {error}") from None


def _title(model: str) -> str:
    return "PAN" if model == PAN else METHODS[model].title


def _show(found: Found, heading: str) -> None:
    """The finalists, the choice among them, and what it is worth."""
    points, measured = found.ranking, _measured(found)
    flat = [point.flat() for point in points]
    differing = [name for name in flat[0] if len({str(each.get(name)) for each in flat}) > 1]
    rows = screen.table((f"validation {measured} (%)", "reruns", "settings"), texts=("settings",))
    for point in points:
        words = screen.one_line(point.words(differing)) or "one finalist alone"
        rows.add_row(_validation(point), f"{point.trials}", words)
    count = _tried(found)
    best = f"the best of {count} settings, trained again, and where they differ" if count > 1 else "one was tried"
    screen.out.print(screen.bold(heading, f": {best}"), rows)
    said = [name for name, value in flat[0].items() if value is not None and value is not False and value != ""]
    screen.out.print(screen.bold("Choice: ", screen.one_line(found.choice.words(said))))
    if found.fresh:
        figures = [100 * (record.test_accuracy or 0.0) for record in found.fresh]
        mean = f"{sum(figures) / len(figures):.1f}{screen.spread(figures)}"
        trained = f" on {len(figures)} fresh seed{'s' * (len(figures) > 1)}"
        screen.out.print(screen.bold(f"Test {measured} of the choice: {mean} %", trained))


def _say_time(found: Found, budget: float | None) -> None:
    """Where a budget was too short for the least that a search does."""
    took = sum(record.seconds for record in found.records)
    if budget is not None and took > 1.2 * budget:
        alone = ", and one setting alone is no choice" if _tried(found) == 1 else ""
        screen.out.print(f"The trainings took {took:.0f} s of a budget of {budget:.0f} s{alone}: give it more time.")


def _measured(found: Found) -> str:
    """What the figures are, in words."""
    metric = found.choice.settings.get("metric", "accuracy")
    return {"auc": "AUC", "macro_f1": "macro-F1"}.get(metric, metric)


def _tried(found: Found) -> int:
    """How many settings the first stage tried."""
    from panconv.training.search import AGAIN, TRYING

    end = found.records[0].seed - TRYING + AGAIN  # where the seeds of the next stage begin
    return len({record.alike() for record in found.records if record.seed < end})


def _validation(point: Point) -> str:
    return f"{100 * point.val_accuracy:.2f}" + (f" ± {100 * point.std:.2f}" if point.trials > 1 else "")


def _plain(found: Found, **asked: Any) -> dict[str, Any]:
    """For machines."""
    one = found.records[0]
    figures = {record.seed: record.test_accuracy for record in found.fresh}
    return {
        **{"graph": one.dataset, "model": one.model, **asked, "split": one.split},
        "metric": found.choice.settings.get("metric", "accuracy"),
        "tried": _tried(found),
        "choice": vars(found.choice),
        "finalists": [vars(point) for point in found.ranking],
        "test_accuracy": figures,
        "trainings": len(found.records),
        "seconds": round(sum(record.seconds for record in found.records), 3),
    }
