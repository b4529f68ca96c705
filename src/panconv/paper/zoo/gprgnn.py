"""GPR-GNN: a network predicts from a node's own features, H = MLP(X), and the predictions of all distances are added
with trained weights of any sign, Z = Σₖ γₖ·Âᵏ·H, which start as those of personalised PageRank.

Chien, Peng, Li & Milenkovic, Adaptive universal generalized PageRank graph neural network, ICLR 2021.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.nn import Dropout
from panconv.paper.zoo.mlp import Blind
from panconv.paper.zoo.operator import powers, renormalized
from panconv.paper.zoo.stack import How, Layers, trained_by_fit


class PageRank(nn.Module):
    """Two layers that see no edges, dropout of what they give, and the weighted sum behind them. As its authors have
    it, weight decay is for the layers: γ has none.

    Args:
        how: hidden, dropout, dropout_scores, K, and alpha: at the start γₖ = α·(1 − α)ᵏ, but γ_K = (1 − α)ᴷ.
        inputs, classes: the numbers of features and classes.
        a, a_t: Â and its transpose.
    """

    def __init__(self, how: How, inputs: int, classes: int, a: CSR, a_t: CSR) -> None:
        super().__init__()
        self.layers = Layers(Blind(inputs, how["hidden"]), Blind(how["hidden"], classes), how["dropout"])
        self.drop_scores = Dropout(how["dropout_scores"])
        gamma = (1 - how["alpha"]) ** torch.arange(how["K"] + 1.0)
        gamma[:-1] *= how["alpha"]
        self._matrix, self.gamma = (a, a_t), nn.Parameter(gamma)

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        steps = powers(self._matrix, self.drop_scores(self.layers(x, adj)), len(self.gamma) - 1)
        return torch.stack([gamma * z for gamma, z in zip(self.gamma, steps, strict=True)]).sum(0)


train = trained_by_fit(PageRank, renormalized)
