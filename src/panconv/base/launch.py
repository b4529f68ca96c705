"""Launching a Triton kernel without asking Triton again what it has compiled already.

Triton looks at every argument of every launch: its type, whether a pointer is aligned, whether a number is 1 or a
multiple of 16. For a kernel of some forty arguments that takes longer than a small graph's product. What is launched
through here differs by its key alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

_compiled: dict[Hashable, Any] = {}


def launch(
    kernel: Any,
    grid: tuple[int, ...],
    arguments: tuple[Any, ...],
    key: tuple[Hashable, ...],
    *,
    warps: int,
    aligned: Sequence[Tensor] = (),
) -> None:
    """Runs a kernel on a grid.

    Args:
        kernel: a `triton.jit` function that is not specialised on its numbers, nor on the alignment of pointers other
            than `aligned`.
        grid: of programs.
        arguments: all of them, in order, the constants too; the first is a tensor.
        key: the types of the pointers and the constants.
        warps: of a program.
        aligned: tensors whose addresses Triton may take to be multiples of 16.
    """
    device = arguments[0].device
    if device.type == "cuda" and device.index != torch.cuda.current_device():
        with torch.cuda.device(device):  # Triton launches where torch is
            launch(kernel, grid, arguments, key, warps=warps, aligned=aligned)
        return
    if any(tensor.data_ptr() % 16 for tensor in aligned):
        kernel[grid](*arguments, num_warps=warps)
        return
    known = (kernel, *key)
    compiled = _compiled.get(known)
    if compiled is None:
        _compiled[known] = kernel[grid](*arguments, num_warps=warps)  # None from the interpreter
    else:
        compiled[grid if len(grid) == 3 else (*grid, 1, 1)[:3]](*arguments)
