"""panconv fit."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import panconv
from panconv.base.heads import HEADS
from panconv.base.words import decimals
from panconv.cli import checks, given, known_ids, screen
from panconv.cli.options import GRAPH_NAMES, Columns, Label, Nodes, completing, json_of
from panconv.cli.run_file import NAME, Run, check_tables, read_run, text_of

if TYPE_CHECKING:
    from panconv.data import Graph

FILES = ("model.safetensors", "model.json", "README.md", NAME, known_ids.FILE, "predicted.csv", "report.html")


def fit(
    graph: Annotated[
        str | None,
        typer.Argument(
            metavar="[GRAPH|EDGES]",
            help="cora, citeseer, pubmed, or a table of edges.",
            autocompletion=GRAPH_NAMES,
        ),
    ] = None,
    nodes: Nodes = None,
    label: Label = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The folder of the model.")] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time limit, such as 90s or 5m; may be exceeded slightly.")
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="|".join(HEADS), help="The kind of model.", autocompletion=completing(HEADS))
    ] = None,
    regression: Annotated[bool | None, typer.Option("--regression", help="The labels are numbers to predict.")] = None,
    columns: Columns = None,
    directed: Annotated[bool | None, typer.Option("--directed", help="Edges of a table lead one way.")] = None,
    strict: Annotated[bool | None, typer.Option("--strict", help="Stop at what a table has wrong.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything that is drawn at random.")] = None,
    device: Annotated[
        str | None, typer.Option(metavar="auto|cpu|cuda", help="Where to train the deep head; by default auto.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A run.toml to repeat; command-line options take precedence.")
    ] = None,
    json_file: Annotated[Path | None, json_of("the figures")] = None,
) -> None:
    """Learn from the nodes whose label is known, predict all others, and say how certain each prediction is.

    Labels stand in a column of the table of nodes, whose cells are empty where the label is not known. The folder has
    the model, README.md about it, predicted.csv with every node, report.html to look at, and run.toml, which repeats
    the run. It appears whole or not at all.

    Example: panconv fit edges.csv nodes.csv --label topic --out model/
    """
    run = Run() if config is None else read_run(config)
    if graph is not None:  # other tables than those of the file
        run = replace(run, edges=graph, nodes=None if nodes is None else str(nodes), sha256={})
    elif nodes is not None:
        raise ValueError(f"a table of nodes, {str(nodes)!r}, goes with a table of edges: name both")
    run = run.but(**given.columns_of(columns, label), budget=budget, head=head, regression=regression)
    run = run.but(directed=directed, strict=strict, seed=seed, device=device)
    _check(run)
    out = _folder(out, config)
    check_tables(run, out)
    checks.outputs(None, out / FILES[0])
    checks.outputs(None, json_file, model=out)
    place = checks.device(run.device or "auto")
    read = _read(run)
    with screen.Steps() as bar:
        bar.show("learning", _seconds(run))
        estimator = _learned(run, read, place)
        bar.show("looking at what was learned")
        found = _written(estimator, read, run, out)
    _show(estimator, found, out)
    content = {"panconv": panconv.__version__, "model": str(out), "run": asdict(run), **_plain(estimator, found)}
    screen.write_json(json_file, content, "figures")


def _check(run: Run) -> None:
    """Refuses what cannot be done, names first, since for these no torch is imported."""
    if run.edges is None:
        raise ValueError("there is nothing to learn from: name a graph, such as edges.csv nodes.csv, or --config")
    given.check_named(run.edges, None if run.nodes is None else Path(run.nodes), run.columns)
    if not given.is_table(run.edges):
        if run.columns or run.directed or run.regression:
            raise ValueError(f"--columns, --label, --directed and --regression go with tables, not with {run.edges!r}")
    elif run.nodes is None and not run.edges.endswith(".graphml"):
        raise ValueError(f"the labels are in a table of nodes, and {run.edges} is one of edges: add it, NODES")
    checks.one_of(run.head, HEADS, "--head")
    if run.seed is not None:
        checks.count(run.seed, "--seed", 0, 2**31 - 1)
    _seconds(run)


def _seconds(run: Run) -> float | None:
    """The time limit, where there is one."""
    if run.budget is None:
        return None
    from panconv.base.times import checked_seconds

    return checked_seconds(run.budget, "--budget")


def _folder(out: Path | None, config: Path | None) -> Path:
    """Where the model goes: without --out, a model is made anew in the folder of its run.toml."""
    if out is None:
        home = config if config is None or config.is_dir() else config.parent
        if home is None or not (home / "model.json").is_file():
            raise ValueError("--out is missing: name a folder for the model, such as --out model/")
        out = home
    if out.is_dir() and any(out.iterdir()):
        if not (out / "model.json").is_file():
            raise ValueError(f"--out {out} is a folder that holds something else than a model: name another one")
        from panconv.estimator.folder.files import check_former

        check_former(out)
    return out


def _read(run: Run) -> Graph:
    """The graph, with labels."""
    assert run.edges is not None
    for path in run.changed():
        warnings.warn(f"{path} is not what it was when {NAME} was written", stacklevel=2)
    nodes = None if run.nodes is None else Path(run.nodes)
    how = {"directed": bool(run.directed), "strict": bool(run.strict), "regression": bool(run.regression)}
    graph = given.whole(run.edges, nodes, run.columns, **how)
    if graph.labels is None and graph.label:
        kind = "number" if run.regression else "label"
        raise ValueError(f"the column {graph.label!r} has no {kind}, of any node: fill in those that are known")
    if graph.labels is None:
        names = ", ".join(list(graph.columns)[:8]) or "none"
        raise ValueError(f"there is no column of labels: name it with --label; there are {names}")
    return graph


def _learned(run: Run, graph: Graph, device: str) -> Any:
    """The fitted estimator."""
    from panconv.estimator import PANClassifier, PANRegressor

    kind = PANRegressor if run.regression else PANClassifier
    return kind(run.head or "auto", budget=_seconds(run), device=device, random_state=run.seed or 0).fit(graph)


def _written(estimator: Any, graph: Graph, run: Run, out: Path) -> Any:
    """The figures, after all files of the folder have been written."""
    from panconv.data.csv_writing import write_csv
    from panconv.estimator.answer_table import answers, header
    from panconv.estimator.card import card, facts
    from panconv.estimator.pages.report_page import report_page
    from panconv.estimator.saving import save
    from panconv.estimator.worth import worth
    from panconv.estimator.worth_of_numbers import worth_of_numbers

    found: Any = worth_of_numbers(estimator) if run.regression else worth(estimator)
    run = run.but(label=graph.label or None if run.tables else None, head=run.head or "auto", seed=run.seed or 0)
    told = facts(estimator, graph, " and ".join(path.name for path in run.tables.values()) or str(run.edges))
    for path in run.tables.values():  # whoever is given the model need not know where the tables were
        told = [(name, value.replace(str(path), path.name)) for name, value in told]
    with tempfile.TemporaryDirectory() as place:
        write_csv(Path(place) / "predicted.csv", header(estimator), answers(estimator, graph, estimator._known))
        report_page(estimator, graph, found, Path(place) / "report.html", facts=told)
        extra: dict[str, str | bytes] = {path.name: path.read_bytes() for path in Path(place).iterdir()}
    named: dict[str, Any] = {name: column for name, column in run.columns.items() if name != "label"}
    named |= {"directed": True} if run.directed else {}
    extra |= {"README.md": card(estimator, graph, found, told, named), NAME: text_of(run, out)}
    extra[known_ids.FILE] = known_ids.text_of(graph.ids[estimator._known].astype(str).tolist())
    save(estimator, out, extra)
    return found


def _show(estimator: Any, found: Any, out: Path) -> None:
    """What was learned, on the screen."""
    from panconv.estimator.worth_of_numbers import NumbersWorth

    losses = ", ".join(f"{name} {value:.3f}" for name, value in estimator.scores_.items())
    screen.out.print(f"head: {estimator.choice_} (loss out of fold: {losses})")
    if found is None:
        screen.out.print("Nothing was held out, so nothing can be said of how good it is: there are too few labels.")
    elif isinstance(found, NumbersWorth):
        rows = screen.table(("out of fold", "R²", "95 % interval", "absolute error"))
        for name, one in found.fits.items():
            low, high = decimals(one.r2.low, 2), decimals(one.r2.high, 2)
            interval = f"{low} to {high}" if low != high else low
            rows.add_row(name, decimals(one.r2.value, 3), interval, f"{one.mae.value:.4g}")
        screen.out.print(rows)
        screen.out.print(found.verdict)
    else:
        rows = screen.table(("out of fold", "accuracy", "95 % interval"))
        for name, one in found.accuracy.items():
            rows.add_row(name, f"{100 * one.value:.1f} %", f"{100 * one.low:.1f} to {100 * one.high:.1f}")
        screen.out.print(rows)
        screen.out.print(found.verdict)
        T, off = f"{estimator.temperature_:.2f}", f"{100 * found.calibration_error:.1f} points"
        screen.out.print(
            f"calibrated by one temperature, {T}; predicted probabilities then differ from observed frequencies by "
            f"{off} on average"
        )
    screen.say("written", out, f" ({', '.join(FILES)})")


def _plain(estimator: Any, found: Any) -> dict[str, Any]:
    """The figures, for machines."""
    from panconv.estimator import PANClassifier

    content = {"head": estimator.head_, "losses": estimator.scores_, "labels": int(estimator._known.sum())}
    if isinstance(estimator, PANClassifier):
        content |= {"classes": [str(each) for each in estimator.classes_], "temperature": estimator.temperature_}
    return content | {"figures": None if found is None else _named(asdict(found))}


def _named(value: Any) -> Any:
    """Named tuples as objects with names."""
    if hasattr(value, "_asdict"):
        return _named(value._asdict())
    if isinstance(value, dict):
        return {name: _named(each) for name, each in value.items()}
    return [_named(each) for each in value] if isinstance(value, (list, tuple)) else value
