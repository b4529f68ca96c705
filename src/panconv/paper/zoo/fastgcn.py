"""FastGCN: a GCN trained on batches, each layer's sum over nodes estimated from t nodes drawn for all of the batch,

    (Â·H)(v) ≈ 1/t · Σ_{j=1…t} Â(v, u_j)·H(u_j) / q(u_j),   u_j ~ q(u) ∝ ‖Â(:, u)‖².

Chen, Ma & Xiao, FastGCN: fast learning with graph convolutional networks via importance sampling, ICLR 2018. As there,
the first layer's Â·X has no parameter and is made once, exactly: what remains to be sampled is the second layer's sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.base import random
from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.nn import Dropout
from panconv.nn.linear import Linear
from panconv.paper.zoo.operator import operator
from panconv.paper.zoo.stack import Tell
from panconv.training.cuda_graph import Replayed
from panconv.training.epoch import Epoch, Limits, Nodes, score

_LOOK_EVERY = 10  # epochs, after which the host looks whether trials still run
_SAMPLED, _SHUFFLED = 100, 101  # streams of random numbers that are not those of the dropouts


class LayerSampler:
    """Estimates of Â·H from nodes drawn by importance.

    Args:
        matrix: Â.
        samples: t.
    """

    def __init__(self, matrix: Adjacency, samples: int) -> None:
        a, _ = matrix.operands(torch.float32)
        self.samples, self._N, self._value = samples, matrix.num_nodes, a.value
        self._place = matrix.row.long() * self._N + a.col  # of each entry, ascending
        squares = a.value.new_zeros(self._N, dtype=torch.float64).index_add(0, a.col, a.value.double() ** 2)
        if not bool(squares.any()):  # an operator that is 0 everywhere: any node tells as little as another
            squares = torch.ones_like(squares)
        self.q = squares / squares.sum()  # (N,)
        self._cumulated = self.q.cumsum(0)

    def draw(self, keys: Tensor) -> Tensor:
        """Nodes (t, S), independently and with replacement, for S keys."""
        at = random.uniform(keys, (self.samples,)).double() * self._cumulated[-1]  # (S, t)
        return torch.searchsorted(self._cumulated, at, right=True).clamp(max=self._N - 1).T.contiguous()

    def estimate(self, v: Tensor, u: Tensor, h: Tensor) -> Tensor:
        """(Â·H)(v) of the batches v (B, S), from the drawn u (t, S) and their h (t, S, O): (B, S, O)."""
        weight = self._entries(v.unsqueeze(1), u) / (self.samples * self.q[u]).to(h.dtype)  # (B, t, S)
        return torch.einsum("bts,tso->bso", weight, h)

    def _entries(self, row: Tensor, col: Tensor) -> Tensor:
        """Entries of Â, 0 where nothing is stored; row and column broadcast."""
        wanted = (row * self._N + col).contiguous()
        if not self._place.numel():
            return self._value.new_zeros(wanted.shape)
        at = torch.searchsorted(self._place, wanted).clamp(max=self._place.numel() - 1)
        return torch.where(self._place[at] == wanted, self._value[at], 0)


class Model(nn.Module):
    """The two layers of S trials.

    Args:
        inputs, hidden, classes: widths.
        trials: S.
        p: of the dropout.
    """

    def __init__(self, inputs: int, hidden: int, classes: int, trials: int, p: float) -> None:
        super().__init__()
        self.trials = trials
        self.first, self.second = Linear(inputs, hidden, trials), Linear(hidden, classes, trials)
        self.dropouts = nn.ModuleList([Dropout(p), Dropout(p)])

    def scores(self, z: Tensor) -> Tensor:
        """ReLU(z·W₀)·W₁ of nodes with z = (Â·X)(u), (n, F) or (n, S, F) → (n, S, C); Â is still to be multiplied."""
        return self.second(self.dropouts[1](F.relu(self.first(self.dropouts[0](z)))))

    def forward(self, z: Tensor, matrix: Adjacency) -> Tensor:
        """The exact scores of all nodes, (N, S, C)."""
        return spmm(*matrix.operands(z.dtype), self.scores(z))

    @torch.no_grad()
    def seed(self, seeds: Sequence[int]) -> None:
        for s, seed in enumerate(seeds):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                for layer in (self.first, self.second):
                    layer.weight[s].copy_(Linear(layer.in_channels, layer.out_channels).weight)

    def key(self, seeds: Tensor, step: Tensor) -> None:
        for i, dropout in enumerate(self.dropouts):
            dropout.keys = random.keys(seeds, i, step)


class SampledEpoch(Epoch):
    """An epoch whose steps are batches with sampled sums; it is judged by the exact ones.

    Args:
        sampler: of the second layer's sum.
        batch: the size of the batches.
        others: of every `Epoch`.
    """

    def __init__(self, sampler: LayerSampler, batch: int, *others: Any) -> None:
        super().__init__(*others)
        self.sampler, self.batch = sampler, batch

    def __call__(self) -> None:
        self.number += 1
        self.model.train()
        nodes, y = self.train
        batches = -(-len(nodes) // self.batch)
        order = random.words(random.keys(self.seeds, _SHUFFLED, self.number), (len(nodes),)).argsort(dim=-1).T
        train_loss = torch.zeros_like(self.best_loss)
        for b, part in enumerate(order.split(self.batch)):  # (B, S)
            loss = self._loss(nodes[part], y[part], self.number[0] * batches + b)
            self.optimizer.zero_grad(set_to_none=True)
            loss.sum().backward()
            self.optimizer.step()
            train_loss += loss.detach() * len(part) / len(nodes)
        self.model.eval()
        with torch.no_grad():
            val_loss, val_accuracy = score(self.model(*self.inputs), *self.val)
            self._record(train_loss, val_loss, val_accuracy)
            self._choose(val_loss, val_accuracy)

    def _loss(self, v: Tensor, y: Tensor, step: Tensor) -> Tensor:
        """The loss of each trial on its batch v (B, S), (S,)."""
        self.model.key(self.seeds, step)
        u = self.sampler.draw(random.keys(self.seeds, _SAMPLED, step))  # (t, S)
        scores = self.sampler.estimate(v, u, self.model.scores(self.inputs[0][u]))
        return F.cross_entropy(scores.flatten(0, 1), y.flatten(), reduction="none").reshape(y.shape).mean(0)


def train(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Tell | None = None
) -> Tensor:
    matrix = operator(data, how, "Â", device)
    z = spmm(*matrix.operands(torch.float32), data.x.float().to(device))  # Â·X
    y = data.y.to(device)
    model = Model(z.size(1), how["hidden"], int(y.max()) + 1, len(seeds), how["dropout"]).to(device)
    model.seed(seeds)
    groups = [
        {"params": model.first.parameters(), "weight_decay": how["weight_decay"]},
        {"params": model.second.parameters()},
    ]
    optimizer = torch.optim.Adam(groups, lr=how["lr"], fused=True, capturable=y.is_cuda)
    nodes = Nodes(y, *(mask.to(device).nonzero().squeeze(1) for mask in (data.train_mask, data.val_mask)))
    sampler, limits = LayerSampler(matrix, how["samples"]), Limits(how["epochs"], how["patience"])
    epoch = SampledEpoch(sampler, how["batch"], model, optimizer, (z, matrix), nodes, seeds, limits)
    step = Replayed(epoch, y.device)
    for done in range(1, how["epochs"] + 1):
        step()
        if done % _LOOK_EVERY == 0:
            if tell is not None:
                tell(done / how["epochs"])
            if not bool(epoch.running.any()):
                break
    epoch.restore()
    model.eval()
    with torch.no_grad():
        return model(z, matrix).argmax(-1).T.cpu()
