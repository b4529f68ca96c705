"""Leading eigenpairs of an operator, matrix-free: its components by themselves, the large ones by SciPy's solvers.

A Krylov space grown from one vector holds one eigenvector of each eigenvalue, whatever the multiplicity. On Cora the
78 components bring the eigenvalue 1 of method 2 seventy-eight times, of which ARPACK misses most without a word. So
each component is solved alone, all small ones of a size together, and a large one is asked again for what was missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse.linalg as sla
import torch
from torch import Tensor

from panconv.random import keys, uniform
from panconv.validation import as_integer

_SMALL = 256  # a component up to here is solved as a dense matrix, with the others of its size
_COLUMNS = 64  # that are multiplied at a time to find the matrices
_STARTS = 3  # from which ARPACK is tried
_DENSE = 4096  # a component up to here is solved as a dense matrix where ARPACK fails


class Eigenpairs(NamedTuple):
    """M ψᵢ = λᵢ ψᵢ (eq. 8), the largest real part first, each ψᵢ of norm 1."""

    values: Tensor  # (k,) float64, or complex128 where one of them is not real
    vectors: Tensor  # (N, k)


def eigs(M: Any, k: int) -> Eigenpairs:
    """The k leading eigenpairs of M (eq. 8), in float64 on M's device.

    A symmetric M (methods 2, 5, 6 on an undirected graph) goes through Lanczos; methods 1 and 7 through the symmetric
    S of M = Z^−½ S Z^½, with the eigenvectors Z^−½ φ; anything else (3, 4, directed graphs) through Arnoldi, where
    values and vectors are complex unless all are real. M is applied, never formed; only components of a few hundred
    nodes, and a k that is a large part of one, meet a dense solver. The start is fixed, so that the same call gives the
    same result, and the largest entry of a real eigenvector is positive. No gradients.

    Where several eigenvectors share an eigenvalue, such as the 1 of methods 1 and 2 that every component brings, which
    of them are taken is the solver's choice. For operators that are not symmetric, an eigenvalue that repeats within
    one large component may be found once only.

    Args:
        M: a `MET`, or anything with ``@``, ``.shape`` and ``is_symmetric``; a matrix will do. Its `components` (N,),
            where it has them, say which nodes it mixes.
        k: how many, 1 … N.

    >>> M = MET(Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=1), [1.0, 1.0], method=3)
    >>> eigs(M, 3).values.round(decimals=6).abs()
    tensor([2., 1., 0.], dtype=torch.float64)
    """
    k = checked_number(M, k)
    with torch.no_grad():
        similar = _similar(M)
        if similar is None:
            return _signed(*_real_if_real(*leading(M, k, symmetric=False)))
        S, log_Z = similar
        values, phi = leading(S, k, symmetric=True)
        vectors = phi * torch.exp(-0.5 * log_Z.double()).unsqueeze(1)
        return _signed(values, vectors / vectors.norm(dim=0))


def leading(M: Any, k: int, symmetric: bool) -> tuple[Tensor, Tensor]:
    """The k eigenvalues of largest real part and their eigenvectors (N, k), orthonormal where M is symmetric."""
    dtype = torch.float64 if symmetric else torch.complex128
    values = torch.zeros(0, dtype=dtype, device=device_of(M))
    vectors = torch.zeros(M.shape[0], 0, dtype=dtype, device=values.device)
    for found, states in _by_component(M, k, symmetric):
        values, vectors = torch.cat([values, found.to(dtype)]), torch.cat([vectors, states.to(dtype)], 1)
        order = _by_real_part(values)[:k]
        values, vectors = values[order], vectors[:, order]
    return values, vectors


def device_of(M: Any) -> torch.device:
    """Where an operator lives: by its own word, or its graph's; else the CPU."""
    device = getattr(M, "device", None)
    if device is None:
        device = M.paths.adj.device if hasattr(M, "paths") else "cpu"
    return torch.device(device)


def checked_number(M: Any, k: int) -> int:
    """k, if M is one square operator with so many eigenpairs."""
    shape = tuple(getattr(M, "shape", ()))
    if len(shape) != 2 or shape[0] != shape[1]:
        raise TypeError(f"M must be a square operator with @ and .shape, got {type(M).__name__} of shape {shape}")
    if hasattr(M, "weights") and M.weights().dim() == 2:
        raise ValueError("M has the path weights of several trials, (L+1, S): make it with those of one, (L+1,)")
    count = as_integer(k)
    if count is None or not 1 <= count <= shape[0]:
        raise ValueError(f"k must be an integer from 1 to the number of nodes, {shape[0]}, got {k!r}")
    return count


def is_symmetric(M: Any) -> bool:
    """Whether an operator is symmetric, by its own word; a matrix is looked at."""
    if isinstance(M, Tensor):
        return bool(torch.allclose(M, M.mT))
    return bool(getattr(M, "is_symmetric", False))


def _similar(M: Any) -> tuple[Any, Tensor] | None:
    """A symmetric S and log Z with M = Z^−½ S Z^½; None where there is no such S."""
    if is_symmetric(M):
        return M, torch.zeros(M.shape[0], device=device_of(M))
    try:
        return M.similar() if hasattr(M, "similar") else None
    except ValueError:  # methods 3, 4; a directed graph
        return None


def _by_component(M: Any, k: int, symmetric: bool) -> Iterator[tuple[Tensor, Tensor]]:
    """The leading eigenpairs of each component, or of all small components of about one size."""
    N, device = M.shape[0], device_of(M)
    component = getattr(M.paths.adj if hasattr(M, "paths") else M, "components", None)
    if component is None:
        component = torch.zeros(N, dtype=torch.long, device=device)
    size = torch.bincount(component)
    for low, high in zip([0, *_sizes()], _sizes(), strict=False):
        if bool((now := (size > low) & (size <= high)).any()):
            yield _together(M, k, component, now, high, symmetric)
    for c in (size > _SMALL).nonzero().ravel().tolist():
        nodes = (component == c).nonzero().ravel()
        if k > nodes.numel() // 4:
            only = torch.arange(size.numel(), device=device) == c
            yield _together(M, k, component, only, nodes.numel(), symmetric)
        else:
            yield _alone(M, k, nodes, symmetric)


def _sizes() -> list[int]:
    return [2**i for i in range(_SMALL.bit_length())]


def _together(M: Any, k: int, component: Tensor, chosen: Tensor, width: int, symmetric: bool) -> tuple[Tensor, Tensor]:
    """All chosen components, of at most `width` nodes, as one batch of dense matrices."""
    nodes = chosen[component].nonzero().ravel()
    nodes = nodes[torch.argsort(component[nodes], stable=True)]
    batch = (torch.cumsum(chosen, 0) - 1)[component[nodes]]
    start = torch.searchsorted(batch, torch.arange(int(chosen.sum()), device=batch.device))
    place = torch.arange(nodes.numel(), device=batch.device) - start[batch]  # within its component
    dense = torch.zeros(start.numel(), width, width, dtype=torch.float64, device=batch.device)
    for first in range(0, width, _COLUMNS):
        last = min(first + _COLUMNS, width)
        probe = torch.zeros(M.shape[0], last - first, dtype=torch.float64, device=batch.device)
        mine = (place >= first) & (place < last)
        probe[nodes[mine], place[mine] - first] = 1  # a node of every component at once: they do not meet
        dense[batch, place, first:last] = (M @ probe)[nodes]
    absent = torch.ones_like(dense[:, 0], dtype=torch.bool)
    absent[batch, place] = False
    outside = -1 - 2 * float(dense.abs().sum(2).max())  # an eigenvalue that no component has
    dense.diagonal(dim1=1, dim2=2)[absent] = outside
    values, local = torch.linalg.eigh(dense) if symmetric else torch.linalg.eig(dense)
    order = _by_real_part(values.flatten())[: min(k, nodes.numel())]
    owner = order // width
    vectors = local.new_zeros(M.shape[0], order.numel())
    vectors[nodes] = local[batch, place][:, order % width] * (batch[:, None] == owner)
    return values.flatten()[order], vectors


def _alone(M: Any, k: int, nodes: Tensor, symmetric: bool) -> tuple[Tensor, Tensor]:
    """One component by ARPACK, the products on M's device."""
    n, whole = nodes.numel(), torch.zeros(M.shape[0], dtype=torch.float64, device=nodes.device)

    def product(v: np.ndarray) -> np.ndarray:
        inside = torch.from_numpy(np.ascontiguousarray(v.ravel())).to(nodes.device)
        return (M @ whole.index_copy(0, nodes, inside))[nodes].cpu().numpy()

    start = uniform(keys(torch.zeros((), dtype=torch.long)), (n,)).double().numpy() - 0.5
    if symmetric:
        values, local = _none_missed(product, *_arpack(product, n, k, start), start)
    else:
        operator = sla.LinearOperator((n, n), matvec=product, dtype=np.float64)
        values, local = sla.eigs(operator, k, which="LR", v0=start)
    vectors = torch.zeros(M.shape[0], k, dtype=torch.from_numpy(local).dtype, device=nodes.device)
    vectors[nodes] = torch.from_numpy(np.ascontiguousarray(local)).to(nodes.device)
    return torch.from_numpy(values).to(nodes.device), vectors


def _arpack(product: Any, n: int, k: int, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The k largest of a symmetric operator. ARPACK gives up where few distinct eigenvalues end its Krylov space."""
    operator = sla.LinearOperator((n, n), matvec=product, dtype=np.float64)
    for turn in range(_STARTS):
        try:
            values, vectors = sla.eigsh(operator, k, which="LA", v0=np.roll(start, 7 * turn))
            return values[::-1].copy(), vectors[:, ::-1].copy()
        except sla.ArpackError as error:  # noqa: PERF203 (it is tried thrice at most)
            reason = str(error)
    if n > _DENSE:
        raise ValueError(
            f"the {k} leading eigenpairs of a component of {n} nodes did not come out: {reason}; ask for fewer"
        )
    columns = np.stack([product(column) for column in np.eye(n)], axis=1)
    values, vectors = np.linalg.eigh((columns + columns.T) / 2)
    return values[: -k - 1 : -1].copy(), vectors[:, : -k - 1 : -1].copy()


def _none_missed(
    product: Any, values: np.ndarray, vectors: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same, after the eigenpairs that are known have been moved out of the way and nothing larger was left."""
    k, n = vectors.shape[1], vectors.shape[0]
    while True:
        below = values - values.min() + 1 + abs(values).max()

        def deflated(v: np.ndarray, V: np.ndarray = vectors, shift: np.ndarray = below) -> np.ndarray:
            return product(v) - V @ (shift * (V.T @ v.ravel()))

        more, state = _arpack(deflated, n, 1, start)
        if more[0] <= np.sort(values)[-k] + 1e-10 * abs(values).max():
            order = np.argsort(-values, kind="stable")[:k]
            return values[order], vectors[:, order]
        values, vectors = np.concatenate([values, more]), np.concatenate([vectors, state], 1)


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


def _signed(values: Tensor, vectors: Tensor) -> Eigenpairs:
    if not vectors.is_complex():
        size = vectors.abs()
        first = (size >= (1 - 1e-6) * size.amax(0)).long().argmax(0, keepdim=True)
        vectors = vectors * vectors.gather(0, first).sign()
    return Eigenpairs(values, vectors)
