"""S trials of a model side by side: their starts, their keys, and models of some of them or of some of the layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from panconv.base import random
from panconv.base.checks import as_integer, checked_count, checked_seeds, checked_trial, shown
from panconv.nn.between import surroundings
from panconv.nn.layers import Layers
from panconv.nn.layout import from_input
from panconv.training import draws
from panconv.training.by_trial import of_layers, of_trials

Model = TypeVar("Model", bound="SideBySide")
Stack = TypeVar("Stack", bound="LayersSideBySide")


class SideBySide(nn.Module):
    """What a model does with its trials, told by its settings and by the names of its tensors.

    Its parameters and buffers are (S, …) where `trials` is S. Trial s is what it would be alone.
    """

    config: dict[str, Any]  # as given
    trials: int | None
    decay: str
    row_keys: Tensor | None = None  # by which rows are drawn at a step, where some are looked at alone

    def matrices(self) -> list[nn.Parameter]:
        """The matrix of each layer, first to last, and then all others."""
        raise NotImplementedError

    def streams(self) -> Mapping[Any, int]:
        """All that is left to chance, modules with `keys`, and the stream of random numbers that each draws from."""
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """A new start, of the running means too."""
        raise NotImplementedError

    # ------------------------------------------------------------------ starts and keys

    def seed(self, seeds: Sequence[int]) -> None:
        """Starts each trial from its own seed: the same start whether it is alone or one of many."""
        seeds = checked_seeds(seeds, self.trials or 1)
        self.reset_parameters()
        start = torch.tensor(seeds if self.trials is not None else seeds[0])
        for i, W in enumerate(self.matrices()):
            bound = (6 / (W.size(-2) + W.size(-1))) ** 0.5  # Glorot
            keys = random.keys(start, self._stream(i))
            with torch.no_grad():
                W.copy_((2 * random.uniform(keys, W.shape[-2:]) - 1) * bound)
        if self.trials is None:  # in S trials all the rest starts from ones and zeros
            self._seed_surroundings(seeds[0])

    def _stream(self, i: int) -> int:
        """From which matrix i starts."""
        return i

    def _seed_surroundings(self, seed: int) -> None:
        """What only its own class knows how to start."""

    def key(self, seeds: Sequence[int] | Tensor | None, epoch: int | Tensor, draws: int | None = None) -> None:
        """Keys the dropout by seed and epoch, numbers or tensors on the model's device; None for torch's generator.

        With `draws`, keys for the trials of `repeated(draws)`, from the seeds of the trials that are repeated.
        """
        start, streams = self._start(seeds), self.streams()
        self.row_keys = None if start is None else random.keys(start, self._stream_of_rows(), epoch)
        for module, stream in streams.items():
            keys = None if start is None else random.keys(start, stream, epoch)
            module.keys = keys if keys is None or draws is None else random.drawn(keys, checked_count(draws, "draws"))

    def _stream_of_rows(self) -> int:
        """The stream of random numbers by which rows are drawn: one that nothing else has."""
        return max(self.streams().values(), default=-1) + 1

    def _start(self, seeds: Sequence[int] | Tensor | None) -> Tensor | None:
        """The seeds, (S,), or that of the one trial, ()."""
        if seeds is None:
            return None
        start = torch.as_tensor(seeds, device=next(self.parameters()).device)
        return start if self.trials is not None else start[0]

    # ------------------------------------------------------------------ some of the trials

    def trial(self: Model, s: int) -> Model:
        """One of the trials as a model of its own."""
        return self._of(checked_trial(s, self.trials or 0))

    def narrowed(self: Model, rows: Sequence[int]) -> Model:
        """A model of some of the trials alone, in the order they are named in."""
        S, found = self.trials or 0, _integers(rows)
        if not found or not all(0 <= row < S for row in found):
            raise ValueError(f"rows must be numbers of trials, of which there are {S}, from 0 on, got {shown(rows)}")
        return self._of(found)

    def repeated(self: Model, k: int) -> Model:
        """A model of S·k trials, trial s at places s·k … s·k + k − 1; of k trials where this one was made for one."""
        checked_count(k, "k")
        return self._of([s for s in range(self.trials or 1) for _ in range(k)])

    drawn = draws.at_once

    def _of(self: Model, rows: int | list[int]) -> Model:
        stacked = self.trials is not None
        state = {name: (t if stacked else t.unsqueeze(0))[rows].clone() for name, t in self.state_dict().items()}
        return self._made(of_trials(self.config, rows), state)

    def _made(self: Model, config: dict[str, Any], state: dict[str, Tensor]) -> Model:
        made = type(self)(**config).to(next(self.parameters()).device)
        # Assigned, so that each keeps its device and dtype: path weights may be float64 beside float32 matrices.
        made.load_state_dict(state, assign=True)
        made.decay = self.decay
        trained = dict(self.named_parameters())
        for name, p in made.named_parameters():
            p.requires_grad_(trained[name].requires_grad)
        return made.train(self.training)


class LayersSideBySide(SideBySide, Layers):
    """Base of `PAN`."""

    def complete(self) -> dict[str, Any]:
        """The settings, `resolved`."""
        raise NotImplementedError

    def streams(self) -> Mapping[Any, int]:
        n = self.num_layers
        found: dict[Any, int] = {dropout: n + i for i, dropout in enumerate(self.dropouts)}
        found[self.entrance.drop_nodes] = 2 * n + 2  # behind those of the dropout, at most n + 2
        return found

    def _stream(self, i: int) -> int:
        n = self.num_layers
        return i if i < n else n + 1 + i  # those between are the dropout's

    def _seed_surroundings(self, seed: int) -> None:
        """Made anew from the seed, on the CPU, as on any device."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            fresh = surroundings(self.complete())
        for name in ("act", "norms", "jk"):
            if isinstance(fresh[name], nn.Module):
                getattr(self, name).load_state_dict(fresh[name].state_dict())

    def without_layers(self: Stack, numbers: Iterable[int]) -> Stack:
        """The model with some layers taken out, by their numbers 1 …, to see whether it uses them.

        Only with a residual to the input, where all layers are alike; each keeps the β of its own number.
        """
        config, out = self.complete(), _integers(numbers)
        if not from_input(config) or config["jk"] in ("cat", "lstm"):
            raise ValueError(
                "layers can be taken out where all are alike: make the model with residual 'input', and jk None, "
                "'last' or 'max'"
            )
        names = config["residual"].numbers
        if out is None or not set(out) < set(names):
            raise ValueError(
                f"numbers must name layers, {shown(list(names))}, and leave at least one, got {shown(numbers)}"
            )
        places = [i for i, number in enumerate(names) if number not in out]
        state = {}
        for name, tensor in self.state_dict().items():
            part, *rest = name.split(".")
            if part in ("convs", "norms") and int(rest[0]) in places:
                name = ".".join([part, str(places.index(int(rest[0]))), *rest[1:]])
            elif part in ("convs", "norms"):
                continue
            state[name] = tensor.clone()
        return self._made(of_layers(self.config, places, [names[i] for i in places]), state)


def _integers(values: Any) -> list[int] | None:
    """Some numbers as a list; None for what is not a number of them."""
    found = [as_integer(value) for value in values] if isinstance(values, Iterable) else [None]
    return None if None in found else found  # type: ignore[return-value]
