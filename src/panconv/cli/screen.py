"""What the commands show and write: the console, tables, progress bars, files. Imports no torch by itself."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich import box, progress
from rich.console import Console
from rich.table import Table
from rich.text import Text

from panconv.base.files import replacing
from panconv.base.words import signed
from panconv.cli import voice
from panconv.paper.zoo.registry import METHODS
from panconv.records.jsonl import strict
from panconv.records.record import PAN, Task
from panconv.whole_graphs.menu import entry_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from panconv.training.fit import Progress as Epoch
    from panconv.training.runner import Step


T = TypeVar("T")


def console(stderr: bool = False) -> Console:
    """A console that prints text as it is: a user's names may look like [markup] or :emoji:.

    That of stderr shows how far a command is, which --quiet leaves out.
    """
    return Console(stderr=stderr, markup=False, emoji=False, quiet=stderr and voice.is_quiet())


out = console()


def words() -> progress.TextColumn:
    """What a bar says: the description of its task, as it is."""
    return progress.TextColumn("{task.description:<8}", markup=False)


def bold(text: str, rest: str = "") -> Text:
    return Text.assemble((text, "bold"), rest)


def dim(text: str, rest: str = "") -> Text:
    return Text.assemble((text, "dim"), rest)


def one_line(text: str) -> str:
    """A text on one line, without characters that a terminal would obey."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """A text with its spaces, without characters that a terminal would obey."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def title(name: str) -> str:
    """A graph's name, as it is printed."""
    from panconv.data import DATASETS

    return DATASETS[name].title if name in DATASETS else one_line(Path(name).name)


def drawn(text: str) -> str:
    """A text as a plot takes it, where $ would begin a formula."""
    return text.replace("$", r"\$")


def table(columns: Sequence[str], heading: str | None = None, texts: Sequence[str] = ()) -> Table:
    """An empty table: the first column says what a row is and stands left, as do texts, which wrap; figures right."""
    made = Table(box=box.SIMPLE_HEAD, title=heading, title_justify="left", padding=(0, 1, 0, 0))
    for place, column in enumerate(columns):
        left = not place or column in texts
        made.add_column(column, justify="left" if left else "right", no_wrap=column not in texts)
    return made


def spread(values: Sequence[float]) -> str:
    """The standard deviation behind a mean; nothing where there is one value."""
    return f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""


def beside(values: Sequence[float], paper: float | None) -> tuple[Text, str, str]:
    """What was trained beside the paper: the mean with its spread, the paper's figure, the difference."""
    mean = statistics.fmean(values)
    ours = bold(f"{mean:.1f}", spread(values))
    return (ours, "-", "-") if paper is None else (ours, f"{paper:.1f}", signed(mean - paper))


def say(what: str, path: Path, more: str = "") -> None:
    """Tells where something was written, unless --quiet leaves that out."""
    if not voice.is_quiet():
        out.print(f"{what}: {one_line(str(path))}{more}")


def remark(text: str) -> None:
    """Tells what was guessed, for instance. With --verbose the library's log has it already, with --quiet nothing."""
    if not (voice.is_quiet() or voice.is_verbose()):
        out.print(dim(one_line(text)))


def draw(path: Path | None, what: str, picture: Callable[[T, str, Path], None], content: T, heading: str) -> None:
    """Draws a picture, where one was asked for."""
    if path is not None:
        picture(content, drawn(heading), path)
        say(what, path)


def write_json(path: Path | None, content: object, what: str) -> None:
    """Writes a file for machines, where one was asked for; a number that is not finite is null."""
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(strict(content), indent=2, allow_nan=False) + "\n")
        say(what, path)


def write_table(path: Path | None, header: Sequence[str], rows: Iterable[Sequence[Any]], what: str) -> None:
    """Writes a CSV file, where one was asked for."""
    if path is not None:
        from panconv.data.csv_writing import write_csv

        write_csv(path, header, rows)
        say(what, path)


class _Live:
    """A bar that appears with the first news, and is gone at the end of its `with`."""

    def __init__(self, *columns: progress.ProgressColumn, transient: bool = False) -> None:
        around = (progress.SpinnerColumn(), *columns, progress.TimeElapsedColumn())
        self._bar = progress.Progress(*around, console=console(stderr=True), transient=transient)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


class Bar(_Live):
    """A bar per training: epochs, validation loss, trials still running."""

    def __init__(self) -> None:
        state = "epochs · val. loss {task.fields[loss]} · {task.fields[state]} ·"
        super().__init__(
            words(), progress.BarColumn(bar_width=16), progress.MofNCompleteColumn(), progress.TextColumn(state)
        )
        self._tasks: dict[str, progress.TaskID] = {}

    def show(self, title: str, done: float, p: Epoch | None = None) -> None:
        if p is None:
            return
        self._bar.start()
        if title not in self._tasks:
            self._tasks[title] = self._bar.add_task(title, total=p.epochs, loss="-", state="")
        ended = not p.running or p.epoch == p.epochs
        state = f"{p.running} running"
        if ended:  # of the epochs that there were, all are done
            state = "done" if p.epoch == p.epochs else f"done, stopped early (of at most {p.epochs})"
        total = p.epoch if ended else p.epochs
        loss = f"{p.best_val_loss:.3f}"
        self._bar.update(self._tasks[title], completed=p.epoch, total=total, loss=loss, state=state)


class _ByTheClock(progress.BarColumn):
    """A bar that goes with the time, where it is known how long something may take, and else only moves."""

    def render(self, task: progress.Task) -> Any:
        if task.total is not None:
            task.completed = min(task.elapsed or 0.0, task.total)
        return super().render(task)


class Steps(_Live):
    """What is being done, one step after another; gone when all are done."""

    def __init__(self) -> None:
        super().__init__(words(), _ByTheClock(bar_width=24), transient=True)
        self._step: progress.TaskID | None = None

    def show(self, what: str, seconds: float | None = None) -> None:
        """The next step, and how long it may take."""
        if self._step is not None:
            self._bar.remove_task(self._step)
        self._bar.start()
        self._step = self._bar.add_task(what, total=seconds)


class Batches(_Live):
    """A bar over all trainings of a command: what is under way, how many are left, the time to go."""

    def __init__(self, total: int, seconds: float | None = None) -> None:
        """Of so many trainings, or of as many as there will be within a time."""
        super().__init__(progress.BarColumn(bar_width=20), words())
        self._task = self._bar.add_task("", total=total if seconds is None else seconds)
        self._total, self._done, self._current, self._seconds = total, 0, 0, seconds

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        """Trainings that stop early leave a batch before its end: what is over is shown as done."""
        if kind is None:
            count, whole = self._done + self._current, self._bar.tasks[0].total
            words = f"{count} training{'s' * (count != 1)} done"
            self._bar.update(self._task, completed=whole, description=words)
        super().__exit__(kind)

    def show(self, step: Step) -> None:
        if not step.done:  # another batch begins
            self._done, self._current = self._done + self._current, len(step.tasks)
            self._total = max(self._total, self._done + self._current)
            if self._seconds is None:
                self._bar.update(self._task, total=self._total)
            return
        self._bar.start()
        now = self._done + self._current * step.done
        text = f"{_trained(step.tasks[0])}, {self._current} trial{'s' * (self._current > 1)}"
        elapsed = self._bar.tasks[0].elapsed or 0.0
        if self._seconds is not None:
            text += f"; {elapsed:.0f} s of {self._seconds:.0f} s"
            self._bar.update(self._task, completed=min(elapsed, self._seconds), description=text)
            return
        text += f"; {self._total - int(now)} left"
        if now > 0.02 * self._total:
            text += f", {elapsed * (self._total / now - 1):.0f} s to go"
        self._bar.update(self._task, completed=now, description=text)


def _trained(task: Task) -> str:
    """What is trained, in words."""
    if task.model == PAN:
        return f"{title(task.dataset)}, method {(task.operator or {})['method']}"
    if (entry := entry_of(task.model)) is not None:
        return f"{title(task.dataset)}, {entry.title}, {'testing' if task.tested else 'choosing'}"
    on_m = "" if task.operator is None else " on M" if task.tested else ", choosing M"
    return f"{title(task.dataset)}, {METHODS[task.model].title}{on_m}"
