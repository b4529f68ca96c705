"""Checks of arguments, whose errors are one line: the argument, the value and the remedy."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import psutil
import torch
from torch import Tensor

from panconv.base.near import meant

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64)
_LONGEST = 10**6
_MOST = 2**31 - 1  # of what is counted in a layer or a loop
_MOST_SEED = 2**63 - 1


# ---------------------------------------------------------------------- operators and features


def checked_operand(x: Any, N: int, device: torch.device) -> Tensor:
    """What an operator on N nodes is applied to: x (N, …), dense, floating point, on the operator's device."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor ({N}, …), got {kind_of(x)}")
    if x.layout != torch.strided or x.dtype not in FLOATS:
        kind = x.dtype if x.layout == torch.strided else x.layout
        raise TypeError(f"x must be dense and floating point, got {kind}: convert it with .float() or .to_dense()")
    if x.dim() == 0 or x.size(0) != N:
        raise ValueError(f"x must have {N} rows, one per node, got shape {tuple(x.shape)}")
    check_device(x.device, device, "the graph is")
    return x


def checked_dtype(dtype: Any) -> torch.dtype:
    """A dtype to return a matrix in; None stands for torch's default."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if dtype not in FLOATS:
        raise TypeError(f"dtype must be one of {', '.join(map(str, FLOATS))}, or None, got {shown(dtype)}")
    return dtype


def checked_device(device: Any, meta: bool = False) -> torch.device:
    """A device from its name, "auto" for a GPU where there is one; the one that holds no numbers where asked for."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found: torch.device | None = torch.device(device)
        torch.empty(0, device=found)
    except (TypeError, ValueError, RuntimeError, AssertionError, NotImplementedError):
        found = None
    if found is None or (found.type == "meta" and not meta):
        raise ValueError(
            f"device must be one that torch has here, such as 'auto', 'cpu' or 'cuda', got {shown(device)}"
        )
    return found


def check_device(found: torch.device, device: torch.device, where: str) -> None:
    """Refuses features on another device than the one that multiplies them."""
    if found != device:
        raise ValueError(f"x is on {found}, but {where} on {device}: move one of them with .to(device)")


def check_real(values: Tensor, name: str) -> None:
    """Refuses complex numbers, whose imaginary part would be lost, and dtypes that are not plain numbers."""
    if values.is_complex() or not (values.dtype in FLOATS or values.dtype in INTEGERS or values.dtype == torch.bool):
        raise TypeError(f"{name} must hold real numbers, got {values.dtype}: take the real part, or convert it")


def check_sparse(matrix: Tensor, name: str) -> None:
    """Refuses a sparse tensor with indices outside its shape, which torch does not check.

    Likewise one whose entries are not numbers but tensors.
    """
    if matrix.dense_dim():
        raise ValueError(f"{name} must hold a number per entry, got entries of {matrix.dense_dim()} dimensions")
    plain, sound = matrix.detach(), True
    if plain.layout == torch.sparse_coo:
        index, sizes = plain._indices(), tuple(plain.shape)
    else:
        rows = plain.layout in (torch.sparse_csr, torch.sparse_bsr)
        ends = plain.crow_indices() if rows else plain.ccol_indices()
        index = (plain.col_indices() if rows else plain.row_indices()).unsqueeze(0)
        block = plain.values().shape[1:] or (1, 1)  # of BSR and BSC
        sizes = (plain.shape[1] // block[1] if rows else plain.shape[0] // block[0],)
        sound = (int(ends[0]), int(ends[-1])) == (0, index.numel()) and bool((ends.diff() >= 0).all())
    if index.numel():
        sound = sound and int(index.min()) >= 0
        sound = sound and all(int(i.max()) < size for i, size in zip(index, sizes, strict=True))
    if not sound:
        raise ValueError(
            f"{name} has indices that point outside of its shape {tuple(matrix.shape)}: make it anew, with "
            "check_invariants=True to see where"
        )


def as_float(values: Tensor) -> Tensor:
    """float32 and float64 as they are, half precision in torch's default dtype, and whole numbers in float64."""
    if values.dtype in (torch.float32, torch.float64):
        return values
    return values.to(torch.get_default_dtype() if values.is_floating_point() else torch.float64)


def check_values(values: Tensor, name: str, remedy: str = "give a tensor with values") -> None:
    """Refuses a tensor without values."""
    if values.is_meta:
        raise ValueError(f"{name} is on the meta device, which holds no numbers: {remedy}")


def free_bytes(device: torch.device) -> int:
    """The memory that can be had on a device; on a GPU with what torch holds of it and does not use."""
    if device.type != "cuda":
        return psutil.virtual_memory().available
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + kept


# ---------------------------------------------------------------------- numbers


def checked_length(L: int) -> int:
    """L itself, if it is an integer of at least 0."""
    length = as_integer(L)
    if length is None:
        raise TypeError(f"L must be an integer, the longest path length, got {shown(L)}")
    if not 0 <= length <= _LONGEST:
        raise ValueError(f"L must be at least 0 and at most {_LONGEST:,}, the longest path length, got {shown(L)}")
    return length


def checked_count(value: int, name: str, least: int = 1, most: int | None = _MOST) -> int:
    """The value itself, if it is an integer of at least 1, or `least`, and at most `most`, if there is one."""
    count = as_integer(value)
    if count is None or count < least or (most is not None and count > most):
        bound = "" if count is None or count < least else f" and at most {most:,}"
        raise ValueError(f"{name} must be an integer of at least {least}{bound}, got {shown(value)}")
    return count


def checked_width(in_channels: int) -> int:
    """The width of the features itself: an integer of at least 1, or −1 to take it from the first call."""
    width = as_integer(in_channels)
    return -1 if width == -1 else checked_count(in_channels, "in_channels")


def checked_flag(value: bool, name: str) -> bool:
    """The value itself, if it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def checked_word(word: str, words: Sequence[str], name: str) -> str:
    """The word itself, if it is one of some."""
    if not isinstance(word, str) or word not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}, got {shown(word)}{meant(word, words)}")
    return word


def checked_seed(seed: int) -> int:
    """The seed itself, if it is an integer of 0 … 2⁶³ − 1."""
    number = as_integer(seed)
    if number is None or not 0 <= number <= _MOST_SEED:
        bound = " and below 2^63" if number is not None and number > 0 else ""
        raise ValueError(f"seed must be an integer of at least 0{bound}, got {shown(seed)}")
    return number


def checked_seeds(seeds: Any, trials: int, bits: int = 63) -> list[int]:
    """The seeds of some trials, one for each, if all of them are integers of so many bits, 0 … 2⁶³ − 1."""
    given = seeds.tolist() if isinstance(seeds, (Tensor, np.ndarray)) and seeds.ndim == 1 else seeds
    if not isinstance(given, (list, tuple, range)) or any(as_integer(seed) is None for seed in given):
        raise TypeError(f"seeds must be a sequence of integers, one per trial, got {shown(seeds)}")
    if len(given) != trials:
        raise ValueError(f"seeds must be {trials}, one per trial, got {len(given)}: {shown(seeds)}")
    for seed in given:
        if not 0 <= seed < 2**bits:
            raise ValueError(f"seeds must be at least 0 and below 2^{bits}, got {shown(seed)}")
    return [operator.index(seed) for seed in given]


def checked_trial(s: int, trials: int) -> int:
    """The number of a trial itself, if there is one of that number."""
    number = as_integer(s)
    if not trials:
        raise ValueError(f"trial must be one of several, but the model was made without trials, got {shown(s)}")
    if number is None or not 0 <= number < trials:
        raise ValueError(f"trial must be one of 0 … {trials - 1}, got {shown(s)}")
    return number


def checked_positive(value: float, name: str) -> float:
    """The value as a float, if it is a number above 0 and finite."""
    number = as_number(value)
    if number is None:
        raise TypeError(f"{name} must be a number, positive and finite, got {shown(value)}")
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {shown(value)}")
    return number


def checked_numbers(values: Any, name: str) -> list[float]:
    """Some numbers as floats, if all are finite."""
    given = [as_number(value) for value in values] if isinstance(values, (list, tuple, range)) else [None]
    if any(value is None or not math.isfinite(value) for value in given):
        raise ValueError(f"{name} must be a list of finite numbers, got {shown(values)}")
    return [value for value in given if value is not None]


def as_integer(value: Any) -> int | None:
    """A Python int from an integer of any library; None for what is not one."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def as_number(value: Any) -> float | None:
    """A Python float from a real number of any library; None for what is not one."""
    if isinstance(value, (bool, str, bytes, bytearray)) or np.iscomplexobj(value):
        return None
    try:
        return float(value.detach() if isinstance(value, Tensor) else value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError, RuntimeError):
        return None


def shown(value: Any) -> str:
    """A value in a message: on one line, and short."""
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim:
        return f"a {type(value).__name__} of shape {tuple(value.shape)} and {value.dtype}"
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of more digits than Python writes out
        return "an integer of very many digits"
    return text if len(text) <= 80 else text[:79] + "…"


def kind_of(value: Any) -> str:
    """What a value is, where it is of a wrong type altogether."""
    return shown(value) if isinstance(value, (str, type)) or value is None else type(value).__name__
