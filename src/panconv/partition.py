"""The partition function Z (eq. 4), node by node, in units of its largest term, so that it never leaves float64."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.cuda_graph import may_look
from panconv.graph import UnscalableError
from panconv.paths.family import Counts, Weighing

EPS = torch.finfo(torch.float64).eps


class Partition(NamedTuple):
    """Zᵢ = Σₙ wₙ D_n(i), as z in units of what is largest at node i.

    The unit is |w_r| of the length r that weighs most among the paths that arrive, or |w_r| B_r where B_n is known by
    its logarithm alone; `over` is wₙ, or wₙ B_n, in that unit.
    """

    over: Tensor  # (L+1, N[, S]) float64, 0 where no path of length n arrives
    z: Tensor  # (N[, S])
    log_unit: Tensor  # (N[, S])

    def log(self) -> Tensor:
        """log Z, (N[, S]); −∞ where nothing arrives."""
        empty = self.z == 0
        return (self.log_unit + self.z.masked_fill(empty, 1).log()).masked_fill(empty, -torch.inf)

    def inverse(self, power: float) -> Tensor:
        """z^−power, where 1/0 is 0."""
        return inverse(self.z, power)


def partition(weights: Weighing, counts: Counts) -> Partition:
    """Z of each node; negative, or 0 although paths arrive, it is refused."""
    log_w, dim = weights.log(), weights.log().dim() + 1
    arrive, B = match(counts.arrive, dim), match(counts.value, dim)
    rank = log_w.detach().unsqueeze(1) + (B.detach() if counts.logarithmic else 0)
    reference = rank.masked_fill(~arrive, -torch.inf).argmax(0)  # (N[, S])
    log_unit = _of_length(log_w.detach().unsqueeze(1), reference)
    if counts.logarithmic:
        of_unit = _of_length(B, reference).detach()
        log_unit = log_unit + of_unit
        shift = finite(B) - finite(of_unit)
        over = (weights.log_over(reference) + shift).masked_fill(~arrive, -torch.inf).clamp(max=1).exp()
        over = over if weights.positive else over * weights.exact().detach().sign().unsqueeze(1)
        terms = over
    else:
        over = weights.over(reference).masked_fill(~arrive, 0)
        terms = over * B
    signed = terms if counts.ratio is None else terms * match(counts.ratio, dim)
    z = signed.sum(0)
    if not weights.positive or counts.ratio is not None:
        _check(z, terms, len(log_w))
    return Partition(over, z, log_unit)


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


def inverse(v: Tensor, power: float) -> Tensor:
    """v^−power, where 1/0 is 0."""
    empty = v == 0
    return (v.masked_fill(empty, 1) ** -power).masked_fill(empty, 0)


def finite(log: Tensor) -> Tensor:
    """0 in place of −∞, for what is masked afterwards."""
    return log.masked_fill(log == -torch.inf, 0)


def match(per_length: Tensor, dim: int) -> Tensor:
    """(L+1, N) as (L+1, N) or (L+1, N, 1)."""
    return per_length.unsqueeze(-1) if dim == 3 else per_length
