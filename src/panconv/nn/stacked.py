"""`Stacked`: S copies of any module, PyG layers in it or not, trained side by side by `torch.func.vmap`."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from panconv.base import random
from panconv.base.checks import checked_count, checked_seeds, checked_trial, kind_of, shown
from panconv.nn.dropout import Dropout


class Stacked(nn.Module):
    """S trials of a model, each with parameters, start and dropout of its own, in one call: scores (N, S, C).

    A trial is what it would be alone, since it starts from its own seed and its `panconv.nn.Dropout` modules are keyed
    by seed and epoch. (torch's own dropout inside of it draws from torch's generator, differently for each trial.)
    Where such a module, or `DropNodes`, has S probabilities, each trial drops with its own. Running means and
    variances, such as batch norm has, are each trial's own too; other buffers are shared.

    Args:
        make: makes the module of one trial. It is called with the inputs of `forward` and gives (N, C).
        in_channels: the width of the features, for the checks of `fit`.
        out_channels: C.
        trials: S.
        decay: the start of the names of the parameters that decay, ``"first."`` or ``""`` for all.

    >>> from torch_geometric.nn import GCNConv
    >>> edge_index = torch.tensor([[0, 1], [1, 0]])
    >>> Stacked(lambda: GCNConv(3, 2), 3, 2, trials=5)(torch.ones(2, 3), edge_index).shape
    torch.Size([2, 5, 2])
    """

    _shares: Tensor | None = None

    def __init__(
        self, make: Callable[[], nn.Module], in_channels: int, out_channels: int, *, trials: int, decay: str = ""
    ) -> None:
        super().__init__()
        for name, value in (("in_channels", in_channels), ("out_channels", out_channels), ("trials", trials)):
            checked_count(value, name)
        if not callable(make):
            raise TypeError(f"make must be a function that makes the module of one trial, got {kind_of(make)}")
        if not isinstance(decay, str):
            raise TypeError(f"decay must be the start of parameters' names, such as '' for all, got {shown(decay)}")
        self._make, self.in_channels, self.out_channels, self.trials = make, in_channels, out_channels, trials
        base = make()
        if not isinstance(base, nn.Module):
            raise TypeError(f"make must return a torch.nn.Module, got {kind_of(base)}: write lambda: Module(…)")
        self._names = [name for name, _ in base.named_parameters()]
        self._decays = [name.startswith(decay) for name in self._names]
        each = (nn.Parameter(torch.stack([p.detach()] * trials), p.requires_grad) for p in base.parameters())
        self.stack = nn.ParameterList(each)  # (S, …)
        self._running = [name for name, _ in _moving(base)]
        for i, (_, kept) in enumerate(_moving(base)):
            self.register_buffer(f"running_{i}", torch.stack([kept] * trials))  # (S, …)
        self._held = [base]  # in a list: its own parameters are not ours
        self._dropouts = _dropouts(base)
        self._keys: Tensor | None = None  # (S, number of dropouts)
        self._shares = _shares(self._dropouts, trials)
        self._one_at_a_time = _Lock()

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        """The scores of all trials. Each call puts the trials' parameters into one module: threads take turns."""
        return self._scores(inputs, named, _Trials(self._state(), self._keys, self._shares))

    def drawn(self, inputs: tuple[Any, ...], named: Mapping[str, Any], draws: int) -> Tensor:
        """The scores of some draws of each trial's dropout in one call, (N, S, draws, C).

        What runs along, such as a mean, is moved by the mean over the draws.
        """
        trials = _Trials(self._state(), self._keys, self._shares).repeated(draws)
        scores = self._scores(inputs, named, trials)
        with torch.no_grad():
            for kept, moved in zip(self.buffers(), trials.state[len(self.stack) :], strict=True):
                kept.copy_(mean_of_draws(moved.unflatten(0, (self.trials, draws)), 1))
        return scores.unflatten(1, (self.trials, draws))

    def _scores(self, inputs: tuple[Any, ...], named: Mapping[str, Any], trials: _Trials) -> Tensor:
        with nullcontext() if torch.compiler.is_compiling() else self._one_at_a_time.held:  # it knows no locks
            base = self._held[0].train(self.training)

            def one(state: list[Tensor], keys: Tensor | None, shares: Tensor | None) -> Tensor:
                for i, dropout in enumerate(self._dropouts):
                    dropout.keys = None if keys is None else keys[i]
                    dropout.share = shares[i] if shares is not None and isinstance(dropout.p, tuple) else None
                names = self._names + self._running
                return functional_call(base, dict(zip(names, state, strict=True)), inputs, dict(named))

            try:
                in_dims = tuple(None if each is None else 0 for each in trials)
                return vmap(one, in_dims, out_dims=1, randomness="different")(*trials)
            finally:  # a tensor of the inside of vmap is nothing outside of it
                for dropout in self._dropouts:
                    dropout.keys = dropout.share = None

    @property
    def one(self) -> nn.Module:
        """The module that each trial runs through, whose own parameters are no trial's."""
        return self._held[0]

    def _state(self) -> list[Tensor]:
        """The parameters and what runs along with them, (S, …) each."""
        return [*self.stack, *self.buffers()]

    # ------------------------------------------------------------------ what `fit` asks of a model

    def materialize(self, in_channels: int) -> None:
        """Nothing is lazy here."""

    @torch.no_grad()
    def seed(self, seeds: Sequence[int]) -> None:
        """Starts each trial from its own seed: the same start whether it is alone or one of many."""
        seeds = checked_seeds(seeds, self.trials)
        for s, seed in enumerate(seeds):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                fresh = self._make()
            running = (buffer for _, buffer in _moving(fresh))
            for kept, new in zip(self._state(), (*fresh.parameters(), *running), strict=True):
                kept[s].copy_(new)

    def key(self, seeds: Sequence[int] | Tensor | None, epoch: int | Tensor) -> None:
        """Keys the dropout by seed and epoch; None for torch's generator."""
        if seeds is None:
            self._keys = self.row_keys = None
            return
        start = torch.as_tensor(seeds, device=self.stack[0].device)
        *keys, self.row_keys = (random.keys(start, i, epoch) for i in range(len(self._dropouts) + 1))
        self._keys = torch.stack(keys, dim=1) if keys else None

    def decayed(self) -> list[nn.Parameter]:
        return [p for p, decays in zip(self.stack, self._decays, strict=True) if decays]

    def trial(self, s: int) -> nn.Module:
        """One of the trials as a module of its own."""
        s = checked_trial(s, self.trials)
        one = self._make().to(self.stack[0])
        state = zip(self._names + self._running, self._state(), strict=True)
        one.load_state_dict({name: each[s] for name, each in state}, strict=False)
        for i, dropout in enumerate(_dropouts(one)):
            if isinstance(dropout.p, tuple) and self._shares is not None:
                dropout.p = float(self._shares[s, i])
        return one.train(self.training)

    def narrowed(self, rows: Sequence[int]) -> Stacked:
        """Some of the trials, in that order, by themselves."""
        rows = [checked_trial(row, self.trials) for row in rows]
        few = copy.copy(self)  # which shares the module that each trial runs through, and its lock
        few._parameters, few._buffers, few._modules = {}, {}, {}
        few.stack = nn.ParameterList(nn.Parameter(p.detach()[rows], p.requires_grad) for p in self.stack)
        for name, kept in self.named_buffers():
            few.register_buffer(name, kept[rows])
        few.trials, few._keys = len(rows), None
        few._shares = None if self._shares is None else self._shares[rows]
        return few

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        self._held[0]._apply(fn)
        super()._apply(fn, recurse)
        if self._shares is not None:  # moved along, but never rounded
            self._shares = self._shares.to(fn(torch.empty(0)).device)
        return self


class _Trials(NamedTuple):
    """What differs by trial."""

    state: list[Tensor]  # parameters and what runs along with them, (S, …) each
    keys: Tensor | None  # of the dropouts, (S, D)
    shares: Tensor | None  # the p of each, float64, (S, D)

    def repeated(self, draws: int) -> _Trials:
        """Each trial so many times, side by side, with dropout of its own each time."""
        return _Trials(
            [each.repeat_interleave(draws, 0) for each in self.state],
            None if self.keys is None else random.drawn(self.keys, draws),
            None if self.shares is None else self.shares.repeat_interleave(draws, 0),
        )


def mean_of_draws(moved: Tensor, dim: int) -> Tensor:
    """The mean over the draws; a count, which has none, is the same in all."""
    return moved.mean(dim) if moved.is_floating_point() else moved.select(dim, 0)


def _dropouts(module: nn.Module) -> list[Dropout]:
    return [each for each in module.modules() if isinstance(each, Dropout)]


def _shares(dropouts: list[Dropout], trials: int) -> Tensor | None:
    """The p of each dropout in each trial, (S, D), where any of them differs by trial."""
    if not any(isinstance(dropout.p, tuple) for dropout in dropouts):
        return None
    for p in (dropout.p for dropout in dropouts):
        if isinstance(p, tuple) and len(p) != trials:
            raise ValueError(f"dropout must be a number, or {trials} numbers, one per trial, got {len(p)} of them")
    columns = [p if isinstance(p := dropout.p, tuple) else (p,) * trials for dropout in dropouts]
    return torch.tensor(columns, dtype=torch.float64).T


def _moving(module: nn.Module) -> list[tuple[str, Tensor]]:
    """The buffers that follow what passes through: the running means and variances of norms."""
    those = {id(b) for m in module.modules() if getattr(m, "track_running_stats", False) for b in m.buffers(False)}
    return [(name, buffer) for name, buffer in module.named_buffers() if id(buffer) in those]


class _Lock:
    """A lock for one object: its copies, and what is read from a file, have their own."""

    def __init__(self) -> None:
        self.held = threading.Lock()

    def __reduce__(self) -> tuple[type[_Lock], tuple[()]]:
        return _Lock, ()
