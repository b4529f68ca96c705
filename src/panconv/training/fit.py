"""`fit`: trains S trials side by side, each with its own start, dropout and end."""

from __future__ import annotations

import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.base.checks import (
    as_number,
    checked_count,
    checked_device,
    checked_seeds,
    kind_of,
    shown,
)
from panconv.graph import Adjacency
from panconv.training.cuda_graph import Replayed
from panconv.training.epoch import KEEP, Epoch, Limits, Nodes, score
from panconv.training.inputs import checked_inputs

# After how many epochs the host looks whether trials still run. A GPU is never made to wait for more.
_LOOK_EVERY = defaultdict(lambda: 10, cpu=1)


class Trainable(Protocol):
    """What `fit` asks of a model: `PAN` and `panconv.nn.Stacked` have it. Called with x and the graph, it gives scores
    (N, C), or (N, S, C) for S trials."""

    @property
    def trials(self) -> int | None: ...
    @property
    def in_channels(self) -> int: ...  # -1: from the features
    @property
    def out_channels(self) -> int: ...  # classes
    def __call__(self, x: Any, adj: Adjacency) -> Tensor: ...
    def materialize(self, in_channels: int) -> None: ...
    def seed(self, seeds: Sequence[int]) -> None: ...
    def key(self, seeds: Any, epoch: Any) -> None: ...
    def decayed(self) -> list[nn.Parameter]: ...
    def trial(self, s: int) -> Any: ...


Model = TypeVar("Model", bound=Trainable)


@dataclass(frozen=True)
class Progress:
    """What a callback is told: after each epoch on the CPU, after each tenth on a GPU, and after the last."""

    epoch: int  # epochs done
    epochs: int  # at most
    running: int  # trials that have not stopped
    trials: int
    best_val_loss: float  # mean over the trials


@dataclass(frozen=True)
class FitResult(Generic[Model]):
    """What came out of a training of S trials, by trial; every model is that of its best epoch."""

    model: Model
    seeds: list[int]
    best_epoch: list[int]  # that of the lowest validation loss, or as `keep` says, from 1; 0 if no loss was finite
    stopped_epoch: list[int]
    val_loss: list[float]  # at the best epoch
    val_accuracy: list[float]
    test_accuracy: list[float]
    predicted: Tensor  # the class of every node, (N, S)
    history: dict[str, Tensor]  # train_loss, val_loss, val_accuracy: (epochs, S), NaN once a trial has stopped
    seconds: float

    def best(self) -> Any:
        """The model of the trial with the lowest validation loss, on its own."""
        if self.model.trials is None:
            return self.model
        return self.model.trial(min(range(len(self.seeds)), key=self.val_loss.__getitem__))


def fit(
    model: Model,
    data: Data,
    *,
    seeds: Sequence[int] = (0,),
    lr: float = 0.01,
    weight_decay: float = 5e-4,
    epochs: int = 200,
    patience: int = 50,
    keep: str = "loss",
    device: str | torch.device = "cpu",
    callback: Callable[[Progress], None] | None = None,
) -> FitResult[Model]:
    """Trains a model on a graph with train, validation and test nodes.

    Adam; weight decay on `model.decayed()`, in `PAN` the first layer's matrix; a trial ends when its validation loss
    has not fallen for `patience` epochs, and its parameters go back to those of its lowest validation loss. The test
    nodes are looked at once, after that. The model starts anew from the seeds, one for each of its trials: trial s
    comes out the same, to rounding, alone or among others.

    On a GPU an epoch is recorded once and then replayed as a whole (a CUDA graph), without a word to the host but each
    tenth epoch.

    Args:
        model: `PAN(…, trials=S)` for S seeds side by side, or `PAN(…)` for one, or any other as `panconv.nn.Stacked`.
        data: x (N, F), dense or sparse, of numbers that the model's dtype holds, edge_index, optionally edge_weight, y,
            and the three masks, (N,), or (N, S) where each trial has a split of its own; no test node is trained on.
        seeds: one per trial.
        lr, weight_decay, epochs, patience: the settings of the training.
        keep: which epoch of a trial is its best: that of the lowest validation "loss"; the last of the highest
            validation "accuracy"; "both", the last at which neither was ever better, where patience counts from the
            last time that either was as good as ever; or simply the "last", as in GCN's code, where a trial ends when
            its validation loss is above the mean of the `patience` epochs before.
        device: where to train.
        callback: called with a `Progress` after every epoch; on a GPU after every tenth, and the last.
    """
    began = time.perf_counter()
    _check_settings(model, seeds, lr, weight_decay, epochs, patience)
    if not isinstance(keep, str) or keep not in KEEP:
        raise ValueError(f"keep must be one of {', '.join(KEEP)}, got {shown(keep)}")
    device = checked_device(device)
    task = checked_inputs(data, model, device)
    model.materialize(task.x.shape[-1])
    model.to(device).seed(seeds)  # type: ignore[attr-defined]
    optimizer = adam(model, lr, weight_decay, device)
    nodes = Nodes(task.y, task.train, task.val)
    epoch = Epoch(model, optimizer, (task.x, task.adj), nodes, seeds, Limits(epochs, patience, keep))
    try:
        run_epochs(epoch, epochs, device, callback)
    finally:
        model.key(None, 0)
        model.eval()  # type: ignore[attr-defined]
    epoch.restore()
    _check_outcome(epoch.best_loss.tolist(), seeds, lr, weight_decay)
    with torch.no_grad():
        scores = model(task.x, task.adj)
        _, test_accuracy = score(scores, task.test, task.y[task.test])
    last = int(epoch.last_epoch.max())
    return FitResult(
        model=model,
        seeds=list(seeds),
        best_epoch=epoch.best_epoch.tolist(),
        stopped_epoch=epoch.last_epoch.tolist(),
        val_loss=epoch.best_loss.tolist(),
        val_accuracy=epoch.best_accuracy.tolist(),
        test_accuracy=test_accuracy.tolist(),
        predicted=scores.argmax(-1).reshape(len(task.y), -1).cpu(),
        history={name: values[:last].cpu() for name, values in epoch.history.items()},
        seconds=time.perf_counter() - began,
    )


def adam(model: Any, lr: float, weight_decay: float, device: torch.device) -> torch.optim.Optimizer:
    """Adam in one kernel, with weight decay on what the model says."""
    decayed = model.decayed()
    those = set(map(id, decayed))
    others = [p for p in model.parameters() if id(p) not in those]
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": weight_decay}, {"params": others}]
    groups = [group for group in groups if group["params"]]
    return torch.optim.Adam(groups, lr=lr, fused=True, capturable=device.type == "cuda")


def run_epochs(epoch: Epoch, epochs: int, device: torch.device, callback: Callable[[Progress], None] | None) -> None:
    """Epochs until every trial has ended, with a look at them from time to time, since a GPU must wait for it."""
    step = Replayed(epoch, device)
    every = _LOOK_EVERY[device.type]
    for done in range(1, epochs + 1):
        step()
        if done % every and done < epochs:
            continue
        running = int(epoch.running.sum())
        if callback is not None:
            callback(Progress(done, epochs, running, len(epoch.running), float(epoch.best_loss.mean())))
        if not running:
            break


def _check_outcome(losses: Sequence[float], seeds: Sequence[int], lr: float, weight_decay: float) -> None:
    lost = [seed for seed, loss in zip(seeds, losses, strict=True) if not math.isfinite(loss)]
    if len(lost) == len(seeds):
        raise ValueError(
            f"no trial ever had a finite validation loss (lr = {lr}, weight_decay = {weight_decay}): lower lr, or the "
            "size of the path weights or features"
        )
    if lost:
        warnings.warn(f"the trials of seeds {lost} never had a finite validation loss", stacklevel=3)


def _check_settings(
    model: Any, seeds: Sequence[int], lr: float, weight_decay: float, epochs: int, patience: int
) -> None:
    lacks = [name for name in ("trials", "in_channels", "out_channels", "seed", "decayed") if not hasattr(model, name)]
    if lacks or isinstance(model, type):
        raise TypeError(
            f"model must be a PAN, or another module in panconv.nn.Stacked, got {kind_of(model)}, which has no "
            f"{lacks[0] if lacks else 'parameters yet'}"
        )
    checked_seeds(seeds, model.trials or 1, bits=32)
    checked_count(epochs, "epochs")
    checked_count(patience, "patience")
    rate, decay = as_number(lr), as_number(weight_decay)
    if rate is None or decay is None or not (0 < rate < math.inf and 0 <= decay < math.inf):
        raise ValueError(
            f"lr must be positive and weight_decay not negative, both finite, got {shown(lr)} and {shown(weight_decay)}"
        )
