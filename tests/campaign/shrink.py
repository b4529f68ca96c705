"""A failing case made as small as it can be while it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from campaign.cases import LD, Case
from panconv.met.reference.problem import Array, Problem

Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails, most: int = 400) -> Case:
    """The smallest case found within a number of tries."""
    tries = 0
    progress = True
    while progress:
        progress = False
        for problem in smaller(case.problem):
            tries += 1
            if tries > most:
                return case
            other = replace(case, problem=problem)
            if _still(other, fails):
                case, progress = other, True
                break
    return case


def _still(case: Case, fails: Fails) -> bool:
    try:
        return fails(case)
    except Exception:
        return False


def smaller(p: Problem) -> Iterator[Problem]:
    """Problems a step smaller: lengths, edges, nodes, features and trials less, then rounder numbers."""
    for L in sorted({0, p.L // 2, p.L - 1} - {p.L}):
        if 0 <= L < p.L:
            yield _shorter(p, L)
    for e in range(p.edges.shape[1]):
        yield _without_edge(p, e)
    for node in reversed(range(p.num_nodes)):
        if not (p.edges == node).any() and p.num_nodes > 1:
            yield _without_node(p, node)
    if p.x.shape[-1] > 1:
        for keep in (slice(0, 1), slice(1, None)):
            yield _of_x(p, lambda a, keep=keep: a[..., keep])  # type: ignore[misc]
    if p.x.ndim == 3:
        for s in range(p.x.shape[1]):
            yield _trial(p, s)
    yield from _rounder(p)


def _of_x(p: Problem, change: Callable[[Array], Array]) -> Problem:
    directions = tuple((name, change(d) if name == "x" else d) for name, d in p.directions)
    return replace(p, x=change(p.x), g=None if p.g is None else change(p.g), directions=directions)


def _shorter(p: Problem, L: int) -> Problem:
    if p.kind == "power-law":
        return replace(p, L=L)
    directions = tuple((name, d[: L + 1] if name == "w" else d) for name, d in p.directions)
    return replace(p, L=L, weights=p.weights[: L + 1], directions=directions)


def _without_edge(p: Problem, e: int) -> Problem:
    directions = tuple((name, np.delete(d, e) if name == "edge" else d) for name, d in p.directions)
    weight = None if p.edge_weight is None else np.delete(p.edge_weight, e)
    return replace(p, edges=np.delete(p.edges, e, 1), edge_weight=weight, directions=directions)


def _without_node(p: Problem, node: int) -> Problem:
    fewer = replace(p, edges=p.edges - (p.edges > node), num_nodes=p.num_nodes - 1)
    return _of_x(fewer, lambda a: np.delete(a, node, 0))


def _trial(p: Problem, s: int) -> Problem:
    directions = tuple((name, d[..., s] if name == "w" else d) for name, d in p.directions)
    one = replace(p, weights=np.asarray(p.weights[..., s]), directions=directions)
    return _of_x(one, lambda a: a[:, s])


def _rounder(p: Problem) -> Iterator[Problem]:
    """The same with ones, whole numbers, or one digit, for one of its arrays at a time."""
    for change in (np.ones_like, np.rint, _one_digit):
        for name in ("x", "g", "weights", "edge_weight"):
            old = getattr(p, name)
            if old is None or not old.size or (name == "weights" and change is np.ones_like):
                continue
            new = np.asarray(change(old), LD if name != "edge_weight" else np.float64)
            if not np.array_equal(new, old) and np.isfinite(new).all():
                yield replace(p, **{name: new})


def _one_digit(values: Array) -> Array:
    """Two bits of each number: whatever its size, every dtype holds it."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(mantissa * 4) / 4, exponent)


def described(case: Case) -> str:
    """A case in a line that can be read, and typed again."""
    p = case.problem
    parts = [f"method {p.method}", f"{p.family}", f"L = {p.L}", f"{case.container}", f"N = {p.num_nodes}"]
    parts.append(f"edges {p.edges.tolist()}")
    if p.edge_weight is not None:
        parts.append(f"edge_weight {p.edge_weight.tolist()} ({p.edge_dtype})")
    parts.append(f"{p.kind} {_list(p.weights)} as {case.given}")
    if p.kind == "boltzmann":
        parts.append(f"T = {p.temperature:g}")
    if p.kind == "power-law":
        parts.append(f"alpha = {p.alpha:g}, width = {p.width}")
    parts.append(f"{p.quantity} of {p.dtype} x {_list(p.x)}")
    if p.quantity in ("dx", "dw", "dedge", "double"):
        parts.append(f"g {_list(p.g)}")
    parts += [f"along {name} {_list(d)}" for name, d in p.directions]
    parts += ["of <Mᵀg, x>"] * (case.transposed and bool(p.directions))
    return "; ".join(parts + [f"memory {case.memory}"] * (case.memory is not None))


def _list(values: Array | None) -> str:
    text = str(np.asarray(values, np.float64).tolist())
    return text if len(text) < 400 else text[:400] + "…"
