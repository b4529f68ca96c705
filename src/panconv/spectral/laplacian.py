"""The normalised Laplacian as an operator: what M is compared with."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from panconv.compute.spmm import spmm
from panconv.paths.family import align
from panconv.spectral.perron import checked_undirected
from panconv.spectral.undirected import OnUndirected


class Laplacian(OnUndirected):
    """I − D^−½ A D^−½ of an undirected graph, with 0 in the row of a node without edges.

    With that, the eigenvalue 0 has as many eigenvectors as the graph has components; all lie in [0, 2].

    Args:
        adj: an undirected graph with weights of at least 0, or anything an `Adjacency` is made from.
        complement: for I minus the Laplacian, which has the smooth end of the spectrum at the top, as M has.

    >>> Laplacian(torch.tensor([[0, 1], [1, 0]])).to_dense()
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """

    def __init__(self, adj: Any, complement: bool = False) -> None:
        super().__init__(checked_undirected(adj))
        self.complement, self._lone = complement, self.adj.row_sums() == 0

    def _product(self, x: Tensor) -> Tensor:
        walked = spmm(*self.adj.base("D^−½AD^−½").operands(x.dtype), x) + x * align(self._lone, x)
        return walked if self.complement else x - walked
