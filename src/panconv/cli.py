"""panconv … on the command line."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from torch_geometric.data import Data

from panconv.data import DATASETS, load
from panconv.experiments.curves import learning_curves
from panconv.experiments.paper import reported
from panconv.experiments.settings import Settings, settings
from panconv.graph import Adjacency
from panconv.met import METHODS, checked_method
from panconv.models import PAN
from panconv.saving import check_writable, replacing
from panconv.train import FitResult, fit
from panconv.train import Progress as Epoch
from panconv.validation import checked_length

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Path-integral graph convolution: a node averages over every path that reaches it, weighted by its length.",
)
out = Console()
# The parser's own complaints. Typer may carry its parser inside or import click: either way this name reaches it.
_UsageError: Any = typer.BadParameter.__bases__[0]
PLOTS = (".png", ".svg", ".pdf")
KINDS = ("free", "fixed", "boltzmann", "power-law")


def main() -> None:
    """The program: a user's mistake is one line on standard error and exit code 2."""
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except typer.Abort:
        sys.exit(130)
    except _UsageError as error:
        _refuse(error.format_message(), error)
    except (ValueError, TypeError, OSError) as error:
        _refuse(str(error), error)


def _refuse(message: str, error: Exception) -> None:
    if os.environ.get("PANCONV_DEBUG"):
        raise error
    if message:  # without one, the help was asked for and shown
        print(f"panconv: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2 if message else 0)


def _version(asked: bool) -> None:
    if asked:
        print(version("panconv"))
        raise typer.Exit()


@app.callback()
def _program(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None: ...


@app.command()
def data(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the graphs that are built in, with their figures."""
    if as_json:
        print(json.dumps({name: asdict(card) for name, card in DATASETS.items()}, indent=2))
        return
    table = Table(box=box.SIMPLE_HEAD, title="Built-in graphs", title_justify="left")
    for column in ("name", "nodes", "edges", "features", "classes", "train / val / test"):
        table.add_column(column, justify="left" if column == "name" else "right")
    for name, card in DATASETS.items():
        figures = [f"{n:,}" for n in (card.nodes, card.edges, card.features, card.classes)]
        table.add_row(name, *figures, " / ".join(f"{n:,}" for n in card.split))
    out.print(table)


@app.command(no_args_is_help=True)
def train(
    graphs: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH...", help=f"{', '.join(DATASETS)}, or a folder of Planetoid files (FOLDER/NAME if several)."
        ),
    ],
    method: Annotated[int, typer.Option(help="The paper's method, 1 to 7.")] = 5,
    weights: Annotated[
        str | None, typer.Option(metavar="|".join(KINDS), help="The path weights; left out, the method's own kind.")
    ] = None,
    k: Annotated[str | None, typer.Option(metavar="K0,K1,...", help="Fixed path weights, L+1 numbers.")] = None,
    L: Annotated[int | None, typer.Option("--L", help="The longest path; 2, or as many as --k has.")] = None,
    trials: Annotated[int, typer.Option(help="Trainings side by side, each with a seed of its own.")] = 10,
    seed: Annotated[int, typer.Option(help="The first trial's seed; the next ones count up.")] = 0,
    epochs: Annotated[int | None, typer.Option(help="At most so many epochs.")] = None,
    patience: Annotated[int | None, typer.Option(help="Epochs without a lower validation loss.")] = None,
    hidden: Annotated[int | None, typer.Option(help="Width of the hidden layer.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Dropout on the input and the hidden layer.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam.")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Weight decay of the first layer's matrix.")] = None,
    device: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to train.")] = "cpu",
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="Save the model of the lowest val. loss.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the learning curves (png, svg, pdf).")] = None,
) -> None:
    """Train PAN on a graph, or several, and set the accuracy beside the paper's.

    Settings left out are the paper's for that graph and method. The accuracy is that of the test nodes at the epoch of
    the lowest validation loss.

    Example: panconv train cora --method 5 --k 0,1,1
    """
    checked_method(method)
    kind, fixed = _weights(method, weights, k)
    L = checked_length((len(fixed) - 1 if fixed else 2) if L is None else L)
    if trials < 1:
        raise ValueError(f"--trials must be at least 1, got {trials}")
    _check_device(device)
    if plot is not None and plot.suffix not in PLOTS:
        raise ValueError(f"--plot must end in {', '.join(PLOTS)}, got {str(plot)!r}")
    if json_file is not None and save is not None and json_file in (save, *save.parents):
        raise ValueError(f"--json and --save cannot share {json_file}: one is a file, the other a folder")
    for path in (json_file, plot, save / "model.safetensors" if save else None):
        if path is not None:
            check_writable(path)
    given: dict[str, Any] = {"epochs": epochs, "patience": patience, "hidden": hidden, "dropout": dropout, "lr": lr}
    given |= {"weight_decay": weight_decay}
    names = [name.lower() if name.lower() in DATASETS else name for name in graphs]
    loaded = {name: load(name, sparse=True) for name in names}  # before any training: a wrong name costs nothing
    chosen = {
        name: replace(settings(name, method), **{key: value for key, value in given.items() if value is not None})
        for name in loaded
    }
    results = _train_all(loaded, chosen, method, fixed or kind, L, trials, seed, device)
    records = {
        name: _record(name, loaded[name], chosen[name], result, method, kind, fixed, L)
        for name, result in results.items()
    }
    _show(records)
    if json_file is not None:
        _write_json(json_file, list(records.values()))
    if plot is not None:
        learning_curves({_title(name): result.history for name, result in results.items()}, plot)
        out.print(f"learning curves: {plot}")
    if save is not None:
        for name, result in results.items():
            folder = save if len(results) == 1 else save / Path(name).name
            result.best().save(folder)
            out.print(f"model: {folder}")


def _weights(method: int, weights: str | None, k: str | None) -> tuple[str, list[float] | None]:
    """The kind of weights, and the numbers of fixed ones."""
    kind = weights or ("fixed" if k else METHODS[method].weights)
    if kind not in KINDS:
        raise ValueError(f"--weights must be one of {', '.join(KINDS)}, got {kind!r}")
    if (kind == "fixed") != (k is not None):
        raise ValueError("--weights fixed goes with --k K0,K1,…, the weight of each path length, such as --k 0,1,1")
    if k is None:
        return kind, None
    try:
        return kind, [float(number) for number in k.split(",")]
    except ValueError:
        raise ValueError(f"--k must be numbers with commas between them, such as 0,1,1, got {k!r}") from None


def _check_device(device: str) -> None:
    try:
        if torch.device(device).type not in ("cpu", "cuda"):
            raise RuntimeError("only cpu and cuda are known")
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"--device {device} cannot be used here ({reason}): try --device cpu") from None


def _train_all(
    loaded: dict[str, Data],
    chosen: dict[str, Settings],
    method: int,
    weights: object,
    L: int,
    trials: int,
    seed: int,
    device: str,
) -> dict[str, FitResult]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<8}"),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("epochs · val. loss {task.fields[loss]} · {task.fields[running]} running ·"),
        TimeElapsedColumn(),
    )
    results = {}
    bar = Progress(*columns, console=Console(stderr=True))

    def show(task: TaskID, p: Epoch) -> None:
        bar.start()  # not before the first epoch: a refusal is one line and no bar
        bar.update(task, completed=p.epoch, loss=f"{p.best_val_loss:.3f}", running=p.running)

    try:
        for name, graph in loaded.items():
            how = chosen[name]
            task = bar.add_task(_title(name), total=how.epochs, loss="-", running=trials)
            model = PAN(
                graph.x.size(1),
                how.hidden,
                int(graph.y.max()) + 1,
                how.layers,
                L=L,
                method=method,
                weights=weights,
                dropout=how.dropout,
                trials=trials,
            )
            results[name] = fit(
                model,
                graph,
                seeds=range(seed, seed + trials),
                lr=how.lr,
                weight_decay=how.weight_decay,
                epochs=how.epochs,
                patience=how.patience,
                device=device,
                callback=partial(show, task),
            )
    finally:
        if bar.live.is_started:
            bar.stop()
    return results


def _record(
    name: str,
    graph: Data,
    how: Settings,
    result: FitResult,
    method: int,
    kind: str,
    fixed: list[float] | None,
    L: int,
) -> dict[str, Any]:
    accuracy = 100 * torch.tensor(result.test_accuracy, dtype=torch.float64)
    adj = Adjacency.of(graph.edge_index, num_nodes=graph.num_nodes)
    with torch.no_grad():  # the mean over nodes and trials of k(n; i), eq. 2
        layers = result.model.cpu().layers()
        learned = [conv.met(adj).path_weights.flatten(1).mean(1).tolist() for conv in layers]
    return {
        "dataset": name,
        "method": method,
        "weights": kind,
        "k": fixed,
        "L": L,
        "settings": asdict(how),
        "seeds": result.seeds,
        "test_accuracy": accuracy.tolist(),
        "mean": float(accuracy.mean()),
        "std": float(accuracy.std()) if len(accuracy) > 1 else None,
        "paper": reported(name, method, kind, fixed, L),
        "val_accuracy": [100 * a for a in result.val_accuracy],
        "best_epoch": result.best_epoch,
        "stopped_epoch": result.stopped_epoch,
        "path_weights": learned,
        "seconds": result.seconds,
    }


def _show(records: dict[str, dict[str, Any]]) -> None:
    one = next(iter(records.values()))
    trials = len(one["seeds"])
    title = f"PAN, method {one['method']}, {one['weights']} weights, L = {one['L']}: {trials} trial{'s' * (trials > 1)}"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", caption_justify="left")
    table.add_column("graph", no_wrap=True)
    for column in ("test (%)", "paper", "diff.", "val. (%)", "k(n) by layer", "time"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, r in records.items():
        spread = "" if r["std"] is None else f" ± {r['std']:.1f}"
        paper = "-" if r["paper"] is None else f"{r['paper']:.1f}"
        difference = "-" if r["paper"] is None else f"{r['mean'] - r['paper']:+.1f}"
        validation = sum(r["val_accuracy"]) / trials
        shown = 4 if r["L"] < 4 else 3
        k = "\n".join(" ".join(f"{w:.2f}" for w in ws[:shown]) + " …" * (r["L"] >= 4) for ws in r["path_weights"])
        table.add_row(
            _title(name),
            f"[bold]{r['mean']:.1f}[/bold]{spread}",
            paper,
            difference,
            f"{validation:.1f}",
            k,
            f"{r['seconds']:.0f} s",
        )
    out.print(table)


def _write_json(path: Path, records: list[dict[str, Any]]) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps({"panconv": version("panconv"), "runs": records}, indent=2) + "\n")
    out.print(f"results: {path}")


def _title(name: str) -> str:
    return DATASETS[name].title if name in DATASETS else Path(name).name


if __name__ == "__main__":
    main()
