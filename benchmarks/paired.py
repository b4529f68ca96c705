"""Who is ahead of whom on the same splits: the tables of benchmarks/estimators.py, made of its records."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

BEHIND = 2.0  # standard errors from which on somebody is behind
ENOUGH = 5  # splits, or a standard error says too little


class Row(NamedTuple):
    """A contestant on a graph."""

    who: str
    splits: int
    mean: float  # percent
    std: float
    ahead: float  # how far ours is ahead, over the splits that both have; NaN of ours
    error: float  # its standard error
    seconds: float  # of CPU, the median of a fit
    ratio: float  # to ours
    pairs: int  # how many splits both have

    @property
    def behind(self) -> bool:
        """Whether ours is clearly behind this one."""
        return self.pairs >= ENOUGH and self.ahead < -BEHIND * self.error


def rows(records: Iterable[dict[str, Any]], ours: str) -> list[Row]:
    """A row per contestant of one graph, best first; records without a score are left out."""
    scores: dict[str, dict[int, float]] = {}
    seconds: dict[str, list[float]] = {}
    for each in records:
        if each.get("score") is not None:
            scores.setdefault(each["who"], {})[each["split"]] = each["score"]
            seconds.setdefault(each["who"], []).append(each["seconds"])
    own = scores.get(ours, {})
    base = statistics.median(seconds[ours]) if own else math.nan
    found = []
    for who, by_split in scores.items():
        values, median = list(by_split.values()), statistics.median(seconds[who])
        both = [own[s] - by_split[s] for s in by_split if s in own and who != ours]
        spread = statistics.fmean(values), _std(values), *_paired(both)
        found.append(Row(who, len(values), *spread, median, median / base, len(both)))
    return sorted(found, key=lambda row: -row.mean)


def _paired(differences: list[float]) -> tuple[float, float]:
    """Mean and standard error."""
    if not differences:
        return math.nan, math.nan
    return statistics.fmean(differences), _std(differences) / math.sqrt(len(differences))


def _short(number: float) -> str:
    """Two digits, or all there are before the point; nothing of NaN."""
    if math.isnan(number):
        return ""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def _std(values: list[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else math.nan


def shown(value: float) -> str:
    return "?" if math.isnan(value) else f"{value:.1f}"


def table(graph: str, found: list[Row], ours: str) -> Iterator[str]:
    """Markdown, and the verdict: ours beside whoever it is least ahead of."""
    short = ours.split(" (")[0]
    yield f"| {graph} | splits | % | {short} ahead by | CPU s per fit | × {short} |"
    yield "|---|---|---|---|---|---|"
    for row in found:
        ahead = "" if math.isnan(row.ahead) else f"{row.ahead:+.1f} ± {shown(row.error)}"
        who = f"**{row.who}**" if row.who == ours else row.who
        seconds, ratio = _short(row.seconds), _short(row.ratio)
        yield f"| {who} | {row.splits} | {row.mean:.1f} ± {shown(row.std)} | {ahead} | {seconds} | {ratio} |"
    others = [row for row in found if not math.isnan(row.error)]  # of one split nothing can be said
    if others:
        best = min(others, key=lambda row: row.ahead)
        behind = [row.who for row in others if row.behind]
        word = f"clearly behind {', '.join(behind)}" if behind else "clearly behind nobody"
        word = word if best.pairs >= ENOUGH else "too few splits to say more"
        told = f"{best.ahead:+.2f} ± {best.error:.2f} points over {best.pairs} splits"
        yield f"\n{graph}: {short} less {best.who}, the best other: {told}; {word}"


def as_json(found: list[Row]) -> list[dict[str, Any]]:
    """Flat, with null for what is not known."""
    return [{name: None if value != value else value for name, value in row._asdict().items()} for row in found]
