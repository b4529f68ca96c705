"""Deep GCN: GCN of any number of layers, H ← ReLU(Â·H·Wₗ), with nothing that helps depth; two layers are GCN.

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017, appendix B, without its
residual connections.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.nn import Dropout
from panconv.paper.zoo.convs import GCN
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import How, trained_by_fit


class Plain(nn.Module):
    """Dropout and a layer, again and again, with ReLU between them.

    Args:
        how: hidden, layers and dropout.
        inputs, classes: the numbers of features and classes.
        a, a_t: Â and its transpose.
    """

    def __init__(self, how: How, inputs: int, classes: int, a: CSR, a_t: CSR) -> None:
        super().__init__()
        widths = pairwise([inputs, *[how["hidden"]] * (how["layers"] - 1), classes])
        self.first, *others = (GCN(*each, a, a_t) for each in widths)
        self.others = nn.ModuleList(others)
        self.drops = nn.ModuleList(Dropout(how["dropout"]) for _ in range(how["layers"]))

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        x = self.first(self.drops[0](x))
        for layer, drop in zip(self.others, self.drops[1:], strict=True):
            x = layer(drop(x.relu()))
        return x


train = trained_by_fit(Plain, renormalized)
