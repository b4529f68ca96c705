"""Time, memory and copy bandwidth, measured side by side in one process, on the CPU or on a GPU."""

from __future__ import annotations

import gc
import math
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

import panconv

OURS = "panconv"
WARMUP = 3
SAMPLE = {"cuda": 2e-2, "cpu": 2e-4}  # seconds that one sample lasts at least: short calls are repeated within it


class Timing(NamedTuple):
    """The median of one function, or why there is none."""

    ms: float | None
    samples: int = 0
    error: str | None = None
    best: float | None = None  # the fastest sample: far below the median, the machine was busy with something else


def timed(
    functions: Mapping[str, Callable[[], object]], device: torch.device, seconds: float = 0.6, ours: str = OURS
) -> dict[str, Timing]:
    """The median of each function, taken in turn, so that a slow moment of the machine strikes all alike.

    Before each sample the same function is called once, unless it takes half a second. On CUDA by events, with an
    empty queue before each sample. A peer that fails is reported with its error; an error in `ours` is raised.

    Args:
        functions: what to time, by name.
        device: where they run.
        seconds: about how long each may take in all; at least 3 samples are taken, at most 101.
        ours: the name of the one that must not fail.
    """
    errors: dict[str, str] = {}
    repeats, samples, quick = {}, {}, {}
    for name, function in functions.items():
        try:
            once = _warm(function, device)
        except Exception as error:
            if name == ours:
                raise
            errors[name] = in_a_line(error)
            forget(device)
            continue
        repeats[name] = min(100, max(1, math.ceil(SAMPLE[device.type] / max(once, 1e-7))))
        quick[name] = once < 0.5  # a slow one has swept the caches by itself
        samples[name] = min(101, max(3, round(seconds / (once * repeats[name]))))
    times: dict[str, list[float]] = {name: [] for name in samples}
    for turn in range(max(samples.values(), default=0)):
        for name, count in samples.items():
            if turn < count and name not in errors:
                try:
                    if quick[name]:
                        functions[name]()  # caches and allocator as its own call leaves them, for every side
                    times[name].append(_sample(functions[name], repeats[name], device))
                except Exception as error:  # memory may run out late
                    if name == ours:
                        raise
                    errors[name] = in_a_line(error)
                    forget(device)
    return {
        name: Timing(None, 0, errors[name])
        if name in errors
        else Timing(statistics.median(times[name]), len(times[name]), None, min(times[name]))
        for name in functions
    }


def _warm(function: Callable[[], object], device: torch.device) -> float:
    """Seconds of a call that is not the first; a slow one is not called for long before it is measured."""
    began = time.perf_counter()
    for _ in range(WARMUP):
        once = _wall(function, device)
        if time.perf_counter() - began > 2.0:
            break
    return once


def _wall(function: Callable[[], object], device: torch.device) -> float:
    """Seconds of one call, with whatever it left in the queue."""
    synchronize(device)
    began = time.perf_counter()
    function()
    synchronize(device)
    return time.perf_counter() - began


def _sample(function: Callable[[], object], repeat: int, device: torch.device) -> float:
    """Milliseconds of a call, as a mean over `repeat` of them in a row."""
    if device.type != "cuda":
        began = time.perf_counter()
        for _ in range(repeat):
            function()
        return 1e3 * (time.perf_counter() - began) / repeat
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    synchronize(device)
    begin.record()
    for _ in range(repeat):
        function()
    end.record()
    synchronize(device)
    return begin.elapsed_time(end) / repeat


def median_ms(functions: Mapping[str, Callable[[], object]], rounds: int = 15, warmup: int = 3) -> dict[str, float]:
    """Median milliseconds of each, taken in turn a given number of times, by the clock on the wall."""
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


# ---------------------------------------------------------------------- memory


def peak_bytes(function: Callable[[], object], device: torch.device) -> int:
    """The most that torch held above the start while a function ran, in bytes.

    A function that makes its own inputs has them counted. The first call, which fills what a graph keeps, is not.
    """
    function()
    forget(device)
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        function()
        synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    with _quiet(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        function()
    held = peak = 0
    events = (event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]")
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def peak_mib(function: Callable[[], object]) -> float:
    """Peak of what torch has allocated on the CPU while a function runs, above the start, in MiB."""
    return peak_bytes(function, torch.device("cpu")) / 2**20


def held_bytes(thing: object) -> int:
    """Bytes of all tensors that an object holds, at whatever depth, each storage once."""
    seen: dict[int, int] = {}
    stack, met = [thing], set()
    while stack:
        part = stack.pop()
        if id(part) in met or isinstance(part, (str, bytes, type)):
            continue
        met.add(id(part))
        if isinstance(part, torch.Tensor):
            seen[part.untyped_storage().data_ptr()] = part.untyped_storage().nbytes()
        elif isinstance(part, Mapping):
            stack += part.values()
        elif isinstance(part, (list, tuple, set)):
            stack += part
        elif hasattr(part, "__dict__") and not callable(part):
            stack += vars(part).values()
    return sum(seen.values())


def free_bytes(device: torch.device) -> int:
    """What can still be allocated, or 8 GiB where the machine does not say."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    meminfo = Path("/proc/meminfo")
    found = re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text()) if meminfo.exists() else None
    return 1024 * int(found[1]) if found else 8 * 2**30


def forget(device: torch.device) -> None:
    """Lets go of what is no longer used, so that the next peer starts with all the memory."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


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


# ---------------------------------------------------------------------- the machine


def copy_bandwidth(device: torch.device, size: int | None = None, samples: int = 15) -> float:
    """Bytes per second, read and written, of a copy of `size` bytes (1 GiB on a GPU, 256 MiB on a CPU), at its best.

    It stands for the roof, so the best counts, where everything else is a median.
    """
    size = size or (2**30 if device.type == "cuda" else 2**28)
    source = torch.ones(size // 4, device=device)
    target = torch.empty_like(source)
    _warm(lambda: target.copy_(source), device)
    ms = min(_sample(lambda: target.copy_(source), 5 if device.type == "cuda" else 1, device) for _ in range(samples))
    return 2 * size / (1e-3 * ms)


def cache_bytes(device: torch.device) -> int:
    """The last cache before memory, or 64 MiB where the machine does not say."""
    if device.type == "cuda":
        return getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 64 * 2**20)
    levels = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    sizes = [text.strip() for text in (level.read_text() for level in levels)]
    units = {"K": 2**10, "M": 2**20}
    return max((int(size[:-1]) * units[size[-1]] for size in sizes if size[-1] in units), default=64 * 2**20)


def describe(device: torch.device) -> dict[str, object]:
    """The machine, in words that can be read without it."""
    cpu = {"cpu": cpu_name(), "cores": os.cpu_count(), "threads": torch.get_num_threads()}
    gpu = {"gpu": torch.cuda.get_device_name(device)} if device.type == "cuda" else {}
    versions = {key: _version(name) for key, name in PACKAGES.items()}
    return {
        "device": device.type,
        "load": round(os.getloadavg()[0], 2),  # what others are running: a busy machine measures itself
        **gpu,
        **cpu,
        "python": platform.python_version(),
        **{key: found for key, found in versions.items() if found},
        **({"cuda": torch.version.cuda} if device.type == "cuda" else {}),
        "cache_bytes": cache_bytes(device),
        "copy_bytes_per_s": copy_bandwidth(device),
    }


PACKAGES = {
    "panconv": "panconv",
    "torch": "torch",
    "pyg": "torch_geometric",
    "triton": "triton",
    "cupy": "cupy",
    "scipy": "scipy",
    "numpy": "numpy",
}


def _version(name: str) -> str | None:
    if name == "cupy":  # its wheels are named after the CUDA they are built for
        name = next((f"cupy-cuda{n}x" for n in (13, 12, 11) if _version(f"cupy-cuda{n}x")), "cupy_")
    if name == "panconv":  # which may be sources that nobody installed
        return panconv.__version__
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return found[1].strip() if found else platform.processor() or platform.machine()


def slug(machine: Mapping[str, object]) -> str:
    """A folder's name for a machine."""
    words = str(machine["gpu"]) if "gpu" in machine else f"{machine['cpu']} {machine['threads']} threads"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def in_a_line(error: BaseException) -> str:
    """An error as one short line."""
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return "out of memory"
    return words if len(words) <= 120 else words[:117] + "…"


def machine() -> str:
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"
