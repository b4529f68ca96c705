"""The terms of an operator, one by one and together, where each length has something of its own to be applied to."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

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
