"""What a search draws settings from: what each name may be, drawn from a seed, the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from panconv.base.checks import as_number, checked_count, kind_of, shown
from panconv.base.near import meant

_NEAR = 1 / 8  # of a range
_DIGITS = 3  # significant ones of a number that is drawn: a record is read by people


@dataclass(frozen=True)
class Choice:
    """One of some values, all alike; a value that is a `Choice` or a `Range` is drawn from in turn."""

    values: Sequence[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.values, (list, tuple)) or not self.values:
            raise ValueError(f"values must be a list of what may be chosen, at least one, got {shown(self.values)}")

    def draw(self, random: Random) -> Any:
        return drawn(self.values[int(random.random() * len(self.values))], random)


@dataclass(frozen=True)
class Range:
    """A number between two, both included; a whole one where both are whole, and with `log` evenly on that scale."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        low, high = as_number(self.low), as_number(self.high)
        sound = low is not None and high is not None and math.isfinite(low) and math.isfinite(high) and low <= high
        if not sound or (self.log and not self.low > 0):
            least = " and above 0" if self.log else ""
            raise ValueError(f"low and high must be rising{least}, got {shown(self.low)} and {shown(self.high)}")

    def draw(self, random: Random) -> Any:
        share, whole = random.random(), isinstance(self.low, int) and isinstance(self.high, int)
        low, high = (self.low - 0.5, self.high + 0.5) if whole else (self.low, self.high)
        found = low * (high / low) ** share if self.log else low + (high - low) * share
        found = round(found) if whole else float(f"{found:.{_DIGITS}g}")
        return min(max(found, self.low), self.high)

    def around(self, value: float) -> Range:
        """An eighth of the range to either side of a value, on its scale; of whole numbers at least 1."""
        value = min(max(value, self.low), self.high)
        if self.log:
            factor = (self.high / self.low) ** _NEAR
            return Range(max(self.low, value / factor), min(self.high, value * factor), log=True)
        width = _NEAR * (self.high - self.low)
        width = max(1, round(width)) if isinstance(self.low, int) and isinstance(self.high, int) else width
        return Range(max(self.low, value - width), min(self.high, value + width))


def drawn(values: Any, random: Random) -> Any:
    """One value of what a space has under a name: a fixed one is itself."""
    return values.draw(random) if isinstance(values, (Choice, Range)) else values


@dataclass(frozen=True)
class Space:
    """What settings may be.

    Args:
        values: by name a `Choice`, a `Range`, or a fixed value. A tuple of names has values that are drawn together,
            tuples as long.
        points: settings with a value for every name, members of the space as good as any that is drawn.
        either: further values, for settings that only make sense together, such as a norm and the steps that suit it:
            the first group of settings has those of the first, the second group those of the second, and so on, and
            after the last it starts again.
        group: how many settings in a row share what cannot differ side by side, so that they train side by side.
    """

    values: Mapping[Any, Any]
    points: tuple[dict[str, Any], ...] = ()
    either: tuple[Mapping[Any, Any], ...] = ()
    group: int = 8

    def __post_init__(self) -> None:
        checked_count(self.group, "group")
        for values in (self.values, *self.either):
            for name, of in values.items():
                if isinstance(name, tuple):
                    _check_together(name, of)

    def one_of_each(self) -> list[int]:
        """The places of the points, and of the first setting with each of `either`."""
        points = len(self.points)
        return [*range(points), *(points + self.group * i for i in range(max(1, len(self.either))))]

    def next_group(self, place: int) -> int:
        """The first place after one that begins a group; a point stands for itself."""
        after, points = place + 1, len(self.points)
        return after if after <= points else points + math.ceil((after - points) / self.group) * self.group

    def with_values(self, **changes: Any) -> Space:
        """The space where some names have these values; its points have them too, but where they are a choice."""
        fixed = {name: value for name, value in changes.items() if not isinstance(value, (Choice, Range))}
        points = tuple({**point, **fixed} for point in self.points)
        either = tuple({name: each[name] for name in each if name not in changes} for each in self.either)
        return replace(self, values={**self.values, **changes}, points=points, either=either)

    def settings(self, places: Iterable[int], seed: int, vectors: Collection[str]) -> list[dict[str, Any]]:
        """The settings at some places of an endless list: the points, and behind them those that are drawn.

        Args:
            places: from 0.
            seed: of the list.
            vectors: names that may differ side by side. All others are drawn once for a group of settings; where there
                are no such names, all are drawn anew for each.
        """
        points = len(self.points)
        return [self.points[i] if i < points else self._drawn(i - points, seed, vectors) for i in places]

    def near(
        self, parents: Sequence[dict[str, Any]], count: int, seed: int, vectors: Collection[str]
    ) -> list[dict[str, Any]]:
        """Settings near some others, which are parents in turn. Of what may differ side by side, half of the numbers
        are drawn anew around the parent's, and a quarter of the other choices."""
        return [self._near(parents[i % len(parents)], Random(f"{seed} near {i}"), vectors) for i in range(count)]

    def _near(self, parent: dict[str, Any], random: Random, vectors: Collection[str]) -> dict[str, Any]:
        found = dict(parent)
        for name, values in {**self.values, **self._kind(parent)}.items():
            if not isinstance(name, str) or (vectors and name not in vectors):
                continue
            again = random.random()
            if isinstance(values, Range) and again < 1 / 2:
                found[name] = values.around(parent[name]).draw(random)
            elif isinstance(values, Choice) and again < 1 / 4:
                found[name] = values.draw(random)
        return found

    def _kind(self, settings: dict[str, Any]) -> Mapping[Any, Any]:
        """That of `either` which some settings are of."""
        fixed = ([pair for pair in each.items() if not isinstance(pair[1], (Choice, Range))] for each in self.either)
        fits = (all(settings.get(name) == value for name, value in pairs) for pairs in fixed)
        return next((each for each, fit in zip(self.either, fits, strict=True) if fit), {})

    def _drawn(self, place: int, seed: int, vectors: Collection[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        group = place // self.group
        among = self.either[group % len(self.either)] if self.either else {}
        for name, values in {**self.values, **among}.items():
            names = name if isinstance(name, tuple) else (name,)
            own = not vectors or all(each in vectors for each in names)
            # A stream per name: a name that is added changes none of the others. Texts seed alike everywhere.
            random = Random(f"{seed} {' '.join(names)} {place if own else f'group {group}'}")
            value = drawn(values, random)
            found |= dict(zip(names, value if isinstance(name, tuple) else (value,), strict=True))
        return found


def _check_together(names: tuple[str, ...], values: Any) -> None:
    """Refuses values of names that are drawn together, where one of them is not a value for each name."""
    for value in _members(values):
        if not isinstance(value, (list, tuple)) or len(value) != len(names):
            raise ValueError(
                f"the values of {shown(names)} must be tuples of {len(names)}, one for each name, got {shown(value)}"
            )


def _members(values: Any) -> Iterator[Any]:
    """All that may be drawn; a range as itself."""
    for value in values.values if isinstance(values, Choice) else (values,):
        if isinstance(value, Choice):
            yield from _members(value)
        else:
            yield value


def checked_space(space: Any, known: Mapping[str, Space]) -> Space:
    """A space from its name, or from the values themselves."""
    if isinstance(space, str):
        if space not in known:
            among = f"{', '.join(known) or 'none'}, or a dict"
            raise ValueError(f"space must be one of {among}, got {shown(space)}{meant(space, known)}")
        return known[space]
    if isinstance(space, Mapping):
        return Space(space)
    if not isinstance(space, Space):
        raise TypeError(f"space must be the name of one, a dict or a Space, got {kind_of(space)}")
    return space
