"""What the symmetric operators of an undirected graph have in common."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.base.checks import checked_dtype, checked_operand
from panconv.graph import Adjacency


class OnUndirected:
    """An operator S = Sᵀ that mixes the nodes of a component alone; a subclass says what S @ x is, in `_product`."""

    is_symmetric = True
    dtype = torch.float64  # of degrees and Perron vectors

    def __init__(self, adj: Adjacency) -> None:
        self.adj, self.shape, self.device = adj, (adj.num_nodes, adj.num_nodes), adj.device

    @property
    def components(self) -> Tensor:
        """The component of each node: the operator never leaves it."""
        return self.adj.components

    @property
    def T(self) -> OnUndirected:
        """Itself: the operator is symmetric."""
        return self

    def __matmul__(self, x: Tensor) -> Tensor:
        """The product with x (N, …)."""
        return self.apply(x)

    def apply(self, x: Tensor) -> Tensor:
        """S @ x under a name that torch.compile can trace; of half precision it is computed in float32."""
        checked_operand(x, self.adj.num_nodes, self.device)
        return self._product(x if x.dtype == torch.float64 else x.float()).to(x.dtype)

    def _product(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """The matrix (N, N), for small graphs and for tests."""
        return self @ torch.eye(self.adj.num_nodes, dtype=checked_dtype(dtype), device=self.device)
