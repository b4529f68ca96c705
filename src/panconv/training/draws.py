"""Several draws of a model's dropout at one step: all at once where it holds trials side by side, or one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.func import functional_call

from panconv.base import random
from panconv.nn.dropout import Dropout
from panconv.nn.stacked import mean_of_draws
from panconv.training.objective import GRAPH_WEIGHT

_WIDE: WeakKeyDictionary[nn.Module, dict[int, nn.Module]] = WeakKeyDictionary()


def drawn(model: Any, inputs: tuple[Any, ...], named: Mapping[str, Any], draws: int) -> Tensor:
    """The scores of some draws of each trial's dropout, (N, S, draws, C), by the model's own way if it has one."""
    own = getattr(model, "drawn", None)
    return one_by_one(model, inputs, named, draws) if own is None else own(inputs, named, draws)


def one_by_one(model: nn.Module, inputs: tuple[Any, ...], named: Mapping[str, Any], draws: int) -> Tensor:
    """The scores of any module, called once for each draw: (N, S, draws, C), also where it has no trials, S = 1.

    Each draw starts from the same running means, and these move by the mean over the draws.
    """
    found, moved, running = [], [], _running(model)
    for draw in range(draws):
        buffers = {name: buffer.clone() for name, buffer in running.items()}
        with _keyed(model, model, partial(_draw, draw=draw, draws=draws)):
            found.append(functional_call(model, buffers, inputs, dict(named)) if buffers else model(*inputs, **named))
        moved.append(buffers)
    with torch.no_grad():
        for name, buffer in running.items():
            buffer.copy_(mean_of_draws(torch.stack([each[name] for each in moved]), 0))
    scores = torch.stack(found, -2)
    return scores.unsqueeze(1) if scores.dim() == 3 else scores


def at_once(model: Any, inputs: tuple[Any, ...], named: Mapping[str, Any], draws: int) -> Tensor:
    """The scores of a model of S trials, (N, S, draws, C), by one call of a model for S·draws.

    Args:
        model: with `repeated(draws)`, which makes that wider model, each trial so many times side by side.
        inputs, named: what to call it with.
        draws: how many.
    """
    if model.trials is None:
        return one_by_one(model, inputs, named, draws)
    kept = _WIDE.setdefault(model, {})
    if draws not in kept:
        kept[draws] = model.repeated(draws)
    wide, buffers = kept[draws].train(model.training), dict(model.named_buffers())
    state = {name: p.repeat_interleave(draws, 0) for name, p in (*model.named_parameters(), *buffers.items())}
    given = dict(named)
    for name in ("rows", GRAPH_WEIGHT):  # (…, S) where each trial has its own
        if (each := given.get(name)) is not None and each.dim() == 2:
            given[name] = each.repeat_interleave(draws, 1)
    with _keyed(model, wide, lambda key: random.drawn(key, draws)):
        scores = functional_call(wide, state, inputs, given)
    with torch.no_grad():
        for name, buffer in _running(model).items():
            buffer.copy_(mean_of_draws(state[name].unflatten(0, (model.trials, draws)), 1))
    return scores.unflatten(1, (model.trials, draws))


def _running(model: nn.Module) -> dict[str, Tensor]:
    """The running means and variances of norms, and their counts. Other buffers, such as fixed path weights, are left
    alone: a mean over the draws would round them."""
    norms = (each for each in model.modules() if getattr(each, "track_running_stats", False))
    those = {id(buffer) for norm in norms for buffer in norm.buffers(recurse=False)}
    return {name: buffer for name, buffer in model.named_buffers() if id(buffer) in those}


def _draw(key: Tensor, draw: int, draws: int) -> Tensor:
    """The keys of one of the draws."""
    return random.drawn(key, draws).unflatten(0, (-1, draws))[:, draw].reshape(key.shape)


@contextmanager
def _keyed(model: nn.Module, other: nn.Module, change: Any) -> Iterator[None]:
    """The dropouts of another model keyed by a change of this one's keys, for as long as it lasts."""
    ours, theirs = _dropouts(model), _dropouts(other)
    before = [dropout.keys for dropout in theirs]
    try:
        for mine, dropout in zip(ours, theirs, strict=True):
            dropout.keys = None if mine.keys is None else change(mine.keys)
        yield
    finally:
        for dropout, keys in zip(theirs, before, strict=True):
            dropout.keys = keys


def _dropouts(model: nn.Module) -> Sequence[Dropout]:
    return [each for each in model.modules() if isinstance(each, Dropout)]
