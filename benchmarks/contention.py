"""A layer and a training beside a busy neighbour: one other torch process of 2 threads on the same cores.

    python benchmarks/contention.py                     # on a machine that is quiet otherwise, about 3 minutes
    taskset -c 0,1 python benchmarks/contention.py      # the same on two cores of a larger one

Every variant is a process of its own, and they take turns: first alone, then beside the neighbour. "before" is the
package as it was at a commit, checked out beside this one; its idle time is what all ratios are against.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parents[1]
BEFORE = "37a698d"  # before anything was done about it
THREADS = 2
IDLE, CONTENDED = 1.05, 3.0  # the goals, in idle times of before
WORK = ("layer", "training")
POLICIES = {
    "": {},
    "as the command line": {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"},
    "passive": {"OMP_WAIT_POLICY": "passive"},
    "one thread": {"OMP_NUM_THREADS": "1"},
}


class Variant(NamedTuple):
    name: str
    root: Path  # of the package
    settings: Mapping[str, str]


# ---------------------------------------------------------------------- the processes


def work(kind: str, graph: str) -> None:
    """A worker: for each line that comes in, some calls are timed and their milliseconds printed."""
    calls, call = (4, _layer(graph)) if kind == "layer" else (1, _training(graph))
    call()
    call()
    print("ready", flush=True)
    for _ in sys.stdin:
        call()  # what the turns of the others have pushed out of the caches comes back
        print(*(_milliseconds(call) for _ in range(calls)), flush=True)


def _layer(graph: str) -> Callable[[], object]:
    from panconv import PANConv, load

    data = load(graph)
    conv = PANConv(data.num_features, 16, L=3)

    def call() -> None:
        conv.zero_grad(set_to_none=True)
        conv(data.x, data.edge_index).sum().backward()

    return call


def _training(graph: str) -> Callable[[], object]:
    from panconv import PAN, fit, load

    data, seeds = load(graph, sparse=True), range(10)
    model = PAN(data.num_features, 16, int(data.y.max()) + 1, L=3, dropout=0.5, trials=len(seeds))
    return lambda: fit(model, data, seeds=seeds, epochs=3, patience=3)


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - began)


def neighbour() -> None:
    """Dense products, until it is ended."""
    import torch

    torch.set_num_threads(THREADS)
    a = torch.randn(2000, 2000)
    print("ready", flush=True)
    while True:
        a @ a


@contextmanager
def _process(arguments: Sequence[str], settings: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments],
        env={**os.environ, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if _line(process) != "ready":
            raise RuntimeError(f"a worker ended before it began: {arguments}")
        yield process
    finally:
        process.kill()
        process.communicate()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# ---------------------------------------------------------------------- measuring


def measured(variants: Sequence[Variant], kind: str, graph: str, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of every variant, by name, "idle" and "contended"."""
    times: dict[str, dict[str, list[float]]] = {v.name: {"idle": [], "contended": []} for v in variants}
    with ExitStack() as running:
        workers = {
            v.name: running.enter_context(
                _process(
                    ["--worker", kind, "--graph", graph],
                    {"OMP_NUM_THREADS": str(THREADS), **v.settings, "PYTHONPATH": str(v.root / "src")},
                )
            )
            for v in variants
        }
        for state in ("idle", "contended"):
            if state == "contended":
                running.enter_context(_process(["--neighbour"], {"OMP_NUM_THREADS": str(THREADS)}))
            for _ in range(rounds):
                for name, worker in workers.items():
                    assert worker.stdin is not None
                    worker.stdin.write("go\n")
                    worker.stdin.flush()
                    times[name][state] += map(float, _line(worker).split())
    return times


def table(times: Mapping[str, Mapping[str, Sequence[float]]], kind: str, graph: str) -> list[str]:
    """A table in Markdown, with a ratio against the idle time of before."""
    middle = {name: {state: statistics.median(t) for state, t in states.items()} for name, states in times.items()}
    one = next(iter(middle.values()))["idle"]
    lines = [f"| {kind}, {graph} | idle ms | (best) | × | contended ms | × |  |", "|---|--:|--:|--:|--:|--:|---|"]
    for name, ms in middle.items():
        idle, contended = ms["idle"] / one, ms["contended"] / one
        goal = "both goals" if idle <= IDLE and contended <= CONTENDED else ""
        lines.append(
            f"| {name} | {ms['idle']:.1f} | {min(times[name]['idle']):.1f} | {idle:.2f} | {ms['contended']:.1f} | "
            f"{contended:.2f} | {goal} |"
        )
    return lines


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "before"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(root), commit], check=True)
        try:
            yield root
        finally:
            subprocess.run([*git, "remove", "--force", str(root)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", help=f"a checkout to compare with; without it, commit {BEFORE} is checked out")
    parser.add_argument("--graph", default="pubmed")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="+", default=WORK, choices=WORK)
    parser.add_argument("--spins", nargs="*", default=[], help="further values of GOMP_SPINCOUNT to try")
    parser.add_argument("--worker", choices=WORK, help=argparse.SUPPRESS)
    parser.add_argument("--neighbour", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.neighbour:
        return neighbour()
    if options.worker:
        return work(options.worker, options.graph)
    policies = {**POLICIES, **{f"{spins} spins": {"GOMP_SPINCOUNT": spins} for spins in options.spins}}
    with ExitStack() as stack:
        before = Path(options.before) if options.before else stack.enter_context(_checked_out(BEFORE))
        variants = [Variant("before", before, {})]
        variants += [Variant(f"now {policy}".strip(), HERE, settings) for policy, settings in policies.items()]
        for kind in options.only:
            print(*table(measured(variants, kind, options.graph, options.rounds), kind, options.graph), "", sep="\n")


if __name__ == "__main__":
    main()
