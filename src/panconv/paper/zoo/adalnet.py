"""AdaLNet: LanczosNet on a graph whose weights are learned, with gradients through Lanczos.

Sᵢⱼ ∝ exp(−‖e(xᵢ) − e(xⱼ)‖²/σ²) on the edges, with a trained embedding e; X' = [ÂˢX …, Q·f(T¹⁰)·QᵀX …]·W with the basis
Q and the tridiagonal T of Lanczos on S, without eigenvectors. Liao, Zhao, Urtasun & Zemel, LanczosNet, ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.nn import Dropout
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.scales import Scales
from panconv.paper.zoo.stack import How, trained_by_fit
from panconv.paper.zoo.symmetric import Symmetric, start, symmetric
from panconv.spectral import lanczos


class Affinity(nn.Module):
    """The kernel on the edges of M, each times its weight there, normalised by the row sums on both sides.

    The bandwidth σ² is the mean squared distance along edges, so that the scale of the embedding means nothing.
    """

    def __init__(self, inputs: int, hidden: int, M: CSR) -> None:
        super().__init__()
        self.M, self.row, self.col = M, M.row(), M.col.long()
        self.embedding = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden))

    def forward(self, x: Tensor) -> Symmetric:
        e = self.embedding(x)
        distance = (e[self.row] - e[self.col]).square().sum(-1)  # (nnz,)
        weight = self.M.value * torch.exp(-distance / (distance.mean() + torch.finfo(e.dtype).tiny))
        # In magnitude: weights of M may be negative, and the spectrum is then within −1 … 1 all the same.
        sums = torch.zeros_like(e[:, 0]).index_add(0, self.row, weight.abs())
        root = sums.where(sums > 0, 1.0).rsqrt()
        return Symmetric(CSR(self.M.crow, self.M.col, weight * root[self.row] * root[self.col]))


class Filters(nn.Module):
    """A symmetric matrix (K, K) per long scale p: T^(p/2)·(I + F)·T^(p/2), with F by a network on that power of T.

    Lanczos starts from a random vector, which the powers forget and a network on T alone would not: with F by itself
    the layer learns the training nodes by heart from the noise in Q. The network starts from F = 0, and F, with K
    columns that move together, is divided by K.
    """

    def __init__(self, steps: int, long: Sequence[int], width: int) -> None:
        super().__init__()
        self.long, K = tuple(long), steps * steps
        lasts = [nn.Linear(width, K) for _ in long]
        for last in lasts:
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)
        self.maps = nn.ModuleList(nn.Sequential(nn.Linear(K, width), nn.ReLU(), last) for last in lasts)

    def forward(self, T: Tensor) -> Tensor:
        powers = torch.stack([torch.linalg.matrix_power(T, p) for p in self.long])  # (E, K, K)
        halves = torch.stack([torch.linalg.matrix_power(T, p // 2) for p in self.long])
        made = torch.stack([f(power.flatten()) for f, power in zip(self.maps, powers, strict=True)]).view_as(powers)
        return powers + halves @ ((made + made.mT) / (2 * T.size(0))) @ halves


class AdaLanczosNet(nn.Module):
    """Two layers on one learned graph."""

    def __init__(self, how: How, inputs: int, classes: int, M: CSR) -> None:
        super().__init__()
        N = M.crow.numel() - 1
        self.steps, self.start = min(how["steps"], N), start(N, M.value.device)
        self.affinity = Affinity(inputs, how["hidden"], M)
        self.filters = Filters(self.steps, how["long"], how["filter"])
        self.first = Scales(inputs, how["hidden"], M, how["short"], len(how["long"]))
        self.second = Scales(how["hidden"], classes, M, how["short"], len(how["long"]))
        self.drop_input, self.drop_hidden, self.drop_kernel = (Dropout(how["dropout"]) for _ in range(3))

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        # Dropout here too: a kernel that sees all of x each time learns the training nodes by heart.
        found = lanczos(self.affinity(self.drop_kernel(x)), self.start, self.steps)
        G = self.filters(found.tridiagonal())
        x = F.relu(self.first(self.drop_input(x), found.Q, G))
        return self.second(self.drop_hidden(x), found.Q, G)


def prepared(data: Data, how: How, device: str) -> tuple[CSR]:
    M = symmetric(graph(data, device), "Â" if how["normalize"] else None)
    return (M._replace(value=M.value.float()),)


train = trained_by_fit(AdaLanczosNet, prepared)
