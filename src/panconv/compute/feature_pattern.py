"""Where the stored values of sparse features stand, and what follows from that alone."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.base import random
from panconv.graph.csr import CSR, narrow, order_by_column


class Pattern:
    """Where the stored values stand: the CSR pattern and its transpose, made once."""

    def __init__(self, crow: Tensor, col: Tensor, N: int, F: int) -> None:
        bound = max(N, F, col.numel())
        self.shape = (N, F)
        self.crow, self.col = narrow(crow, bound), narrow(col, bound)
        self.crow_t, self.col_t, self.perm = order_by_column(self.crow, self.col, F)
        self._blocks: dict[int, Pattern] = {}
        self._positions: tuple[Tensor, Tensor] | None = None

    def positions(self) -> tuple[Tensor, Tensor]:
        """The hash of each stored value's place, which dropout goes by, and the same in the order of the transpose."""
        if self._positions is None:
            with torch.inference_mode(False):
                position = random.position_hash(self.col.numel(), self.col.device)
                self._positions = position, position[self.perm]
        return self._positions

    def row(self) -> Tensor:
        """The row of each stored value."""
        return torch.repeat_interleave(self.crow.long().diff(), output_size=self.col.numel())

    def operands(self, value: Tensor) -> tuple[CSR, CSR]:
        """The matrix and its transpose, from values (nnz,) or, on the pattern of S blocks, (S, nnz / S)."""
        moved = value[..., self.perm]
        return CSR(self.crow, self.col, value.reshape(-1)), CSR(self.crow_t, self.col_t, moved.reshape(-1))

    def side_by_side(self, S: int) -> Pattern:
        """S copies of the pattern down the diagonal of one matrix (S·N, S·F): S products in one."""
        if S == 1:
            return self
        if S not in self._blocks:
            (N, F), nnz = self.shape, self.col.numel()
            block = object.__new__(Pattern)
            block.shape, block.perm, block._blocks, block._positions = (S * N, S * F), self.perm, {}, None
            bound = S * max(N, F, nnz)
            with torch.inference_mode(False):
                block.crow, block.col = _repeat(self.crow, self.col, S, F, bound)
                block.crow_t, block.col_t = _repeat(self.crow_t, self.col_t, S, N, bound)
            self._blocks[S] = block
        return self._blocks[S]

    def to(self, device: torch.device | str) -> Pattern:
        moved = object.__new__(Pattern)
        moved.__dict__.update({k: v.to(device) if isinstance(v, Tensor) else v for k, v in self.__dict__.items()})
        moved._blocks, moved._positions = {}, None
        return moved


def _repeat(crow: Tensor, col: Tensor, S: int, width: int, bound: int) -> tuple[Tensor, Tensor]:
    block = torch.arange(S, device=col.device).unsqueeze(1)
    starts = (crow[:-1].long() + block * col.numel()).reshape(-1)
    end = torch.full((1,), S * col.numel(), device=col.device)
    return narrow(torch.cat([starts, end]), bound), narrow((col.long() + block * width).reshape(-1), bound)
