"""The terms of an operator, one by one and together, where each length has something of its own to be applied to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from panconv.base.checks import checked_operand
from panconv.met.operator import MET


@torch.no_grad()
def transposed_sum(M: MET, v: Sequence[Tensor]) -> Tensor:
    """Σₙ Mₙᵀ·vₙ for vₙ (N, …) of one shape, float64, one per length: by the recurrence, in as many products as M has.

    >>> from panconv import Walks
    >>> M = MET(Walks(torch.tensor([[0, 1], [1, 2]]), L=1), [1.0, 1.0], method=5)
    >>> y = torch.ones(3, 2, dtype=torch.float64)
    >>> torch.allclose(transposed_sum(M, [y, y]), M.T @ y)
    True
    """
    return M._plan(torch.float64).adjoint_sum(v)


def numbered_terms(M: MET, x: Tensor) -> tuple[Tensor, Iterator[Tensor]] | None:
    """A number for each length, (L+1,) or (L+1, S), and `MET.terms` without it, for x (N, …), float32 or wider.

    Who multiplies the terms by something smaller may scale that. None where more than a number scales them.

    >>> M = MET(Walks(torch.tensor([[0, 1], [1, 0]]), L=1), [1.0, 0.5], method=8)
    >>> numbers, (own, neighbours) = numbered_terms(M, torch.tensor([[1.0], [2.0]]))
    >>> numbers.tolist(), neighbours.tolist()
    ([1.0, 0.5], [[2.0], [1.0]])
    """
    dtype = checked_operand(x, M.shape[0], M.device).dtype
    if x.is_meta or M._parts.transposed:
        return None
    dtype = dtype if dtype == torch.float64 else torch.float32
    plan = M._plan(dtype)
    found = plan.numbered(x.to(plan.dtype))
    return None if found is None else (found[0].to(dtype), (term.to(dtype) for term in found[1]))
