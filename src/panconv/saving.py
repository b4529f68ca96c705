"""Models on disk: safetensors for the numbers, JSON for the rest, no pickles; written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

_FORMAT = "panconv-model-1"


def save(folder: str | Path, config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Writes config and state into a folder, which is made if it is not there."""
    folder = Path(folder)
    text = json.dumps({"format": _FORMAT, **config}, indent=2) + "\n"
    check_writable(folder / "model.safetensors")
    with replacing(folder / "model.safetensors") as path:
        save_file({name: tensor.contiguous() for name, tensor in state.items()}, path)
    with replacing(folder / "config.json") as path:
        path.write_text(text)


def load(folder: str | Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The config and state that `save` wrote."""
    folder = Path(folder)
    try:
        config = json.loads((folder / "config.json").read_text())
        if not isinstance(config, dict) or config.pop("format", None) != _FORMAT:
            raise ValueError(f'config.json does not say "format": "{_FORMAT}"')
        return config, load_file(folder / "model.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise ValueError(f"{folder} holds no saved model: {error}") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to, renamed to `path` at the end: readers see the old or the new.

    Folders on the way are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # a temporary file is private, a result is not
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raises before the work, not after it, where a file cannot be written."""
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; name a file")
    try:
        with tempfile.TemporaryDirectory(dir=folder):  # asking is not enough: root may be told yes where it cannot
            pass
    except OSError as error:
        raise ValueError(
            f"cannot write {path}: {folder} cannot be written to ({error.strerror}); name another place"
        ) from None
