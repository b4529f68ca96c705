"""Laws that hold whatever the numbers are, each between two things that panconv computes itself.

A law takes a case and returns the ways in which it is broken, or None where it says nothing about the case. Two values
agree if they differ by no more than both bounds together, each within its bound of the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from campaign import check, oracle
from campaign.cases import LD, Case
from campaign.subject import Subject
from panconv.met import reference
from panconv.met.reference.problem import Array, Problem
from panconv.met.reference.transition import METHODS, base_of, operator_of

Law = Callable[[Case, str], "str | bool | None"]


def agrees(problem: Problem, a: Array, b: Array, times: float = 2.0) -> str | bool | None:
    """Whether two values of a problem agree; None where it is ill-conditioned, or out of range everywhere."""
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    found = reference.answer(problem)
    a, b, bound = np.atleast_1d(a, b, check.bound_of(problem, found))
    if check.is_ill(problem, found) or not np.isfinite(bound).any():
        return None
    with np.errstate(all="ignore"):
        off = (abs(a - b) > times * bound) & np.isfinite(bound)
    if not (off | (np.isnan(a) != np.isnan(b))).any():
        return True
    at = tuple(int(i[0]) for i in np.nonzero(off | np.isnan(a) | np.isnan(b)))
    return f"at {at}: {float(a[at]):.10g} and {float(b[at]):.10g}"


def scaling(case: Case, device: str) -> str | bool | None:
    """M (2^k x) = 2^k (M x), to the last bit where nothing leaves the range.

    On a GPU paths that are formed anew each time have their weights added in any order.
    """
    p = case.problem
    if p.quantity not in ("M", "M.T", "dw", "dedge") or p.dtype in ("float16", "bfloat16"):
        return None
    y = _value(case, device)
    z = _value(case.with_problem(x=p.x * 16), device)
    ordered = device == "cpu" or p.family == "walks"
    size = abs(p.x[p.x != 0])
    in_range = bool((size < 1e16).all() and (size > 1e-16).all())
    return agrees(p, y, z / 16, 1e-3 if ordered and in_range else 2)


def offset(case: Case, device: str) -> str | bool | None:
    """A common offset of the energies changes nothing where Z divides it out."""
    p = case.problem
    if p.kind != "boltzmann" or METHODS[p.method][2] is None:
        return None
    grid = LD(2.0) ** -8  # an offset that adds without rounding
    size = float(abs(p.weights).max())
    if size > 1e3 or p.temperature < 1e-3:
        return None
    p = replace(p, weights=np.rint(p.weights / grid) * grid)
    moved = replace(p, weights=p.weights + 512)
    return agrees(p, _value(replace(case, problem=p), device), _value(replace(case, problem=moved), device))


def row_sums(case: Case, device: str) -> str | bool | None:
    """M·1 is 1 for methods 1, 7, 10, 11 where anything arrives, and for methods 3, 4, 8 Σ wₙ over what does."""
    p = case.problem
    if p.method not in (1, 3, 4, 7, 8, 10, 11) or p.L > 7 or p.num_nodes == 0 or p.family == "effective" or case.signed:
        return None
    if p.family != "walks" and p.method in (4, 7, 8):
        return None
    if p.method == 8 and not np.isin(np.arange(p.num_nodes), _weighing(p)[1]).all():
        return None  # D⁻¹A is stochastic where something arrives everywhere
    ones = replace(p, x=np.ones(p.x.shape, LD), quantity="M", directions=())
    return agrees(ones, _value(replace(case, problem=ones), device), _expected_rows(p))


def _expected_rows(p: Problem) -> Array:
    N = p.num_nodes
    joined = np.zeros((N, N), bool)
    joined[_weighing(p)[1], _weighing(p)[0]] = True
    if p.method in (4, 7):
        joined |= np.eye(N, dtype=bool)
    w = _weights(p).reshape(p.L + 1, -1)  # (L+1, S or 1)
    arrives = _arrivals(p, joined)
    total = np.einsum("ns,ni->is", w, arrives.astype(LD))
    if METHODS[p.method][2]:  # an exponential is positive, even where 80 bits do not hold it
        taken = w > 0 if p.kind == "fixed" else np.ones(w.shape, bool)
        total = np.where(np.einsum("ns,ni->is", taken.astype(int), arrives.astype(int)) > 0, LD(1), LD(0))
    total = total if p.x.ndim == 3 else total[:, 0]
    return np.broadcast_to(total[..., None], p.x.shape)


def _weighing(p: Problem) -> Array:
    """The edges that do not weigh 0."""
    return p.edges if p.edge_weight is None else p.edges[:, p.edge_weight != 0]


def _arrivals(p: Problem, joined: Array) -> Array:
    """Whether a path of n steps arrives at i, (L+1, N); of walks, or of those that never come back or take longest."""
    N, found = p.num_nodes, [np.ones(p.num_nodes, bool)]
    if p.family == "walks":
        for _ in range(p.L):
            found.append((joined & found[-1]).any(1))
        return np.stack(found)
    paths = [{(i,) for i in range(N)}]
    short, seen = [np.eye(N, dtype=bool)], np.eye(N, dtype=bool)
    for _ in range(p.L):
        if p.family == "self_avoiding":
            paths.append({(*q, j) for q in paths[-1] for j in np.nonzero(joined[q[-1]])[0].tolist() if j not in q})
            found.append(np.isin(np.arange(N), [q[0] for q in paths[-1]]))
        else:
            short.append((short[-1].astype(int) @ joined > 0) & ~seen)
            seen = seen | short[-1]
            found.append(short[-1].any(1))
    return np.stack(found)


def _weights(p: Problem) -> Array:
    if p.kind == "boltzmann":
        w = p.weights - p.weights.min(0) if METHODS[p.method][2] else p.weights
        return np.exp(-w / LD(p.temperature))
    if p.kind == "power-law":
        n = np.arange(p.L + 1, dtype=LD).reshape(-1, *[1] * p.weights.ndim)
        return np.exp(-(n ** LD(p.alpha)) * np.exp(-p.weights))
    return p.weights


def symmetry(case: Case, device: str) -> str | bool | None:
    """M = Mᵀ where `is_symmetric` says so, and it says so of an undirected graph scaled alike on both sides."""
    p = replace(case.problem, quantity="M", directions=())
    made = Subject(replace(case, problem=p), device)
    A, stored = base_of(p).A.value(), {*map(tuple, p.edges.T.tolist())}
    mirrored = np.array_equal(A, A.T) and stored == {(b, a) for a, b in stored}  # one-way edges of weight 0 are edges
    if mirrored and p.method in (2, 5, 6, 9) and not made.M.is_symmetric and made.adj.num_edges:
        return "is_symmetric is False on a symmetric graph"
    if not made.M.is_symmetric:
        return None
    transposed = replace(p, quantity="M.T")
    return agrees(transposed, made.value(), _value(replace(case, problem=transposed), device))


def edge_order(case: Case, device: str) -> str | bool | None:
    """Neither the order of the edges nor the numbers of the nodes matter."""
    p = case.problem
    rng = np.random.default_rng([case.seed, case.index, 1])
    E, N = rng.permutation(p.edges.shape[1]), rng.permutation(p.num_nodes)
    if p.quantity == "double" or not E.size:
        return None
    old = np.argsort(N)  # the node that has each new number
    moved = replace(
        p,
        edges=N[p.edges][:, E],
        edge_weight=None if p.edge_weight is None else p.edge_weight[E],
        x=p.x[old],
        g=None if p.g is None else p.g[old],
        directions=tuple((name, d[E] if name == "edge" else d) for name, d in p.directions),
    )
    z = _value(replace(case, problem=moved), device)
    if p.quantity == "to_sparse":
        z = z[N][:, N]
    elif p.quantity == "terms":
        z = z[:, N]
    elif p.quantity in ("M", "M.T", "dx"):
        z = z[N]
    return agrees(p, _value(case, device), z)


def trial(case: Case, device: str) -> str | bool | None:
    """A trial is what its own column of weights gives alone."""
    p = case.problem
    if p.x.ndim != 3 or p.quantity not in ("M", "M.T", "dx"):
        return None
    y, parts = _value(case, device), []
    for s in range(p.x.shape[1]):
        alone = replace(p, x=p.x[:, s], g=None if p.g is None else p.g[:, s], weights=p.weights[..., s])
        parts.append(_value(replace(case, problem=alone), device))
    return agrees(p, y, np.stack(parts, 1))


def weighted_ones(case: Case, device: str) -> str | bool | None:
    """A graph whose edges weigh 1 is the unweighted graph."""
    p = case.problem
    if p.edge_weight is not None or p.quantity == "dedge":
        return None
    edges = np.unique(p.edges, axis=1)
    ones = replace(p, edges=edges, edge_weight=np.ones(edges.shape[1]), edge_dtype="float32", duplicates="add")
    return agrees(p, _value(case, device), _value(replace(case, problem=ones, container="edge_index"), device))


def precision(case: Case, device: str) -> str | bool | None:
    """Computed in float64 it is the same, within the bound of the narrower dtype."""
    p = case.problem
    if p.dtype == "float64":
        return None
    return agrees(p, _value(case, device), _value(case.with_problem(dtype="float64"), device))


def batch(case: Case, device: str) -> str | bool | None:
    """A graph beside another gives what it gives alone."""
    p = case.problem
    if p.quantity not in ("M", "M.T", "dx") or case.container != "edge_index" or p.family == "effective":
        return None
    N = p.num_nodes
    other = np.array([[0, 1, 1, 2], [1, 0, 2, 1]]) + N
    more = np.ones((3, *p.x.shape[1:]), LD)
    both = replace(
        p,
        edges=np.concatenate([p.edges, other], 1),
        edge_weight=None if p.edge_weight is None else np.concatenate([p.edge_weight, np.ones(4)]),
        num_nodes=N + 3,
        x=np.concatenate([p.x, more]),
        g=None if p.g is None else np.concatenate([p.g, more]),
    )
    if oracle.predicted(both).outcome != "value":
        return None
    return agrees(p, _value(case, device), _value(replace(case, problem=both), device)[:N])


def adjoint(case: Case, device: str) -> str | bool | None:
    """<M x, g> = <x, Mᵀ g>."""
    p = replace(case.problem, quantity="M", directions=())
    if p.dtype in ("float16", "bfloat16") or p.g is None:
        return None
    y = _value(replace(case, problem=p), device)
    transposed = replace(p, quantity="M.T", x=p.g)
    z = _value(replace(case, problem=transposed), device)
    bound = [check.bound_of(q, reference.answer(q)) for q in (p, transposed)]
    slack = (bound[0] * abs(p.g)).sum() + (bound[1] * abs(p.x)).sum()
    gap = abs((y * p.g).sum() - (z * p.x).sum())
    if not np.isfinite(slack) or check.is_ill(p, reference.answer(p)):
        return None
    return bool(gap <= 2 * slack) or f"{float((y * p.g).sum()):.10g} and {float((z * p.x).sum()):.10g}"


def through_transpose(case: Case, device: str) -> str | bool | None:
    """The derivatives of <g, M x> are those of <Mᵀ g, x>."""
    p = case.problem
    if p.quantity not in ("dw", "dedge", "double") or p.dtype in ("float16", "bfloat16"):
        return None
    return agrees(p, _value(case, device), _value(replace(case, transposed=not case.transposed), device))


def partition(case: Case, device: str) -> str | bool | None:
    """log Z is the oracle's, Z its exponential, and the shares of the lengths add up to 1 where Z > 0."""
    p = case.problem
    if METHODS[p.method][2] is None or p.L > 7 or p.num_nodes == 0 or case.signed:
        return None
    p = replace(p, quantity="M", directions=())
    M = Subject(replace(case, problem=p), device).M
    with torch.no_grad():
        log_Z, Z, share = M.log_partition.cpu(), M.partition.double().cpu(), M.shares().cpu()
    if found := _wrong_log(p, log_Z.double().numpy().astype(LD).reshape(p.num_nodes, -1)):
        return found
    total, eps = share.sum(0), 2.0**-23
    if not bool((((total - 1).abs() < 64 * eps) | (log_Z == -torch.inf)).all()):
        return f"shares add up to {total.flatten().tolist()}"
    ordinary = (log_Z.abs() < 80) & (Z > 0)
    off = (Z.log() - log_Z).abs() > 64 * eps * (1 + log_Z.abs())
    return not bool((off & ordinary).any()) or f"log Z {log_Z.flatten().tolist()}, Z {Z.flatten().tolist()}"


@np.errstate(all="ignore")
def _wrong_log(p: Problem, log_Z: Array) -> str:
    """How log Z, (N, S), differs from the oracle's, by more than the roundings of Z and of its own parts."""
    found = operator_of(p)
    assert found.Z is not None
    lowest = p.weights.min(0) / LD(p.temperature) if p.kind == "boltzmann" else LD(0)
    true = np.log(found.Z.value()) + found.shift * np.log(LD(2)) - lowest
    parts = found.Z.magnitude() / found.Z.value() + abs(found.log_w[np.isfinite(found.log_w)]).max(initial=0)
    bound = 8 * (p.L + 2) * oracle.EPS * (parts + abs(true) + abs(lowest))
    off = np.where(found.Z.value() > 0, ~(abs(log_Z - true) <= bound), log_Z != -np.inf)
    return f"log Z {log_Z[off].tolist()} for {true[off].tolist()}" if off.any() else ""


LAWS: dict[str, Law] = {
    "scaling of x": scaling,
    "offset of the energies": offset,
    "row sums": row_sums,
    "symmetry where claimed": symmetry,
    "order of edges and nodes": edge_order,
    "trial = column": trial,
    "weighted ones = unweighted": weighted_ones,
    "float32 against float64": precision,
    "batch = one by one": batch,
    "adjoint identity": adjoint,
    "derivatives through Mᵀ": through_transpose,
    "shares and Z": partition,
}
NAMES = list(LAWS)


def broken(case: Case, name: str, device: str = "cpu") -> str | bool | None:
    """True where the law holds, None where it says nothing, else how it is broken."""
    if case.problem.L > 7 or case.refused is not None or oracle.predicted(case.problem).outcome != "value":
        return None
    try:
        return LAWS[name](case, device)
    except Exception as error:
        return f"{type(error).__name__}: {error}".split("\n")[0][:300]


def _value(case: Case, device: str) -> Array:
    return Subject(case, device).value()
