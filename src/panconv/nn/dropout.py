"""Dropout of dense or sparse features, which can be keyed so that each trial of a batch drops what it would alone."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from panconv.base import random
from panconv.base.checks import as_number, shown
from panconv.compute.features import SparseRows


class Dropout(nn.Module):
    """Zeroes each value with probability p while training, and scales the others by 1/(1 − p).

    Of sparse features only the stored values are dropped: the zeros are zeros already. Without `keys` it draws from
    torch's generator, as any dropout; with `keys` set, a number for one trial or (S,) for S, what is dropped follows
    from the key and the position alone.

    Shapes:
        x (N, …) → (N, …); with keys (S,), x (N, F) or (N, S, F) → (N, S, F).
    """

    keys: Tensor | None = None
    least: Tensor
    share: Tensor

    def __init__(self, p: Any = 0.5) -> None:
        super().__init__()
        given = [as_number(each) for each in p] if isinstance(p, (list, tuple)) and len(p) > 1 else [as_number(p)]
        if any(share is None or not 0 <= share < 1 for share in given):
            raise ValueError(f"dropout must be at least 0 and below 1, got {shown(p)}")
        self.p: Any = given[0] if len(given) == 1 else given
        self._position = torch.empty(0, dtype=torch.int32)
        if len(given) > 1:
            least = [int(share * 2.0**32) - 2**31 for share in given]  # type: ignore[operator]
            self.register_buffer("least", torch.tensor(least), persistent=False)
            self.register_buffer("share", torch.tensor(given, dtype=torch.float64), persistent=False)

    def forward(self, x: Tensor | SparseRows) -> Tensor | SparseRows:
        if not isinstance(x, SparseRows) and not (isinstance(x, Tensor) and x.is_floating_point()):
            raise TypeError(f"x must be a tensor of floating-point numbers, got {shown(x)}: convert it with .float()")
        if not self.training or self.p == 0:
            return x
        if isinstance(self.p, list):
            return self._by_trial(x)
        if isinstance(x, SparseRows):
            return x.with_values(F.dropout(x.value, self.p)) if self.keys is None else x.drop(self.keys, self.p)
        return F.dropout(x, self.p) if self.keys is None else self._drop(x, self.keys)

    def _by_trial(self, x: Tensor | SparseRows) -> Tensor | SparseRows:
        value = x.value if isinstance(x, SparseRows) else x.unsqueeze(1) if x.dim() == 2 else x
        place = (-1, 1)
        assert self.keys is not None
        word = random._as_int32(self.keys | 1).reshape(place)
        if isinstance(x, SparseRows):
            word = x._pattern.positions()[0] * word
        else:
            word = random.position_hash(value.size(0) * value.size(-1), x.device).reshape(-1, 1, value.size(-1)) * word
        scale = (1 / (1 - self.share)).to(value.dtype).reshape(place)
        kept = torch.where(word >= self.least.reshape(place), value * scale, 0)
        return x.with_values(kept) if isinstance(x, SparseRows) else kept

    def _drop(self, x: Tensor, keys: Tensor) -> Tensor:
        one = x.shape
        if keys.dim():  # (S,): x is shared by the trials, (N, F), or has their dimension already
            x = x.unsqueeze(1) if x.dim() == 2 else x
            one = torch.Size([x.size(0), 1, *x.shape[2:]])
            keys = keys.reshape(-1, *[1] * (x.dim() - 2))
        position = self._position  # once: another thread may replace it
        if position.numel() != one.numel() or position.device != x.device:
            position = self._position = random.position_hash(one.numel(), x.device)
        return random.survivors(x, position.reshape(one), keys, self.p, 1 / (1 - self.p))

    def extra_repr(self) -> str:
        return f"p={self.p}"
