"""One training of a PyG model on a graph, which waits for the device once every ten epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.paper.studies.operators.models import Settings

_LOOK_EVERY = 10  # epochs between two looks at whether it has stopped


@dataclass(frozen=True)
class Outcome:
    """What a training came to, at its lowest validation loss."""

    best_epoch: int  # from 1; 0 if no validation loss was finite
    val_loss: float
    val_accuracy: float
    test_accuracy: float | None  # None where the test nodes were not looked at


class Nodes(NamedTuple):
    """Some nodes and their labels."""

    nodes: Tensor
    y: Tensor

    @staticmethod
    def of(data: Data, mask: str) -> Nodes:
        nodes = data[mask].nonzero().squeeze(1)
        return Nodes(nodes, data.y[nodes])


def train(model: nn.Module, data: Data, how: Settings, *, test: bool) -> Outcome:
    """Trains a model on a graph, both on one device; the test nodes are looked at once, at the end, or not at all.

    Args:
        model: called with x, edge_index, edge_weight (or None).
        data: x, y, edge_index, the three masks, and maybe edge_weight.
        how: the settings.
        test: whether to look at the test nodes.
    """
    optimizer = torch.optim.Adam(_groups(model, how), lr=how.lr)
    learning, checking = Nodes.of(data, "train_mask"), Nodes.of(data, "val_mask")
    inputs = data.x, data.edge_index, data.get("edge_weight")
    best = _Best(model, how.patience)
    for epoch in range(1, how.epochs + 1):
        model.train()
        optimizer.zero_grad(set_to_none=True)
        _score(model(*inputs), learning)[0].backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            best.update(epoch, *_score(model(*inputs), checking))
        if epoch % _LOOK_EVERY == 0 and not bool(best.running):
            break
    best.restore()
    accuracy = None
    if test:
        with torch.no_grad():
            accuracy = round(float(_score(model(*inputs), Nodes.of(data, "test_mask"))[1]), 6)
    return Outcome(int(best.epoch), float(best.loss), round(float(best.accuracy), 6), accuracy)


def _groups(model: nn.Module, how: Settings) -> list[dict[str, Any]]:
    """The parameters that decay, and those that do not."""
    first = how.decay == "first"
    decays = [not first or name.startswith("first.") for name, _ in model.named_parameters()]
    parameters = list(zip(model.parameters(), decays, strict=True))
    return [
        {"params": [p for p, decayed in parameters if decayed], "weight_decay": how.weight_decay},
        {"params": [p for p, decayed in parameters if not decayed]},
    ]


class _Best:
    """The parameters at the lowest validation loss, kept without asking the device for a number."""

    def __init__(self, model: nn.Module, patience: int) -> None:
        self.parameters = list(model.parameters())
        self.kept = [p.detach().clone() for p in self.parameters]
        device, self.patience = self.kept[0].device, patience
        self.loss, self.accuracy = torch.tensor(torch.inf, device=device), torch.zeros((), device=device)
        self.epoch = torch.zeros((), dtype=torch.long, device=device)
        self.running = torch.ones((), dtype=torch.bool, device=device)

    def update(self, epoch: int, loss: Tensor, accuracy: Tensor) -> None:
        better = self.running & (loss < self.loss)
        self.loss, self.accuracy = torch.where(better, loss, self.loss), torch.where(better, accuracy, self.accuracy)
        self.epoch = torch.where(better, epoch, self.epoch)
        self.running = self.running & (epoch - self.epoch < self.patience)
        for kept, p in zip(self.kept, self.parameters, strict=True):
            kept.copy_(torch.where(better, p, kept))

    @torch.no_grad()
    def restore(self) -> None:
        for kept, p in zip(self.kept, self.parameters, strict=True):
            p.copy_(kept)


def _score(scores: Tensor, known: Nodes) -> tuple[Tensor, Tensor]:
    """Cross entropy and accuracy on some nodes."""
    chosen = scores[known.nodes]
    return F.cross_entropy(chosen, known.y), (chosen.detach().argmax(1) == known.y).float().mean()
