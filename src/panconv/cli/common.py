"""What the commands share: the console, the progress bar, and the checks of options. Imports no torch by itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from panconv.search import Step
    from panconv.train import Progress as Epoch

out = Console()
PLOTS = (".png", ".svg", ".pdf")
NAMES = "cora, citeseer, pubmed"


class Bar:
    """A bar a training: epochs, validation loss, trials still running. It appears with the first epoch, not before."""

    def __init__(self) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<8}"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TextColumn("epochs · val. loss {task.fields[loss]} · {task.fields[running]} running ·"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._tasks: dict[str, object] = {}

    def show(self, title: str, p: Epoch) -> None:
        self._bar.start()
        if title not in self._tasks:
            self._tasks[title] = self._bar.add_task(title, total=p.epochs, loss="-", running=p.trials)
        state = {"completed": p.epoch, "loss": f"{p.best_val_loss:.3f}", "running": p.running}
        self._bar.update(self._tasks[title], **state)  # type: ignore[arg-type]

    def stop(self) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


class Batches:
    """A bar over many batches: which one is under way, how many are left, the time to go."""

    def __init__(self) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=20),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task: object = None

    def show(self, step: Step) -> None:
        if step.progress is None and self._task is None:
            return  # not before the first epoch: a refusal is one line and no bar
        self._bar.start()
        if self._task is None:
            self._task = self._bar.add_task("", total=1)
        job, p = step.jobs[0], step.progress
        part = 0.0 if p is None else p.epoch / p.epochs
        words = f"{job.dataset}, method {job.method}: {len(step.jobs)} trainings, {step.batches - step.batch} left"
        elapsed = self._bar.tasks[0].elapsed or 0.0
        done = (step.batch + part) / step.batches
        if done > 0.02:
            words += f", {elapsed / done - elapsed:.0f} s to go"
        self._bar.update(self._task, completed=done, description=words)  # type: ignore[arg-type]

    def restart(self) -> None:
        """Another list of batches begins."""
        if self._task is not None:
            self._bar.reset(self._task)  # type: ignore[arg-type]

    def stop(self) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


@contextmanager
def stopping(bar: Bar | Batches) -> Iterator[None]:
    try:
        yield
    finally:
        bar.stop()


def command_line() -> str:
    """The command as it was typed."""
    return shlex.join(["panconv", *sys.argv[1:]])


def check_device(device: str) -> None:
    import torch

    try:
        if torch.device(device).type not in ("cpu", "cuda"):
            raise RuntimeError("only cpu and cuda are known")
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"--device {device} cannot be used here ({reason}): try --device cpu") from None


def check_plot(plot: Path | None) -> None:
    if plot is not None and plot.suffix not in PLOTS:
        raise ValueError(f"--plot must end in {', '.join(PLOTS)}, got {str(plot)!r}")


def canonical(name: str) -> str:
    """A built-in graph's name as it is known, a folder as it is."""
    from panconv.data import DATASETS

    return name.lower() if name.lower() in DATASETS else name


def title(name: str) -> str:
    from panconv.data import DATASETS

    return DATASETS[name].title if name in DATASETS else Path(name).name


def numbers(text: str, option: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers with commas between them, such as 0,1,1, got {text!r}") from None
