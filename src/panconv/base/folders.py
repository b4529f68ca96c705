"""Folders that appear whole or not at all, in place of a former one."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from panconv.base.files import disk_refusing, synced

_AT_FDCWD, _EXCHANGE = -100, 2  # of Linux' renameat2
_CANNOT_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


@contextmanager
def replacing_folder(path: Path, check_former: Callable[[Path], None]) -> Iterator[Path]:
    """A temporary folder beside `path` to write files into, which becomes `path` at the end: readers see the old folder
    or the new one.

    On Linux the two change places in one call; elsewhere, for an instant, there is none. All is forced to the disk
    before. What the disk refuses is a ValueError that names `path`.

    Args:
        path: the folder. What is there may be nothing, an empty folder, or one that may be replaced.
        check_former: raises a ValueError where a folder that holds something may not be replaced. It is asked twice,
            before the work and once the folders have changed places.
    """
    with disk_refusing(path):
        place = Path(os.path.realpath(path))  # a link goes on leading to it
        _check_place(path, place, check_former)
        temporary = place.parent / f".{place.name[:32]}.{secrets.token_hex(8)}"
    try:
        with disk_refusing(path):
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary.mkdir()
            if place.is_dir():  # whoever could not read the former folder shall not read the new one
                temporary.chmod(stat.S_IMODE(place.stat().st_mode) | stat.S_IRWXU)
        with disk_refusing(path):
            yield temporary
        with disk_refusing(path):
            for each in temporary.iterdir():
                synced(each, os.O_RDWR)
            _sync_folder(temporary)
            _swap(temporary, place)
            _check_swapped(path, place, temporary, check_former)
            _sync_folder(place.parent)
    finally:
        with suppress(OSError):  # which rmtree does not ignore wherever it may come from
            shutil.rmtree(temporary, ignore_errors=True)  # what was there before


def _check_place(path: Path, place: Path, check_former: Callable[[Path], None]) -> None:
    """Refuses what may not be replaced."""
    if os.path.lexists(place) and not place.is_dir():
        raise ValueError(f"cannot write {path}: it is a file; name a folder")
    if place.is_dir() and any(place.iterdir()):
        check_former(place)


def _check_swapped(path: Path, place: Path, former: Path, check_former: Callable[[Path], None]) -> None:
    """Puts the former folder back where something has got into it since it was looked at: it would be deleted."""
    try:
        if former.is_dir() and any(former.iterdir()):
            check_former(former)
    except ValueError:
        _swap(former, place)
        _check_place(path, place, check_former)  # says the same, by the name of the folder
        raise


def _sync_folder(folder: Path) -> None:
    with suppress(PermissionError):  # one that may be written to but not read; any folder on Windows
        synced(folder, os.O_RDONLY)


def _swap(new: Path, place: Path) -> None:
    """Puts a folder in its place; what was there is then at `new`."""
    if not place.exists():
        os.rename(new, place)
    elif not _exchanged(new, place):
        aside = new.with_name(f"{new.name}-former")
        os.rename(place, aside)
        try:
            os.rename(new, place)
        except OSError:
            os.rename(aside, place)
            raise
        os.rename(aside, new)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two folders could be made to change places in one call."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code), os.fspath(other))
