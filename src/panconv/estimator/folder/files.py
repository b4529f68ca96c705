"""The files of a model folder, written together and read without trust: nothing in them runs, and no path stored in
them is ever opened."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from panconv.base.checks import free_bytes, kind_of, shown
from panconv.base.folders import replacing_folder
from panconv.estimator.folder.plain import field, texts
from panconv.estimator.folder.versions import FORMAT, up_to_date
from panconv.training.saving import check_header, refusing

SETTINGS, TENSORS = "model.json", "model.safetensors"
WRITER = "its estimator's save"
_LARGEST = 2**24  # bytes of model.json; a reader may hold twenty times as much while it parses
_COPIES = 3  # of the tensors, while they are read


def write(path: Path, content: dict[str, Any], tensors: dict[str, Tensor], extra: Mapping[str, Any]) -> None:
    """Writes a folder with what was learned and some files beside it, all at once."""
    from safetensors.torch import save as serialised

    beside = {_plain_name(name): _as_bytes(name, each) for name, each in extra.items()}
    data = serialised({name: tensor.contiguous() for name, tensor in tensors.items()})
    content = {**content, "sha256": hashlib.sha256(data).hexdigest(), "files": [SETTINGS, TENSORS, *beside]}
    text = (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
    if len(text) > _LARGEST:  # nothing is written that `read` refuses
        raise ValueError(
            f"what was learned of the columns takes {len(text):,} bytes, more than the {_LARGEST:,} that {SETTINGS} "
            "may have: leave out columns"
        )
    with replacing_folder(path, check_former) as temporary:
        for name, each in {TENSORS: data, SETTINGS: text, **beside}.items():
            (temporary / name).write_bytes(each)


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The content and the tensors of a folder. One that is replaced meanwhile is read anew."""
    for _ in range(2):
        before = _identity(path)
        try:
            return _read(path)
        except ValueError:
            if _identity(path) == before:
                raise
    return _read(path)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    with refusing(path / SETTINGS, WRITER):
        content = up_to_date(_settings(path))
        for name in texts(content, "files"):
            _plain_name(name, (SETTINGS, TENSORS))
        digest = field(content, "sha256", str)
    with refusing(path / TENSORS, WRITER):
        return content, _tensors(path, digest)


def _settings(path: Path) -> Any:
    with _opened(path / SETTINGS) as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST:,} bytes")
    return json.loads(data, parse_constant=_refuse_constant)


def _tensors(path: Path, digest: str) -> dict[str, Tensor]:
    from safetensors.torch import load as parsed

    with _opened(path / TENSORS) as opened:
        check_header(opened)
        size = os.fstat(opened.fileno()).st_size
        if size * _COPIES > free_bytes(torch.device("cpu")):
            raise ValueError(f"it has {size:,} bytes, more than there is memory for")
        opened.seek(0)
        data = opened.read(size)
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(f"it is not the file that {SETTINGS} was written with: it was damaged, or exchanged")
    return parsed(data)


def _opened(file: Path) -> BinaryIO:
    """An ordinary file of the folder itself. A link might lead anywhere, and opening a pipe would wait."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # as far as the system has them
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(file, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError("it is a link: copy the file that it leads to") from None
        raise
    opened = os.fdopen(handle, "rb")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        opened.close()
        raise ValueError("it is not an ordinary file")
    return opened


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_former(path: Path) -> None:
    """Refuses to replace a folder that holds anything but a model of ours."""
    there = {each.name for each in path.iterdir()}
    try:
        ours = set(texts(_former(path), "files"))
    except (ValueError, OSError, RecursionError):
        few = ", ".join(sorted(there)[:3])
        raise ValueError(f"{path} holds other files, such as {few}: name a new or an empty folder") from None
    if others := sorted(there - ours):
        raise ValueError(f"{path} holds {shown(others[0])}, which is not of the model there: move it, or name another")


def _former(path: Path) -> Any:
    content = _settings(path)
    if field(content, "format", str) != FORMAT:
        raise ValueError("it is of another format")
    return content


def _plain_name(name: Any, ours: tuple[str, ...] = ()) -> str:
    """A name for a file of the folder itself, beside those of the model."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a file must be a text, got {kind_of(name)}")
    taken = name in (SETTINGS, TENSORS) and name not in ours
    if taken or not name or name.startswith(".") or len(name.encode("utf-8", "replace")) > 255 or _leads_away(name):
        raise ValueError(
            f"{shown(name)} is no name for a file of a model folder: it must be a plain one, without folders, not "
            f"{SETTINGS} or {TENSORS}"
        )
    return name


def _leads_away(name: str) -> bool:
    return any(letter in '/\\:*?"<>|' or not letter.isprintable() for letter in name)


def _as_bytes(name: str, content: Any) -> bytes:
    if isinstance(content, str):
        return content.encode()
    if not isinstance(content, bytes):
        raise TypeError(f"extra[{name!r}] must be bytes or a text, got {kind_of(content)}")
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}, which is no number of JSON")
