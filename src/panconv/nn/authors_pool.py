"""`AuthorsPool`: the pooling of the authors' second paper as their code and PyG's `PANPooling` have it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn.pool.connect import FilterEdges
from torch_geometric.nn.pool.select import SelectTopK

from panconv.base.checks import as_number, checked_count, checked_operand, kind_of, shown
from panconv.graph.prepared import prepared
from panconv.nn.authors_conv import AS_COUNTED, CODES, weights_of
from panconv.nn.between import checked_graphs
from panconv.paths.formed_walks import formed_walks

Pooled = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


class AuthorsPool(nn.Module):
    r"""The pooling of "Path Integral Based Convolution and Pooling for Graph Neural Networks" (2020) as its code has it

    .. math:: s_j = \tanh\big(\beta_1\, \mathbf{x}_j \cdot \mathbf{p} + \beta_2 \sum_i M_{ij}\big)

    Of each graph the nodes of the highest scores are kept, their features multiplied by the score, and with them the
    entries of M between them: walks that led through nodes that are gone stay as edges. PyG's `PANPooling`: its
    state_dict loads with ``strict=True``, and the outputs agree. The text of the paper scores by the diagonal of M;
    both codes sum what a node sends, a column of M.

    Args:
        in_channels: features of a node.
        ratio: the share of a graph's nodes to keep, rounded up; from 1 on, their number.
        min_score: keeps the nodes whose score, then a softmax over their graph, is above this, and at least the best
            of each graph; the ratio is not used then.
        multiplier: of the features that are kept.
        nonlinearity: in place of tanh, a function or its name.
        filter_size: None for the M of an `AuthorsConv`; L for a sum Σ cₙAⁿ of the pool's own, with weights of its own,
            not divided by anything and so with c = w₀, w₁, w₁w₂ …, as the authors' repository has it. The pool is then
            called with the graph in place of M.

    Shapes:
        x (N, F), M (N, N), batch (N,) or None for one graph → x' (K, F), edge_index (2, E) of the K nodes, their
        entries of M (E,), batch (K,), which nodes were kept (K,), and their scores (K,).

    `PANPooling` multiplies the score by the sign of a number, ``select.weight``, that PyG has drawn at random since
    2.4: half of its pools keep the lowest. Its value is kept when loaded; a new pool starts from 1 and leaves it there,
    since it has no gradient, unless there is a min_score.

    >>> from panconv.nn import AuthorsConv
    >>> conv, pool = AuthorsConv(16, 8, filter_size=2), AuthorsPool(8, ratio=0.5)
    >>> x, M = conv(torch.randn(4, 16), torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]))
    >>> x, edge_index, edge_weight, batch, kept, score = pool(x, M)
    >>> x.shape, kept.shape
    (torch.Size([2, 8]), torch.Size([2]))
    """

    code = "authors"  # of the weights of its own

    def __init__(
        self,
        in_channels: int,
        ratio: float = 0.5,
        min_score: float | None = None,
        multiplier: float = 1.0,
        nonlinearity: str | Callable[[Tensor], Tensor] = "tanh",
        filter_size: int | None = None,
    ) -> None:
        super().__init__()
        self.in_channels, self.ratio = checked_count(in_channels, "in_channels"), _checked_ratio(ratio)
        self.min_score, self.multiplier, self.filter_size = _checked_score(min_score), multiplier, filter_size
        self.p, self.beta = nn.Parameter(torch.empty(in_channels)), nn.Parameter(torch.empty(2))
        if filter_size is not None:
            self.weight = nn.Parameter(torch.empty(checked_count(filter_size, "filter_size", least=0) + 1))
        self.select, self.connect = SelectTopK(1, ratio, min_score, nonlinearity), FilterEdges()
        self.select.weight.requires_grad_(min_score is not None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """p is 1, β and every w ½."""
        nn.init.ones_(self.p)
        nn.init.constant_(self.beta, 0.5)
        nn.init.ones_(self.select.weight)
        if self.filter_size is not None:
            nn.init.constant_(self.weight, 0.5)

    def forward(self, x: Tensor, M: Any, batch: Tensor | None = None) -> Pooled:
        """The graph of the nodes that are kept. ``M`` is that of `AuthorsConv`, or with a filter_size the graph."""
        (receiver, sender), value = self._entries(x, M)
        checked_operand(x, x.size(0), value.device)
        if x.dim() != 2 or x.size(1) != self.in_channels:
            raise ValueError(f"x must be (N, {self.in_channels}), got shape {tuple(x.shape)}")
        graph, _ = checked_graphs(batch, None, x.size(0))
        batch = torch.zeros(x.size(0), dtype=torch.long, device=x.device) if graph is None else graph
        sent = value.new_zeros(x.size(0)).index_add(0, sender, value).to(x.dtype)
        chosen = self.select(self.beta[0] * (x * self.p).sum(-1) + self.beta[1] * sent, batch)
        kept, score = chosen.node_index, chosen.weight
        left = self.connect(chosen, torch.stack([sender, receiver]), value, batch)
        x = x[kept] * score.unsqueeze(-1)
        x = self.multiplier * x if self.multiplier != 1 else x
        return x, left.edge_index, left.edge_attr, left.batch, kept, score

    def _entries(self, x: Tensor, M: Any) -> tuple[Tensor, Tensor]:
        """Where M has entries, as (receiver, sender), and which."""
        if self.filter_size is not None:
            adj = prepared(M, None, x.size(0), AS_COUNTED)
            walks = formed_walks(adj, self.filter_size)
            value = walks.sum(CODES[self.code].coefficients(weights_of(self)))
            return torch.stack([walks.pattern.row, walks.pattern.col.long()]), value.to(x.dtype)
        if not isinstance(M, Tensor) or M.layout == torch.strided:
            raise TypeError(
                f"M must be the sparse matrix that AuthorsConv returns, got {kind_of(M)}: x, M = conv(x, edge_index); "
                "a pool that is to make one of the edges is made with filter_size=L"
            )
        if tuple(M.shape) != (x.size(0), x.size(0)):
            raise ValueError(f"M must be ({x.size(0)}, {x.size(0)}), as x has rows, got shape {tuple(M.shape)}")
        M = M.to_sparse_coo().coalesce()
        return M.indices(), M.values()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        state_dict.setdefault(f"{prefix}select.weight", torch.ones_like(self.select.weight))  # before PyG 2.4: no sign
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        how = f"ratio={self.ratio}" if self.min_score is None else f"min_score={self.min_score}"
        own = "" if self.filter_size is None else f", filter_size={self.filter_size}"
        return f"{self.in_channels}, {how}, multiplier={self.multiplier}{own}"


def _checked_ratio(ratio: float) -> float:
    """The ratio itself, if it is a number above 0."""
    number = as_number(ratio)
    if number is None or not 0 < number < math.inf:
        raise ValueError(
            f"ratio must be above 0, the share of the nodes to keep or from 1 on their number, got {shown(ratio)}"
        )
    return ratio


def _checked_score(min_score: float | None) -> float | None:
    """The bound itself, if it is a number or None."""
    if min_score is not None and as_number(min_score) is None:
        raise TypeError(f"min_score must be a number, or None to keep a share of the nodes, got {shown(min_score)}")
    return min_score
