"""What the commands share: the console, the progress bar, and the checks of options. Imports no torch by itself."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from panconv.base.files import check_writable, replacing
from panconv.paper.zoo.registry import METHODS
from panconv.records.jsonl import strict
from panconv.records.record import PAN, Results, Task

if TYPE_CHECKING:
    from typing_extensions import Self

    from panconv.training.fit import Progress as Epoch
    from panconv.training.runner import Step

PLOTS = (".png", ".svg", ".pdf")
_LONGEST_NAME = 200  # bytes of a file's name: a system takes 255, and while it is written it has a longer one
LONGEST = 10_000  # path length
_MOST = 1_000_000  # of whatever is counted on the command line


def console(stderr: bool = False) -> Console:
    """A console that prints text as it is: a user's names may look like [markup] or :emoji:."""
    return Console(stderr=stderr, markup=False, emoji=False)


def words() -> TextColumn:
    """What a bar says: the description of its task, as it is."""
    return TextColumn("{task.description:<8}", markup=False)


def bold(text: str, rest: str = "") -> Text:
    return Text.assemble((text, "bold"), rest)


def dim(text: str, rest: str = "") -> Text:
    return Text.assemble((text, "dim"), rest)


def one_line(text: str) -> str:
    """A text on one line, without characters that a terminal would obey."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in " ".join(text.split()))


out = console()


class _Live:
    """A bar that appears with the first news, and is gone at the end of its `with`."""

    def __init__(self, *columns: ProgressColumn) -> None:
        self._bar = Progress(SpinnerColumn(), *columns, TimeElapsedColumn(), console=console(stderr=True))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


class Bar(_Live):
    """A bar per training: epochs, validation loss, trials still running."""

    def __init__(self) -> None:
        state = "epochs · val. loss {task.fields[loss]} · {task.fields[running]} running ·"
        super().__init__(words(), BarColumn(bar_width=16), MofNCompleteColumn(), TextColumn(state))
        self._tasks: dict[str, TaskID] = {}

    def show(self, title: str, p: Epoch) -> None:
        self._bar.start()
        if title not in self._tasks:
            self._tasks[title] = self._bar.add_task(title, total=p.epochs, loss="-", running=p.trials)
        self._bar.update(self._tasks[title], completed=p.epoch, loss=f"{p.best_val_loss:.3f}", running=p.running)


class Batches(_Live):
    """A bar over all trainings of a command: what is under way, how many are left, the time to go."""

    def __init__(self, total: int) -> None:
        super().__init__(BarColumn(bar_width=20), words())
        self._task = self._bar.add_task("", total=total)
        self._total, self._done, self._current = total, 0, 0

    def show(self, step: Step) -> None:
        if not step.done:  # another batch begins
            self._done, self._current = self._done + self._current, len(step.tasks)
            return
        self._bar.start()
        now = self._done + self._current * step.done
        count = f"{self._current} trial{'s' * (self._current > 1)}"
        text = f"{_trained(step.tasks[0])}, {count}; {self._total - int(now)} left"
        elapsed = self._bar.tasks[0].elapsed or 0.0
        if now > 0.02 * self._total:
            text += f", {elapsed * (self._total / now - 1):.0f} s to go"
        self._bar.update(self._task, completed=now, description=text)


def _trained(task: Task) -> str:
    """What is trained, in words."""
    if task.model == PAN:
        return f"{title(task.dataset)}, method {(task.operator or {})['method']}"
    on_m = "" if task.operator is None else " on M" if task.tested else ", choosing M"
    return f"{title(task.dataset)}, {METHODS[task.model].title}{on_m}"


def open_results(folder: Path) -> Results:
    """A folder of records that can be written to, and read: before anything is trained."""
    store = Results(folder)
    store.check_writable()
    store.read()
    return store


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
            if len(os.fsencode(path.name)) > _LONGEST_NAME:
                raise ValueError(f"cannot write {path}: its name is longer than {_LONGEST_NAME} bytes; name it shorter")
            check_writable(path)


def write_json(path: Path | None, content: object, what: str) -> None:
    """Writes a file for machines, where one was asked for; a number that is not finite is null."""
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(strict(content), indent=2, allow_nan=False) + "\n")
        say(what, path)


def say(what: str, path: Path, more: str = "") -> None:
    """Tells where something was written."""
    out.print(f"{what}: {one_line(str(path))}{more}")


def canonical(name: str) -> str:
    """A built-in graph's name as it is known, a folder as it is."""
    from panconv.data import DATASETS

    if name.lower() in DATASETS:
        return name.lower()
    try:
        path = Path(name).expanduser()  # a record must not depend on where the command was typed
    except RuntimeError as error:
        raise ValueError(f"{name!r} cannot be found: {error} Write the folder out") from None
    return str(path.resolve()) if path.exists() or (path.parent.is_dir() and "/" in name) else name


def title(name: str) -> str:
    """A graph's name, as it is printed."""
    from panconv.data import DATASETS

    return DATASETS[name].title if name in DATASETS else one_line(Path(name).name)


def drawn(name: str) -> str:
    """A graph's name as a plot takes it, where $ would begin a formula."""
    return title(name).replace("$", r"\$")


def check_count(value: int, option: str, least: int = 1, most: int = _MOST) -> None:
    """Refuses a count that is too small to do anything, or so large that it would never end."""
    if value < least:
        raise ValueError(f"{option} must be at least {least}, got {value}")
    if value > most:
        raise ValueError(f"{option} must be at most {most:,}, got {value}")


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
