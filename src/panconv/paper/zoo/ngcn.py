"""N-GCN: GCNs side by side, the k-th of them on Âᵏ, and a layer on top that says whom to trust,

    Y = [ Y⁽⁰⁾ ‖ Y⁽¹⁾ ‖ … ]·W,   Y⁽ᵏ⁾ = Âᵏ·ReLU(Âᵏ·X·W₀⁽ᵏ⁾)·W₁⁽ᵏ⁾,   k = 0 … K − 1, r instances of each.

Its paper combines them in two ways; this is N-GCN_fc, and not N-GCN_a, by attention. W starts as the mean of the
instances. Powers are never formed. Abu-El-Haija, Kapoor, Perozzi & Lee, N-GCN: multi-scale graph convolution for
semi-supervised node classification, UAI 2019.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import glorot

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import How, Layers, trained_by_fit


class Instances(nn.Module):
    """One layer of all instances, Âᵏ·X·W⁽ᵏ⁾ + b⁽ᵏ⁾: x (N, F) for all, or (N, K·r, F), → (N, K·r, O).

    Args:
        inputs, outputs: F and O.
        K, r: the powers 0 … K − 1, and how many instances there are of each.
        a, a_t: Â and its transpose.
    """

    def __init__(self, inputs: int, outputs: int, K: int, r: int, a: CSR, a_t: CSR) -> None:
        super().__init__()
        self._matrix, self.K = (a, a_t), K
        self.weight = nn.Parameter(torch.empty(K * r, inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(K * r, outputs))
        glorot(self.weight)  # of the last two sizes: each instance starts as a GCN does

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() == 2:  # one product for all instances
            mapped = (x @ self.weight.transpose(0, 1).flatten(1)).unflatten(-1, self.bias.shape)
        else:
            mapped = torch.einsum("nkf,kfo->nko", x, self.weight)
        return self._sent(mapped) + self.bias

    def _sent(self, x: Tensor) -> Tensor:
        """Âᵏ times the block of power k, by K − 1 products, each with the blocks that still have a way to go."""
        done, rest = [], x.reshape(len(x), -1)
        width = rest.size(1) // self.K
        for _ in range(self.K - 1):
            done.append(rest[:, :width])
            rest = spmm(*self._matrix, rest[:, width:])
        return torch.cat([*done, rest], dim=1).reshape(x.shape)


class Network(Layers):
    """The instances, and the layer that joins what they say.

    Args:
        how: hidden, dropout (all instances see the same features dropped), K and r.
        inputs, classes: the numbers of features and classes.
        a, a_t: Â and its transpose.
    """

    def __init__(self, how: How, inputs: int, classes: int, a: CSR, a_t: CSR) -> None:
        K, r, hidden = how["K"], how["r"], how["hidden"]
        first, second = Instances(inputs, hidden, K, r, a, a_t), Instances(hidden, classes, K, r, a, a_t)
        super().__init__(first, second, how["dropout"])
        self.join = nn.Parameter(torch.eye(classes).repeat(K * r, 1) / (K * r))  # (K·r·C, C)

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        return super().forward(x, adj).flatten(1) @ self.join


train = trained_by_fit(Network, renormalized)
