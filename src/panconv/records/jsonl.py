"""Folders of lines of JSON: how they are read and written. Never imports torch.

A file appears whole: it is written under another name and renamed. So a process that is killed loses what was under way
and nothing else, and any number of processes may write to one folder. What is written was read first, by the same
checks that will read it again: nothing gets into a folder that would lock it.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from panconv.base.files import replacing

_LONGEST = 2**26  # bytes of a line


def strict(value: Any) -> Any:
    """A value as strict JSON has it, which knows no NaN and no infinity: they become null."""
    if isinstance(value, dict):
        return {key: strict(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(each) for each in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


# ---------------------------------------------------------------------- reading


def parsed_json(text: bytes) -> Any:
    """The content of a text; NaN and infinities, which older versions wrote though JSON has none, are null."""
    try:
        return json.loads(text.decode("utf-8"), parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("lists within lists, too deep to read") from None


def read_lines(folder: Path) -> Iterator[tuple[Any, str]]:
    """The content of each line, and where it stands; one that is no JSON, or endless, is reported and skipped."""
    for path in sorted(folder.glob("[!.]*.jsonl")):  # a dot: what a killed process left half written
        if not path.is_file():
            continue
        with path.open("rb") as file:
            for number, line in enumerate(_lines(file), 1):
                where = f"{path}, line {number}"
                try:
                    content = parsed_json(line)
                except ValueError:  # not JSON, or not even text
                    warnings.warn(f"{where}, is cut short or damaged: skipped", stacklevel=3)
                else:
                    yield content, where


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; one that is too long to be a record is yielded empty, and never held whole."""
    while line := file.readline(_LONGEST + 1):
        if len(line) <= _LONGEST:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST)
        yield b""


# ---------------------------------------------------------------------- writing


def line_of(schema: str, record: Mapping[str, Any], read: Callable[[Any, str], object]) -> str:
    """The line of a record, which `read` has read: what it would refuse is refused here, before it is written."""
    try:
        line = json.dumps({"schema": schema, **record}, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a record cannot be written, it is no JSON: {error}") from None
    if len(line) >= _LONGEST:
        raise ValueError(f"a record of {len(line):,} characters cannot be written: {_LONGEST:,} is the most")
    read(parsed_json(line.encode()), "a record cannot be written")
    return line + "\n"


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """A file of records, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")


def file_name(names: Iterable[str], keys: Iterable[str]) -> str:
    """The name of a file: what it is about, in a few plain letters, and what decides the outcome."""
    plain = (re.sub(r"[^\w.+=-]", "_", Path(name).name.lstrip("."), flags=re.ASCII)[:60] for name in names)
    return f"{'-'.join(plain)}-{hashlib.sha256(''.join(keys).encode()).hexdigest()[:12]}.jsonl"
