"""A stand-in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from panconv.base import random
from panconv.base.checks import as_number, shown
from panconv.compute.features import SparseRows
from panconv.graph.csr import rows_of


class DropNodes(nn.Module):
    """Zeroes whole rows with probability p while training; in evaluation multiplies by 1 − p."""

    keys: Tensor | None = None
    share: Tensor

    def __init__(self, p: Any = 0.5) -> None:
        super().__init__()
        given = [as_number(each) for each in p] if isinstance(p, (list, tuple)) and len(p) > 1 else [as_number(p)]
        if any(share is None or not 0 <= share < 1 for share in given):
            raise ValueError(f"drop_nodes must be at least 0 and below 1, got {shown(p)}")
        self.p: Any = given[0] if len(given) == 1 else given
        self.many = len(given) > 1
        self.register_buffer("share", torch.tensor(given, dtype=torch.float64), persistent=False)

    def forward(self, x: Tensor | SparseRows) -> Tensor | SparseRows:
        if self.p == 0:
            return x
        keep = (1 - self.share if self.many else 1 - self.share[0]).to(x.dtype)  # () or (S,)
        if self.training:
            position = random.position_hash(x.shape[0], x.device)
            if self.keys is None:
                keep = (torch.rand(x.shape[0], *keep.shape, device=x.device) < keep).to(x.dtype)
            else:
                share = self.share if self.many else self.share[0]
                least = (share * 2.0**32).long() - 2**31
                word = position.reshape(-1, *[1] * self.keys.dim()) * random._as_int32(self.keys | 1)
                keep = (word >= least).to(x.dtype)  # (N,) or (N, S)
        else:
            keep = keep.expand(x.shape[0], *keep.shape)
        if isinstance(x, SparseRows):
            return x.with_values(x.value * keep.T[..., rows_of(x._pattern.crow, x._pattern.col.numel()).long()])
        x = x.unsqueeze(1) if keep.dim() == 2 and x.dim() == 2 else x
        return x * keep.reshape(*keep.shape, *[1] * (x.dim() - keep.dim()))
