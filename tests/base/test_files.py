import errno
import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import crashes
import pytest
from full_disk import largest_file

from panconv.base.files import check_writable, replacing

CALLS = ("open", "close", "fsync", "replace")
OBSTACLE = crashes.obstacle()


@contextmanager
def calls(monkeypatch, fail_at=None, error=None):
    """Lists the calls of `os` that write, in order, as they are made; the one at `fail_at` raises instead."""
    seen = []

    def watched(name, function):
        def call(*args, **kwargs):
            seen.append(name)
            if len(seen) - 1 == fail_at:
                if name == "close":  # which closes, whatever it says
                    function(*args)
                raise error
            return function(*args, **kwargs)

        return call

    with monkeypatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, watched(name, getattr(os, name)))
        yield seen


def write(path, text="new"):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]
    with replacing(path) as temporary:
        assert temporary.suffix == ".txt"  # it tells the writer the format
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    check_writable(tmp_path / "new" / "folder" / "file")
    for refuses in (check_writable, write):
        with pytest.raises(ValueError, match="it is a folder"):
            refuses(tmp_path)
        with pytest.raises(ValueError, match="cannot be written to"):
            refuses(tmp_path / "file" / "below")
        with pytest.raises(ValueError, match="cannot be written to"):
            refuses(Path("/proc/nowhere/file"))  # even for root
    assert os.listdir(tmp_path) == ["file"]
    write(tmp_path / "new" / "folder" / "file")
    assert (tmp_path / "new" / "folder" / "file").read_text() == "new"


def test_a_device_or_a_pipe_stays_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.symlink("/dev/null", tmp_path / "null")
    for refuses in (check_writable, write):
        for path in (tmp_path / "pipe", tmp_path / "null"):
            with pytest.raises(ValueError, match="it is a device or a pipe"):
                refuses(path)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert (tmp_path / "null").is_symlink()


@pytest.mark.parametrize("name", ["n" * 245, "n" * 255, "ü" * 127, "n" * 250 + ".json", "n." + "s" * 253])
def test_names_as_long_as_they_may_be(tmp_path, name):
    check_writable(tmp_path / name)
    write(tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_names_that_are_too_long(tmp_path):
    for refuses in (check_writable, write):
        for path in (tmp_path / ("n" * 256), tmp_path / "new" / ("ü" * 128) / "file"):
            with pytest.raises(ValueError, match="the name is too long; choose a shorter one"):
                refuses(path)
    assert not (tmp_path / "new").is_file()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_kernel_applies_the_umask_and_nobody_else_sees_it_change(tmp_path, monkeypatch):
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", None)  # setting it, even for a moment, is felt by all threads
            write(tmp_path / "file")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_the_content_is_on_the_disk_before_it_has_its_name_and_the_name_after(tmp_path, monkeypatch):
    order = []
    sync, rename = os.fsync, os.replace

    def fsync(handle):
        order.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else f"{os.fstat(handle).st_size} bytes")
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda *paths: (order.append("rename"), rename(*paths)))
    write(tmp_path / "file")
    assert order == ["3 bytes", "rename", "folder"]
    order.clear()
    write(tmp_path / "a" / "b" / "file")  # a new folder is a name in another one
    assert order == ["3 bytes", "rename", "folder", "folder", "folder"]


@pytest.mark.parametrize(
    ("error", "raised"),
    [(OSError(errno.ENOSPC, "No space left on device"), ValueError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_cut_off_at_every_call(tmp_path, monkeypatch, error, raised):
    path = tmp_path / "file.txt"
    with calls(monkeypatch) as made:
        write(path, "old")
    assert made == ["open", "close", "open", "fsync", "close", "replace", "open", "fsync", "close"]
    for i, name in enumerate(made):
        path.write_text("old")
        with calls(monkeypatch, i, error), pytest.raises(raised) as refused:
            write(path)
        assert raised is KeyboardInterrupt or "file.txt: the disk is full; make room" in str(refused.value)
        assert path.read_text() == ("old" if i <= made.index("replace") else "new"), (i, name)
        assert os.listdir(tmp_path) == ["file.txt"], (i, name)


@pytest.mark.parametrize("size", [0, 1, 4096, 99_999])
def test_a_disk_that_is_full_after_so_many_bytes(tmp_path, size):
    (tmp_path / "file").write_text("old")
    with largest_file(size), pytest.raises(ValueError, match="larger than may be written here"):
        write(tmp_path / "file", "n" * 100_000)
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_goes_wrong_elsewhere_is_said_as_it_is(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing-here"), replacing(tmp_path / "file"):
        (tmp_path / "nothing-here").read_text()
    assert not os.listdir(tmp_path)


def test_a_file_system_without_fsync_is_no_obstacle(tmp_path, monkeypatch):
    def fsync(handle):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.skipif(OBSTACLE is not None, reason=str(OBSTACLE))
def test_records_cut_off_by_the_kernel():
    """A third of the calls; `-m slow` takes all, and those of saving a model."""
    script = [sys.executable, crashes.__file__, "records", "--every", "3"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(OBSTACLE is not None, reason=str(OBSTACLE))
@pytest.mark.parametrize("job", crashes.JOBS)
def test_every_write_cut_off_at_every_system_call(job):
    done = subprocess.run([sys.executable, crashes.__file__, job], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
