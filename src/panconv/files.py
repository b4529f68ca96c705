"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
