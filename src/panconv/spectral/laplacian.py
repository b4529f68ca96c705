"""The normalised Laplacian as an operator: what M is compared with."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
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
        self.adj, self.complement = checked_undirected(Adjacency.of(adj)), complement
        self._degree = self.adj.row_sums()

    def __matmul__(self, x: Tensor) -> Tensor:
        """The product with x (N, …)."""
        given, x = x.dtype if isinstance(x, Tensor) else None, self.checked(x)
        lone = self._degree == 0
        root = self._degree.where(~lone, 1.0).rsqrt().to(x.dtype).reshape(-1, *[1] * (x.dim() - 1))
        walked = root * spmm(*self.adj.operands(x.dtype), root * x)
        walked = walked + x * lone.to(x.dtype).reshape(root.shape)
        return (walked if self.complement else x - walked).to(given)
