"""What every benchmark is given, and how its records are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from goals import goal_for
from measure import OURS, Timing, in_a_line
from torch import Tensor

Record = dict[str, object]
"""One measurement, flat: benchmark, graph, nodes, entries, who, ms, ratio, goal, met, error, and what it varies."""


@dataclass(frozen=True)
class Setup:
    """The machine and how long to take."""

    device: torch.device
    bandwidth: float  # bytes per second of a copy
    cache: int  # bytes
    quick: bool = False

    @property
    def seconds(self) -> float:
        """About how long to measure one function."""
        return 0.02 if self.quick else 0.5

    @property
    def on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def pick(self, *, quick: object, cpu: object, cuda: object) -> object:
        return quick if self.quick else cuda if self.on_gpu else cpu


def family(who: str) -> str:
    """A peer without the variant in brackets."""
    return who.split(" (")[0]


def compared(timings: Mapping[str, Timing], common: Record, setup: Setup) -> Iterator[Record]:
    """A record for ours and each peer: its ratio to ours, and the goal beside the faster variant of each peer."""
    ours = timings[OURS].ms
    assert ours is not None
    best: dict[str, str] = {}
    for who, timing in timings.items():
        other = timings.get(best.get(family(who), ""), Timing(None)).ms
        if other is None or (timing.ms is not None and timing.ms < other):
            best[family(who)] = who
    for who, timing in timings.items():
        record = {**common, "who": who, "ms": timing.ms, "best_ms": timing.best, "samples": timing.samples}
        record["error"] = timing.error
        if who != OURS:
            ratio = None if timing.ms is None else timing.ms / ours
            record["ratio"] = ratio
            goal = goal_for(common, family(who), setup.device.type) if best[family(who)] == who else None
            if goal is not None and not setup.quick:
                record["goal"], record["met"] = goal, None if ratio is None else ratio >= goal
        yield record


def prepared(
    makers: Mapping[str, Callable[[], Callable[[], object]]],
) -> tuple[dict[str, Callable[[], object]], dict[str, str]]:
    """What each peer made, and the errors of those that could not."""
    tried = {who: _tried(make) for who, make in makers.items()}
    made = {who: found for who, found in tried.items() if not isinstance(found, str)}
    return made, {who: found for who, found in tried.items() if isinstance(found, str)}


def _tried(make: Callable[[], Callable[[], object]]) -> Callable[[], object] | str:
    try:
        return make()
    except Exception as error:
        return in_a_line(error)


def checked(record: Record, results: Iterable[Tensor], reference: Iterable[Tensor]) -> Record:
    """The record with how far a peer's results are from ours; a peer that computes something else is no peer."""
    found = max(map(difference, results, reference))
    if found <= TOLERANCE[str(record["dtype"])]:
        return {**record, "difference": found}
    nothing = {"ms": None, "ratio": None} | ({"met": None} if "met" in record else {})
    return {**record, **nothing, "error": f"another result: off by {found:.1g} of the largest value"}


def difference(result: Tensor, reference: Tensor) -> float:
    """max |y − y₀| / max |y₀|; infinite where either is not a number."""
    reference = reference.detach().double()
    found = float((result.detach().double() - reference).abs().max() / reference.abs().max().clamp(min=1e-300))
    return found if math.isfinite(found) else math.inf


TOLERANCE = {"float32": 1e-4, "bfloat16": 6e-2}  # of the largest value: sums in another order, rounded once or often
