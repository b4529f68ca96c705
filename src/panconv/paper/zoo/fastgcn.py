"""FastGCN: a GCN trained on batches, each layer's sum over nodes estimated from t nodes drawn for all of the batch,

    (Â·H)(v) ≈ 1/t · Σ_{j=1…t} Â(v, u_j)·H(u_j) / q(u_j),   u_j ~ q(u) ∝ ‖Â(:, u)‖².

Chen, Ma & Xiao, FastGCN: fast learning with graph convolutional networks via importance sampling, ICLR 2018. As there,
the first layer's Â·X has no parameter and is made once, exactly: what remains to be sampled is the second layer's sum.
"""

from __future__ import annotations

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
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.training.adam import adam
from panconv.training.epoch import Epoch, Limits, descend
from panconv.training.fit import run_epochs
from panconv.training.objective import Picked, Sample, losses
from panconv.training.parts import part_of

_SAMPLED, _SHUFFLED = 100, 101  # streams of random numbers that are not those of the dropouts


class LayerSampler:
    """Estimates of Â·H from nodes drawn by importance.

    Args:
        matrix: Â.
        samples: t.
    """

    def __init__(self, matrix: Adjacency, samples: int) -> None:
        a, _ = matrix.operands(torch.float32)
        self.samples, self._N = samples, (N := matrix.num_nodes)
        # The place of each entry, ascending, and behind them one that none has, with a value of 0.
        self._place = torch.cat([matrix.row.long() * N + a.col, matrix.row.new_tensor([N * N])])
        self._value = F.pad(a.value, (0, 1))
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
        at = torch.searchsorted(self._place, wanted)
        return torch.where(self._place[at] == wanted, self._value[at], 0)


class Model(nn.Module):
    """The two layers of S trials.

    Args:
        inputs, hidden, classes: widths.
        trials: S.
        p: of the dropout.
        decay: the start of the names of the parameters that decay.
    """

    def __init__(self, inputs: int, hidden: int, classes: int, trials: int, p: float, decay: str = "first.") -> None:
        super().__init__()
        self.trials, self.decay = trials, decay
        self.first, self.second = Linear(inputs, hidden, trials), Linear(hidden, classes, trials)
        self.dropouts = nn.ModuleList([Dropout(p), Dropout(p)])

    def scores(self, z: Tensor) -> Tensor:
        """ReLU(z·W₀)·W₁ of nodes with z = (Â·X)(u), (n, F) or (n, S, F) → (n, S, C); Â is still to be multiplied."""
        return self.second(self.dropouts[1](F.relu(self.first(self.dropouts[0](z)))))

    def forward(self, z: Tensor, matrix: Adjacency) -> Tensor:
        """The exact scores of all nodes, (N, S, C)."""
        return spmm(*matrix.operands(z.dtype), self.scores(z))

    @torch.no_grad()
    def seed(self, seeds: Seeds) -> None:
        for s, seed in enumerate(seeds):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                for layer in (self.first, self.second):
                    layer.weight[s].copy_(Linear(layer.in_channels, layer.out_channels).weight)

    def key(self, seeds: Tensor, step: Tensor) -> None:
        for i, dropout in enumerate(self.dropouts):
            dropout.keys = random.keys(seeds, i, step)

    def decayed(self) -> list[nn.Parameter]:
        return [p for name, p in self.named_parameters() if name.startswith(self.decay)]


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

    def _step(self) -> Tensor:
        (sample,) = self.train
        z, nodes, y = sample.inputs[0], sample.part.rows, sample.part.y  # nodes and classes (n, S)
        assert nodes is not None
        batches = -(-len(nodes) // self.batch)
        order = random.words(random.keys(self.seeds, _SHUFFLED, self.number), (len(nodes),)).argsort(dim=-1).T
        train_loss = torch.zeros_like(self.best_loss)
        for b, part in enumerate(order.split(self.batch)):  # (B, S)
            loss = self._loss(z, nodes.gather(0, part), y.gather(0, part), self.number[0] * batches + b)
            descend(self.optimizer, loss.sum())
            train_loss += loss.detach() * len(part) / len(nodes)
        return train_loss

    def _loss(self, z: Tensor, v: Tensor, y: Tensor, step: Tensor) -> Tensor:
        """The loss of each trial on its batch v (B, S), (S,)."""
        self.model.key(self.seeds, step)
        u = self.sampler.draw(random.keys(self.seeds, _SAMPLED, step))  # (t, S)
        scores = self.sampler.estimate(v, u, self.model.scores(z[u]))
        return losses(Picked(scores, y, None))


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    matrix = operator(data, how, "Â", device)
    z = spmm(*matrix.operands(torch.float32), data.x.float().to(device))  # Â·X
    y, S = data.y.to(device), len(seeds)
    model = Model(z.size(1), how["hidden"], int(y.max()) + 1, S, how["dropout"], how["decay"]).to(device)
    model.seed(seeds)
    optimizer = adam(model, how["lr"], how["weight_decay"], y.device)
    masks = (mask.reshape(len(y), -1).expand(-1, S).to(device) for mask in (data.train_mask, data.val_mask))
    parts = ([Sample((z, matrix), part_of(y, mask))] for mask in masks)
    sampler, limits = LayerSampler(matrix, how["samples"]), Limits(how["epochs"], how["patience"])
    epoch = SampledEpoch(sampler, how["batch"], model, optimizer, *parts, seeds, limits)
    run_epochs(epoch, how["epochs"], y.device, lambda progress: tell(progress.epoch / progress.epochs))
    epoch.restore()
    model.eval()
    with torch.no_grad():
        return model(z, matrix).argmax(-1).T.cpu()
