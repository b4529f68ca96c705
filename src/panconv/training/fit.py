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
    INTEGERS,
    as_number,
    check_real,
    check_values,
    checked_count,
    checked_device,
    checked_seeds,
    kind_of,
    shown,
)
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.training.cuda_graph import Replayed
from panconv.training.epoch import KEEP, Epoch, score

_MASKS = ("train_mask", "val_mask", "test_mask")
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
        seeds: one a trial.
        lr, weight_decay, epochs, patience: the settings of the training.
        keep: which epoch of a trial is its best: that of the lowest validation "loss"; the last of the highest
            validation "accuracy"; or "both", the last at which neither was ever better, where patience counts from the
            last time that either was as good as ever.
        device: where to train.
        callback: called with a `Progress` after every epoch; on a GPU after every tenth, and the last.
    """
    began = time.perf_counter()
    _check_settings(model, seeds, lr, weight_decay, epochs, patience)
    if not isinstance(keep, str) or keep not in KEEP:
        raise ValueError(f"keep must be one of {', '.join(KEEP)}, got {shown(keep)}")
    device = checked_device(device)
    x, adj, y, masks = _checked(data, model, device)
    model.materialize(x.shape[-1])
    model.to(device).seed(seeds)  # type: ignore[attr-defined]
    train, val, test = map(_nodes, masks)
    optimizer = _optimizer(model, lr, weight_decay, y.device)
    epoch = Epoch(model, optimizer, (x, adj), y, train, val, seeds, epochs, patience, keep)
    try:
        _run(epoch, epochs, y.device, callback)
    finally:
        model.key(None, 0)
        model.eval()  # type: ignore[attr-defined]
    epoch.restore()
    _check_outcome(epoch.best_loss.tolist(), seeds, lr, weight_decay)
    with torch.no_grad():
        scores = model(x, adj)
        _, test_accuracy = score(scores, test, y[test])
    last = int(epoch.last_epoch.max())
    return FitResult(
        model=model,
        seeds=list(seeds),
        best_epoch=epoch.best_epoch.tolist(),
        stopped_epoch=epoch.last_epoch.tolist(),
        val_loss=epoch.best_loss.tolist(),
        val_accuracy=epoch.best_accuracy.tolist(),
        test_accuracy=test_accuracy.tolist(),
        predicted=scores.argmax(-1).reshape(len(y), -1).cpu(),
        history={name: values[:last].cpu() for name, values in epoch.history.items()},
        seconds=time.perf_counter() - began,
    )


def _nodes(mask: Tensor) -> Tensor:
    """The nodes of a mask (N,), or of each column of one (N, S), whose numbers are alike."""
    return mask.nonzero().squeeze(1) if mask.dim() == 1 else mask.T.nonzero()[:, 1].reshape(mask.size(1), -1).T


def _optimizer(model: Any, lr: float, weight_decay: float, device: torch.device) -> torch.optim.Optimizer:
    """Adam in one kernel, with weight decay on what the model says."""
    decayed = model.decayed()
    those = set(map(id, decayed))
    others = [p for p in model.parameters() if id(p) not in those]
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": weight_decay}, {"params": others}]
    groups = [group for group in groups if group["params"]]
    return torch.optim.Adam(groups, lr=lr, fused=True, capturable=device.type == "cuda")


def _run(epoch: Epoch, epochs: int, device: torch.device, callback: Callable[[Progress], None] | None) -> None:
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


def _checked(
    data: Data, model: Any, device: torch.device
) -> tuple[Tensor | SparseRows, Adjacency, Tensor, list[Tensor]]:
    """The graph, its features in the model's dtype, the labels and the masks, on the device."""
    x, y = _checked_parts(data)
    N, sparse = x.size(0), x.layout != torch.strided
    masks = _checked_masks(data, N, model.trials)
    _check_fit(model, x.size(1), y[torch.stack([m.reshape(N, -1).any(1) for m in masks]).any(0)])
    dtype = next(p.dtype for p in reversed(list(model.parameters())))
    cast = x.to(dtype)
    if x.dtype == torch.float64 != dtype and not torch.equal(_stored(cast).double(), _stored(x)):
        raise ValueError(
            f"data.x is float64 and would be rounded to the model's {dtype}: round it yourself, data.x = "
            "data.x.float(), or train in float64, model.double()"
        )
    features = SparseRows.of(cast).to(device) if sparse else cast.to(device)
    weight = getattr(data, "edge_weight", None)
    weight = weight.detach() if isinstance(weight, Tensor) else weight
    adj = Adjacency.of(data.edge_index, weight, N).to(device)
    return features, adj, y.to(device).long(), [mask.to(device) for mask in masks]


def _stored(x: Tensor) -> Tensor:
    return x if x.layout == torch.strided else x.to_sparse_csr().values()


def _check_disjoint(train: Tensor, val: Tensor, test: Tensor) -> None:
    """No node learns and is looked at, nor chooses and is tested; test_mask = val_mask says that no node is tested."""
    pairs = [("train_mask", train, "val_mask", val), ("train_mask", train, "test_mask", test)]
    if not torch.equal(val, test):
        pairs.append(("val_mask", val, "test_mask", test))
    for first, a, second, b in pairs:
        shared = (a & b).any(1).nonzero().squeeze(1)
        if shared.numel():
            raise ValueError(
                f"data.{first} and data.{second} share {shared.numel()} nodes, such as {int(shared[0])}: "
                f"take them out of one of the two, as in data.{first} &= ~data.{second}"
            )


def _checked_parts(data: Any) -> tuple[Tensor, Tensor]:
    """The features, real and finite, and the labels."""
    for name in ("x", "edge_index", "y", *_MASKS):
        if getattr(data, name, None) is None:
            raise ValueError(
                f"data.{name} is missing: fit needs x, edge_index, y and the three masks, got {kind_of(data)}"
            )
        if name != "edge_index" and not isinstance(getattr(data, name), Tensor):
            raise TypeError(f"data.{name} must be a tensor, got {kind_of(getattr(data, name))}")
    x, y = data.x, data.y
    if x.dim() != 2:
        raise ValueError(f"data.x must be (N, F), a row per node, got shape {tuple(x.shape)}")
    check_real(x, "data.x")
    for name in ("x", "y", *_MASKS):
        check_values(getattr(data, name), f"data.{name}")
    if not bool(torch.isfinite(_stored(x)).all()):
        raise ValueError("data.x holds NaN or infinite features: mend or remove them")
    if y.shape != (x.size(0),) or y.dtype not in INTEGERS:
        raise ValueError(
            f"data.y must be {x.size(0)} class numbers, (N,) of integers, got {tuple(y.shape)} of {y.dtype}"
        )
    return x, y


def _checked_masks(data: Any, N: int, trials: int | None) -> list[Tensor]:
    """The three masks, which share no node."""
    masks = [getattr(data, name) for name in _MASKS]
    for name, mask in zip(_MASKS, masks, strict=True):
        if mask.dtype != torch.bool or mask.shape not in ((N,), (N, trials)) or not bool(mask.any()):
            kind = "empty" if mask.dtype == torch.bool and not bool(mask.any()) else mask.dtype
            raise ValueError(f"data.{name} must be boolean, ({N},), with a node in it; got {tuple(mask.shape)}, {kind}")
        if mask.dim() == 2 and len(mask.sum(0).unique()) > 1:
            numbers = mask.sum(0).tolist()
            raise ValueError(f"data.{name} must hold as many nodes for one trial as for another, got {shown(numbers)}")
    _check_disjoint(*(mask.reshape(N, -1) for mask in masks))
    return masks


def _check_fit(model: Any, F: int, known: Tensor) -> None:
    C, width = model.out_channels, model.in_channels
    if width not in (-1, F):
        raise ValueError(f"data.x has {F} columns, but the model takes {width} (in_channels)")
    low, high = int(known.min()), int(known.max())
    if low < 0 or high >= C:
        raise ValueError(f"data.y names class {low if low < 0 else high}, but the model has {C} classes, 0 … {C - 1}")


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
