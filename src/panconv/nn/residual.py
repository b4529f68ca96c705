"""What a layer keeps of what came before it: its own input by a matrix R, or the features themselves, as in GCNII."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.base.by_trial import Numbers, checked_by_trial, column
from panconv.base.checks import as_integer, shown
from panconv.nn.pan_conv import PANConv

# The options of each kind. "numbers" are the l of the layers, for a model of which some were taken out.
KINDS: dict[str, tuple[str, ...]] = {"layer": (), "input": ("share", "identity", "numbers")}


class Residual(NamedTuple):
    """How the layers of a model keep what came before them."""

    kind: str
    share: Numbers  # of H₀ in every layer
    identity: Numbers  # the larger, the more of W there is beside the identity
    numbers: Sequence[int]  # l of each layer

    def beta(self, i: int) -> Numbers:
        """β = log(identity/l + 1) in the layer at place i: the share of W there."""
        given, number = self.identity, self.numbers[i]
        return tuple(math.log1p(e / number) for e in given) if isinstance(given, tuple) else math.log1p(given / number)


def residual_from(given: Any, num_layers: int, trials: int | None) -> Residual | None:
    """A residual as a user writes it: the name of a kind, or a dict of it and its options."""
    options = dict(given) if isinstance(given, dict) else {"kind": given}
    kind = options.pop("kind", None)
    if given is None:
        return None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(
            f"residual must be one of {', '.join(KINDS)}, a dict with one of them under 'kind', or None, got "
            f"{shown(given)}"
        )
    if unknown := options.keys() - set(KINDS[kind]):
        known = ", ".join(KINDS[kind]) or "none"
        raise ValueError(f"residual of kind {kind!r} has no option {shown(min(unknown, key=str))}, only: {known}")
    share, identity = options.get("share", 0.1), options.get("identity", 0.5)
    share = checked_by_trial(share, "residual share", lambda v: 0 <= v <= 1, "at least 0 and at most 1", trials or 1)
    identity = checked_by_trial(
        identity, "residual identity", lambda v: 0 <= v < math.inf, "at least 0 and finite", trials or 1
    )
    numbers = _checked_numbers(options.get("numbers"), num_layers)
    return Residual(kind, share, identity, numbers)


def _checked_numbers(given: Any, num_layers: int) -> Sequence[int]:
    if given is None:
        return range(1, num_layers + 1)
    found = [as_integer(each) for each in given] if isinstance(given, list) and len(given) == num_layers else [None]
    if any(each is None or not 1 <= each < 2**31 for each in found):
        raise ValueError(
            f"residual numbers must be {num_layers} integers of at least 1, one per layer, got {shown(given)}"
        )
    return [each for each in found if each is not None]


class InputConv(PANConv):
    r"""A layer of "Simple and Deep Graph Convolutional Networks" (2020), with M in place of Â

    .. math:: \mathbf{H}' = \mathbf{Z}\,\big((1 - β)\,\mathbf{I} + β\,\mathbf{W}\big), \qquad
        \mathbf{Z} = (1 - \text{share})\,\mathbf{M}\mathbf{H} + \text{share}\,\mathbf{H}_0

    Args:
        channels: features of a node, before and afterwards.
        share, beta: numbers, or S numbers for S trials.
        options: of `PANConv`; there is no bias.
    """

    def __init__(self, channels: int, share: Numbers, beta: Numbers, **options: Any) -> None:
        super().__init__(channels, channels, bias=False, **options)
        self._given = {"share": share, "beta": beta}
        for name, value in self._given.items():
            held = column(value)
            if isinstance(held, Tensor):  # it moves with the layer, and is no part of its state
                self.register_buffer(name, held, persistent=False)
            else:
                setattr(self, name, held)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        for name, value in self._given.items():  # a layer made on the meta device has memory now, but no numbers in it
            if isinstance(held := getattr(self, name), Tensor):
                held.copy_(column(value))  # type: ignore[arg-type]

    def forward(  # type: ignore[override]
        self,
        x: Tensor,  # H, (N, F) or (N, S, F)
        first: Tensor,  # H₀, likewise
        edge_index: Any,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """H' of all nodes, on a graph as `GraphLayer.forward` takes it."""
        heard = self.met(self.seen(edge_index, edge_weight, x.shape[0])).apply(x)
        mixed = _between(heard, first, self.share)
        return _between(mixed, self.lin(mixed), self.beta)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, share={self._given['share']}, beta={self._given['beta']}"


def _between(x: Tensor, y: Tensor, share: float | Tensor) -> Tensor:
    """(1 − share)·x + share·y in one pass, in the dtype of x, which autocast leaves wider than that of a product."""
    return torch.lerp(x, y.to(x.dtype), share.to(x.dtype) if isinstance(share, Tensor) else share)
