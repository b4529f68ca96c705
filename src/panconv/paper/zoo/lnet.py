"""LNet: scales of a graph near and far in one layer, the far ones through a few Ritz pairs of Â from Lanczos.

X' = [ÂˢX …, V·f(R¹⁰, R²⁰, R³⁰)·VᵀX …]·W, with a small network f that sees the powers of one Ritz value at a time.
Liao, Zhao, Urtasun & Zemel, LanczosNet: multi-scale deep graph convolutional networks, ICLR 2019.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.graph.csr import CSR
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.scales import Scales
from panconv.paper.zoo.stack import How, Make, trained_in_two_layers
from panconv.paper.zoo.symmetric import Symmetric, start, symmetric
from panconv.spectral import Ritz, ritz


class LanczosLayer(nn.Module):
    """The layer of all scales, with the network of its own that filters the Ritz values."""

    def __init__(self, inputs: int, outputs: int, M: CSR, pairs: Ritz, how: How) -> None:
        super().__init__()
        self.scales = Scales(inputs, outputs, M, how["short"], len(how["long"]))
        self.vectors = pairs.vectors.float()
        self.powers = torch.stack([pairs.values**p for p in how["long"]], dim=1).float()  # (K, E)
        E = len(how["long"])
        # Without a bias f(0) = 0: Ritz vectors that the powers forget are mostly the noise of Lanczos' random start.
        wide = nn.Linear(E, how["filter"], bias=False), nn.ReLU(), nn.Linear(how["filter"], E, bias=False)
        self.filter = nn.Sequential(*wide)

    def forward(self, x: Tensor) -> Tensor:
        return self.scales(x, self.vectors, torch.diag_embed(self.filter(self.powers).T))


def layer(data: Data, how: How, device: str) -> Make:
    adj = graph(data, device)
    M = symmetric(adj, "Â" if how["normalize"] else None)
    with torch.no_grad():
        pairs = ritz(Symmetric(M), start(adj.num_nodes, adj.device).double(), min(how["steps"], adj.num_nodes))
    return partial(LanczosLayer, M=M._replace(value=M.value.float()), pairs=pairs, how=how)


train = trained_in_two_layers(layer)
