"""What was typed, read and checked before anything is computed. Imports no torch by itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from panconv.base.files import check_writable, expanded
from panconv.base.near import meant
from panconv.records.record import Record, Results

DEVICES = ("auto", "cpu", "cuda")
PLOTS = (".png", ".svg", ".pdf")
_LONGEST = 10_000  # path length
_MOST = 1_000_000  # of whatever is counted on the command line


def command_line() -> str:
    """The command as it was typed."""
    return shlex.join(["panconv", *sys.argv[1:]])


def count(value: int, option: str, least: int = 1, most: int = _MOST) -> None:
    """Refuses a count that is too small to do anything, or so large that it would never end."""
    if value < least:
        raise ValueError(f"{option} must be at least {least}, got {value}")
    if value > most:
        raise ValueError(f"{option} must be at most {most:,}, got {value}")


def one_of(value: str | None, known: Sequence[str], option: str) -> None:
    """Refuses a name that is none of those known."""
    if value is not None and value not in known:
        raise ValueError(f"{option} must be one of {', '.join(known)}, got {value!r:.60}{meant(value, known)}")


def temperatures(text: str, cold: str) -> list[float]:
    """Those of --temperatures, each at least 0, which is `cold` in words."""
    found = numbers(text, "--temperatures")
    if not all(T >= 0 for T in found):
        raise ValueError(f"--temperatures must be 0 ({cold}), positive, or inf (all alike), got {text!r}")
    return found


def length(L: int) -> None:
    """Refuses paths that are too long to wait for."""
    count(L, "--L", 0, _LONGEST)


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


def canonical(name: str) -> str:
    """A built-in graph's name as it is known, a folder as it is."""
    from panconv.data import DATASETS

    if name.lower() in DATASETS:
        return name.lower()
    path = expanded(name)  # a record must not depend on where the command was typed
    return str(path.resolve()) if path.exists() or (path.parent.is_dir() and "/" in name) else name


def readable(graphs: Sequence[str]) -> list[str]:
    """The canonical names of graphs, each read once: before any training a wrong name costs nothing."""
    from panconv.data import load

    names = list(dict.fromkeys(map(canonical, graphs)))
    for name in names:
        load(name, sparse=True)
    return names


def device(name: str) -> str:
    """The device to compute on, by the name that records have; refuses one that is not here."""
    if name.partition(":")[0] not in DEVICES:
        raise ValueError(f"--device must be one of {', '.join(DEVICES)}, got {name!r:.60}")
    import torch

    from panconv.base.checks import checked_device

    try:
        if name == "auto":
            return str(checked_device(name))
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"--device {name} cannot be used here ({reason}): try --device cpu") from None
    return name


def outputs(plot: Path | None = None, *others: Path | None, model: Path | None = None) -> None:
    """Refuses what cannot be written, before anything is computed, and what would get into a model folder.

    A folder that holds anything beside its model is never replaced by another fit, so nothing is added to it.
    """
    if plot is not None and plot.suffix not in PLOTS:
        raise ValueError(f"--plot must end in {', '.join(PLOTS)}, got {str(plot)!r}")
    for path in (plot, *others):
        if path is not None:
            if model is not None and model.resolve() in (path.parent.resolve() / path.name).parents:
                raise ValueError(f"{path} would be in the model folder {model}: name a file outside of it")
            check_writable(path)


def work(trials: int, on: str, *files: Path | None) -> str:
    """The device, after a look at what most commands are given: the number of trainings, and files as in `outputs`."""
    count(trials, "--trials")
    found = device(on)
    outputs(*files)
    return found


def open_results(folder: Path) -> tuple[Results, list[Record]]:
    """A folder of records that can be written to, and what is in it: both looked at before anything is trained."""
    store = Results(folder)
    store.check_writable()
    return store, store.read()


def names(text: str) -> list[str]:
    """Names with commas between them, each once."""
    return list(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
