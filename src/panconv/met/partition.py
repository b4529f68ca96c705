"""The partition function Z (eq. 4), node by node, in units of its largest term, so that it never leaves float64."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.tracing import may_look
from panconv.graph import Adjacency
from panconv.graph.degrees import UnscalableError, inverse
from panconv.paths.family import Counts, Weighing
from panconv.weights import LOG_2, MOST

EPS = torch.finfo(torch.float64).eps
_MOST = MOST // LOG_2  # as an exponent of 2


class Partition(NamedTuple):
    """Zᵢ = Σₙ wₙ D_n(i), as z in units of what is largest at node i.

    The unit is |w_r| of the length r that weighs most among the paths that arrive, times 2^e_r where B_n comes with an
    exponent; `over` is wₙ, times 2^eₙ, in that unit. What all weights have in common is kept apart, in `log_common`. A
    unit is kept by mantissa and power of 2, whose roots are good to the last digit, where those of a logarithm are not.
    """

    over: Tensor  # (L+1, N[, S]) float64
    z: Tensor  # (N[, S])
    unit: Tensor  # (N[, S]): the unit, without what is common, is unit · 2^exponent
    exponent: Tensor  # (N[, S])
    log_common: Tensor  # () or (S,)

    def log(self, common: bool = True) -> Tensor:
        """log Z, (N[, S]); −∞ where nothing arrives."""
        empty = self.z == 0
        log = self.unit.log() + LOG_2 * self.exponent + self.z.masked_fill(empty, 1).log()
        log = log + self.log_common if common else log
        return log.masked_fill(empty, -torch.inf)

    def inverse(self, power: float) -> Tensor:
        """z^−power, where 1/0 is 0."""
        return inverse(self.z, power)


def partition(weights: Weighing, counts: Counts, adj: Adjacency) -> Partition:
    """Z of each node; negative, or 0 although paths arrive, it is refused."""
    log_w = weights.log().detach()
    dim, B = log_w.dim() + 1, match(counts.value, log_w.dim() + 1)
    arrive = B > 0
    largest = log_w.argmax(0, keepdim=True)  # (1[, S])
    mantissa, exponent = weights.over_frexp(largest)  # (L+1, 1[, S])
    size = mantissa.detach().abs()
    if counts.exponent is not None:
        exponent = exponent + match(counts.exponent, dim)
    rank = size.log2() + exponent
    reference = rank.expand(-1, *arrive.shape[1:2], *rank.shape[2:]).masked_fill(~arrive, -torch.inf).argmax(0)
    unit = _of_length(size, reference)
    if counts.exponent is None:
        over = weights.over(reference)
    else:
        mantissa, apart = weights.over_frexp(reference)
        shift = match(counts.exponent, dim)
        over = mantissa * torch.exp2((apart + shift - _of_length(shift, reference)).clamp(max=_MOST))
    if not may_vanish(counts, adj):
        over = over.masked_fill(~arrive, 0)
    terms = over * B
    # Where B_n is 0 the ratio is D_n itself, which may still have a derivative.
    z = (terms if counts.ratio is None else over * B.where(arrive, 1) * match(counts.ratio, dim)).sum(0)
    if not weights.positive or counts.ratio is not None:
        _check(z, terms, len(log_w))
    return Partition(over, z, unit.where(unit > 0, 1), _of_length(exponent, reference), empty_as_zero(log_w.amax(0)))


def may_vanish(counts: Counts, adj: Adjacency) -> bool:
    """Whether an edge of weight 0 has a gradient: then what does not arrive would, were it any larger."""
    return adj.is_tracked and not adj.is_positive and not counts.without_zeros


def _of_length(values: Tensor, reference: Tensor) -> Tensor:
    """The value at each node's length r, from values (L+1, 1 or N[, 1 or S])."""
    return values.expand(-1, *reference.shape).gather(0, reference.unsqueeze(0)).squeeze(0)


def _check(z: Tensor, terms: Tensor, lengths: int) -> None:
    """Refuses a Z that is negative, or nothing but rounding."""
    if not may_look():
        return
    bulk = terms.detach().abs().sum(0)
    bad = (z <= 4 * lengths * EPS * bulk) & (bulk > 0)
    if bool(bad.any()):
        where = tuple(bad.nonzero()[0].tolist())
        negative = bool(z[where] < -4 * lengths * EPS * bulk[where])
        raise UnscalableError(
            f"the partition function Z {'is negative' if negative else 'cancels to 0'} at node {where[0]}: negative "
            "edge weights or path weights outweigh the positive ones"
        )


def empty_as_zero(log: Tensor) -> Tensor:
    """0 in place of −∞, for what is masked afterwards."""
    return log.masked_fill(log == -torch.inf, 0)


def match(per_length: Tensor, dim: int) -> Tensor:
    """(L+1, N) as (L+1, N) or (L+1, N, 1)."""
    return per_length.unsqueeze(-1) if dim == 3 else per_length
