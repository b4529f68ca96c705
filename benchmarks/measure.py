"""Time and memory of functions, measured side by side in one process."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch.profiler import ProfilerActivity, profile


def median_ms(functions: Mapping[str, Callable[[], object]], rounds: int = 15, warmup: int = 3) -> dict[str, float]:
    """Median milliseconds of each, taken in turn, so that a slow moment of the machine strikes all alike."""
    for function in functions.values():
        for _ in range(warmup):
            function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            began = time.perf_counter()
            function()
            times[name].append(1e3 * (time.perf_counter() - began))
    return {name: statistics.median(values) for name, values in times.items()}


def peak_mib(function: Callable[[], object]) -> float:
    """Peak of what torch has allocated on the CPU while a function runs, above the start, in MiB."""
    function()
    with _quiet(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        function()
    held = peak = 0
    events = (event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]")
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak / 2**20


@contextmanager
def _quiet() -> Iterator[None]:
    """The profiler writes to standard error from C++, below Python's reach."""
    keep, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(keep, 2)
        os.close(keep)
        os.close(nothing)


def machine() -> str:
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"
