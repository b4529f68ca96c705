"""run.toml: what a run of `panconv fit` was told, so that it can be repeated. Imports no torch."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import panconv
from panconv.base.files import expanded
from panconv.base.near import missing_file, nearest
from panconv.cli.given import is_table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "run.toml"
COLUMNS = ("source", "target", "weight", "id", "label")
_FLAGS, _NUMBERS = ("directed", "strict", "regression"), ("seed",)
# The sections of the file, and what may stand in each.
_SECTIONS = {
    "graph": ("edges", "nodes", *COLUMNS, "directed", "strict"),
    "fit": ("head", "regression", "budget", "seed", "device"),
    "sha256": ("edges", "nodes"),
    "versions": ("panconv", "python", "torch", "scikit-learn"),
}
_LARGEST = 2**20  # bytes
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Run:
    """What `panconv fit` was told; None for what was left open.

    Args:
        edges: a table, or the name of a built-in graph. nodes: a table.
        source, target, weight, id, label: columns of the tables.
        directed, strict, head, regression, budget, seed, device: as on the command line.
        sha256: of the tables, as they were read.
    """

    edges: str | None = None
    nodes: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    id: str | None = None
    label: str | None = None
    directed: bool | None = None
    strict: bool | None = None
    head: str | None = None
    regression: bool | None = None
    budget: str | None = None
    seed: int | None = None
    device: str | None = None
    sha256: dict[str, str] = field(default_factory=dict)

    def but(self, **typed: Any) -> Run:
        """The same, with what was typed in place of what is here."""
        return replace(self, **{name: value for name, value in typed.items() if value is not None})

    @property
    def columns(self) -> dict[str, str]:
        """Those that are named, as `read` takes them."""
        return {name: getattr(self, name) for name in COLUMNS if getattr(self, name) is not None}

    @property
    def tables(self) -> dict[str, Path]:
        """The files, by what they hold; none of a built-in graph."""
        found = {"edges": self.edges, "nodes": self.nodes}
        return {what: expanded(name) for what, name in found.items() if name is not None and is_table(name)}

    def changed(self) -> list[str]:
        """The tables that are not what they were when their checksum was taken."""
        kept = {what: path for what, path in self.tables.items() if what in self.sha256}
        return [str(path) for what, path in kept.items() if sha256(path) != self.sha256[what]]


def read_run(path: Path) -> Run:
    """A run from its file; tables are looked for beside it."""
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise missing_file(path, "--config")
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"{path} is larger than a run.toml ever is: name the file that panconv fit wrote")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no TOML: {error}") from None
    for name in content:
        _check_key(path, name, tuple(_SECTIONS), "section")
    told: dict[str, Any] = {}
    for section, keys in _SECTIONS.items():
        found = content.get(section, {})
        if not isinstance(found, dict):
            raise ValueError(f"{path}: {section} must be a section, [{section}], got {found!r:.40}")
        for key, value in found.items():
            _check_key(path, key, keys, f"key of [{section}]")
            _check_kind(path, section, key, value)
        told |= {"sha256": found} if section == "sha256" else found if section != "versions" else {}
    for what in ("edges", "nodes"):
        if what in told:
            told[what] = _beside(path.parent, told[what])
    return Run(**told)


def check_tables(run: Run, folder: Path) -> None:
    """Refuses tables whose names could not be written into the file of a folder, before anything is learned of them."""
    for path in run.tables.values():
        if _SURROGATE.search(_seen_from(folder, path)):  # which stands for a byte that is not UTF-8
            raise ValueError(f"the path {str(path)!r} is not UTF-8, which {NAME} is: rename the file")


def text_of(run: Run, folder: Path) -> str:
    """A run as the file in a folder has it: tables that lie beside the folder are named as seen from there."""
    values = {name: getattr(run, name) for keys in list(_SECTIONS.values())[:2] for name in keys}
    for what, path in run.tables.items():
        values[what] = _seen_from(folder, path)
    sections = {name: {key: values[key] for key in _SECTIONS[name]} for name in ("graph", "fit")}
    sections["sha256"] = {what: sha256(path) for what, path in run.tables.items()}
    python = ".".join(map(str, sys.version_info[:3]))
    others = {name: version(name) for name in ("torch", "scikit-learn")}
    sections["versions"] = {"panconv": panconv.__version__, "python": python, **others}
    lines = ["# Repeats the run: panconv fit --config run.toml --out FOLDER. Paths are as seen from this file."]
    for name, found in sections.items():
        known = {key: value for key, value in found.items() if value is not None}
        if known:
            lines += ["", f"[{name}]", *(f"{key} = {_written(value)}" for key, value in known.items())]
    return "\n".join(lines) + "\n"


def sha256(path: Path) -> str:
    """Of a file."""
    with path.open("rb") as file:
        found = hashlib.sha256()
        while part := file.read(2**20):
            found.update(part)
    return found.hexdigest()


def _check_key(path: Path, name: str, known: tuple[str, ...], what: str) -> None:
    if name not in known:
        near = nearest(name, known)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
        raise ValueError(f"{path}: {name!r:.60} is no {what}: {hint}")


def _check_kind(path: Path, section: str, key: str, value: Any) -> None:
    kind = bool if key in _FLAGS else int if key in _NUMBERS else str
    if type(value) is not kind:
        words = {bool: "true or false", int: "a whole number", str: 'a text, in "quotes"'}[kind]
        raise ValueError(f"{path}: {key} of [{section}] must be {words}, got {value!r:.40}")


def _beside(folder: Path, name: str) -> str:
    return str((folder / expanded(name)).resolve()) if is_table(name) else name  # an absolute path stays one


def _seen_from(folder: Path, path: Path) -> str:
    """Relative where both lie in one folder, so that they can be moved together; else absolute."""
    path, home = path.resolve(), folder.resolve().parent
    if home not in path.parents:
        return str(path)
    return (Path("..") / path.relative_to(home)).as_posix()


def _written(value: Any) -> str:
    """A value as TOML has it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
