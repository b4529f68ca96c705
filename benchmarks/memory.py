"""Peak memory of forward + backward of a long operator, in units of N·F·4 bytes, the graph counted apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from goals import LOOP, PROPAGATE, memory_goal
from graphs import Graph, power_law
from measure import OURS, forget, held_bytes, in_a_line, peak_bytes
from peers import CSRLoop, Operator, Propagate
from records import Record, Setup
from whole import Ours

F = 64


def measure(setup: Setup) -> Iterator[Record]:
    N, E = setup.pick(quick=(2_000, 40_000), cpu=(50_000, 1_000_000), cuda=(1_000_000, 20_000_000))
    L = setup.pick(quick=4, cpu=10, cuda=10)
    graph = power_law(N, E, setup.device)
    common = {"benchmark": "memory", "graph": graph.name, "nodes": N, "entries": graph.entries, "L": L, "F": F}
    for method in (5, 3):
        for low in (False, True):
            record = {**common, "who": OURS, "method": method, "memory": "low" if low else "stored"}
            ours = Ours(L, method, **({"memory": "low"} if low else {})).to(setup.device).on(graph.adj)
            units = peak_of(ours, graph, setup)
            goal = memory_goal(L, low)
            yield {**record, **units, "graph_bytes": held_bytes(graph.adj), "goal": goal, "met": units["units"] < goal}
    for who, peer in {LOOP: CSRLoop(L, torch.int32), PROPAGATE: Propagate(L)}.items():
        record = {**common, "who": who, "method": 5, "memory": "stored"}
        try:
            yield {**record, **peak_of(peer.to(setup.device).prepare(graph), graph, setup)}
        except Exception as error:
            yield {**record, "error": in_a_line(error)}


def peak_of(operator: Operator, graph: Graph, setup: Setup) -> dict[str, float]:
    """The most held while x and the gradient of y are made, y = M·x, and the gradients of x and k(n)."""
    forget(setup.device)
    peak = peak_bytes(pass_of(operator, graph, F), setup.device)
    return {"peak_bytes": peak, "units": peak / (graph.num_nodes * F * 4)}


def pass_of(operator: Operator, graph: Graph, width: int) -> Callable[[], object]:
    """Forward and backward with their input and output made on the way, so that they are counted."""

    def run() -> object:
        x = torch.ones(graph.num_nodes, width, device=graph.device, requires_grad=True)
        gradient = torch.ones_like(x, requires_grad=False)
        y = operator(x)
        return y, torch.autograd.grad(y, (x, operator.k), gradient)

    return run
