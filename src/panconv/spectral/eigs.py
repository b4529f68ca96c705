"""Leading eigenpairs of an operator, matrix-free: its components by themselves, the large ones by SciPy's solvers.

A Krylov space grown from one vector holds one eigenvector of each eigenvalue, whatever the multiplicity. On Cora the
78 components bring the eigenvalue 1 of method 2 seventy-eight times, of which ARPACK misses most without a word. So
each component is solved alone, all small ones of a size together, and a large one is asked again for what was missed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse.linalg as sla
import torch
from torch import Tensor

from panconv.base.checks import as_integer, kind_of, shown
from panconv.base.random import keys, uniform
from panconv.met import MET
from panconv.spectral.operator import Operator, as_operator

_SMALL = 256  # a component up to here is solved as a dense matrix, with the others of its size;
_UNSYMMETRIC = 1024  # of an operator that is not symmetric, whose Krylov spaces converge slowly, up to here
_ENTRIES = 2**26  # of the dense matrices that are solved at once
_COLUMNS = 64  # that are multiplied at a time to find the matrices
_STARTS, _RESTARTS = 3, 300  # from which ARPACK is tried, and how long
_DENSE = 4096  # a component up to here is solved as a dense matrix where ARPACK fails


class Eigenpairs(NamedTuple):
    """M ψᵢ = λᵢ ψᵢ (eq. 8), the largest real part first, each ψᵢ of norm 1."""

    values: Tensor  # (k,) float64, or complex128 where one of them is not real
    vectors: Tensor  # (N, k)


def eigs(M: Operator | Tensor, k: int) -> Eigenpairs:
    """The k leading eigenpairs of M (eq. 8), in float64 on M's device.

    A symmetric M (methods 2, 5, 6, 9 on an undirected graph) goes through Lanczos; methods 1, 7, 8, 10 and 11 through
    the symmetric S of M = Z^−½ S Z^½, with the eigenvectors Z^−½ φ; anything else (3, 4, directed graphs) through
    Arnoldi, where values and vectors are complex unless all are real. M is applied, never formed; only components of a
    few hundred nodes, and a k that is a large part of one, meet a dense solver. The start is fixed, so that the same
    call gives the same result, and the largest entry of a real eigenvector is positive. No gradients.

    Where several eigenvectors share an eigenvalue, such as the 1 of methods 1 and 2 that every component brings, which
    of them are taken is the solver's choice.

    Args:
        M: an `Operator`, such as a `MET`; or a torch matrix, dense or sparse.
        k: how many, 1 … N.

    >>> M = MET(Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=1), [1.0, 1.0], method=3)
    >>> eigs(M, 3).values.round(decimals=6).abs()
    tensor([2., 1., 0.], dtype=torch.float64)
    """
    M = as_operator(M, torch.float64)
    k = checked_number(M, k)
    with torch.no_grad():
        similar = _similar(M)
        if similar is None:
            return _with_fixed_signs(*_real_if_real(*leading(M, k, symmetric=False)))
        S, log_Z = similar
        values, phi = leading(S, k, symmetric=True)
        vectors = phi * torch.exp(-0.5 * log_Z.double()).unsqueeze(1)
        return _with_fixed_signs(values, vectors / vectors.norm(dim=0))


def leading(M: Operator, k: int, symmetric: bool) -> tuple[Tensor, Tensor]:
    """The k eigenvalues of largest real part and their eigenvectors (N, k), orthonormal where M is symmetric."""
    dtype = torch.float64 if symmetric else torch.complex128
    values = torch.zeros(0, dtype=dtype, device=M.device)
    vectors = torch.zeros(M.shape[0], 0, dtype=dtype, device=values.device)
    for found, states in _by_component(M, k, symmetric):
        values, vectors = torch.cat([values, found.to(dtype)]), torch.cat([vectors, states.to(dtype)], 1)
        order = _by_real_part(values)[:k]
        values, vectors = values[order], vectors[:, order]
    return values, vectors


def checked_number(M: Operator, k: int) -> int:
    """k, if M is one square operator with so many eigenpairs."""
    shape = tuple(M.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise TypeError(f"M must be a square operator, got {kind_of(M)} of shape {shape}")
    if isinstance(M, MET) and M.trials is not None:
        raise ValueError("M has the path weights of several trials, (L+1, S): make it with those of one, (L+1,)")
    count = as_integer(k)
    if count is None or not 1 <= count <= shape[0]:
        raise ValueError(f"k must be an integer from 1 to the number of nodes, {shape[0]}, got {shown(k)}")
    return count


def _similar(M: Operator) -> tuple[Operator, Tensor] | None:
    """A symmetric S and log Z with M = Z^−½ S Z^½; None where there is no such S."""
    if M.is_symmetric:
        return M, torch.zeros(M.shape[0], device=M.device)
    try:
        return M.similar() if isinstance(M, MET) else None
    except ValueError:  # methods 3, 4; a directed graph
        return None


def _by_component(M: Operator, k: int, symmetric: bool) -> Iterator[tuple[Tensor, Tensor]]:
    """The leading eigenpairs of each component, or of all small components of about one size."""
    size = torch.bincount(M.components)
    few = (size <= (_SMALL if symmetric else _UNSYMMETRIC)) | (size < 4 * k)
    octave = torch.frexp(size - 0.5).exponent.where(few, -1)  # 0 of 1 node, 1 of 2, 2 of 3 and 4, 3 of 5 … 8
    for o in octave[few].unique().tolist():
        for part in (octave == o).nonzero().ravel().split(max(1, _ENTRIES // 4**o)):
            yield _solve_dense(M, k, part, symmetric)
    for c in (~few).nonzero().ravel():
        yield _solve_component(M, k, (M.components == c).nonzero().ravel(), symmetric)


def _solve_dense(M: Operator, k: int, chosen: Tensor, symmetric: bool) -> tuple[Tensor, Tensor]:
    """All chosen components as one batch of dense matrices, as wide as the largest."""
    component = M.components
    nodes = torch.isin(component, chosen).nonzero().ravel()
    nodes = nodes[torch.argsort(component[nodes], stable=True)]
    batch = torch.searchsorted(chosen, component[nodes])
    start = torch.searchsorted(batch, torch.arange(len(chosen), device=batch.device))
    place = torch.arange(nodes.numel(), device=batch.device) - start[batch]  # within its component
    width = int(place.max()) + 1
    dense = torch.zeros(len(chosen), width, width, dtype=torch.float64, device=batch.device)
    for first in range(0, width, _COLUMNS):
        last = min(first + _COLUMNS, width)
        probe = torch.zeros(M.shape[0], last - first, dtype=torch.float64, device=batch.device)
        mine = (place >= first) & (place < last)
        probe[nodes[mine], place[mine] - first] = 1  # a node of every component at once: they do not meet
        dense[batch, place, first:last] = (M @ probe)[nodes]
    if not bool(dense.isfinite().all()):
        raise ValueError("M must be finite, but its products with unit vectors hold nan or inf: mend its entries")
    exponent = _exponent_to_remove(float(dense.abs().max()))
    dense = _times_power(dense, -exponent)
    absent = torch.ones_like(dense[:, 0], dtype=torch.bool)
    absent[batch, place] = False
    outside = -1 - 2 * float(dense.abs().sum(2).max())  # an eigenvalue that no component has
    dense.diagonal(dim1=1, dim2=2)[absent] = outside
    values, local = torch.linalg.eigh(dense) if symmetric else torch.linalg.eig(dense)
    order = _by_real_part(values.flatten())[: min(k, nodes.numel())]
    owner = order // width
    vectors = local.new_zeros(M.shape[0], order.numel())
    vectors[nodes] = local[batch, place][:, order % width] * (batch[:, None] == owner)
    return _times_power(values.flatten()[order], exponent), vectors


def _exponent_to_remove(size: float) -> int:
    """The exponent of 2 to take out of numbers of a size: the squares of their squares are to stay in range."""
    return math.frexp(size)[1] if size and not 1e-60 < size < 1e60 else 0


def _times_power(values: Tensor, exponent: int) -> Tensor:
    """values · 2^exponent, which itself may be out of range."""
    return values * 2.0 ** (exponent // 2) * 2.0 ** (exponent - exponent // 2) if exponent else values


def _solve_component(M: Operator, k: int, nodes: Tensor, symmetric: bool) -> tuple[Tensor, Tensor]:
    """One component by ARPACK, the products on M's device."""
    n, whole = nodes.numel(), torch.zeros(M.shape[0], dtype=torch.float64, device=nodes.device)

    def real(v: np.ndarray) -> np.ndarray:
        inside = torch.from_numpy(np.ascontiguousarray(v)).to(nodes.device)
        return _times_power((M @ whole.index_copy(0, nodes, inside))[nodes].cpu(), -exponent).numpy()

    def product(v: np.ndarray) -> np.ndarray:
        v = v.ravel()
        return real(v.real) + 1j * real(v.imag) if np.iscomplexobj(v) else real(v)

    exponent, start = 0, uniform(keys(torch.zeros((), dtype=torch.long)), (n,)).double().numpy() - 0.5
    exponent = _exponent_to_remove(float(abs(real(start)).max()))
    values, local = _with_missed(product, *_arpack(product, n, k, start, symmetric), start, symmetric)
    vectors = torch.zeros(M.shape[0], k, dtype=torch.from_numpy(local).dtype, device=nodes.device)
    vectors[nodes] = torch.from_numpy(np.ascontiguousarray(local)).to(nodes.device)
    return _times_power(torch.from_numpy(values).to(nodes.device), exponent), vectors


def _arpack(product: Any, n: int, k: int, start: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """The k of largest real part. ARPACK gives up where its Krylov space ends early, or where eigenvalues crowd."""
    operator = sla.LinearOperator((n, n), matvec=product, dtype=start.dtype)
    solver, which = (sla.eigsh, "LA") if symmetric else (sla.eigs, "LR")
    reason = ""
    for turn in range(_STARTS):
        try:
            return solver(operator, k, which=which, v0=np.roll(start, 7 * turn), maxiter=_RESTARTS)
        except sla.ArpackNoConvergence as error:  # noqa: PERF203 (another start would not do better)
            reason = str(error).splitlines()[0]
            break
        except sla.ArpackError as error:
            reason = str(error).splitlines()[0]
    if n > _DENSE:
        raise ValueError(
            f"the {k} leading eigenpairs of a component of {n} nodes did not come out ({reason}): ask for fewer"
        )
    columns = np.stack([product(column) for column in np.eye(n)], axis=1)
    values, vectors = np.linalg.eigh((columns + columns.T.conj()) / 2) if symmetric else np.linalg.eig(columns)
    return _in_falling_order(values, vectors, k)


def _in_falling_order(values: np.ndarray, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k of largest real part, that first."""
    order = np.argsort(-values.real, kind="stable")[:k]
    return values[order].copy(), vectors[:, order].copy()


def _with_missed(
    product: Any, values: np.ndarray, vectors: np.ndarray, start: np.ndarray, symmetric: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The k leading eigenpairs, after those that are known were moved out of the way and nothing larger was left.

    With an orthonormal basis Q of what is known, which M maps into itself, P M P − c QQᴴ with P = I − QQᴴ has the other
    eigenvalues of M; a larger one among them was missed, and its vector makes Q a larger invariant space.
    """
    k, n = vectors.shape[1], vectors.shape[0]
    Q, first = vectors if symmetric else np.linalg.qr(vectors)[0], values
    while True:
        span, least = float(abs(values).max()), float(np.sort(values.real)[-k])

        def deflated(v: np.ndarray, Q: np.ndarray = Q, c: float = 1 + 3 * span) -> np.ndarray:
            v = v.ravel()
            inside = Q @ (Q.conj().T @ v)
            w = product(v - inside)
            return w - Q @ (Q.conj().T @ w) - c * inside

        more, state = _arpack(deflated, n, 1, start if symmetric else start.astype(complex), symmetric)
        if more[0].real <= least + 1e-9 * span:
            break
        Q = np.concatenate([Q, state - Q @ (Q.conj().T @ state)], 1)
        Q[:, -1] /= np.linalg.norm(Q[:, -1])
        values = np.append(values, more)
    if not symmetric:  # M is real, so the conjugate space is invariant too, and real numbers keep pairs exact
        left, size, _ = np.linalg.svd(np.concatenate([Q.real, Q.imag], 1), full_matrices=False)
        Q = left[:, size > 1e-9]
    small = Q.T @ np.stack([product(column) for column in Q.T], axis=1)
    found, inner = np.linalg.eigh((small + small.T) / 2) if symmetric else np.linalg.eig(small)
    found, inner = _in_falling_order(found, inner, k)
    states = Q @ inner
    off = max(np.linalg.norm(product(v) - value * v) for value, v in zip(found, states.T, strict=True))
    # Where eigenvectors fall together, as they may on a directed graph, an orthogonal basis of them is rounding.
    return (found, states) if symmetric or off <= 1e-8 * span else (first, vectors)


def _by_real_part(values: Tensor) -> Tensor:
    """The order of falling real part, of falling imaginary part where that is the same."""
    if not values.is_complex():
        return torch.argsort(values, descending=True, stable=True)
    first = torch.argsort(values.imag, descending=True, stable=True)
    return first[torch.argsort(values.real[first], descending=True, stable=True)]


def _real_if_real(values: Tensor, vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Real values and vectors where no imaginary part is more than rounding."""
    if float(values.imag.abs().max()) > 1e-9 * float(values.abs().max()):
        return values, vectors
    # A pair λ ± i·rounding is one real eigenvalue twice: its eigenvectors a ± ib stand for a and b.
    turn = vectors.gather(0, vectors.abs().argmax(0, keepdim=True)).sgn().conj()
    vectors = torch.where(
        values.imag == 0, (vectors * turn).real, torch.where(values.imag > 0, vectors.real, vectors.imag)
    )
    return values.real, vectors / vectors.norm(dim=0)


def _with_fixed_signs(values: Tensor, vectors: Tensor) -> Eigenpairs:
    if not vectors.is_complex():
        size = vectors.abs()
        first = (size >= (1 - 1e-6) * size.amax(0)).long().argmax(0, keepdim=True)
        vectors = vectors * vectors.gather(0, first).sign()
    return Eigenpairs(values, vectors)
