"""Matrices on the edges of one graph whose values are computed, a matrix per head, and their products."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR

_MOST = 80.0  # exp of it is finite in float32: reached where an edge of weight 0 would send, were it to weigh


class EdgeMatrices(NamedTuple):
    """H matrices (N, N) on the edges of a graph."""

    adj: Adjacency
    value: Tensor  # (nnz, H), in the order of the graph's `row` and `col`

    def apply(self, x: Tensor) -> Tensor:
        """Each head's matrix times its features, (N, H, …), by a product per head."""
        crow_t, col_t, perm = self.adj.by_column()
        products = []
        for value, of_head in zip(self.value.unbind(1), x.unbind(1), strict=True):
            a, a_t = CSR(self.adj.crow, self.adj.col, value.contiguous()), CSR(crow_t, col_t, value[perm])
            products.append(spmm(a, a_t, of_head.contiguous()))
        return torch.stack(products, 1)


def arriving_shares(adj: Adjacency, score: Tensor) -> EdgeMatrices:
    """Aᵢⱼ exp(sᵢⱼ) / Σₖ Aᵢₖ exp(sᵢₖ): a softmax over the edges that arrive at a node, counted by their weights.

    A row sums to 1, or to 0 where nothing arrives. Gradients reach the scores and the edge weights, that of an edge of
    weight 0 too.

    Args:
        adj: the graph, with weights of at least 0.
        score: s of each edge and head, (nnz, H), float32 or float64.
    """
    row, N = adj.row, adj.num_nodes
    carried = None
    counts = score.detach()
    if adj.value is not None:
        w = adj.operands(torch.float64)[0].value
        unit = w.detach().where(w.detach() > 0, 1.0)  # taken into the exponent, where no weight is too small
        score = score + unit.log().to(score.dtype).unsqueeze(1)
        carried = (w / unit).to(score.dtype).unsqueeze(1)  # 1, or 0 for a weight of 0
        counts = score.detach().masked_fill((w.detach() <= 0).unsqueeze(1), -torch.inf)
    index = row.unsqueeze(1).expand_as(score)
    largest = counts.new_full((N, score.size(1)), -torch.inf).scatter_reduce(0, index, counts, "amax")
    largest = largest.masked_fill(largest == -torch.inf, 0)
    share = (score - largest[row]).clamp(max=_MOST).exp()
    share = share if carried is None else share * carried
    total = share.new_zeros(N, share.size(1)).index_add(0, row, share)
    return EdgeMatrices(adj, share / total.masked_fill(total == 0, 1)[row])
