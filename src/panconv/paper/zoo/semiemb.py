"""SemiEmb: a network of one hidden layer h whose hidden vectors are also an embedding of the graph: cross entropy plus
λ·(‖hᵢ − hⱼ‖² for neighbours, max(0, m − ‖hᵢ − hⱼ‖)² for others), on pairs drawn anew at each step.

Weston, Ratle, Mobahi & Collobert, Deep learning via semi-supervised embedding, 2012.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from panconv.base import random
from panconv.graph import Adjacency
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.training.epoch import descend
from panconv.training.metrics import agreement

_LOOK_EVERY = 10  # steps between two looks at the validation nodes


class Nets:
    """S networks x → ReLU(x·W₀ + b₀)·W₁ + b₁ side by side, each started from its own seed."""

    def __init__(self, inputs: int, hidden: int, classes: int, seeds: Seeds, device: torch.device) -> None:
        def glorot(rows: int, columns: int) -> Tensor:
            bound = (6 / (rows + columns)) ** 0.5
            return torch.stack([(2 * torch.rand(rows, columns, generator=draw) - 1) * bound for draw in draws])

        draws = [torch.Generator().manual_seed(seed) for seed in seeds]
        first, second = glorot(inputs, hidden), glorot(hidden, classes)
        start = [first, torch.zeros(len(seeds), 1, hidden), second, torch.zeros(len(seeds), 1, classes)]
        self.parameters = [p.to(device).requires_grad_() for p in start]

    def hidden(self, x: Tensor) -> Tensor:
        """(n, F) for all trials or (S, n, F) → (S, n, hidden)."""
        return (x @ self.parameters[0] + self.parameters[1]).relu()

    def scores(self, hidden: Tensor) -> Tensor:
        return hidden @ self.parameters[2] + self.parameters[3]


class Pairs:
    """Draws pairs of neighbours and pairs of other nodes, by trial."""

    def __init__(self, adj: Adjacency, seeds: Seeds) -> None:
        self.row, self.col, self.N = adj.row.long(), adj.col.long(), adj.num_nodes
        # Sorted, and behind them a number that no pair has.
        self.edges = torch.cat([self._key(self.row, self.col).unique(), self.row.new_tensor([self.N**2])])
        self.seeds = torch.tensor(seeds, device=adj.device)

    def near(self, step: int, count: int) -> Tensor:
        """The ends of edges, (S, 2, count); on a graph without any, of none."""
        if not len(self.row):
            return self.row.new_empty(len(self.seeds), 2, 0)
        edge = random.words(random.keys(self.seeds, 0, step), (count,)) % len(self.row)
        return torch.stack([self.row[edge], self.col[edge]], dim=1)

    def far(self, step: int, count: int) -> tuple[Tensor, Tensor]:
        """Nodes drawn in twos, (S, 2, count), and whether they are no neighbours, (S, count)."""
        ends = random.words(random.keys(self.seeds, 1, step), (2, count)) % self.N
        i, j = ends.unbind(1)
        key = self._key(i, j)
        return ends, (self.edges[torch.searchsorted(self.edges, key)] != key) & (i != j)

    def _key(self, i: Tensor, j: Tensor) -> Tensor:
        """A number for each pair of nodes, the same both ways: an edge in one direction makes neighbours."""
        return torch.minimum(i, j) * self.N + torch.maximum(i, j)


def embedding_loss(near: Tensor, far: Tensor, apart: Tensor, margin: float) -> Tensor:
    """Neighbours together, others at least a margin apart, by trial (S,).

    Args:
        near, far: differences of hidden vectors, (S, pairs, hidden).
        apart: whether a pair of `far` is one of no neighbours, (S, pairs).
    """
    pull = near.square().sum(-1).sum(-1) / max(near.size(1), 1)
    distance = far.square().sum(-1).clamp(min=1e-12).sqrt()  # whose derivative at 0 is none
    return pull + ((margin - distance).relu().square() * apart).mean(-1)


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    nets, best = fitted_nets(data, how, seeds, device, tell)
    nets.parameters = best
    with torch.no_grad():
        return nets.scores(nets.hidden(data.x.float().to(device))).argmax(-1)


def fitted_nets(data: Data, how: How, seeds: Seeds, device: str, tell: Tell = silent) -> tuple[Nets, list[Tensor]]:
    """The networks after their last step, and their parameters, by trial, at the highest validation accuracy."""
    x, y = data.x.float().to(device), data.y.to(device)
    train, val = data.train_mask.to(device).nonzero().squeeze(1), data.val_mask.to(device).nonzero().squeeze(1)
    nets = Nets(x.size(1), how["hidden"], int(data.y.max()) + 1, seeds, x.device)
    pairs = Pairs(Adjacency.of(data.edge_index, None, x.size(0)).to(device), seeds)
    optimizer = torch.optim.Adam(nets.parameters, lr=how["lr"], weight_decay=how["weight_decay"], fused=True)
    best, highest = [p.detach().clone() for p in nets.parameters], torch.full((len(seeds),), -torch.inf, device=device)
    known, seen, count = x[train], x[val], how["pairs"]
    for step in range(1, how["steps"] + 1):
        near, (far, apart) = pairs.near(step, count), pairs.far(step, count)
        loss = F.cross_entropy(nets.scores(nets.hidden(known)).transpose(1, 2), y[train].expand(len(seeds), -1))
        loss = loss * len(seeds)  # the sum over the trials of each one's mean
        if how["embedding"]:
            ends = torch.cat([near, far], dim=2)  # (S, 2, pairs)
            i, j = nets.hidden(x[ends.flatten(1)]).unflatten(1, ends.shape[1:]).unbind(1)
            near_by, away = (i - j).split([near.size(2), far.size(2)], dim=1)
            loss = loss + how["embedding"] * embedding_loss(near_by, away, apart, how["margin"]).sum()
        descend(optimizer, loss)
        if step % _LOOK_EVERY == 0 or step == how["steps"]:
            with torch.no_grad():
                scores = nets.scores(nets.hidden(seen))  # (S, validation nodes, C)
                surprise = -scores.log_softmax(-1)[:, torch.arange(len(val), device=device), y[val]].mean(1)
                merit = agreement(scores.argmax(-1).T, y[val].unsqueeze(1)) - 1e-4 * surprise  # of equals the surer one
                better = merit > highest
                highest = torch.where(better, merit, highest)
                for kept, p in zip(best, nets.parameters, strict=True):
                    kept.copy_(torch.where(better.reshape(-1, 1, 1), p, kept))
            tell(step / how["steps"])
    return nets, best
