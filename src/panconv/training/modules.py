"""Any module as `fit` needs it: started anew from a seed, alone or, for several seeds, in copies side by side."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from panconv.base import random
from panconv.base.checks import checked_seeds, kind_of
from panconv.graph import Adjacency
from panconv.nn import Dropout, Stacked
from panconv.training import draws
from panconv.training.inputs import Inputs


class Trainable(Protocol):
    """What `fit` asks of a model: `PAN` and `panconv.nn.Stacked` have it, and any other module is given it. Called with
    x and the graph, it gives scores (N, C), or (N, S, C) for S trials. One of S trials may have two things more:
    `narrowed(rows)`, some of the trials as a model of their own, with which `fit` goes on while they alone still run;
    and `drawn(inputs, named, draws)`, the scores of several draws of the dropout in one call, (N, S, draws, C)."""

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


_ASKED = ("trials", "in_channels", "out_channels", "seed", "key", "decayed", "materialize")


def is_native(model: Any) -> bool:
    """Whether a model is made for `fit`, as `PAN` and `Stacked` are; raises where it is no module at all."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a PAN or another torch.nn.Module, got {kind_of(model)}")
    return all(hasattr(model, name) for name in _ASKED)


def made_ready(model: Any, native: bool, inputs: Inputs, seeds: Sequence[int]) -> Any:
    """The model as `fit` trains it, on the device of the inputs, for features of their width."""
    if not native:
        model = _adapted(model, inputs, seeds)
    if model.in_channels not in (-1, inputs.width):
        raise ValueError(f"data.x has {inputs.width} columns, but the model takes {model.in_channels} (in_channels)")
    model.materialize(inputs.width)
    return model.to(inputs.args[1].device)


class Alone(nn.Module):
    """One module, with what `fit` asks of a model.

    Weight decay falls on all parameters.
    """

    trials = None
    row_keys: Tensor | None = None  # by which rows are drawn at a step
    drawn = draws.one_by_one

    def __init__(self, module: nn.Module, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.module, self.in_channels, self.out_channels = module, in_channels, out_channels
        self._dropouts = [each for each in module.modules() if isinstance(each, Dropout)]

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        return self.module(*inputs, **named)

    def materialize(self, in_channels: int) -> None:
        """A first call has done it."""

    def seed(self, seeds: Sequence[int]) -> None:
        """Starts anew from a seed; a module that does not know how to goes on from where it is."""
        (seed,) = checked_seeds(seeds, 1)
        if _stuck(self.module) is None:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                fresh = restarted(self.module)
            self.module.load_state_dict(fresh.state_dict())

    def key(self, seeds: Sequence[int] | Tensor | None, epoch: int | Tensor) -> None:
        """Keys the dropouts of `panconv.nn` by seed and epoch, as in `Stacked`."""
        start = None if seeds is None else torch.as_tensor(seeds)[0]
        for i, dropout in enumerate(self._dropouts):
            dropout.keys = None if start is None else random.keys(start, i, epoch)
        self.row_keys = None if start is None else random.keys(start, len(self._dropouts), epoch)

    def decayed(self) -> list[nn.Parameter]:
        return list(self.parameters())


def restarted(module: nn.Module) -> nn.Module:
    """A copy on the CPU whose parameters are drawn anew from torch's generator, but for those that are not trained.

    A module comes after those in it, since it may want its parts to start otherwise than they would by themselves.
    """
    fresh = copy.deepcopy(module).cpu()
    fixed = [(p, p.detach().clone()) for p in fresh.parameters() if not p.requires_grad]
    for each in reversed(list(fresh.modules())):
        if callable(reset := getattr(each, "reset_parameters", None)):
            reset()
    with torch.no_grad():
        for p, value in fixed:
            p.copy_(value)
    return fresh


def _stuck(module: nn.Module) -> str | None:
    """The first trained parameter that nothing starts anew: neither its module nor one around that."""
    starts = {name for name, each in module.named_modules() if hasattr(each, "reset_parameters")}
    for name, p in module.named_parameters():
        path = name.split(".")[:-1]
        if p.requires_grad and not any(".".join(path[:depth]) in starts for depth in range(len(path) + 1)):
            return name
    return None


def _adapted(module: nn.Module, inputs: Inputs, seeds: Sequence[int]) -> Alone | Stacked:
    """A module for one seed or for several, tried once."""
    kind, device = kind_of(module), inputs.args[1].device
    module.to(device).eval()
    with _trying(device):
        scores = module(*inputs.args, **inputs.named)  # lazy layers find their width
    if not isinstance(scores, Tensor) or scores.dim() != 2:
        found = tuple(scores.shape) if isinstance(scores, Tensor) else kind_of(scores)
        raise ValueError(f"model must give scores (N, C), a row per node or graph, got {found} from {kind}")
    widths = (inputs.width, scores.size(1))
    if len(seeds) == 1:
        return Alone(module, *widths)
    if (stuck := _stuck(module)) is not None:
        raise ValueError(
            f"seeds asks for {len(seeds)} trials, but nothing starts the model's parameter {stuck} anew: give {kind} a "
            "method reset_parameters(), or say how it is made, panconv.nn.Stacked(make, …)"
        )
    try:
        with _trying(device):
            stack = Stacked(lambda: restarted(module), *widths, trials=len(seeds)).to(device)
            stack.train()(*inputs.args, **inputs.named)
    except RuntimeError as error:
        raise ValueError(
            f"seeds asks for {len(seeds)} trials, but {kind} does not run side by side with its copies under "
            f"torch.func.vmap ({str(error).splitlines()[0]}): give fit one seed at a time"
        ) from error
    return stack


@contextmanager
def _trying(device: torch.device) -> Iterator[None]:
    """Without gradients, and with torch's generators left as they were."""
    with torch.no_grad(), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield
