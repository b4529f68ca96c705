"""One sparse product Y = Â·X against torch's CSR (cuSPARSE, MKL), CuPy or SciPy, and PyG's gather and scatter."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from graphs import Graph, communities, power_law
from measure import OURS, Timing, forget, timed
from peers import products
from records import Record, Setup, checked, compared, prepared
from roofline import Product

from panconv.compute.spmm import spmm


def measure(setup: Setup) -> Iterator[Record]:
    N, E = setup.pick(quick=(2_000, 40_000), cpu=(200_000, 4_000_000), cuda=(1_000_000, 20_000_000))
    widths = setup.pick(quick=(16,), cpu=(16, 64, 128), cuda=(16, 64, 128))
    dtypes = (torch.float32, torch.bfloat16) if setup.on_gpu else (torch.float32,)
    for dtype in dtypes:
        for F in widths:
            yield from at(power_law(N, E, setup.device), F, dtype, setup)
    for ordered in (False, True):
        for dtype in dtypes:
            for F in setup.pick(quick=(16,), cpu=(64,), cuda=(64, 128)):
                yield from at(communities(N, E, setup.device, ordered), F, dtype, setup)


def at(graph: Graph, F: int, dtype: torch.dtype, setup: Setup) -> Iterator[Record]:
    """All who can, on one graph and one width."""
    forget(setup.device)
    g = torch.Generator(setup.device).manual_seed(1)
    x = torch.randn(graph.num_nodes, F, generator=g, device=setup.device).to(dtype)
    operands = graph.adj.base("Â").operands(dtype)
    made, errors = prepared(products(graph, x))
    functions = {OURS: lambda: spmm(*operands, x), **made}
    timings = {**timed(functions, setup.device, setup.seconds)}
    timings |= {who: Timing(None, 0, error) for who, error in errors.items()}
    a = operands[0]
    bytes_of = Product(
        nodes=graph.num_nodes,
        entries=a.col.numel(),
        F=F,
        item=x.element_size(),
        value=0 if a.value is None else a.value.element_size(),
        index=a.col.element_size(),
    )
    common = {
        "benchmark": "product",
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "entries": graph.entries,
        "F": F,
        "dtype": str(dtype).removeprefix("torch."),
        "bytes_per_edge": bytes_of.per_edge(),
        "bytes_per_node": bytes_of.per_node(),
    }
    reference = functions[OURS]()
    for record in compared(timings, common, setup):
        if record["ms"] is not None:
            record |= bytes_of.fractions(record["ms"], setup.bandwidth)
            if record["who"] != OURS:
                record = checked(record, [functions[record["who"]]()], [reference])
        yield record
