"""`fit`: trains S trials side by side, each with its own start, dropout and end."""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from panconv.base.checks import checked_count, checked_device, checked_seeds, kind_of, shown
from panconv.nn.kept import features_stay
from panconv.training.adam import Rates, adam
from panconv.training.by_batch import ByBatch
from panconv.training.clipping import Clip
from panconv.training.cuda_graph import Replayed
from panconv.training.epoch import KEEP, Epoch, Limits
from panconv.training.inputs import Reader, Task, checked_parts, graph_task, is_graph
from panconv.training.loading import first_batch, loader_task
from panconv.training.metrics import CLASSES, LABELS, METRICS, NUMBERS, checked_metric, kind_of_targets
from panconv.training.modules import Alone, is_native, made_ready
from panconv.training.narrowing import Cut, Narrowing, checked_cut
from panconv.training.objective import gathered, measured, picked
from panconv.training.runner import Diverged

_log = logging.getLogger(__name__)
# After how many epochs the host looks whether trials still run. A GPU is never made to wait for more.
_LOOK_EVERY = defaultdict(lambda: 10, cpu=1)
_BY_BATCH = ("cuda",)  # where epochs over a set of graphs are replayed step by step

Model = TypeVar("Model", bound=nn.Module)


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
    metric: str
    val_loss: list[float]  # at the best epoch
    val_metric: list[float]
    test_metric: list[float]  # NaN where there was nothing to test on
    predicted: Tensor  # of every node its class, (N, S), or labels or numbers, (N, S, C); of a loader's `test` or `val`
    history: dict[str, Tensor]  # train_loss, val_loss, val_<metric>: (epochs, S), NaN once a trial has stopped
    seconds: float

    @property
    def val_accuracy(self) -> list[float]:
        return self._accuracy(self.val_metric, "val_metric")

    @property
    def test_accuracy(self) -> list[float]:
        return self._accuracy(self.test_metric, "test_metric")

    def _accuracy(self, values: list[float], name: str) -> list[float]:
        if self.metric != "accuracy":
            raise AttributeError(f"the accuracy was not measured, but {self.metric}: see {name}, or change metric")
        return values

    def best(self) -> Any:
        """The model of the trial with the lowest validation loss, on its own."""
        if getattr(self.model, "trials", None) is None:
            return self.model
        one: Any = self.model
        return one.trial(min(range(len(self.seeds)), key=self.val_loss.__getitem__))


def fit(
    model: Model,
    data: Any,
    *,
    seeds: Sequence[int] = (0,),
    lr: float | Sequence[float] = 0.01,
    weight_decay: float | Sequence[float] = 5e-4,
    epochs: int = 200,
    patience: int = 50,
    keep: str = "loss",
    device: str | torch.device = "cpu",
    callback: Callable[[Progress], None] | None = None,
    metric: str | None = None,
    val: Any = None,
    test: Any = None,
    decay_others: float | Sequence[float] = 0.0,
    regularizer: Callable[[Any, Any], Tensor] | None = None,
    cut: Cut | None = None,
    clip: float | Sequence[float] | None = None,
) -> FitResult[Any]:
    """Trains a model on a graph with train, validation and test nodes, or on the batches of a loader.

    Adam; weight decay on `model.decayed()`, in `PAN` the first layer's matrix, in `PANGraph` its matrices, in any
    other module all parameters; a
    trial ends when its validation loss has not fallen for `patience` epochs, and its parameters go back to those of its
    lowest validation loss. The test nodes are looked at once, after that. The model starts anew from the seeds, one for
    each of its trials: trial s comes out the same, to rounding, alone or among others. The loss is the cross entropy of
    classes, where y is of integers, that of each label, there or not, where it is of booleans, and the mean squared
    error of numbers, where it is of floating point.

    On a GPU an epoch is recorded once and then replayed as a whole (a CUDA graph), without a word to the host but each
    tenth epoch; of a `PANGraph` without pools on `GraphBatches` a step is, and replayed for each batch. Other loaders,
    and modules that are not made for `fit`, are called as they are.

    Args:
        model: `PAN(…, trials=S)` for S seeds side by side, or `PAN(…)` for one, and so `PANGraph`, for scores of whole
            graphs, and `panconv.nn.Stacked`. Any other module too: it is called with x and edge_index (an `Adjacency`
            if that argument is called adj), and by name with edge_weight, edge_attr, batch and batch_size, the number
            of graphs, if its forward has such an argument; for one seed it is trained itself, for several
            `FitResult.model` is a `Stacked` of copies. It starts anew by the `reset_parameters` of what it is made of.
        data: a graph: x (N, F), dense or sparse, of numbers that the model's dtype holds, edge_index, optionally
            edge_weight, y (N,), or labels or numbers to learn (N, C), train_mask, val_mask and optionally test_mask,
            (N,), or (N, S) where each trial has a split of its own; or node numbers train_idx, val_idx and test_idx;
            and optionally sample_weight (N,), what a node counts for in the loss and the validation. No test node is
            trained on, and y may be anything outside of the masks. Or with `val` a loader: graphs or batches of graphs,
            whose y has a row for each row of the scores, a node's or a graph's; with a `batch_size` the first rows
            alone count, and with a mask of the part's name those in it, (n,), or (n, S) where each trial has a split of
            its own. A trial that has none of a batch takes no step on it. A model whose forward has an argument
            graph_weight is told by it, while it trains, which rows are in the mask where not all are: 1 or 0.
        seeds: one per trial.
        lr, weight_decay: of Adam, a number, or S numbers, one for each trial.
        epochs, patience: how long to train.
        keep: which epoch of a trial is its best: that of the lowest validation "loss"; the last of the best validation
            "metric" ("accuracy" says the same of the accuracy); "both", the last at which neither was ever better,
            where patience counts from the last time that either was as good as ever; or simply the "last", as in GCN's
            code, where a trial ends when its validation loss is above the mean of the `patience` epochs before.
        device: where to train; "auto" is a GPU where there is one, else the CPU.
        callback: called with a `Progress` after every epoch; on a GPU after every tenth, and the last.
        metric: "accuracy", the default for classes, "macro_f1" or "auc"; for labels "label_accuracy", the default, or
            "label_auc"; for numbers "mae", the default, or "r2".
        val, test: loaders to choose by and, if given, to test on; a single graph will do.
        decay_others: the weight decay of the parameters that `model.decayed()` leaves out, a number or S.
        regularizer: what a step goes down in place of the plain loss, such as
            `panconv.training.consistency.Consistency()`, whose module tells how to write another.
        cut: ends trials early. It is called when the host looks, as `callback` is, with the number of epochs done, the
            history until then and the best epoch of each trial so far; it gives a boolean tensor (S,), False for a
            trial that is to end now, or None where all go on.
        clip: the longest that the gradient of a trial may be, all its parameters together: one that is longer is cut
            to it. A number, or S; None for no limit.
    """
    began, native = time.perf_counter(), is_native(model)
    checked_seeds(seeds, _trials(model, native, seeds), bits=32)
    rates = Rates.checked(lr, weight_decay, decay_others, len(seeds))
    shortened = Clip.checked(clip, len(seeds))
    _check_others(epochs, patience, callback=callback, regularizer=regularizer, cut=cut)
    device = checked_device(device)
    loaders = None if is_graph(data) and val is None and test is None else {"train": data, "val": val, "test": test}
    first = data if loaders is None else first_batch(loaders)
    read, (_, y) = Reader.of(model, native, device), checked_parts(first)
    limits = Limits(epochs, patience, keep, checked_metric(metric, kind_of_targets(y)))
    _check_keep(keep, limits.metric)
    inputs = read(first)
    ready = made_ready(model, native, inputs, seeds)
    task = graph_task(data, y, inputs, ready, read.dtype) if loaders is None else loader_task(loaders, read, ready)
    ready.seed(seeds)
    optimizer = adam(ready, rates.lr, rates.weight_decay, device, rates.decay_others)
    epoch = Epoch(ready, optimizer, task.train, task.val, seeds, limits, regularizer, shortened)
    try:
        with features_stay() if task.is_one else nullcontext():
            run_epochs(epoch, epochs, device, callback, replayed=native, rates=rates, cut=cut)
    finally:
        ready.key(None, 0)
        ready.eval()
    epoch.restore()
    _check_outcome(epoch, seeds, f"lr = {shown(lr)}, weight_decay = {shown(weight_decay)}")
    test_metric, predicted = _outcome(ready, task, limits.metric, len(seeds))
    return FitResult(
        model=ready.module if isinstance(ready, Alone) else ready,
        seeds=list(seeds),
        best_epoch=epoch.best_epoch.tolist(),
        stopped_epoch=epoch.last_epoch.tolist(),
        metric=limits.metric,
        val_loss=epoch.best_loss.tolist(),
        val_metric=epoch.best_metric.tolist(),
        test_metric=test_metric,
        predicted=predicted,
        history={name: values[: max(epoch.last_epoch.tolist())].cpu() for name, values in epoch.history.items()},
        seconds=time.perf_counter() - began,
    )


def run_epochs(
    epoch: Epoch,
    epochs: int,
    device: torch.device,
    callback: Callable[[Progress], None] | None,
    replayed: bool = True,
    rates: Rates | None = None,
    cut: Cut | None = None,
) -> None:
    """Epochs until every trial has ended, with a look at them from time to time, since a GPU must wait for it.

    With the rates of its optimizer, it goes on with the trials that still run alone, once these are fewer than half.
    """
    began, trials = time.perf_counter(), Narrowing(epoch, rates)
    again: Callable[[Epoch], Callable[[], None]] = partial(repeated, device=device) if replayed else lambda each: each
    step = again(epoch)
    every = _LOOK_EVERY[device.type]
    for done in range(1, epochs + 1):
        step()
        if done % every and done < epochs:
            continue
        if cut is not None or callback is not None:
            trials.report()
        if cut is not None:
            trials.end(checked_cut(cut, done, epoch))
        running = int(trials.now.running.sum())
        if callback is not None:
            callback(Progress(done, epochs, running, len(epoch.running), float(epoch.best_loss.mean())))
        if not running:
            break
        if done < epochs and trials.narrow(running):
            step = again(trials.now)
    trials.report(state=True)
    said = (len(epoch.running), device, done, time.perf_counter() - began)
    _log.debug("trained %d side by side on %s: %d epochs in %.2f s", *said)


def repeated(epoch: Epoch, device: torch.device) -> Callable[[], None]:
    """An epoch as a GPU has it, where it can be replayed: as a whole, or step by step."""
    if isinstance(epoch.train, list):
        return Replayed(epoch, device)
    return ByBatch(epoch, device) if device.type in _BY_BATCH and ByBatch.able(epoch) else epoch


def _check_outcome(epoch: Epoch, seeds: Sequence[int], settings: str) -> None:
    """Says which trials have no best epoch, and why."""
    found = (epoch.best_loss, epoch.history["val_loss"][0], epoch.history[f"val_{epoch.metric}"][0])
    by_seed = [
        (seed, *map(math.isfinite, each)) for seed, *each in zip(seeds, *(v.tolist() for v in found), strict=True)
    ]
    lost = [seed for seed, best, *_ in by_seed if not best]
    if not lost:
        return
    what = f"a finite validation loss ({settings}): lower lr, or the size of the path weights or features"
    unmeasured = [seed for seed, best, loss, measured in by_seed if not best and loss and not measured]
    if unmeasured == lost:
        what = f"a validation {epoch.metric}: all nodes that they choose by are of one class; choose others, or metric"
    if len(lost) == len(seeds):
        raise Diverged(f"no trial ever had {what}")
    warnings.warn(f"the trials of seeds {lost} never had {what}", stacklevel=3)


def _outcome(model: Any, task: Task, metric: str, S: int) -> tuple[list[float], Tensor]:
    """The metric of each trial on the test, and what the trials predict."""
    with torch.no_grad():
        if task.is_one:
            (sample,) = task.val if task.test is None else task.test
            scores = sample.scores(model).reshape(-1, S, model.out_channels)
            found = picked(scores, sample.part)
        else:
            found = gathered(model, task.val if task.test is None else task.test)
            scores = found.scores
        value = measured(found, metric)[1].tolist()
    predicted = {CLASSES: lambda: scores.argmax(-1), LABELS: lambda: scores > 0, NUMBERS: lambda: scores}
    return [math.nan] * S if task.test is None else value, predicted[METRICS[metric].kind]().cpu()


def _check_keep(keep: str, metric: str) -> None:
    if not isinstance(keep, str) or keep not in KEEP:
        raise ValueError(f"keep must be one of {', '.join(KEEP)}, got {shown(keep)}")
    if keep == "accuracy" != metric:
        raise ValueError(f"keep is 'accuracy', but the metric is {metric}: say keep='metric', or metric='accuracy'")


def _trials(model: Any, native: bool, seeds: Any) -> int:
    """How many seeds there have to be: those that a model is made for, or as many as there are."""
    if native and model.trials is None and hasattr(seeds, "__len__") and len(seeds) > 1:
        raise ValueError(f"seeds are {len(seeds)}, but the model holds one trial: make it with trials={len(seeds)}")
    if native:
        return model.trials or 1
    return max(len(seeds), 1) if hasattr(seeds, "__len__") else 1


def _check_others(epochs: int, patience: int, **functions: Any) -> None:
    checked_count(epochs, "epochs")
    checked_count(patience, "patience")
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function, or None, got {kind_of(function)}")
