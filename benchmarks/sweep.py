"""The whole operator, forward and backward, against the longest length L and against the width F."""

from __future__ import annotations

from collections.abc import Iterator

from graphs import power_law
from records import Record, Setup
from whole import at


def measure(setup: Setup) -> Iterator[Record]:
    N, E = setup.pick(quick=(2_000, 40_000), cpu=(50_000, 1_000_000), cuda=(1_000_000, 20_000_000))
    graph = power_law(N, E, setup.device)
    for L in setup.pick(quick=(1, 2), cpu=(1, 2, 4, 7, 10), cuda=(1, 2, 3, 4, 6, 8, 10)):
        yield from at(graph, L, 64, setup, sweep="L")
    for F in setup.pick(quick=(4, 16), cpu=(4, 16, 64, 256), cuda=(4, 8, 16, 32, 64, 128, 256)):
        yield from at(graph, 3, F, setup, sweep="F")
