"""Folders of records, a line of JSON each: what every kind of record shares. Never imports torch.

A file appears whole: it is written under another name and renamed. So a process that is killed loses what was under way
and nothing else, and any number of processes may write to one folder.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from panconv.files import replacing


def checked_folder(folder: str | Path) -> Path:
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"the results folder {path} is a file: name a folder")
    return path


def read_lines(folder: Path) -> Iterator[tuple[Any, str]]:
    """The content of each line, and where it stands; one that is cut short is reported and skipped."""
    for path in sorted(folder.glob("[!.]*.jsonl")):  # a dot: what a killed process left half written
        for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else (), 1):
            try:
                content = json.loads(line.decode("utf-8"))
            except ValueError:  # not JSON, or not even text
                warnings.warn(f"{path}, line {number}, is cut short or damaged: skipped", stacklevel=3)
                continue
            yield content, f"{path}, line {number}"


def checked_fields(content: Any, where: str, schema: str, kind: type) -> dict[str, Any]:
    """The fields of a record of that kind, which are all there and no others."""
    said = content.get("schema") if isinstance(content, dict) else None
    if said != schema:
        raise ValueError(f"{where} is of another schema ({said!r}, not {schema!r}): name another results folder")
    values = {key: value for key, value in content.items() if key != "schema"}
    if odd := sorted(values.keys() ^ {field.name for field in fields(kind)}):
        raise ValueError(f"{where} has missing or unknown fields ({', '.join(odd)}): name another results folder")
    return values


def write_lines(path: Path, schema: str, records: Sequence[dict[str, Any]]) -> None:
    """A file of records, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text("".join(json.dumps({"schema": schema, **record}) + "\n" for record in records))
