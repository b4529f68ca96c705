"""The whole operator Σ k(n) Âⁿ x with trained k(n), forward and backward, against other ways to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from goals import EACH, LOOP, POWERS, PROPAGATE
from graphs import Graph, citations, molecules, power_law, size
from measure import OURS, Timing, forget, free_bytes, timed
from peers import CSRLoop, ExplicitPowers, Operator, Propagate, SummedPowers, SymmetricLoop, entries_of_power
from records import Record, Setup, checked, compared, prepared
from torch import Tensor, nn

from panconv import MET, Adjacency, Free, Walks

ENTRY = 48  # bytes that an entry of a power costs at the peak: two matrices with int64 columns, and room to sort them


class Ours(Operator):
    """panconv's operator behind the same two doors as the peers'."""

    def __init__(self, L: int, method: int = 5, **options: object) -> None:
        nn.Module.__init__(self)
        self.L, self.method, self.options = L, method, options
        self.weights = Free(torch.full((L + 1,), 1 / (L + 1)))

    @property
    def k(self) -> Tensor:
        return self.weights.k

    def prepare(self, graph: Graph) -> Ours:
        return self.on(Adjacency.from_edge_index(graph.edge_index, num_nodes=graph.num_nodes))

    def on(self, adj: Adjacency) -> Ours:
        self.M = MET(Walks(adj, self.L), self.weights, method=self.method, **self.options)
        return self

    def forward(self, x: Tensor) -> Tensor:
        return self.M @ x


def measure(setup: Setup) -> Iterator[Record]:
    widths = setup.pick(quick=(16,), cpu=(16, 64), cuda=(16, 64))
    for name in setup.pick(quick=("cora",), cpu=("cora", "citeseer", "pubmed"), cuda=("cora", "citeseer", "pubmed")):
        for F in widths:
            yield from at(citations(name, setup.device), 3, F, setup, powers=True)
    for fresh in (False, True):
        for F in widths:
            graph = molecules(setup.pick(quick=8, cpu=128, cuda=128), setup.device)
            yield from at(graph, 3, F, setup, fresh=fresh)
    N, E = setup.pick(quick=(2_000, 40_000), cpu=(200_000, 4_000_000), cuda=(1_000_000, 20_000_000))
    for F in widths:
        yield from at(power_law(N, E, setup.device), 3, F, setup, powers=not setup.quick)


def peers(L: int, powers: bool) -> dict[str, Operator]:
    found = {
        f"{LOOP} (int64)": CSRLoop(L, torch.int64),
        f"{LOOP} (int32)": CSRLoop(L, torch.int32),
        f"{LOOP}, own backward": SymmetricLoop(L, torch.int32),
        PROPAGATE: Propagate(L),
    }
    if powers:
        found |= {EACH: ExplicitPowers(L, torch.int32), POWERS: SummedPowers(L, torch.int32)}
    return found


def at(
    graph: Graph, L: int, F: int, setup: Setup, powers: bool = False, fresh: bool = False, sweep: str = ""
) -> Iterator[Record]:
    """All who can, on one graph, length and width.

    Args:
        powers: whether to form the powers explicitly too, where they fit.
        fresh: whether each call starts from the edge_index, for all sides.
        sweep: what is varied while the rest stays, to be drawn as a line; "" for a case by itself.
    """
    forget(setup.device)
    g = torch.Generator(setup.device).manual_seed(1)
    x, gradient = (torch.randn(graph.num_nodes, F, generator=g, device=setup.device) for _ in range(2))
    x.requires_grad_()
    ours = Ours(L).to(setup.device).on(graph.adj)
    functions = {OURS: both(ours, graph, x, gradient, fresh)}
    others = {who: peer.to(setup.device) for who, peer in peers(L, powers).items()}
    too_big = _too_big(graph, L, setup) if powers else None
    errors = dict.fromkeys((EACH, POWERS), too_big) if too_big else {}

    def maker(peer: Operator) -> Callable[[], Callable[[], object]]:
        return lambda: both(peer if fresh else peer.prepare(graph), graph, x, gradient, fresh)

    made, failed = prepared({who: maker(peer) for who, peer in others.items() if who not in errors})
    timings = timed({**functions, **made}, setup.device, setup.seconds / (2 if sweep else 1))
    timings |= {who: Timing(None, 0, error) for who, error in {**errors, **failed}.items()}
    common = {
        "benchmark": "sweep" if sweep else "whole",
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "entries": graph.entries,
        "L": L,
        "F": F,
        "dtype": "float32",
        "start": "edge_index" if fresh else "prepared",
        "sweep": sweep,
    }
    reference = functions[OURS]()
    for record in compared(timings, common, setup):
        if record["who"] in made and record["ms"] is not None:
            record = checked(record, made[record["who"]](), reference)
        yield record


def both(
    operator: Operator, graph: Graph, x: Tensor, gradient: Tensor, fresh: bool
) -> Callable[[], tuple[Tensor, ...]]:
    """Forward and backward: y, and the gradients of x and of k(n)."""

    def run() -> tuple[Tensor, ...]:
        y = (operator.prepare(graph) if fresh else operator)(x)
        return y, *torch.autograd.grad(y, (x, operator.k), gradient)

    return run


def _too_big(graph: Graph, L: int, setup: Setup) -> str | None:
    """Why the powers cannot be formed, if they cannot."""
    entries = entries_of_power(graph, L)
    need = ENTRY * entries
    if need < 0.5 * free_bytes(setup.device):
        return None
    return f"does not fit: Â^{L} has about {size(entries)} entries, {need / 2**30:.0f} GiB at the peak"
