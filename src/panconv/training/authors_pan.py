"""`AuthorsPAN`: the network of the authors' second paper, and the settings under which they ran it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_mean_pool

from panconv.base.checks import checked_count, checked_length
from panconv.nn import AuthorsConv, AuthorsPool, Dropout
from panconv.nn.authors_conv import checked_code
from panconv.nn.between import checked_graphs


class AuthorsRun(NamedTuple):
    """A row of the paper's tables: how the README of the authors' repository says to run it, and what it gave.

    Adam on all parameters; a random 80/10/10 split in each of ten runs, whose epoch of the lowest validation loss is
    tested, with no early stop.
    """

    L: int
    published: float  # mean test accuracy of ten runs, in per cent
    deviation: float  # its standard deviation
    batch_size: int = 32
    lr: float = 0.005
    weight_decay: float = 1e-3
    epochs: int = 100
    hidden_channels: int = 64
    ratio: float = 0.5


# L is that of the README's commands, and the rest what the scripts have where nothing else is said. That for the point
# patterns, of which 0.35 is the parameter, has batches of 64, and an L of 3 that the README overrules.
AUTHORS_RUNS = {
    "PROTEINS": AuthorsRun(L=3, published=76.6, deviation=2.1),
    "NCI1": AuthorsRun(L=3, published=60.8, deviation=3.5),
    "AIDS": AuthorsRun(L=3, published=97.5, deviation=1.9),
    "Mutagenicity": AuthorsRun(L=3, published=70.9, deviation=2.8),
    "PointPattern 0.35": AuthorsRun(L=4, published=97.6, deviation=0.5, batch_size=64),
}


class AuthorsPAN(nn.Module):
    """The graph classifier of "Path Integral Based Convolution and Pooling for Graph Neural Networks" (2020).

    Three times an `AuthorsConv` and an `AuthorsPool`, of L steps, then 1 and 1, with nothing between them; the mean of
    the nodes that are left; and three linear maps that halve the width, with ReLU between them and dropout after the
    first. `AUTHORS_RUNS` has the settings of the paper's rows.

    Args:
        in_channels: features of a node, or -1 to take them from the first call.
        out_channels: classes, or numbers to predict.
        L: the longest walk in the first layer.
        hidden_channels: width of the layers, at least 4.
        ratio: the share of nodes that each pool keeps. The repository has an option for it that it does not pass on:
            its pools keep ½.
        dropout: after the first linear map, while training.
        code: ``"authors"`` for the network as their repository has it, whose pools make sums of their own, of L, 2 and
            2 steps; ``"pyg"`` for one of PyG's `PANConv` and `PANPooling`, where a pool takes the M of its layer.

    Shapes:
        x (N, F), edge_index (2, E) or an `Adjacency`, batch (N,) or None for one graph → (graphs, out_channels).

    One thing of the repository is left out: it takes as many nodes as the edges of a batch name, so that isolated nodes
    at the very end of a batch have no row in M.

    >>> model = AuthorsPAN(7, 2, L=3)
    >>> edge_index = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    >>> model(torch.randn(5, 7), edge_index, torch.tensor([0, 0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        L: int = 3,
        hidden_channels: int = 64,
        ratio: float = 0.5,
        dropout: float = 0.5,
        code: str = "authors",
    ) -> None:
        super().__init__()
        hidden = checked_count(hidden_channels, "hidden_channels", least=4)
        checked_count(out_channels, "out_channels")
        steps = (checked_length(L), 1, 1)
        own = (L, 2, 2) if checked_code(code) == "authors" else (None, None, None)
        self.in_channels, self.out_channels, self.code = in_channels, out_channels, code
        self.convs = nn.ModuleList(
            AuthorsConv(width, hidden, n, code) for width, n in zip((in_channels, hidden, hidden), steps, strict=True)
        )
        self.pools = nn.ModuleList(AuthorsPool(hidden, ratio, filter_size=n) for n in own)
        self.dropout = Dropout(dropout)
        widths = (hidden, hidden // 2, hidden // 4, out_channels)
        self.lins = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))

    def reset_parameters(self) -> None:
        """A new start of every part."""
        for part in (*self.convs, *self.pools, *self.lins):
            part.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any, batch: Tensor | None = None, batch_size: int | None = None) -> Tensor:
        """Scores of each graph; ``batch_size`` says how many there are, where the last have no nodes."""
        graph, size = checked_graphs(batch, batch_size, len(x))
        graph = torch.zeros(len(x), dtype=torch.long, device=x.device) if graph is None else graph
        for conv, pool in zip(self.convs, self.pools, strict=True):
            x, M = conv(x, edge_index)
            x, edge_index, _, graph, *_ = pool(x, M if pool.filter_size is None else edge_index, graph)
        x = global_mean_pool(x, graph, size or 1)
        first, second, last = self.lins
        return last(second(self.dropout(first(x).relu())).relu())
