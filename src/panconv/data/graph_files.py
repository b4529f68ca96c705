"""`read_graphs`: many graphs from a file or a folder, or by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from panconv.data import graph_text, tu_folder
from panconv.data.graph_features import features_of
from panconv.data.graph_set import GraphSet
from panconv.data.remarks import Remarks, short

FOLDER = "PANCONV_TU"  # the environment variable that names the folder in which graphs are looked up by name
_EDGES = "_A.txt"


def read_graphs(source: str | Path, *, target: int | None = None, strict: bool = False) -> GraphSet:
    r"""Many graphs with a class or a number each, from files of the TU collection.

    Args:
        source: a folder of one set, with DS_A.txt, DS_graph_indicator.txt, DS_graph_labels.txt (or
            DS_graph_attributes.txt, numbers to learn) and possibly DS_node_labels.txt and DS_node_attributes.txt; one
            of several sets in a folder, as ``folder/DS``; a text file of the format that GIN's repository has, such as
            MUTAG.txt; or the name of either in the folder that the environment variable PANCONV_TU names, as "NCI1".
        target: the column of DS_graph_attributes.txt to learn, from 0, where there are several or labels too.
        strict: whether what could be mended is refused instead.

    The features are the attributes of the nodes and their tags, one-hot; where there is neither, or all nodes have one
    tag in the text format, the degrees, one-hot. `GraphSet.features` says which. The graphs are undirected: every edge
    is there both ways, once, without self-loops; `GraphSet.notes` says what was not so in the file.

    Files are not trusted: docs/trust.md says what is admitted.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.txt")
    ...     _ = path.write_text("2\n2 0\n0 1 1\n0 1 0\n1 1\n5 0\n")
    ...     read_graphs(path)
    GraphSet(two: 2 graphs of 2 classes, 3 nodes, 1 edge, 2 features)
    """
    if not isinstance(source, (str, Path)):
        raise TypeError(f"source must be a path or a name, got {type(source).__name__}")
    if "\0" in str(source):
        raise ValueError(f"source {short(source)} is no path: a path holds no zero byte")
    remarks = Remarks(strict)
    try:
        path, name = _found(source)
        if name is None and target is not None:
            raise ValueError(
                f"target={target!r} goes with a folder that has graph attributes, but {path} is a text file"
            )
        found = graph_text.read(path, remarks) if name is None else tu_folder.read(path, name, remarks, target)
    except (OSError, RuntimeError) as error:  # a name too long for the disk, a folder without rights, ~nosuchuser
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise ValueError(f"source {short(source)} cannot be read: {reason}; name another file") from None
    try:
        return _made(found, remarks)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _made(found: dict[str, Any], remarks: Remarks) -> GraphSet:
    tags, attributes, edges = found.pop("tags"), found.pop("attributes", None), found["edge_index"]
    x, features = features_of(tags, attributes, edges, int(found["ptr"][-1]))
    found |= {"ptr": torch.from_numpy(found["ptr"]), "y": torch.from_numpy(found["y"])}
    notes = (*remarks.guessed, *remarks.mended)
    return GraphSet(
        **{**found, "x": x, "classes": tuple(map(str, found["classes"])), "features": features, "notes": notes}
    )


def _found(source: str | Path) -> tuple[Path, str | None]:
    """The text file and None, or the folder and the name of the set in it."""
    path = Path(source).expanduser()
    if (found := _at(path)) is not None:
        return found
    if path.name != str(source) or path.suffix:
        raise ValueError(
            f"source {short(source)} is neither a file nor a folder of graphs, such as MUTAG.txt or MUTAG/"
        )
    named = os.environ.get(FOLDER)
    folder = Path(named or "").expanduser()
    if not named or not folder.is_dir():
        raise ValueError(
            f"source {short(source)} is no file here, and graphs that go by name are read from files: set {FOLDER} to "
            f"the folder that holds {path.name}.txt or {path.name}/" + f", got {named}" * bool(named)
        )
    there = sorted(folder.iterdir())
    for each in there:
        if each.name.lower() in (f"{path.name.lower()}.txt", path.name.lower()) and (found := _at(each)) is not None:
            return found
    known = ", ".join(each.stem for each in there if each.suffix == ".txt" or each.is_dir())
    raise ValueError(f"source {short(source)} is not in {folder}, which {FOLDER} names: it holds {known or 'none'}")


def _at(path: Path) -> tuple[Path, str | None] | None:
    """What stands at a path, or None."""
    if path.is_dir():
        raw = path / "raw"  # where PyG keeps them
        folder = raw if raw.is_dir() and not list(path.glob(f"*{_EDGES}")) else path
        names = sorted(each.name.removesuffix(_EDGES) for each in folder.glob(f"*{_EDGES}"))
        if len(names) == 1:
            return folder, names[0]
        which = (
            f"several: choose one of {', '.join(str(folder / each) for each in names)}" if names else f"no DS{_EDGES}"
        )
        raise ValueError(f"the folder {path} holds {which}")
    if path.name.endswith(_EDGES) and path.exists():
        return path.parent, path.name.removesuffix(_EDGES)
    if path.exists():
        return path, None
    return (path.parent, path.name) if path.with_name(f"{path.name}{_EDGES}").exists() else None
