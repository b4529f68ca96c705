"""Lanczos with full re-orthogonalisation, under autograd."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.base.autodiff import is_transforming
from panconv.base.checks import as_integer, check_device, check_real, check_values, kind_of, shown
from panconv.base.tracing import may_look

_SAME = 1e-12  # of the largest entry: M and Mᵀ that differ by less are one


class Lanczos(NamedTuple):
    """M Q ≈ Q T with orthonormal columns Q and T tridiagonal; a basis for each of B start vectors.

    Once the Krylov space is exhausted the further columns of Q are 0, and so are their α and β.
    """

    alpha: Tensor  # (steps, …): the diagonal of T
    beta: Tensor  # (steps − 1, …): beside it
    Q: Tensor  # (N, steps, …)

    def tridiagonal(self) -> Tensor:
        """T, (…, steps, steps)."""
        alpha, beta = self.alpha.movedim(0, -1), self.beta.movedim(0, -1)
        side = torch.diag_embed(beta, offset=1)
        return torch.diag_embed(alpha) + side + side.mT


def lanczos(M: Any, x: Tensor, steps: int) -> Lanczos:
    """The Lanczos basis of a symmetric operator, from the start x: T = QᵀMQ on the space of x, Mx, … M^(steps−1)x.

    Every vector is orthogonalised against all before it, twice, so that no ghost copies of eigenvalues appear.
    Gradients flow to x and to whatever M depends on. Where the space is exhausted before `steps` (β vanishes to
    rounding, as in a component smaller than `steps`), what follows is 0, in values and in gradients.

    Args:
        M: a symmetric operator: anything with ``@`` and ``.shape``, such as `MET` of methods 2, 5, 6 on an undirected
            graph, or a symmetric matrix. An `is_symmetric` of its own is believed.
        x: the start, (N,), or (N, B) for B starts side by side, each with a basis of its own.
        steps: the size of the basis, 1 … N.

    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> found = lanczos(MET(Walks(path, L=1), [0.0, 1.0], method=5), torch.tensor([1.0, 0.0, 0.0]), steps=2)
    >>> found.tridiagonal()
    tensor([[0.5000, 0.4082],
            [0.4082, 0.3333]])
    """
    if not isinstance(x, Tensor) or x.dtype not in (torch.float32, torch.float64):
        kind = x.dtype if isinstance(x, Tensor) else kind_of(x)
        raise TypeError(f"x must be a float32 or float64 tensor, got {kind}: convert it with .float()")
    M = as_operator(M, x.dtype)
    check_symmetric(M)
    N = M.shape[0]
    _check_start(x, N)
    if isinstance(M, Tensor):
        check_device(x.device, M.device, "M is")
    count = as_integer(steps)
    if count is None or not 1 <= count <= N:
        raise ValueError(f"steps must be an integer from 1 to the number of nodes, {N}, got {shown(steps)}")
    start = x.unsqueeze(1) if x.dim() == 1 else x
    product = getattr(M, "apply", M.__matmul__)
    basis, alphas, betas = _Basis(count), [], []
    q, _ = _normalized(start.T, torch.zeros_like(start[0]))  # (B, N)
    scale = torch.zeros_like(start[0])
    for step in range(count):
        basis.append(q)
        w = product(q.T.reshape(x.shape)).reshape(start.shape).T
        scale = torch.maximum(scale, _normalized(w.detach(), torch.zeros_like(scale))[1])
        alphas.append((q * w).sum(1))
        if step + 1 < count:
            q, beta = _normalized(basis.orthogonal(basis.orthogonal(w)), 1e3 * torch.finfo(x.dtype).eps * scale)
            betas.append(beta)
    Q = basis.rows().permute(2, 1, 0).reshape(N, count, *x.shape[1:])
    alpha, beta = torch.stack(alphas), torch.stack(betas) if betas else x.new_zeros(0, start.size(1))
    return Lanczos(alpha.reshape(count, *x.shape[1:]), beta.reshape(count - 1, *x.shape[1:]), Q)


class _Basis:
    """The vectors found so far, as rows (B, j, N): appended in place where no derivative or batch may be asked for."""

    def __init__(self, count: int) -> None:
        self._count, self._size = count, 0
        self._rows: Tensor | None = None

    def append(self, q: Tensor) -> None:  # (B, N)
        new = q.unsqueeze(1)
        if torch.is_grad_enabled() or is_transforming():
            self._rows = new if self._rows is None else torch.cat([self._rows, new], 1)
        else:
            if self._rows is None:
                self._rows = q.new_empty(q.size(0), self._count, q.size(1))
            self._rows[:, self._size] = q
        self._size += 1

    def rows(self) -> Tensor:
        assert self._rows is not None
        return self._rows[:, : self._size]

    def orthogonal(self, w: Tensor) -> Tensor:
        """w − Q Qᵀw for each of the B."""
        overlap = self.rows() @ w.unsqueeze(2)  # (B, j, 1)
        return w - (overlap.mT @ self.rows()).squeeze(1)


def as_operator(M: Any, dtype: torch.dtype) -> Any:
    """An operator as it is; a torch matrix, dense or sparse, in a dtype."""
    if not isinstance(M, Tensor):
        if not hasattr(M, "shape") or not hasattr(M, "__matmul__") or isinstance(M, np.ndarray) or sp.issparse(M):
            raise TypeError(
                f"M must be an operator with @ and .shape, or a torch matrix, got {kind_of(M)}: convert an array "
                "with torch.from_numpy, a SciPy matrix with panconv.Adjacency.from_sparse"
            )
        return M
    if M.dim() != 2 or M.size(0) != M.size(1):
        raise TypeError(f"M must be a square matrix, got shape {tuple(M.shape)}")
    check_real(M, "M")
    check_values(M, "M")
    wide = _symmetrised(M.to(dtype), torch.finfo(M.dtype).eps if M.is_floating_point() else 0.0)
    return wide if wide.layout == torch.strided else wide.to_sparse_csr()


def _symmetrised(M: Tensor, eps: float) -> Tensor:
    """The matrix itself; the mean of M and Mᵀ where they differ by no more than the rounding of its entries."""
    strided = M.layout == torch.strided
    M = M if strided else M.to_sparse_coo().coalesce()
    other = M.mT if strided else M.t()
    size, difference = _largest(M), _largest((M - other).detach())
    if not math.isfinite(size):
        raise ValueError(f"M must be finite, got an entry of {size}: mend or remove it")
    return (M + other) / 2 if 0 < difference <= max(64 * eps, _SAME) * size else M


def matrix_is_symmetric(M: Tensor) -> bool:
    """Whether a matrix is symmetric to rounding, measured by its own largest entry."""
    if M.layout == torch.strided:
        return _largest(M - M.mT) <= _SAME * _largest(M)
    coo = M.to_sparse_coo()
    return _largest(coo - coo.t()) <= _SAME * _largest(coo)


def _largest(M: Tensor) -> float:
    """The largest |Mᵢⱼ|; 0 of a matrix without entries."""
    value = (M if M.layout == torch.strided else M.coalesce().values()).detach()
    return float(value.abs().max()) if value.numel() else 0.0


def check_symmetric(M: Any) -> None:
    """Refuses an operator that is known not to be symmetric."""
    symmetric = matrix_is_symmetric(M) if isinstance(M, Tensor) else getattr(M, "is_symmetric", True)
    if not symmetric:
        raise ValueError(
            "M is not symmetric, which Lanczos needs: take method 2, 5, 6 or 9 on an undirected graph, or, for methods "
            "1, 7 and 8, the symmetric twin M.similar()[0] (edge weights that ask for a gradient count as directed); "
            "of a matrix take (M + M.T) / 2"
        )


def _check_start(x: Tensor, N: int) -> None:
    if x.dim() not in (1, 2) or x.size(0) != N:
        raise ValueError(f"x must be (N,) or (N, B) with N = {N}, a start per column, got shape {tuple(x.shape)}")
    if N and may_look() and not is_transforming() and not bool(((x != 0).any(0) & x.isfinite().all(0)).all()):
        raise ValueError("x must be finite and not 0 throughout: no space grows from such a start")


def _normalized(w: Tensor, least: Tensor) -> tuple[Tensor, Tensor]:
    """w / ‖w‖ and ‖w‖ for w (B, N), both 0 where ‖w‖ is at most `least`; no gradient ever divides by 0."""
    largest = w.detach().abs().amax(1)
    unit = torch.exp2(largest.where(largest > 0, 1).log2().round())  # squares of w itself may leave the range
    w = w / unit.unsqueeze(1)
    square = (w * w).sum(1)
    alive = square > (least / unit) ** 2
    norm = square.where(alive, 1.0).sqrt()
    return (w / norm.unsqueeze(1)).where(alive.unsqueeze(1), 0.0), (unit * norm).where(alive, 0.0)
