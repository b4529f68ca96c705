"""Steps per second of the walk sampler against walkers that go one at a time.

    python benchmarks/walks.py [--walkers 20000] [--steps 50]

"one at a time" is the plain loop: a NumPy random number and a neighbour list per step, for the generic walk a uniform
choice, for the maximal entropy walk a search in the row's running sum. "PyG" is what `torch_geometric.nn.Node2Vec`
samples with, which needs a compiled extension (pyg-lib or torch-cluster) and is left out where there is none. All are
timed in turn, in one process.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from measure import machine, median_ms

from panconv import Adjacency, load
from panconv.walkers import KINDS, RandomWalk

SAMPLE = 20_000  # steps of the plain loop


def one_at_a_time(walk: RandomWalk, even: bool, steps: int = SAMPLE) -> int:
    """A walker from node to node; the last one."""
    p, _ = walk.transition.operands(torch.float64)
    crow, col, value = p.crow.numpy(), p.col.numpy(), p.value.numpy()
    draw, node = np.random.default_rng(0), 0
    for _ in range(steps):
        low, high = crow[node], crow[node + 1]
        if even:
            node = col[low + draw.integers(high - low)]
        else:
            place = np.searchsorted(value[low:high].cumsum(), draw.random())
            node = col[low + min(place, high - low - 1)]
    return int(node)


def pyg_sampler():  # type: ignore[no-untyped-def]
    """PyG's own walk, where its extension is installed."""
    try:
        return torch.ops.pyg.random_walk.default
    except (AttributeError, RuntimeError):
        pass
    try:
        return torch.ops.torch_cluster.random_walk.default
    except (AttributeError, RuntimeError):
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--walkers", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    pyg = pyg_sampler()
    print(f"{options.walkers} walkers, {options.steps} steps: millions of steps per second. {machine()}")
    if pyg is None:
        print("PyG's own sampler needs an extension that is not installed here: left out.")
    print(f"{'graph':9} {'walk':16} {'panconv':>8} {'one at a time':>14}  ratio")
    least = float("inf")
    for name in ("cora", "citeseer", "pubmed"):
        data = load(name)
        adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
        starts = torch.arange(options.walkers) % data.num_nodes
        for kind, make in KINDS.items():
            walk = make(adj)
            functions = {
                "ours": lambda walk=walk, starts=starts: walk.sample(starts, options.steps),
                "loop": lambda walk=walk, kind=kind: one_at_a_time(walk, kind == "generic"),
            }
            if pyg is not None and kind == "generic":
                row, col = adj.crow.long(), adj.col.long()
                functions["pyg"] = lambda row=row, col=col, s=starts: pyg(row, col, s, options.steps, 1.0, 1.0)
            ms = median_ms(functions, rounds=7, warmup=1)
            ours, loop = options.walkers * options.steps / ms["ours"] / 1e3, SAMPLE / ms["loop"] / 1e3
            least = min(least, ours)
            note = f"  PyG {options.walkers * options.steps / ms['pyg'] / 1e3:.1f}" if "pyg" in ms else ""
            print(f"{name:9} {kind:16} {ours:8.1f} {loop:14.3f}  {ours / loop:.0f}×{note}")
    print(f"least: {least:.1f} million steps per second")


if __name__ == "__main__":
    main()
