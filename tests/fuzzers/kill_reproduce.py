"""kill -9 over `panconv reproduce`, again and again: nothing that was complete is lost, and the rest goes on.

Every process is a fork of one that has imported everything, so that a kill costs little. Half of them are killed at a
random time, half by themselves at a random one of their calls to the file system within the folder of results, where a
file is half made, or made and not renamed.

    python tests/fuzzers/kill_reproduce.py KILLS SEED
"""

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # a fork has no threads but its own

from importlib import import_module

from fuzz_commands import stand_in

from panconv.cli import main as program
from panconv.records.record import Results

COMMAND = ["reproduce", "table2", "--quick", "--datasets", "cora,citeseer", "--methods", "lp,mlp,sgc", "--out"]
COMPLETE = 2 * 4  # PAN and three others on two graphs
IMPORTED = (
    *("paper.tables.reproduce", "paper.figures.curves", "paper.report.ranking"),
    *("paper.zoo.lp", "paper.zoo.mlp", "paper.zoo.sgc"),
)
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.rmdir", "tempfile.mkstemp", "os.utime")


def started(folder, fatal):
    """The command in a process of its own, which kills itself at that call to the file system if one is given."""
    if pid := os.fork():
        return pid
    count = 0

    def audit(event, arguments):
        nonlocal count
        if event in EVENTS and str(folder) in str(arguments):
            count += 1
            if count == fatal:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(audit)
    code = 1
    with contextlib.suppress(BaseException), open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        try:
            program([*COMMAND, str(folder)])
        except SystemExit as done:
            code = done.code
    os._exit(code)


def records(folder):
    """What can be read, by what was trained; a warning is an error here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {record.key(): record for record in Results(folder).read()}


def ended(pid, seconds=None):
    """How a process ended; killed after some time if it has not."""
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def main(kills, seed):
    """Kills so many times; how many were hit, and how often the whole was completed on the way."""
    chance, hit, completed = random.Random(seed), 0, 0
    for module in IMPORTED:  # once, not in every process
        import_module(f"panconv.{module}")
    for patch in stand_in():  # small graphs under the names of the large ones
        patch.start()
    with tempfile.TemporaryDirectory(prefix="panconv-") as name:
        began = time.perf_counter()
        whole = Path(name) / "whole"
        assert ended(started(whole, None)) == 0
        duration, expected = time.perf_counter() - began, records(whole)
        assert len(expected) == COMPLETE, len(expected)
        folder, before = Path(name) / "0", {}
        for i in range(kills):
            by_itself = chance.random() < 0.5
            pid = started(folder, chance.randrange(1, 40) if by_itself else None)
            status = ended(pid, None if by_itself else chance.random() * duration)
            hit += os.WIFSIGNALED(status)
            found = records(folder)
            assert {key: found[key] for key in before} == before, f"kill {i}: something complete was lost or changed"
            assert found.keys() <= expected.keys(), f"kill {i}: something else was written"
            before = found
            if len(found) == COMPLETE or chance.random() < 0.2:
                assert ended(started(folder, None)) == 0, f"kill {i}: it does not go on"
                outcome = {key: each.test_accuracy for key, each in records(folder).items()}
                assert outcome == {key: each.test_accuracy for key, each in expected.items()}
                folder, before, completed = Path(name) / str(i + 1), {}, completed + 1
    return hit, completed


if __name__ == "__main__":
    killed, whole = main(int(sys.argv[1]), int(sys.argv[2]))
    print(f"{killed} killed, completed {whole} times")
