"""What a single path adds to M, which sums them: the factors that stand before and behind the product of its edges.

M[i, j]  =  Σₙ Σ_paths of n steps  before[n, i] · (the product of the base's entries along it) · behind[n, j]
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.met.operator import MET


class PathFactors(NamedTuple):
    """The factors of an operator, float64. Those before may be beyond floating point, and are kept by their logarithm.

    A node that no path reaches may keep its features as they are, which is `alone`, beside the path of no steps.
    """

    log_before: Tensor  # (L+1, N[, S]), of the size; −∞ where it is 0
    sign: Tensor  # (L+1, N[, S])
    behind: Tensor  # (L+1, N[, S])
    alone: Tensor  # (N[, S])

    @staticmethod
    @torch.no_grad()
    def of(M: MET) -> PathFactors:
        """Those of an operator on walks, or on paths whose weight is a product along them."""
        plan, terms = M._plan(torch.float64), M.paths.summands(M.weights)[0]
        left, alone, outer, right = plan.factors
        shape = (left.size(0), M.shape[0], *left.shape[2:])
        before = (left if outer is None else left * outer).expand(shape)
        log = before.abs().log()
        if plan.family is not terms:  # which is scaled: a term is 2^−exponent of what the paths add up to
            exponent = terms.counts().frexp().exponent
            assert exponent is not None
            exponent = exponent.where(exponent.isfinite(), 0)  # where nothing arrives
            log = log - math.log(2) * exponent.reshape(*exponent.shape, *[1] * (log.dim() - 2))
        behind = before.new_ones(()) if right is None else right
        none = before.new_zeros(shape[1:]) if alone is None else alone.expand(shape[1:])
        return PathFactors(log, before.sign(), behind.expand(shape), none)
