"""Numbers as a user hands them in, read and checked."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import check_real, check_values, shown


def as_numbers(values: object, name: str) -> Tensor:
    """A floating-point tensor: a tensor's or an array's own dtype, and of Python's numbers their own, float64."""
    if not isinstance(values, (Tensor, np.ndarray)):
        return torch.as_tensor(values, dtype=torch.float64, device="cpu")
    given = values if isinstance(values, Tensor) else torch.as_tensor(values, device="cpu")
    check_real(given, name)
    check_values(given, name)
    return given if given.is_floating_point() else given.double()


def placed(start: Tensor) -> Tensor:
    """A copy where torch makes parameters now, such as under ``torch.device("meta")``; what is on a GPU stays there."""
    device = torch.get_default_device() if start.device.type == "cpu" else start.device
    return start.to(device, copy=True)


def as_weights(values: object, name: str) -> Tensor:
    """A number per path length, (L+1,) or (L+1, S), as a tensor of its own."""
    if isinstance(values, Tensor):
        check_values(values, name, "give a list of numbers, or a tensor that has them")
    try:
        weights = as_numbers(values, name)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TypeError(f"{name} must be numbers, one per path length n = 0 … L, got {shown(values)}") from None
    weights = weights.detach().clone()
    if weights.dim() not in (1, 2) or weights.size(0) == 0:
        raise ValueError(f"{name} must have shape (L+1,) or (L+1, S), got {tuple(weights.shape)}")
    if not bool(torch.isfinite(weights).all()):
        raise ValueError(f"{name} must be finite, got {shown(weights.tolist())}")
    return weights
