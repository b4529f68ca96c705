"""Names that are misspelt: what was probably meant. Imports no torch, so that it can be said at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most like it, capitals aside; None where none is."""
    plain = {each.lower(): each for each in names}
    near = difflib.get_close_matches(name.lower(), plain, 1, 0.6)
    return plain[near[0]] if near else None


def meant(given: object, names: Iterable[str]) -> str:
    """What to add to a message that lists some names: the one that was probably meant; nothing where none is near.

    >>> meant("linaer", ("linear", "pan", "auto"))
    ": did you mean 'linear'?"
    """
    near = nearest(given, names) if isinstance(given, str) else None
    return "" if near is None else f": did you mean {near!r}?"


def a_folder(path: Path, what: str, suffixes: Sequence[str]) -> ValueError:
    """The error where a folder is given for a file; `what` names the argument."""
    try:
        inside = sorted(each.name for each in path.iterdir() if each.suffix.lower() in suffixes)
    except OSError:
        inside = []
    which = f" in it, such as {str(path / inside[0])!r}" if inside else f" ({', '.join(suffixes)})"
    return ValueError(f"{what} {str(path)!r} is a folder: name a file{which}")


def missing_file(path: Path, what: str) -> ValueError:
    """The error where a file is not there; `what` names the argument."""
    hint = f"look into {path.parent.resolve()}"
    try:
        if (near := nearest(path.name, [each.name for each in path.parent.iterdir()])) is not None:
            hint = f"did you mean {str(path.with_name(near))!r}?"
    except OSError:
        hint = f"the folder {path.parent} cannot be read"
    return ValueError(f"{what} {str(path)!r} is not there: {hint}")
