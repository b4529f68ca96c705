"""What a linear map of nodes offers to all that applies it, and a torch matrix as such a map."""

from __future__ import annotations

import functools
import math
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from panconv.base.checks import check_real, check_values, checked_dtype, kind_of

_SAME = 1e-12  # of the largest entry: M and Mᵀ that differ by less are one


@runtime_checkable
class Operator(Protocol):
    """A square linear map of N nodes: `MET`, `Laplacian`, `HighTemperature`, or a `Matrix`."""

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""

    @property
    def device(self) -> torch.device:
        """Where it is applied."""

    @property
    def dtype(self) -> torch.dtype:
        """Of the numbers that it is made of; of `MET`, of the path weights."""

    @property
    def is_symmetric(self) -> bool:
        """Whether it equals its transpose by construction."""

    @property
    def components(self) -> Tensor:
        """A number per node, (N,), from 0: nodes of different numbers do not mix."""

    @property
    def T(self) -> Operator:
        """The transposed operator."""

    def __matmul__(self, x: Tensor, /) -> Tensor:
        """The product with x (N, …)."""

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """The matrix (N, N), for small graphs and for tests."""


_MEMBERS = ("__matmul__", "T", "shape", "device", "dtype", "is_symmetric", "components", "to_dense")


def checked_operator(M: Any) -> Operator:
    """M itself, if it is an operator. Its members are not looked at: components, for one, may be long to find."""
    lacks = [name for name in _MEMBERS if not hasattr(type(M), name) and name not in getattr(M, "__dict__", ())]
    if not lacks:
        return M
    raise TypeError(
        f"M must be an operator with @, .shape and the rest of panconv.spectral.Operator, or a torch matrix, got "
        f"{kind_of(M)}, which lacks {', '.join(lacks)}: convert an array with torch.from_numpy, a SciPy matrix with "
        "panconv.Adjacency.from_sparse"
    )


class Matrix:
    """A square torch matrix, dense or sparse, as an operator; which nodes it mixes is not looked for."""

    def __init__(self, entries: Tensor) -> None:
        self.entries, self.shape = entries, (entries.size(0), entries.size(1))
        self.device, self.dtype = entries.device, entries.dtype

    def __matmul__(self, x: Tensor) -> Tensor:
        return self.entries @ x if x.dim() < 3 else (self.entries @ x.flatten(1)).view(x.shape)

    @property
    def T(self) -> Matrix:
        return Matrix(self.entries.t())

    @functools.cached_property
    def is_symmetric(self) -> bool:
        """To rounding, measured by its own largest entry."""
        entries = self.entries if self.entries.layout == torch.strided else self.entries.to_sparse_coo()
        return _largest(entries - entries.t()) <= _SAME * _largest(entries)

    @property
    def components(self) -> Tensor:
        return torch.zeros(self.shape[0], dtype=torch.long, device=self.device)

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        return self.entries.to_dense().to(checked_dtype(dtype))


def as_operator(M: Any, dtype: torch.dtype) -> Operator:
    """An operator as it is; a torch matrix, dense or sparse, in a dtype."""
    if not isinstance(M, Tensor):
        return checked_operator(M)
    if M.dim() != 2 or M.size(0) != M.size(1):
        raise TypeError(f"M must be a square matrix, got shape {tuple(M.shape)}")
    check_real(M, "M")
    check_values(M, "M")
    wide = _symmetrise(M.to(dtype), torch.finfo(M.dtype).eps if M.is_floating_point() else 0.0)
    return Matrix(wide if wide.layout == torch.strided else wide.to_sparse_csr())


def check_symmetric(M: Operator) -> None:
    """Refuses an operator that is known not to be symmetric."""
    if not M.is_symmetric:
        raise ValueError(
            "M is not symmetric, which Lanczos needs: take method 2, 5, 6 or 9 on an undirected graph, or, for methods "
            "1, 7, 8, 10 and 11, the symmetric twin M.similar()[0] (edge weights that ask for a gradient count as "
            "directed); of a matrix take (M + M.T) / 2"
        )


def _symmetrise(M: Tensor, eps: float) -> Tensor:
    """The matrix itself; the mean of M and Mᵀ where they differ by no more than the rounding of its entries."""
    M = M if M.layout == torch.strided else M.to_sparse_coo().coalesce()
    other = M.t()
    size, difference = _largest(M), _largest((M - other).detach())
    if not math.isfinite(size):
        raise ValueError(f"M must be finite, got an entry of {size}: mend or remove it")
    return (M + other) / 2 if 0 < difference <= max(64 * eps, _SAME) * size else M


def _largest(M: Tensor) -> float:
    """The largest |Mᵢⱼ|; 0 of a matrix without entries."""
    value = (M if M.layout == torch.strided else M.coalesce().values()).detach()
    return float(value.abs().max()) if value.numel() else 0.0
