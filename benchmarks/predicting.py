"""What a prediction takes on a large graph, by a model folder: the whole graph at once, and no more than is needed.

    python benchmarks/predicting.py [--nodes 1000000] [--edges 5000000] [--features 64]

A model is fitted on a small graph of the same kind, saved, and loaded in a process of its own for each row, which is
asked about all nodes or about a thousand. The graph is held before: the peak counted is that above it. Most edges lead
to nodes that are near, by number, so that what lies around a node is not all there is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch

CLASSES, NEAR, MIB = 5, 50, 2**20
QUESTIONS = {  # which model, how many nodes are asked for, None for all, and bytes that may be taken at once
    "linear, all nodes, the whole graph at once": ("linear", None, 2**60),
    "linear, all nodes, as panconv chooses": ("linear", None, None),
    "linear, all nodes, 256 MiB at once": ("linear", None, 2**28),
    "linear, 1000 nodes, the whole graph at once": ("linear", 1000, 2**60),
    "linear, 1000 nodes, as panconv chooses": ("linear", 1000, None),
    "pan, all nodes, the whole graph at once": ("pan", None, 2**60),
    "pan, all nodes, as panconv chooses": ("pan", None, None),
    "pan, all nodes, 256 MiB at once": ("pan", None, 2**28),
    "pan, 1000 nodes, the whole graph at once": ("pan", 1000, 2**60),
    "pan, 1000 nodes, as panconv chooses": ("pan", 1000, None),
}


def graph(N: int, E: int, F: int):
    """Nodes on a ring, each linked to some within `NEAR` of it; classes lie side by side, and features tell them
    faintly."""
    from panconv.data.graph import Graph

    rng = np.random.default_rng(0)
    source = rng.integers(0, N, E)
    target = (source + rng.integers(1, NEAR, E)) % N
    edges = torch.from_numpy(np.unique(np.concatenate([source * N + target, target * N + source])))
    ends = torch.stack([edges % N, edges // N])
    label = np.arange(N) * 20 // N % CLASSES
    x = rng.normal(size=(N, F)).astype(np.float32)
    x[:, :CLASSES] += np.eye(CLASSES, dtype=np.float32)[label] * 0.5
    names = np.array([f"c{each}" for each in range(CLASSES)], dtype=object)
    known = np.where(rng.random(N) < 0.1, names[label], None)
    return Graph(np.arange(N) + 10**9, ends, matrix=x, label="class", labels=known, classes=tuple(names))


def fit(head: str, folder: Path, F: int) -> None:
    """A model of a small graph. The deep one looks two steps far, through one layer of a preset's width."""
    from panconv import PAN, PANClassifier
    from panconv.training.recipe import Recipe

    short = PAN.preset("general").but(L=2)
    PAN.preset = staticmethod(lambda name: short)  # type: ignore[method-assign]
    assert isinstance(short, Recipe)
    PANClassifier(head, L=2, seeds=5, epochs=10, cv=3).fit(graph(3000, 15_000, F)).save(folder)


def ask(name: str, folder: str, nodes: int, edges: int, features: int) -> dict[str, object]:
    """The peak of memory above the graph, and the seconds."""
    from panconv import load_model
    from panconv.estimator import asked

    warnings.simplefilter("ignore")
    _, count, limit = QUESTIONS[name]
    if limit == 2**60:
        asked.SMALL, asked.at_once = 2**60, lambda: 2**60
        for module in ("base", "deep", "terms"):
            found = sys.modules[f"panconv.estimator.{module}"]
            if hasattr(found, "at_once"):
                found.at_once = asked.at_once
    elif limit is not None:
        asked.AT_ONCE = limit
    model, g = load_model(folder), graph(nodes, edges, features)
    g.adjacency  # noqa: B018  # of the graph, not of the question
    rows = None if count is None else g.ids[np.random.default_rng(1).integers(0, nodes // 50, count)]
    Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is counted
    before, began = memory("VmRSS"), time.perf_counter()
    found = model.predict_proba(graph=g, nodes=rows)
    took, peak = time.perf_counter() - began, memory("VmHWM") - before
    return {"seconds": took, "peak": peak, "graph": before, "sum": float(np.square(found).sum())}


def memory(what: str) -> float:
    """MiB of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 2**10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--only", help="questions whose names begin so")
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    sizes = (given.nodes, given.edges, given.features)
    if given.ask:
        print(json.dumps(ask(*given.ask, *sizes)))
        return
    print(f"{'':<46}{'peak, MiB':>10}{'ratio':>7}{'seconds':>9}   beside the graph's own")
    with tempfile.TemporaryDirectory() as place:
        for head in ("linear", "pan"):
            if not given.only or given.only.startswith(head):
                fit(head, Path(place) / head, given.features)
        first: dict[str, dict[str, float]] = {}
        for name, (head, count, _) in QUESTIONS.items():
            if given.only and not name.startswith(given.only):
                continue
            flags = ["--nodes", str(given.nodes), "--edges", str(given.edges), "--features", str(given.features)]
            command = [sys.executable, __file__, *flags, "--ask", name, str(Path(place) / head)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(f"{name:<46}  failed: {(done.stderr.strip().splitlines() or [str(done.returncode)])[-1]:.80}")
                continue
            found = json.loads(done.stdout)
            whole = first.setdefault(f"{head} {count}", found)
            same = abs(found["sum"] - whole["sum"]) <= 1e-4 * abs(whole["sum"])
            ratio = found["peak"] / max(whole["peak"], 1e-9)
            print(
                f"{name:<46}{found['peak']:>10,.0f}{ratio:>7.2f}{found['seconds']:>9.1f}   {found['graph']:,.0f} MiB"
                f"{'' if same else '  OTHER ANSWERS'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
