"""Random propagation's first step: whole nodes lose their features while training."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.compute.features import SparseRows
from panconv.nn.dropout import Dropout, check_features


class DropNodes(Dropout):
    """Zeroes whole rows, the features of a node, with probability p while training; otherwise multiplies by 1 − p.

    What it leaves is not scaled while training: that is how random propagation (Feng et al., 2020) does it, and the
    factor 1 − p makes up for it afterwards. It is drawn and keyed as `Dropout` is, with one number per row.

    Args:
        p: the probability, or one for each of S trials.

    Shapes:
        x (N, F) or (N, S, F), or `SparseRows` → the same; with keys (S,) or S probabilities, dense x → (N, S, F).

    >>> DropNodes(0.25).eval()(torch.ones(2, 3))
    tensor([[0.7500, 0.7500, 0.7500],
            [0.7500, 0.7500, 0.7500]])
    """

    called = "drop_nodes"

    def forward(self, x: Tensor | SparseRows) -> Tensor | SparseRows:
        check_features(x)
        if self.p == 0:
            return x
        factor = self.factor(x)
        if isinstance(x, SparseRows):
            return x.times(factor)
        return (x.unsqueeze(1) if x.dim() < factor.dim() else x) * factor

    def factor(self, x: Tensor | SparseRows) -> Tensor:
        """What each row is multiplied by: (N, 1), or (N, S, 1) where trials differ in it."""
        heads = 2 if len(x.shape) > 2 else 1
        shape = (*x.shape[:heads], *[1] * (len(x.shape) - heads))
        rows, p = torch.ones(shape, dtype=x.dtype, device=x.device), self._chance(x.device)
        if self.training:
            return self._drop(rows, p)
        if not isinstance(p, Tensor):
            return rows * (1 - p)
        if p.dim() and rows.dim() == 2:
            rows = rows.unsqueeze(1)
        return rows * (1 - p).to(rows.dtype).reshape(p.shape + (1,) * (rows.dim() - 2) if p.dim() else ())

    def _scale(self, p: float | Tensor) -> float:
        return 1.0
