"""A linear map for one trial or for S trials side by side, of dense or sparse features."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter
from torch_geometric.nn.inits import glorot, zeros

from panconv.base.checks import FLOATS, check_device, checked_count, checked_width, kind_of
from panconv.base.tracing import check_not_jit
from panconv.compute.features import SparseRows
from panconv.nn import by_trial_product

_first_call = threading.Lock()  # of lazy maps: one thread fixes the width and the start, and the others find them


class Linear(nn.Module):
    """x·W without a bias.

    Args:
        in_channels: F, or -1 to take it from the first x.
        out_channels: O.
        trials: None for one W (F, O); S for W (S, F, O), a matrix per trial.

    Shapes:
        x (N, F) → (N, O); with trials, x (N, F) or (N, S, F) → (N, S, O). x may be `SparseRows`.
    """

    weight: nn.Parameter

    def __init__(self, in_channels: int, out_channels: int, trials: int | None = None) -> None:
        super().__init__()
        checked_width(in_channels)
        checked_count(out_channels, "out_channels")
        if trials is not None:
            checked_count(trials, "trials")
        self.in_channels, self.out_channels, self.trials = in_channels, out_channels, trials
        if in_channels < 0:
            self.weight = UninitializedParameter()  # type: ignore[assignment]
        else:
            self.weight = nn.Parameter(torch.empty(self._shape(in_channels)))
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot's uniform start."""
        if not isinstance(self.weight, UninitializedParameter):
            glorot(self.weight)

    def forward(self, x: Tensor | SparseRows) -> Tensor:
        if self.in_channels < 0:
            self.materialize(x.shape[-1])
        W = self.weight
        if isinstance(x, SparseRows) or self.trials is None:
            return x @ W
        if x.dim() == 2:
            return (x @ W.transpose(0, 1).flatten(1)).unflatten(1, (self.trials, -1))
        return by_trial_product.times(x, W)

    def checked(self, x: Any) -> Tensor | SparseRows:
        """The features of N nodes, if this map takes them; sparse ones as `SparseRows`."""
        check_not_jit()
        if not isinstance(x, (Tensor, SparseRows)):
            raise TypeError(f"x must be a tensor {self._expected()}, got {kind_of(x)}")
        shape = tuple(x.shape)
        if len(shape) < 2:
            raise ValueError(f"x must be {self._expected()}, a row per node, got shape {shape}")
        if self.in_channels >= 0 and shape[-1] != self.in_channels:
            raise ValueError(f"x must have in_channels = {self.in_channels} columns, got shape {shape}")
        if self.trials is not None and len(shape) != 2 and (len(shape) != 3 or shape[1] != self.trials):
            raise ValueError(
                f"x must be {self._expected()} for a layer of trials = {self.trials}, got shape {shape}: give each "
                "trial its features, or all of them the same"
            )
        check_alike(x, self.weight)
        if isinstance(x, SparseRows) or x.layout == torch.strided:
            return x
        if len(shape) != 2:
            raise ValueError(f"x must be (N, F) where it is sparse, got shape {shape}: convert it with .to_dense()")
        return SparseRows.of(x)

    def _expected(self) -> str:
        width = "F" if self.in_channels < 0 else self.in_channels
        return f"(N, {width})" if self.trials is None else f"(N, {width}) or (N, {self.trials}, {width})"

    def _shape(self, in_channels: int) -> tuple[int, ...]:
        return (*([] if self.trials is None else [self.trials]), in_channels, self.out_channels)

    def materialize(self, in_channels: int) -> None:
        """Fixes the width of a lazy map; one that has its width keeps it."""
        with _first_call:
            if isinstance(self.weight, UninitializedParameter):
                self.weight.materialize(self._shape(in_channels))
                self.reset_parameters()
                self.in_channels = in_channels  # last: it says that the matrix can be used

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        given = state_dict.get(prefix + "weight")
        if isinstance(given, Tensor) and not isinstance(given, UninitializedParameter):
            self.materialize(given.size(-2))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}" + (f", trials={self.trials}" if self.trials else "")


def check_alike(x: Tensor | SparseRows, parameter: Tensor) -> None:
    """Refuses features in another dtype than a parameter's, or on another device: nothing is cast in silence."""
    dtype = parameter.dtype  # of sparse rows no value is looked at: dropout would have to find them all
    if x.dtype not in FLOATS:
        raise TypeError(f"x must hold floating-point numbers, got {x.dtype}: convert it with .to({dtype})")
    if x.dtype != dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(
            f"x is {x.dtype}, but the layer's parameters are {dtype}: convert one, x.to({dtype}) or layer.to({x.dtype})"
        )
    check_device(x.device, parameter.device, "the layer's parameters are")


class Affine(Linear):
    """x·W + b.

    Args:
        in_channels, out_channels, trials: as in `Linear`; b is (O,), or (S, O).
    """

    def __init__(self, in_channels: int, out_channels: int, trials: int | None = None) -> None:
        super().__init__(in_channels, out_channels, trials)
        self.bias = nn.Parameter(torch.zeros((out_channels,) if trials is None else (trials, out_channels)))

    def reset_parameters(self) -> None:
        """Glorot's uniform start, and no shift."""
        super().reset_parameters()
        zeros(getattr(self, "bias", None))  # the matrix starts before there is one

    def forward(self, x: Tensor | SparseRows) -> Tensor:
        out = super().forward(x)
        return out + self.bias.to(out.dtype)
