"""Files that are written whole or not at all, and that are on the disk once they have their name."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_REMEDIES = {
    errno.ENOSPC: "the disk is full; make room, or name another place",
    errno.EDQUOT: "the disk quota is used up; make room, or name another place",
    errno.EFBIG: "the file would be larger than may be written here; name another place",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # a file system that has no fsync


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to, renamed to `path` at the end: readers see the old or the new.

    The content is forced to the disk before the rename, and the rename after it, so that a crash of the machine loses
    nothing either. Folders on the way are made. What the disk refuses is a ValueError that names `path`.
    """
    _check_ordinary(path)
    folder, suffix = path.parent, path.suffix if len(path.suffix) <= 16 else ""
    # However long the name of `path` is, this one is short enough; the suffix stays, since it tells the format.
    temporary = folder / f".{path.stem[:32]}.{secrets.token_hex(8)}{suffix}"
    try:
        with disk_refusing(path):
            missing = [place for place in (folder, *folder.parents) if not place.exists()]
            folder.mkdir(parents=True, exist_ok=True)
            # The kernel takes the umask off these permissions: reading the umask would mean setting it for all threads.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        with disk_refusing(path, temporary):
            yield temporary
        with disk_refusing(path):
            synced(temporary, os.O_RDWR)
            os.replace(temporary, path)
            for place in dict.fromkeys([folder, *(made.parent for made in missing)]):
                with suppress(PermissionError):  # one that may be written to but not read; any folder on Windows
                    synced(place, os.O_RDONLY)
    finally:
        with suppress(OSError):
            temporary.unlink()


def check_writable(path: Path) -> None:
    """Raises where a file cannot be written, so that this is known before the work and not after it."""
    _check_ordinary(path)
    with disk_refusing(path):
        folder, missing = path.parent, [path.name]
        while not folder.exists():
            folder, missing = folder.parent, [*missing, folder.name]
        probe = folder / f".panconv-{secrets.token_hex(8)}"
        probe.mkdir()  # asking is not enough: root may be told yes where it cannot
        try:
            for name in missing:
                with suppress(FileNotFoundError):
                    os.lstat(probe / name)  # a name that is too long is refused here
        finally:
            probe.rmdir()


def expanded(name: str | Path) -> Path:
    """A path without its ~."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{str(name)!r} cannot be found: {error} Write the folder out") from None


def _check_ordinary(path: Path) -> None:
    """Refuses what a file must not replace: a folder, /dev/null, a pipe."""
    if os.path.isdir(path):
        raise ValueError(f"cannot write {path}: it is a folder; name a file")
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"cannot write {path}: it is a device or a pipe; name an ordinary file")


@contextmanager
def disk_refusing(path: Path, only: Path | None = None) -> Iterator[None]:
    """What the disk says, as a ValueError about `path`; with `only`, not what it says about other named files."""
    try:
        yield
    except OSError as error:
        if only is not None and error.filename not in (None, os.fspath(only)):
            raise
        other = f"{path.parent} cannot be written to ({error.strerror or error}); name another place"
        raise ValueError(f"cannot write {path}: {_REMEDIES.get(error.errno or 0, other)}") from error


def synced(path: Path, flags: int) -> None:
    """Forces a file or a folder, opened with these flags, to the disk, as far as its file system can."""
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(handle)
