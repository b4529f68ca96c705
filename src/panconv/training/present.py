"""The scores of a batch that has rows for some of the trials alone: no others are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from torch import Tensor, nn
from torch.func import functional_call

_FEW: WeakKeyDictionary[nn.Module, dict[tuple[int, ...], nn.Module]] = WeakKeyDictionary()


def scores_of(model: Any, inputs: tuple[Any, ...], named: Mapping[str, Any], absent: Tensor) -> Tensor:
    """The scores of a model of S trials, (N, S, C), with zeros for those that are absent, without a gradient.

    Args:
        model: with `narrowed(rows)`, which makes a model of some of its trials.
        inputs, named: what to call it with.
        absent: (S,), on the host; not all of them are.
    """
    rows = (~absent).nonzero().squeeze(1)
    kept, which = _FEW.setdefault(model, {}), tuple(rows.tolist())
    if which not in kept:
        kept[which] = model.narrowed(which)
    few = kept[which].train(model.training)
    rows = rows.to(next(model.parameters()).device)
    state = {name: each.index_select(0, rows) for name, each in (*model.named_parameters(), *model.named_buffers())}
    found = functional_call(few, state, inputs, dict(named))
    return found.new_zeros(found.size(0), len(absent), found.size(2)).index_copy_(1, rows, found)
