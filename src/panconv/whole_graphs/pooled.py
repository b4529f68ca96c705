"""`PooledGCN`: PyG's convolutions and pools in a plain network, as in PyG's own benchmarks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, TopKPooling

from panconv.base.checks import checked_word
from panconv.nn import Dropout
from panconv.nn.between import checked_graphs
from panconv.nn.graph_pools import SAGPool
from panconv.nn.readout import READOUTS

POOLS: dict[str, Any] = {"sag": SAGPool, "topk": TopKPooling}


class PooledGCN(nn.Module):
    """A graph classifier of `GCNConv` and ReLU, with a pool behind every second layer but the last; the readouts of all
    layers side by side, and two linear maps.

    It is the network of PyG's ``benchmark/kernel``, on GCNConv, and with `SAGPool` in place of SAGPooling.

    Args:
        in_channels: features of a node.
        hidden_channels: width of the layers.
        out_channels: classes.
        layers: number of convolutions.
        pool: ``"sag"`` or ``"topk"``.
        ratio: the share of nodes that a pool keeps.
        readout: ``"sum"``, ``"mean"`` or ``"max"``.
        dropout: before the last map.

    Shapes:
        x (N, F), edge_index (2, E), batch (N,) → (graphs, out_channels).

    >>> model = PooledGCN(7, 16, 2, layers=4, pool="sag")
    >>> edges = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    >>> model(torch.randn(5, 7), edges, batch=torch.tensor([0, 0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        layers: int = 4,
        pool: str = "topk",
        ratio: float = 0.8,
        readout: str = "mean",
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        kind, hidden = POOLS[checked_word(pool, tuple(POOLS), "pool")], hidden_channels
        self.out_channels, self.readout = out_channels, READOUTS[checked_word(readout, tuple(READOUTS), "readout")]
        self.convs = nn.ModuleList(GCNConv(hidden if i else in_channels, hidden) for i in range(layers))
        self.pools = nn.ModuleDict({str(i): kind(hidden, ratio) for i in range(1, layers - 1, 2)})
        self.dropout = Dropout(dropout)
        self.lin1, self.lin2 = nn.Linear(layers * hidden, hidden), nn.Linear(hidden, out_channels)

    def reset_parameters(self) -> None:
        """A new start."""
        for part in (*self.convs, *self.pools.values(), self.lin1, self.lin2):
            part.reset_parameters()

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
    ) -> Tensor:
        """Scores of each graph; `batch_size` says how many there are, where the last have no nodes."""
        batch, graphs = checked_graphs(batch, batch_size, len(x))
        if batch is None or graphs is None:
            batch, graphs = torch.zeros(len(x), dtype=torch.long, device=x.device), 1
        read = []
        for i, conv in enumerate(self.convs):
            x = conv(x, edge_index, edge_weight).relu()
            read.append(self.readout(x, batch, graphs))
            if str(i) in self.pools:
                x, edge_index, edge_weight, batch, *_ = self.pools[str(i)](x, edge_index, edge_weight, batch)
        return self.lin2(self.dropout(self.lin1(torch.cat(read, -1)).relu()))
