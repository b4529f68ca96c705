"""How the command line shares its cores with others. Importing it settles this, so it comes before torch."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from pathlib import Path

# Where a thread has nothing to do, OpenMP lets it spin, on the GNU side for milliseconds. Beside a busy neighbour each
# of these is time that the thread it waits for needs (docs/speed.md). A short spin costs next to nothing.
_WAITS = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"}


def settle(environment: MutableMapping[str, str] = os.environ) -> None:
    """Tells OpenMP, which reads it when torch is loaded, how to wait and how many threads to use.

    What the user has set stays; in a program that has loaded torch, so does everything.
    """
    if "torch" in sys.modules:
        return
    if not {"OMP_WAIT_POLICY", *_WAITS} & environment.keys():
        environment.update(_WAITS)
    cores = granted()
    visible = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores is not None and cores < visible:
        environment.setdefault("OMP_NUM_THREADS", str(cores))


def granted(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int | None:
    """The cores that the quota of a container grants, at least 1; None where there is no quota."""
    found = []
    for files in _quotas(root, own):
        with suppress(OSError, ValueError):  # no such file, or "max"
            quota, period = (int(word) for file in files for word in file.read_text().split())
            if quota > 0 and period > 0:
                found.append(quota / period)
    return max(1, math.floor(min(found))) if found else None


def _quotas(root: Path, own: Path) -> Iterator[list[Path]]:
    """Where the quota and its period stand, of each group that the process is in up to the root, by cgroups 2 or 1."""
    lines = ["0::/"]
    with suppress(OSError, ValueError):
        lines += own.read_text().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):
            if not controllers:
                yield [root / folder / "cpu.max"]
            elif "cpu" in controllers.split(","):
                yield [root / "cpu" / folder / name for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]


settle()
