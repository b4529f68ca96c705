"""A write that is cut off at every system call, by strace: the target is then the old or the new, whole.

    python tests/fuzzers/crashes.py save|first|upgrade|folder|records [--every N]

`save` writes a model over another, `first` where there is none, `upgrade` over a folder of the former format, `folder`
an estimator over another, and `records` a file of records over another. Each is killed at a call, and told at a call
that the disk is full.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from panconv.records.jsonl import read_lines, write_lines

FIXTURE = Path(__file__).parents[1] / "fixtures" / "model-1"
# What a full disk can be told at. (Killed is at every call there is.)
WRITES = ("openat", "close", "write", "fsync", "rename", "mkdir", "rmdir", "unlink", "newfstatat", "fstat", "stat")
DONE, REFUSED = 0, 3


class Records:
    """A file of records over another."""

    def before(self, folder: Path) -> None:
        write_lines(folder / "one.jsonl", [f'{{"n": {n}}}\n' for n in range(3)])

    def write(self, folder: Path) -> None:
        write_lines(folder / "one.jsonl", [f'{{"n": {n}}}\n' for n in range(500)])

    def found(self, folder: Path) -> str:
        count = len([line for line, _ in read_lines(folder)])
        return {3: "old", 500: "new"}.get(count, f"{count} lines")


class Save:
    """A model over another, of another shape."""

    def __init__(self) -> None:
        from panconv import PAN

        self.load, self.old, self.new = PAN.load, PAN(3, 4, 2, method=2), PAN(3, 300, 2)

    def before(self, folder: Path) -> None:
        self.old.save(folder)

    def write(self, folder: Path) -> None:
        self.new.save(folder)

    def found(self, folder: Path) -> str:
        return {4: "old", 300: "new"}[self.load(folder).layers()[0].out_channels]


class First(Save):
    """A model into a new folder of a new folder."""

    def before(self, folder: Path) -> None: ...

    def write(self, folder: Path) -> None:
        self.new.save(folder / "a" / "b")

    def found(self, folder: Path) -> str:
        there = (folder / "a" / "b" / "model.safetensors").exists()
        return super().found(folder / "a" / "b") if there else "old"


class Upgrade(Save):
    """A model over one of the former format."""

    def before(self, folder: Path) -> None:
        shutil.copytree(FIXTURE, folder, dirs_exist_ok=True)


class Folder:
    """The folder of an estimator over that of another, which had a file more."""

    def __init__(self) -> None:
        from panconv import PANClassifier, load_model
        from panconv.estimator.saving import save

        self.save, self.load = save, load_model
        X = [[float(i % 5), float(i % 3)] for i in range(12)]
        self.old, self.new = (PANClassifier(cv=cv).fit(X, [0, 1] * 6) for cv in (2, 3))

    def before(self, folder: Path) -> None:
        self.save(self.old, folder / "model", {"README.md": "old"})

    def write(self, folder: Path) -> None:
        self.new.save(folder / "model")

    def found(self, folder: Path) -> str:
        more = (folder / "model" / "README.md").exists()
        return {(2, True): "old", (3, False): "new"}[self.load(folder / "model").cv, more]


JOBS = {"records": Records, "save": Save, "first": First, "upgrade": Upgrade, "folder": Folder}


def obstacle() -> str | None:
    """Why this cannot be done here; None where it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    traced = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True)
    return None if traced.returncode == 0 else "strace may not trace here"


def traced(job, folder: Path, log: Path, *options: str) -> int:
    """How the write ends, with strace on it from its first call to its last."""
    ours, theirs = os.pipe()
    heard, told = os.pipe()
    if not (child := os.fork()):
        try:
            ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1))  # any process may trace this one
            os.write(told, b"x")  # strace comes after that call, or it would be one of those that are counted
            os.read(ours, 1)
            job.write(folder)
            os._exit(DONE)
        except ValueError:
            os._exit(REFUSED)
        finally:
            os._exit(1)  # some other exception
    os.read(heard, 1)
    os.close(heard), os.close(told)
    command = ["strace", "-p", str(child), "-o", str(log), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
        while re.search(r"TracerPid:\s+0", Path(f"/proc/{child}/status").read_text()):
            if tracer.poll() is not None:
                os.kill(child, 9)
                sys.exit(f"strace cannot be used here: {tracer.stderr.read()}")
            time.sleep(0.001)
        os.write(theirs, b"x")
        os.close(theirs), os.close(ours)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def calls(log: Path) -> list[tuple[str, int]]:
    """Each system call of the write, and the how manieth of its name it is."""
    names = re.findall(r"^(\w+)\(", log.read_text(), re.MULTILINE)[1:]  # the first lets it begin
    return [(name, names[: i + 1].count(name)) for i, name in enumerate(names)]


def interrupted(job, name: str, when: int, how: str) -> None:
    """AssertionError if a write that ends at that call leaves anything but the old or the new."""
    with tempfile.TemporaryDirectory() as place:
        folder, log = Path(place) / "folder", Path(place) / "log"
        folder.mkdir()
        job.before(folder)
        if name == "read":  # the one that lets it begin counts as well
            when += 1
        end = traced(job, folder, log, "-e", f"inject={name}:{how}:when={when}")
        found = job.found(folder)
        assert found in ("old", "new"), found
        if how.startswith("signal"):
            assert end == -9, f"ended with {end}"
            return
        assert end in (DONE, REFUSED), f"ended with {end}"
        assert (end, found) != (DONE, "old"), "said to be written, and is not"
        left = [path.name for path in folder.rglob(".*")]
        # A former folder goes last, name by name: what the disk refuses there is left.
        removing = isinstance(job, Folder) and found == "new"
        assert not left or removing or name in ("unlink", "rmdir"), f"left behind: {left}"


def main(which: str, every: int = 1, offset: int = 0) -> Counter[str]:
    """Cuts the write off at every so many-th call; prints each call that leaves something else than it should."""
    job, tally = JOBS[which](), Counter()
    with tempfile.TemporaryDirectory() as place:
        folder, log = Path(place) / "folder", Path(place) / "log"
        folder.mkdir()
        job.before(folder), job.write(folder), job.found(folder)  # so that all is imported
        shutil.rmtree(folder), folder.mkdir(), job.before(folder)
        assert traced(job, folder, log) == DONE
        assert job.found(folder) == "new"
        seen = calls(log)
    cuts = [(name, when, "signal=KILL") for name, when in seen if name != "exit_group"]
    cuts += [(name, when, "error=ENOSPC") for name, when in seen if name in WRITES]
    for name, when, how in cuts[offset::every]:
        try:
            interrupted(job, name, when, how)
            tally["whole"] += 1
        except Exception as error:  # noqa: PERF203
            tally["failed"] += 1
            print(f"{which}, {name} {when}, {how}: {type(error).__name__}: {error}")
    return tally


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("which", choices=JOBS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--offset", type=int, default=0)
    tally = main(**vars(parser.parse_args()))
    print(dict(tally))
    sys.exit(bool(tally["failed"]))
