"""Folders of records, a line of JSON each: what every kind of record shares. Never imports torch.

A file appears whole: it is written under another name and renamed. So a process that is killed loses what was under way
and nothing else, and any number of processes may write to one folder. What is written was read first, by the same
checks that will read it again: nothing gets into a folder that would lock it.
"""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from panconv.base.files import replacing

LARGEST = 1e100  # of a number: means and deviations of such numbers cannot overflow
_LONGEST = 2**26  # bytes of a line
DEEPEST = 8  # lists and objects within one another
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 60

Upgrades = Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]  # from an older schema to one that is less old


class Rule(NamedTuple):
    """What a field may hold, as a test and in words."""

    holds: Callable[[Any], bool]
    words: str


# ---------------------------------------------------------------------- what a field may hold


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST  # NaN is not


def is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


def is_plain(value: Any, depth: int = DEEPEST) -> bool:
    """Whether a value is text, a number, true, false, null, or lists and objects of such, not too deep."""
    if isinstance(value, (list, tuple)):
        return depth > 0 and all(is_plain(each, depth - 1) for each in value)
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(key, str) and is_plain(each, depth - 1) for key, each in value.items())
    return value is None or isinstance(value, (str, bool)) or is_number(value)


def is_object(value: Any) -> bool:
    return isinstance(value, dict) and is_plain(value)


def list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def or_null(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


TEXT = Rule(lambda value: isinstance(value, str), "text")
FLAG = Rule(lambda value: isinstance(value, bool), "true or false")
NATURAL = Rule(is_whole, "a whole number of at least 0")
COUNT = Rule(lambda value: is_whole(value, 1), "a whole number of at least 1")
SHARE = Rule(is_share, "a number between 0 and 1")
SECONDS = Rule(lambda value: is_number(value) and value >= 0, f"a number between 0 and {LARGEST:g}")
PLAIN = Rule(is_plain, f"text, finite numbers, lists or objects of them, at most {DEEPEST} deep")
OBJECT = Rule(is_object, "an object of text, numbers and lists")
WORDS = Rule(lambda value: is_object(value) and all(isinstance(w, str) for w in value.values()), "an object of texts")


def check(values: Mapping[str, Any], rules: Mapping[str, Rule], where: str) -> None:
    """Refuses values that break a rule, in words that say where they stand."""
    for name, rule in rules.items():
        if not rule.holds(values[name]):
            raise ValueError(f"{where}: {name} must be {rule.words}, got {_SHOWN.repr(values[name])}")


def number_or_null(value: float | None) -> float | None:
    """A number as a record holds it: null for one that is not finite, or too large."""
    return value if is_number(value) else None


def strict(value: Any) -> Any:
    """A value as strict JSON has it, which knows no NaN and no infinity: they become null."""
    if isinstance(value, dict):
        return {key: strict(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(each) for each in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


# ---------------------------------------------------------------------- reading


def checked_folder(folder: str | Path) -> Path:
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"the results folder {path} is a file: name a folder")
    return path


def parsed_json(text: bytes) -> Any:
    """The content of a text; NaN and infinities, which older versions wrote though JSON has none, are null."""
    try:
        return json.loads(text.decode("utf-8"), parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("lists within lists, too deep to read") from None


def read_lines(folder: Path) -> Iterator[tuple[Any, str]]:
    """The content of each line, and where it stands; one that is no JSON, or endless, is reported and skipped."""
    for path in sorted(folder.glob("[!.]*.jsonl")):  # a dot: what a killed process left half written
        if path.is_file():
            yield from _content(path)


def _content(path: Path) -> Iterator[tuple[Any, str]]:
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            try:
                content = parsed_json(line)
            except ValueError:  # not JSON, or not even text
                warnings.warn(f"{path}, line {number}, is cut short or damaged: skipped", stacklevel=4)
                continue
            yield content, f"{path}, line {number}"


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; one that is too long to be a record is yielded empty, and never held whole."""
    while line := file.readline(_LONGEST + 1):
        if len(line) <= _LONGEST:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST)
        yield b""


def checked_fields(content: Any, where: str, schema: str, kind: type, upgrades: Upgrades) -> dict[str, Any]:
    """The fields of a record of that kind, which are all there and no others, upgraded from older schemas."""
    said = content.get("schema") if isinstance(content, dict) else None
    while isinstance(said, str) and said in upgrades:
        content = upgrades[said](content)
        said = content["schema"]
    if said != schema:
        raise ValueError(
            f"{where} is of another schema ({_SHOWN.repr(said)}, not {schema!r}): name another results folder"
        )
    values = {key: value for key, value in content.items() if key != "schema"}
    known = {field.name for field in fields(kind)}
    if odd := [*sorted(values.keys() - known), *sorted(known - values.keys())]:
        odd = [name[:60] for name in odd[:5]]
        raise ValueError(f"{where} has missing or unknown fields ({', '.join(odd)}): name another results folder")
    return values


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
