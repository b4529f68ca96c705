"""Time and memory as the graph grows at a fixed average degree: both should be linear in the edges."""

from __future__ import annotations

import time
from collections.abc import Iterator

import torch
from graphs import Graph, power_law, size
from measure import OURS, forget, free_bytes, held_bytes, peak_bytes, synchronize, timed
from memory import pass_of
from records import Record, Setup
from torch import Tensor
from whole import Ours, both

from panconv import Adjacency
from panconv.compute.spmm import spmm

DEGREE, L, F = 20, 3, 64
BUILDING = 200  # bytes per edge while a graph is being made: 64-bit keys, sorted, with their permutations


def measure(setup: Setup) -> Iterator[Record]:
    steps = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000]
    for E in setup.pick(quick=[10_000, 30_000], cpu=steps[:5], cuda=steps):
        N = E // DEGREE
        common = {"benchmark": "growth", "nodes": N, "entries": E, "F": F, "L": L, "dtype": "float32", "who": OURS}
        need = BUILDING * E + (L + 6) * N * F * 4
        if need > 0.7 * free_bytes(setup.device):
            yield {**common, "what": "operator", "error": f"needs about {size(need)}B, more than is free"}
            continue
        graph = power_law(N, E, setup.device)
        common |= {"graph": graph.name, "entries": graph.entries, "past_caches": setup.cache < N * F * 4}
        yield from at(graph, common, setup)


def at(graph: Graph, common: Record, setup: Setup) -> Iterator[Record]:
    """Preparing the graph, one product, and the operator forward + backward."""
    forget(setup.device)
    for what, clock in (("prepare", preparing), ("product", multiplying), ("operator", applying)):
        ms = clock(graph, setup)
        record = {**common, "what": what, "ms": ms, "ns_per_edge": 1e6 * ms / graph.entries}
        yield {**record, **(held(graph, setup) if what == "operator" else {})}


def preparing(graph: Graph, setup: Setup) -> float:
    """Milliseconds from the edge_index to Â, the second time, when the allocator knows the sizes."""
    for _ in range(2):
        synchronize(setup.device)
        began = time.perf_counter()
        Adjacency.from_edge_index(graph.edge_index, num_nodes=graph.num_nodes).base("Â").operands(torch.float32)
        synchronize(setup.device)
        ms = 1e3 * (time.perf_counter() - began)
    return ms


def multiplying(graph: Graph, setup: Setup) -> float:
    """Milliseconds of one product Â·x."""
    x, operands = normal(graph, 1), graph.adj.base("Â").operands(torch.float32)
    ms = timed({OURS: lambda: spmm(*operands, x)}, setup.device, setup.seconds)[OURS].ms
    assert ms is not None
    return ms


def applying(graph: Graph, setup: Setup) -> float:
    """Milliseconds of the operator, forward and backward."""
    x, gradient = normal(graph, 1).requires_grad_(), normal(graph, 2)
    run = both(Ours(L).to(setup.device).on(graph.adj), graph, x, gradient, fresh=False)
    ms = timed({OURS: run}, setup.device, setup.seconds)[OURS].ms
    assert ms is not None
    return ms


def held(graph: Graph, setup: Setup) -> dict[str, float]:
    """The peak of forward and backward, inputs counted, and the graph beside it."""
    peak = peak_bytes(pass_of(Ours(L).to(setup.device).on(graph.adj), graph, F), setup.device)
    kept = held_bytes(graph.adj)
    return {"peak_bytes": peak, "graph_bytes": kept, "bytes_per_edge": (peak + kept) / graph.entries}


def normal(graph: Graph, seed: int) -> Tensor:
    g = torch.Generator(graph.device).manual_seed(seed)
    return torch.randn(graph.num_nodes, F, generator=g, device=graph.device)
