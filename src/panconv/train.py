"""`fit`: trains S trials side by side, each with its own start, dropout and end."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from panconv.features import SparseRows
from panconv.graph import Adjacency
from panconv.models import PAN
from panconv.validation import as_integer, checked_count


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each epoch."""

    epoch: int  # epochs done
    epochs: int  # at most
    running: int  # trials that have not stopped
    trials: int
    best_val_loss: float  # mean over the trials


@dataclass(frozen=True)
class FitResult:
    """What came out of a training of S trials, by trial; every model is that of its lowest validation loss."""

    model: PAN
    seeds: list[int]
    best_epoch: list[int]  # counted from 1; 0 for a trial that never had a finite validation loss
    stopped_epoch: list[int]
    val_loss: list[float]  # at the best epoch
    val_accuracy: list[float]
    test_accuracy: list[float]
    history: dict[str, Tensor]  # train_loss, val_loss, val_accuracy: (epochs, S), NaN once a trial has stopped
    seconds: float

    def best(self) -> PAN:
        """The model of the trial with the lowest validation loss, on its own."""
        if self.model.trials is None:
            return self.model
        return self.model.trial(min(range(len(self.seeds)), key=self.val_loss.__getitem__))


def fit(
    model: PAN,
    data: Data,
    *,
    seeds: Sequence[int] = (0,),
    lr: float = 0.01,
    weight_decay: float = 5e-4,
    epochs: int = 200,
    patience: int = 50,
    device: str | torch.device = "cpu",
    callback: Callable[[Progress], None] | None = None,
) -> FitResult:
    """Trains a model on a graph with train, validation and test nodes.

    Adam; weight decay on the first layer's matrix; a trial ends when its validation loss has not fallen for `patience`
    epochs, and its parameters go back to those of its lowest validation loss. The test nodes are looked at once, after
    that. The model starts anew from the seeds, one for each of its trials: trial s comes out the same, to rounding,
    alone or among others.

    Args:
        model: `PAN(…, trials=S)` for S seeds side by side, or `PAN(…)` for one.
        data: x (N, F), dense or sparse, edge_index, optionally edge_weight, y, and the three masks.
        seeds: one a trial.
        lr, weight_decay, epochs, patience: the settings of the training.
        device: where to train.
        callback: called with a `Progress` after every epoch.
    """
    began = time.perf_counter()
    _check_settings(model, seeds, lr, weight_decay, epochs, patience)
    x, adj, y, masks = _checked(data, model, torch.device(device))
    lin = model.layers()[0].lin
    lin.materialize(x.shape[-1])
    model.to(device).seed(seeds)
    others = [p for p in model.parameters() if p is not lin.weight]
    groups: list[dict[str, Any]] = [{"params": [lin.weight], "weight_decay": weight_decay}, {"params": others}]
    optimizer = torch.optim.Adam(groups, lr=lr)
    train, val, test = (mask.nonzero().squeeze(1) for mask in masks)

    S = len(seeds)
    best = _Best(model, S, patience)
    history: dict[str, list[Tensor]] = {"train_loss": [], "val_loss": [], "val_accuracy": []}
    try:
        for epoch in range(1, epochs + 1):
            model.train()
            model.key(seeds, epoch)
            loss, _ = _loss(model(x, adj), y, train)
            optimizer.zero_grad(set_to_none=True)
            loss.sum().backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                val_loss, val_accuracy = _loss(model(x, adj), y, val)
            for name, value in zip(history, (loss.detach(), val_loss, val_accuracy), strict=True):
                history[name].append(value.where(best.running, torch.nan))
            best.update(epoch, val_loss, val_accuracy)
            if callback is not None:
                callback(Progress(epoch, epochs, int(best.running.sum()), S, float(best.val_loss.mean())))
            if not bool(best.running.any()):
                break
    finally:
        model.key(None, 0)
        model.eval()
    best.restore(model)
    lost = [seed for seed, loss in zip(seeds, best.val_loss.tolist(), strict=True) if not math.isfinite(loss)]
    if len(lost) == S:
        raise ValueError(
            f"no trial ever had a finite validation loss (lr = {lr}, weight_decay = {weight_decay}): lower lr, or the "
            "size of the path weights or features"
        )
    if lost:
        warnings.warn(f"the trials of seeds {lost} never had a finite validation loss", stacklevel=2)
    with torch.no_grad():
        _, test_accuracy = _loss(model(x, adj), y, test)
    return FitResult(
        model=model,
        seeds=list(seeds),
        best_epoch=best.epoch.tolist(),
        stopped_epoch=best.last_epoch.tolist(),
        val_loss=best.val_loss.tolist(),
        val_accuracy=best.val_accuracy.tolist(),
        test_accuracy=test_accuracy.tolist(),
        history={name: torch.stack(values).cpu() for name, values in history.items()},
        seconds=time.perf_counter() - began,
    )


class _Best:
    """The parameters of each trial at its lowest validation loss, and which trials still run."""

    def __init__(self, model: PAN, S: int, patience: int) -> None:
        device = next(model.parameters()).device
        self.patience = patience
        self.stacked = model.trials is not None
        self.state = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.parameters = dict(model.named_parameters())
        self.val_loss = torch.full((S,), torch.inf, device=device)
        self.val_accuracy = torch.zeros(S, device=device)
        self.epoch = torch.zeros(S, dtype=torch.long, device=device)
        self.last_epoch = torch.zeros(S, dtype=torch.long, device=device)
        self.running = torch.ones(S, dtype=torch.bool, device=device)

    def update(self, epoch: int, val_loss: Tensor, val_accuracy: Tensor) -> None:
        better = self.running & (val_loss < self.val_loss)
        self.val_loss = torch.where(better, val_loss, self.val_loss)
        self.val_accuracy = torch.where(better, val_accuracy, self.val_accuracy)
        self.epoch = torch.where(better, epoch, self.epoch)
        self.last_epoch = torch.where(self.running, epoch, self.last_epoch)
        with torch.no_grad():
            for name, kept in self.state.items():
                chosen = better.reshape(-1, *[1] * (kept.dim() - 1)) if self.stacked else better[0]
                kept.copy_(torch.where(chosen, self.parameters[name], kept))
        self.running = self.running & (epoch - self.epoch < self.patience)

    def restore(self, model: PAN) -> None:
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(self.state[name])


def _loss(scores: Tensor, y: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
    """Cross entropy and accuracy of each trial on some nodes, (S,) each, from scores (N, C) or (N, S, C)."""
    chosen = scores[nodes]
    if chosen.dim() == 2:
        chosen = chosen.unsqueeze(1)
    target = y[nodes].unsqueeze(1).expand(chosen.shape[:2])
    loss = F.cross_entropy(chosen.transpose(1, 2), target, reduction="none").mean(0)
    return loss, (chosen.detach().argmax(-1) == target).float().mean(0)


def _checked(
    data: Data, model: PAN, device: torch.device
) -> tuple[Tensor | SparseRows, Adjacency, Tensor, list[Tensor]]:
    """The graph, its features in the model's dtype, the labels and the masks, on the device."""
    for name in ("x", "edge_index", "y", "train_mask", "val_mask", "test_mask"):
        if getattr(data, name, None) is None:
            raise ValueError(f"data.{name} is missing: fit needs x, edge_index, y and the three masks")
    x, y, N = data.x, data.y, data.x.size(0)
    sparse = x.layout != torch.strided
    stored = x.to_sparse_csr().values() if sparse else x
    if not bool(torch.isfinite(stored).all()):
        raise ValueError("data.x holds NaN or infinite features: mend or remove them")
    if y.dim() != 1 or y.numel() != N or y.is_floating_point() or y.dtype == torch.bool:
        raise ValueError(f"data.y must be {N} class numbers, (N,) of integers, got {tuple(y.shape)} of {y.dtype}")
    masks = [data.train_mask, data.val_mask, data.test_mask]
    for name, mask in zip(("train_mask", "val_mask", "test_mask"), masks, strict=True):
        if mask.dtype != torch.bool or mask.shape != (N,) or not bool(mask.any()):
            raise ValueError(f"data.{name} must be boolean, ({N},), with a node in it; got {tuple(mask.shape)}")
    _check_fit(model, x.size(1), y[torch.stack(masks).any(0)])
    dtype = model.layers()[-1].lin.weight.dtype
    features = SparseRows.of(x.to(dtype)).to(device) if sparse else x.to(device, dtype)
    weight = getattr(data, "edge_weight", None)
    adj = Adjacency.of(data.edge_index, None if weight is None else weight.detach(), N).to(device)
    return features, adj, y.to(device).long(), [mask.to(device) for mask in masks]


def _check_fit(model: PAN, F: int, known: Tensor) -> None:
    C, width = model.config["out_channels"], model.layers()[0].in_channels
    if width not in (-1, F):
        raise ValueError(f"data.x has {F} columns, but the model takes {width} (in_channels)")
    low, high = int(known.min()), int(known.max())
    if low < 0 or high >= C:
        raise ValueError(f"data.y names class {low if low < 0 else high}, but the model has {C} classes, 0 … {C - 1}")


def _check_settings(
    model: PAN, seeds: Sequence[int], lr: float, weight_decay: float, epochs: int, patience: int
) -> None:
    if not isinstance(seeds, Sequence) or any(as_integer(seed) is None for seed in seeds):
        raise TypeError(f"seeds must be a sequence of integers, one a trial, got {seeds!r}")
    if len(seeds) != (model.trials or 1):
        raise ValueError(f"seeds must be {model.trials or 1}, one for each of the model's trials, got {len(seeds)}")
    if any(not 0 <= seed < 2**32 for seed in seeds):
        raise ValueError(f"seeds must be at least 0 and below 2^32, got {list(seeds)}")
    checked_count(epochs, "epochs")
    checked_count(patience, "patience")
    if not (0 < lr < math.inf and 0 <= weight_decay < math.inf):
        raise ValueError(f"lr must be positive and weight_decay not negative, both finite, got {lr} and {weight_decay}")
