"""panconv train."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import panconv
from panconv.cli import checks, given, screen
from panconv.cli.options import (
    GRAPH_NAMES,
    Columns,
    Device,
    Directed,
    Epochs,
    Label,
    Method,
    Seed,
    Strict,
    json_of,
    plot_of,
)

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from panconv.records.record import Record

KINDS = ("free", "fixed", "boltzmann", "power-law")


def train(
    graphs: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH...|EDGES NODES",
            help="cora, citeseer, pubmed, or a folder of Planetoid files (FOLDER/NAME if several); or tables.",
            autocompletion=GRAPH_NAMES,
        ),
    ],
    method: Method = 5,
    weights: Annotated[
        str | None, typer.Option(metavar="|".join(KINDS), help="The path weights; left out, the method's own kind.")
    ] = None,
    k: Annotated[str | None, typer.Option(metavar="K0,K1,...", help="Fixed path weights, L+1 numbers.")] = None,
    L: Annotated[int | None, typer.Option("--L", help="The longest path; 2, or as many as --k has.")] = None,
    trials: Annotated[int, typer.Option(help="Trainings side by side, each with a seed of its own.")] = 10,
    seed: Seed = 0,
    epochs: Epochs = None,
    patience: Annotated[int | None, typer.Option(help="Epochs without a lower validation loss.")] = None,
    hidden: Annotated[int | None, typer.Option(help="Width of the hidden layer.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Dropout on the input and the hidden layer.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam.")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Weight decay of the first layer's matrix.")] = None,
    device: Device = "auto",
    columns: Columns = None,
    label: Label = None,
    directed: Directed = False,
    strict: Strict = False,
    json_file: Annotated[Path | None, json_of("the results")] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="DIR|FILE", help="Save the model of the lowest val. loss: a folder, or x.safetensors."),
    ] = None,
    plot: Annotated[Path | None, plot_of("the learning curves")] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Add the record of each training to a folder, for the report.")
    ] = None,
) -> None:
    """Train PAN on a graph, or several, and set the accuracy beside the paper's.

    Settings left out are the paper's for that graph, with two exceptions: the weight decay of methods 1, 2, 7, 10
    and 11, and the energies that method 7 starts from, are ours. On a graph of your own they are GCN's. The accuracy
    is that of the test nodes at the epoch of the lowest validation loss. Of tables, the nodes with a label are split:
    three fifths to train on, a fifth each to choose by and to test on.

    Example: panconv train cora --method 5 --k 0,1,1
    """
    checks.one_of(weights, KINDS, "--weights")
    tables = given.own_nodes(graphs, columns, label)

    from panconv.met.methods import checked_method
    from panconv.paper.settings import settings, start
    from panconv.records.record import pan_task
    from panconv.training.pans import train_batch

    checked_method(method)
    kind, fixed = _weights(method, weights, k)
    L = (len(fixed) - 1 if fixed else 2) if L is None else L
    checks.length(L)
    names = list(dict.fromkeys(map(checks.canonical, graphs[:1] if tables else graphs)))
    models = _model_files(save, names, json_file) if save or plot else {}
    device = checks.work(trials, device, plot, json_file, *models.values())
    store = None if results is None else checks.open_results(results)[0]
    own = _read(names, tables, columns, label, directed, strict, seed, results)
    chosen = {"epochs": epochs, "patience": patience, "hidden": hidden, "dropout": dropout, "lr": lr}
    spec: Any = fixed or (start(method, L) if weights is None else kind)
    failures: list[str] = []
    done = {}
    with screen.Bar() as bar:
        for name in names:
            how = settings(name, method).plain(**chosen, weight_decay=weight_decay)
            tasks = [pan_task(name, method, spec, L, how, seed + t) for t in range(trials)]
            tell = partial(bar.show, screen.title(name))
            done[name] = train_batch(tasks, device=device, command=checks.command_line(), tell=tell, data=own)
            if store is not None:
                with _noting(failures):
                    store.add(done[name][0])
    records = [_record(runs, kind, fixed) for runs, _ in done.values()]
    _show(records)
    if store is not None and not failures:
        screen.say("records", store.folder)
    _write_outputs(done, records, json_file, plot, models, failures)
    if failures:
        raise ValueError("; ".join(failures))


def _read(
    names: list[str],
    tables: tuple[str, Path | None] | None,
    columns: str | None,
    label: str | None,
    directed: bool,
    strict: bool,
    seed: int,
    results: Path | None,
) -> Data | None:
    """The graph of two tables, ready to train on; None where names of graphs were typed, which are looked at."""
    if tables is None:
        if columns or label or directed:
            raise ValueError("--columns, --label and --directed go with tables: train edges.csv nodes.csv")
        checks.readable(names)
        return None
    if tables[1] is None and not tables[0].endswith(".graphml"):
        raise ValueError(f"the labels are in a table of nodes, and {tables[0]} is one of edges: add it, NODES")
    if results is not None:
        raise ValueError("--results goes with a graph that has a name, and a record cannot find tables again")
    from panconv.data.trainable import trainable

    graph = given.opened(*tables, columns, label, directed, strict).graph
    return None if graph is None else trainable(graph, seed)


def _write_outputs(
    done: dict[str, Any],
    records: list[dict[str, Any]],
    json_file: Path | None,
    plot: Path | None,
    models: dict[str, Path],
    failures: list[str],
) -> None:
    """Writes each output that was asked for, even if others cannot be written."""
    from panconv.paper.figures.curves import learning_curves

    with _noting(failures):
        screen.write_json(json_file, {"panconv": panconv.__version__, "runs": records}, "results")
    if plot is not None:
        with _noting(failures):
            learning_curves({screen.drawn(screen.title(name)): runs for name, (runs, _) in done.items()}, plot)
            screen.say("learning curves", plot)
    for name, file in models.items():
        with _noting(failures):
            done[name][1].best().save(file)
            screen.say("model", file)


@contextmanager
def _noting(failures: list[str]) -> Iterator[None]:
    """Notes an output that cannot be written, and goes on."""
    try:
        yield
    except (OSError, ValueError) as error:
        failures.append(str(error))


def _model_files(save: Path | None, names: list[str], json_file: Path | None) -> dict[str, Path]:
    """Where the model of each graph goes; refuses two files in one place."""
    from panconv.training.saving import file_of

    if len({Path(name).name for name in names}) < len(names):
        raise ValueError("--save and --plot go by the names of the graphs, and two are alike: train them one by one")
    if save is None:
        return {}
    if len(names) == 1:
        files = {names[0]: file_of(save)}
    elif file_of(save) == save:
        raise ValueError(f"--save must be a folder where there are several graphs, got {save}")
    else:
        files = {name: file_of(save / Path(name).name) for name in names}
    below = () if json_file is None else json_file.parents
    if any(json_file in (file, *file.parents) or file in below for file in files.values()):
        raise ValueError(f"--json and --save cannot share {json_file}: one is a file, the other a folder")
    return files


def _weights(method: int, weights: str | None, k: str | None) -> tuple[str, list[float] | None]:
    """The kind of weights, and the numbers of fixed ones."""
    from panconv.met.methods import METHODS

    kind = weights or ("fixed" if k else METHODS[method].weights)
    if (kind == "fixed") != (k is not None):
        raise ValueError("--weights fixed goes with --k K0,K1,…, the weight of each path length, such as --k 0,1,1")
    return kind, None if k is None else checks.numbers(k, "--k")


def _record(runs: list[Record], kind: str, fixed: list[float] | None) -> dict[str, Any]:
    """The trials of one graph, as JSON for machines."""
    from panconv.paper.published import reported
    from panconv.paper.report.summary import cell

    one, met = runs[0], runs[0].operator or {}
    summed = cell(runs, reported(one.dataset, met["method"], kind, fixed, met["L"]))
    return {
        "dataset": one.dataset,
        "method": met["method"],
        "weights": kind,
        "k": fixed,
        "L": met["L"],
        "settings": one.settings,
        "seeds": [run.seed for run in runs],
        "test_accuracy": [100 * (run.test_accuracy or 0.0) for run in runs],
        "mean": summed.mean,
        "std": summed.std if len(runs) > 1 else None,
        "paper": summed.paper,
        "val_accuracy": [100 * run.val_accuracy if run.best_epoch else None for run in runs],
        "best_epoch": [run.best_epoch for run in runs],
        "stopped_epoch": [len(run.loss_curve) for run in runs],
        "path_weights": summed.path_weights,
        "seconds": summed.seconds,
    }


def _show(records: list[dict[str, Any]]) -> None:
    one = records[0]
    trials = len(one["seeds"])
    name = f"PAN, method {one['method']}, {one['weights']} weights, L = {one['L']}: {trials} trial{'s' * (trials > 1)}"
    rows = screen.table(("graph", "test (%)", "paper", "diff.", "val. (%)", "k(n) by layer", "time"), name)
    for r in records:
        known = [accuracy for accuracy in r["val_accuracy"] if accuracy is not None]
        validation = f"{sum(known) / len(known):.1f}"  # one is known: else there was no model
        shown = 4 if r["L"] < 4 else 3
        k = "\n".join(" ".join(f"{w:.2f}" for w in ws[:shown]) + " …" * (r["L"] >= 4) for ws in r["path_weights"])
        ours = screen.beside(r["test_accuracy"], r["paper"])
        rows.add_row(screen.title(r["dataset"]), *ours, validation, k, f"{r['seconds']:.0f} s")
    screen.out.print(rows)
