"""Terms of the rows that a head learns from, made comparable: each length about its mean, and of one size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.estimator.nodes import Matrix

# What the features of length n are multiplied by, so that a ridge leaves more or less to them. A head is convex for
# each of these, and cross-validation chooses.
PROFILES: dict[str, Callable[[int], float]] = {
    "even": lambda n: 1.0,
    "near": lambda n: 0.5**n,
    "far": lambda n: 2.0**n,
    "neighbours": lambda n: float(n > 0),
    "own": lambda n: float(n == 0),
}


_APART = 1e3  # times that the largest column is the smallest: then a ridge sees nothing of the small ones


class Scaled(NamedTuple):
    """The blocks of some rows, each with mean 0 and rows of mean squared length 1; where the columns of the features
    are worlds apart, these are of one size too."""

    blocks: list[Tensor]  # (n, F) for each length
    means: list[Tensor]  # (F,)
    sizes: list[float]  # what a block was divided by; 0 for one that is constant
    columns: Tensor | None = None  # (F,), float64: what the features of all lengths were divided by before

    @staticmethod
    def of(blocks: Iterable[Matrix], weight: Tensor) -> Scaled:
        """Of blocks as they come, and the weights of the rows (n,), float64."""
        scaled: list[Tensor] = []
        means, sizes, columns = [], [], None
        share = weight / weight.sum()
        for n, block in enumerate(blocks):
            x = torch.from_numpy(np.array(block.toarray() if sp.issparse(block) else block))
            mean = share.to(x.dtype) @ x
            x -= mean
            columns = _columns(x, mean, share) if n == 0 else columns
            if columns is not None:
                x /= columns
                mean /= columns
            most = float(x.abs().max()) if x.numel() else 0.0
            unit = most if 0 < most < float("inf") else 1.0  # squares of large and small numbers stay within float32
            size = unit * float((share @ (x / unit).square().sum(1).double()).sqrt())
            size = size if size > 1e-6 * float(mean.double().norm()) + 1e-300 else 0.0
            scaled.append(x.div_(size) if size else x.zero_())
            means.append(mean.double())
            sizes.append(size)
        return Scaled(scaled, means, sizes, columns)

    @property
    def width(self) -> int:
        return sum(block.size(1) for block in self.blocks)

    def of_rows(self, rows: Tensor) -> Scaled:
        return self._replace(blocks=[block[rows] for block in self.blocks])

    def factors(self, profile: str) -> list[float]:
        """What each block is multiplied by, so that all together have rows of mean squared length 1."""
        found = [PROFILES[profile](n) * (size > 0) for n, size in enumerate(self.sizes)]
        total = sum(factor**2 for factor in found) ** 0.5
        return [factor / total if total else 0.0 for factor in found]

    def beside(self, profile: str) -> Tensor:
        """The blocks that count, side by side, (n, p)."""
        pairs = zip(self.factors(profile), self.blocks, strict=True)
        return torch.cat([block * factor for factor, block in pairs if factor] or [self.blocks[0][:, :0]], dim=1)

    def back(self, profile: str, W: Tensor) -> tuple[list[Tensor], Tensor]:
        """Coefficients of the terms as they are, (F, C) for each length, and what is added to the scores, (C,), from
        those of the blocks side by side, (p, C)."""
        coefs, start, shift = [], 0, W.new_zeros(W.size(1))
        for factor, block, mean, size in zip(self.factors(profile), self.blocks, self.means, self.sizes, strict=True):
            F = block.size(1)
            coef = W.new_zeros(F, W.size(1))
            if factor:
                coef = W[start : start + F] * (factor / size)
                start += F
            shift -= mean @ coef
            coefs.append(coef if self.columns is None else coef / self.columns.unsqueeze(1))
        return coefs, shift

    def profiles(self) -> list[str]:
        """The names of those that differ here."""
        seen: dict[tuple[float, ...], str] = {}
        for name in PROFILES:
            if any(found := self.factors(name)) or name == "even":
                seen.setdefault(tuple(found), name)
        return list(seen.values())


def _columns(x: Tensor, mean: Tensor, share: Tensor) -> Tensor | None:
    """What the columns of features (n, F) about their mean are to be divided by; None where they are much alike."""
    most = x.abs().amax(0).double() if len(x) else x.new_zeros(x.size(1)).double()
    unit = torch.where((most > 0) & most.isfinite(), most, 1.0)
    size = unit * (share @ (x / unit).square()).sqrt()
    size = torch.where(size > 1e-6 * mean.double().abs(), size, 0.0)  # what is left of a constant is rounding
    there = size[size > 0]
    return torch.where(size > 0, size, 1.0) if there.numel() and float(there.max() / there.min()) > _APART else None
