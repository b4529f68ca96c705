"""A case of the campaign: a pure function of its seed and its index, so that one line brings it back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from campaign.levels import DIFFERENTIABLE, OVER_Z, Levels, Pair, draw
from campaign.topology import edge_weights, edges_of
from panconv.met.reference.problem import Array, Problem

LD = np.longdouble
MANTISSA = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
QUANTUM = {
    "float64": -1074,
    "float32": -149,
    "float16": -24,
    "bfloat16": -133,
}  # 2^ it is the smallest number


@dataclass(frozen=True)
class Case:
    """A problem, and how panconv is handed it."""

    seed: int
    index: int
    levels: Levels
    refused: Pair | None  # the pair of levels for which it must be refused
    problem: Problem
    container: str
    given: str  # path weights as a "float64" or "float32" tensor, or as Python "numbers"
    memory: str | None
    transposed: bool = False  # whether derivatives are taken of <Mᵀg, x> in place of <g, Mx>

    @property
    def replay(self) -> str:
        return f"make fuzz REPLAY={self.seed}:{self.index}"

    @property
    def signed(self) -> bool:
        """Whether numbers may cancel in it."""
        edge, path = self.problem.edge_weight, self.problem.weights
        minus = self.problem.kind == "free" or (self.problem.kind == "fixed" and bool((path < 0).any()))
        return minus or (edge is not None and bool((edge < 0).any()))

    def with_problem(self, **changes: object) -> Case:
        return replace(self, problem=replace(self.problem, **changes))  # type: ignore[arg-type]


def case(seed: int, index: int) -> Case:
    """The case of an index."""
    rng = np.random.default_rng([seed, index])
    levels, refused = _drawn(rng)
    edges, N = edges_of(rng, levels)
    edge_weight = edge_weights(rng, levels, edges, N)
    L, kind = int(levels["L"]), levels["weights"].split(",")[0]
    method, S = int(levels["method"]), 2 if levels["trials"] == "S" else None
    x = features(rng, levels, (N, *([] if S is None else [S]), int(rng.integers(1, 3))))
    given = levels["given as"]
    alpha = float(rng.choice([1.0, 1.0, 2.0, 1.5])) if kind == "power-law" else 1.0
    if levels["family"] == "effective" and (L > 7 or levels["quantity"] in ("dedge", "double")):
        alpha = 1.0  # by levels of length no gradient reaches the edges, and no graph is this small
    T = temperature(rng, levels)
    problem = Problem(
        edges=edges,
        edge_weight=edge_weight,
        edge_dtype=None if edge_weight is None else levels["edge dtype"],
        num_nodes=N,
        duplicates="one" if levels["edge weights"] == "none" else "add",
        family=levels["family"],
        width=width(rng, edge_weight) if levels["family"] == "effective" and alpha != 1 else None,
        L=L,
        method=method,
        kind=kind,
        weights=path_weights(rng, levels, L, S, T, given, growth(edges, edge_weight, N)),
        temperature=float(T) if kind == "boltzmann" else 1.0,
        alpha=alpha,
        dtype=levels["dtype"],
        x=x,
        quantity=levels["quantity"],
        g=rounded(rng.standard_normal(x.shape), levels["dtype"]),
    )
    problem = replace(problem, directions=directions(rng, problem, levels["container"]))
    memory = None if levels["memory"] == "None" else levels["memory"]
    transposed = levels["dtype"] in ("float64", "float32") and rng.random() < 0.4
    return Case(seed, index, levels, refused, problem, levels["container"], given, memory, transposed)


def levels_of(seed: int, index: int) -> Levels:
    """The levels of the case of an index, without the case."""
    return _drawn(np.random.default_rng([seed, index]))[0]


def _drawn(rng: np.random.Generator) -> tuple[Levels, Pair | None]:
    return draw(iter(rng.random(200).tolist()).__next__)


def rounded(values: Array, dtype: str) -> Array:
    """The nearest numbers that a dtype holds (its largest not looked at), in 80 bits."""
    values = np.asarray(values, LD)
    quantum = np.maximum(np.frexp(values)[1] - MANTISSA[dtype], QUANTUM[dtype])  # below the normal numbers it is fixed
    return np.ldexp(np.rint(np.ldexp(values, -quantum)), quantum)


def features(rng: np.random.Generator, levels: Levels, shape: tuple[int, ...]) -> Array:
    """Features of the size that the level names; of float16, which holds 6e-5 to 65504, of 1000 and 0.01."""
    level, half = levels["features"], levels["dtype"] == "float16"
    x = rng.standard_normal(shape)
    if level == "1e20":
        x = x * (1e3 if half else 1e20)
    elif level == "1e-20":
        x = x * (1e-2 if half else 1e-20)
    elif level == "mixed":
        x = x * 10.0 ** rng.uniform(*((-2, 3) if half else (-15, 15)), shape)
    return rounded(x, levels["dtype"])


def temperature(rng: np.random.Generator, levels: Levels) -> float:
    return {"T = 1e-6": 1e-6, "T = 1e6": 1e6}.get(levels["energies"]) or float(rng.uniform(0.5, 2))


def growth(edges: Array, edge_weight: Array | None, N: int) -> float:
    """The largest sum of magnitudes of a row: D_n grows at most like its n-th power."""
    size = np.ones(edges.shape[1]) if edge_weight is None else abs(edge_weight)
    return float(max(1.0, np.bincount(edges[1], size, N).max(initial=0)))


def path_weights(
    rng: np.random.Generator, levels: Levels, L: int, S: int | None, T: float, given: str, grows: float
) -> Array:
    """k(n), E(n) or log T, exactly as they are to be stored."""
    shape = (L + 1,) if S is None else (L + 1, S)
    level = levels["weights"]
    if level == "power-law":
        spread = np.ones(shape[1:]) if S is None else rng.uniform(0.5, 2, shape[1:])
        return np.asarray(rounded(np.log(LD(T) * spread), "float32" if given == "float32" else "float64"))
    if level == "boltzmann":
        values = energies(rng, levels, shape, T)
    elif level == "fixed":
        values = rng.uniform(0.1, 1, shape) * (rng.random(shape) > 0.1)
    else:
        values = rng.uniform(-1, 1, shape)
        if level == "fixed, negative" and rng.random() < 0.7:  # small beside the rest, so that Z stays positive
            values = np.where(rng.random(shape) < 0.3, -0.1, 1.0) * rng.uniform(0.5, 1, shape)
            values[0] = abs(values[0]) + 1
            values = values * (0.5 / (1 + grows)) ** np.minimum(np.arange(L + 1), 60).reshape(
                -1, *[1] * (S is not None)
            )
    return rounded(values, "float32" if given == "float32" else "float64")


def energies(rng: np.random.Generator, levels: Levels, shape: tuple[int, ...], T: float) -> Array:
    level, E = levels["energies"], rng.uniform(-2, 2, shape)
    over_Z = levels["method"] in OVER_Z
    if level in ("T = 1e-6", "T = 1e6") and (rng.random() < 0.5 or (level == "T = 1e-6" and not over_Z)):
        return E * T  # without Z, exp(−E/T) would leave the range
    if level == "offset":
        E = E + 10 ** rng.uniform(3, 6) * rng.choice([-1, 1])
    if level == "gap":
        E[0] = E[1:].max(0) + T * rng.uniform(89, 300)
        E = E if over_Z else E - E.min()
    return E


def width(rng: np.random.Generator, edge_weight: Array | None) -> float | None:
    """The grid of effective lengths: none, one of a few steps per edge, or one far too fine."""
    longest = 1.0 if edge_weight is None or not edge_weight.size else float((1 / abs(edge_weight).clip(1e-30)).max())
    return [None, None, longest / 4, longest / 4, 1e-19][int(rng.integers(5))]


def directions(rng: np.random.Generator, problem: Problem, container: str) -> tuple[tuple[str, Array], ...]:
    """One direction for a first derivative, two for a second: a coordinate, or all of them."""
    quantity = problem.quantity
    if quantity in ("dw", "dedge"):
        names: list[str] = ["w" if quantity == "dw" else "edge"]
    elif quantity == "double":
        inputs = ["x"] + ["w"] * (problem.kind not in ("fixed",))
        weighted = problem.edge_weight is not None and problem.edges.shape[1] > 0
        inputs += ["edge"] * (container in DIFFERENTIABLE and weighted and problem.alpha == 1)
        without = (
            {("x", "x")} if container.startswith("edge_index") else {("x", "x"), ("edge", "edge")}
        )  # torch's own COO has none
        pairs = [(a, b) for i, a in enumerate(inputs) for b in inputs[i:] if (a, b) not in without]
        names = list(pairs[int(rng.integers(len(pairs)))]) if pairs else []
    else:
        return ()
    return tuple((name, _direction(rng, name, problem)) for name in names)


def _direction(rng: np.random.Generator, name: str, problem: Problem) -> Array:
    like = {"x": problem.x, "w": problem.weights, "edge": problem.edge_weight}[name]
    assert like is not None
    shape = like.shape
    if rng.random() < 0.5 and like.size:
        d = np.zeros(like.size)
        d[int(rng.integers(like.size))] = 1
        return np.asarray(d.reshape(shape), LD)
    return rounded(rng.standard_normal(shape), "bfloat16")
