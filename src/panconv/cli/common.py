"""What the commands share: the console, the progress bar, and the checks of options. Imports no torch by itself."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from panconv.files import check_writable, replacing
from panconv.zoo.registry import METHODS

if TYPE_CHECKING:
    from panconv.search import Step
    from panconv.train import Progress as Epoch
    from panconv.zoo.runner import Step as ZooStep

out = Console()
PLOTS = (".png", ".svg", ".pdf")


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
    """A bar over all trainings of a command: what is under way, how many are left, the time to go."""

    def __init__(self, total: int) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=20),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("", total=total)
        self._total, self._done, self._current = total, 0, 0

    def show(self, step: Step) -> None:
        """A batch of PANs."""
        job = step.jobs[0]
        done = None if step.progress is None else step.progress.epoch / step.progress.epochs
        self._show(f"{title(job.dataset)}, method {job.method}", len(step.jobs), done)

    def show_zoo(self, step: ZooStep) -> None:
        """A batch of baselines."""
        task = step.tasks[0]
        on_m = "" if task.operator is None else ", choosing M" if not task.tested else " on M"
        self._show(f"{title(task.dataset)}, {_titled(task.method)}{on_m}", len(step.tasks), step.done or None)

    def _show(self, what: str, count: int, done: float | None) -> None:
        if done is None:  # another batch begins; the bar itself not before the first news of it
            self._done, self._current = self._done + self._current, count
            return
        self._bar.start()
        now = self._done + self._current * done
        words = f"{what}, {self._current} trial{'s' * (self._current > 1)}; {self._total - int(now)} left"
        elapsed = self._bar.tasks[0].elapsed or 0.0
        if now > 0.02 * self._total:
            words += f", {elapsed * (self._total / now - 1):.0f} s to go"
        self._bar.update(self._task, completed=now, description=words)

    def stop(self) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


def _titled(method: str) -> str:
    return METHODS[method].title if method in METHODS else method.upper()


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


def check_outputs(plot: Path | None, *others: Path | None) -> None:
    """Refuses what cannot be written, before anything is computed."""
    if plot is not None and plot.suffix not in PLOTS:
        raise ValueError(f"--plot must end in {', '.join(PLOTS)}, got {str(plot)!r}")
    for path in (plot, *others):
        if path is not None:
            check_writable(path)


def write_json(path: Path | None, content: object, what: str) -> None:
    """Writes a file for machines, where one was asked for."""
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(content, indent=2) + "\n")
        out.print(f"{what}: {path}")


def canonical(name: str) -> str:
    """A built-in graph's name as it is known, a folder as it is."""
    from panconv.data import DATASETS

    if name.lower() in DATASETS:
        return name.lower()
    path = Path(name).expanduser()  # a record must not depend on where the command was typed
    return str(path.resolve()) if path.exists() or (path.parent.is_dir() and "/" in name) else name


def title(name: str) -> str:
    from panconv.data import DATASETS

    return DATASETS[name].title if name in DATASETS else Path(name).name


def numbers(text: str, option: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers with commas between them, such as 0,1,1, got {text!r}") from None


def whole_numbers(text: str, option: str) -> list[int]:
    """Whole numbers with commas between them."""
    values = numbers(text, option)
    if any(value != value // 1 for value in values):
        raise ValueError(f"{option} must be whole numbers with commas between them, such as 1,2, got {text!r}")
    return [int(value) for value in values]
