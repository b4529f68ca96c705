"""Numbers that carry their derivatives, and how much was cancelled on the way to them.

A `Number` is v + v₁ε₁ + v₂ε₂ + v₁₂ε₁ε₂ with ε₁² = ε₂² = 0: its parts are the value, the derivatives along two
directions, and the mixed second derivative along both. Parts are keyed by the bits of their ε: 0, 1, 2, 3; one that is
0 is left out. Each part is an array [v, b] or [v, b, r] of 80-bit floats:

    v  the value
    b  the value it would have were every cancellation an addition: Σ → Σb, product → b·b'
    r  to first order, what it inherits from inexact arguments of powers and exponentials; left out where it is 0:
       Σ → Σr, product → b·r' + r·b'

Its magnitude is m = b + r. An exact input has b = |v|, r = 0. With an argument (v, m),

    v^p     has b = |v|^p  and r = |p|·(m/|v| − 1)·b
    exp(v)  has b = exp(v) and r = m·b

and so have their derivatives p·v^(p−1) … and exp(v). The rounding error of anything computed in steps of relative
accuracy ε is of the order of ε·m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LD = np.longdouble


class Number:
    """An array of hyper-dual numbers with magnitudes. Two that are combined must have as many dimensions."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[int, Array]) -> None:
        self.parts = parts

    @classmethod
    def exact(cls, value: Array, directions: Mapping[int, Array] | None = None) -> Number:
        """An input that nothing was rounded for, and its directions by their bit."""
        given = {0: value, **(directions or {})}
        return cls({bit: np.stack([v := np.asarray(part, LD), abs(v)]) for bit, part in given.items()})

    def value(self, bits: int = 0) -> Array:
        return self.parts[bits][0] if bits in self.parts else np.zeros_like(self.parts[0][0])

    def uncancelled(self) -> Array:
        """b of the value."""
        return self.parts[0][1]

    def magnitude(self, bits: int = 0) -> Array:
        """m = b + r."""
        return self.parts[bits][1:].sum(0) if bits in self.parts else np.zeros_like(self.parts[0][0])

    def size(self) -> Array:
        """The magnitudes of all parts together: 0 only where each part is."""
        return sum((part[1:].sum(0) for part in self.parts.values()), np.zeros((), LD))

    def linear(self, f: Callable[[Array], Array]) -> Number:
        """A reshaping, a choice or a sum of entries, which sees the axes from the last."""
        return Number({bits: f(part) for bits, part in self.parts.items()})

    def scaled(self, c: Any) -> Number:
        """Times exact constants."""
        c = np.asarray(c, LD)
        return self.linear(lambda part: np.concatenate([part[:1] * c, part[1:] * abs(c)]))

    def sum(self, axis: int) -> Number:
        return self.linear(lambda part: part.sum(axis))

    def __getitem__(self, index: Any) -> Number:
        """Entries by an index into the number's own axes."""
        at = (slice(None), *(index if isinstance(index, tuple) else (index,)))
        return self.linear(lambda part: part[at])

    def __add__(self, other: Number) -> Number:
        return Number(_gathered([*self.parts.items(), *other.parts.items()]))

    def __mul__(self, other: Number) -> Number:
        return self._product(other, np.multiply)

    def __matmul__(self, other: Number) -> Number:
        return self._product(other, np.matmul)

    def _product(self, other: Number, by: Any) -> Number:
        pairs = ((a, b) for a in self.parts for b in other.parts if not a & b)
        return Number(_gathered((a | b, _times(self.parts[a], other.parts[b], by)) for a, b in pairs))

    def power(self, p: float) -> Number:
        """v^p; 1/0 is 0, and does not vary, where nothing was added up (b = 0)."""
        v, alive = self.value(), self.uncancelled() > 0
        v = np.where(alive, v, 1)
        inexact = np.where(alive, self.magnitude() / abs(v) - 1, 0)
        root = 1 / v if p == -1 else 1 / np.sqrt(v) if p == -0.5 else v**p

        def derivative(order: int) -> Array:
            c = [1.0, p, p * (p - 1)][order]
            f = np.where(alive, c * root / v**order, 0)
            return _part(f, abs(p - order) * inexact)

        return self._chained(derivative)

    def exp(self) -> tuple[Number, Array]:
        """exp(v) as a number and the whole exponent of 2 that goes with it, so that nothing over- or underflows."""
        v = self.value()
        exponent = np.rint(v / np.log(LD(2))).clip(-1e15, 1e15)
        f = _part(np.exp((v - exponent * np.log(LD(2))).clip(-1, 1)), self.magnitude())
        return self._chained(lambda order: f), exponent.astype(np.int64)

    def _chained(self, derivative: Callable[[int], Array]) -> Number:
        """f of the number, from f, f' and f'' at its value."""
        parts = [(0, derivative(0))]
        given = {bits: part for bits, part in self.parts.items() if bits}
        if given:
            first = derivative(1)
            parts += [(bits, _times(first, part, np.multiply)) for bits, part in given.items()]
        if 1 in given and 2 in given:
            parts.append((3, _times(derivative(2), _times(given[1], given[2], np.multiply), np.multiply)))
        return Number(_gathered(parts))


def joined(numbers: list[Number], axis: int) -> Number:
    """Numbers one behind the other along an axis that is counted from the last."""
    every = {bits for number in numbers for bits in number.parts}
    rows = max(len(part) for number in numbers for part in number.parts.values())

    def part_of(number: Number, bits: int) -> Array:
        part = number.parts.get(bits)
        if part is not None and len(part) == rows:
            return part
        whole = np.zeros((rows, *number.parts[0].shape[1:]), LD)
        if part is not None:
            whole[: len(part)] = part
        return whole

    return Number({bits: np.concatenate([part_of(number, bits) for number in numbers], axis) for bits in every})


def power_of_2(exponent: Array) -> Array:
    """2^exponent, 0 below the range; kept finite above it, where it only meets zeros or is out of every range."""
    return np.ldexp(LD(1), np.clip(exponent, -20_000, 12_000).astype(np.int32))


def exponents(size: Array) -> Array:
    """The e with 2^(e−1) ≤ size < 2^e."""
    return np.frexp(size)[1].astype(np.int64)


def _part(v: Array, inexact: Array) -> Array:
    """[v, b, r] of a result whose relative inexactness is known."""
    b = abs(v)
    return np.stack([v, b, b * inexact]) if inexact.any() else np.stack([v, b])


def _times(a: Array, b: Array, by: Any) -> Array:
    product = by(a[:2], b[:2])
    if len(a) == len(b) == 2:
        return product
    r = [by(a[1], b[2])] if len(b) == 3 else []
    r += [by(a[2], b[1])] if len(a) == 3 else []
    return np.concatenate([product, sum(r)[None]])


def _gathered(parts: Iterable[tuple[int, Array]]) -> dict[int, Array]:
    """Parts with the same bits added up."""
    total: dict[int, Array] = {}
    for bits, part in parts:
        if bits not in total:
            total[bits] = part
        elif len(total[bits]) == len(part):
            total[bits] = total[bits] + part
        else:
            short, long = sorted((total[bits], part), key=len)
            total[bits] = np.concatenate([short + long[:2], long[2:] + np.zeros_like(short[:1])])
    return total
