"""An object as it was when it was last seen, to tell later whether it is still the same, changes in place included."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.base.tracing import is_transforming

# What a SciPy matrix is made of, by its format; the others hold lists or a dictionary, whose changes go unnoticed.
_ARRAYS = {
    **dict.fromkeys(("csr", "csc", "bsr"), ("data", "indices", "indptr")),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}


class Seen:
    """An object as it was: by identity, and by the version or the content of its arrays."""

    def __init__(
        self, source: Any, parts: list[Tensor | np.ndarray], at_death: Callable[[weakref.ref[Any]], None]
    ) -> None:
        self.ref = weakref.ref(source, at_death)
        self.stamps = [_stamp(part) for part in parts]
        self.copies = [_copy(part) for part in parts]

    @staticmethod
    def of(source: Any, at_death: Callable[[weakref.ref[Any]], None]) -> Seen | None:
        """None where a change could go unnoticed."""
        parts = _parts(source)
        return None if parts is None else Seen(source, parts, at_death)


def same(seen: Seen | None, source: Any) -> bool:
    if seen is None or source is None:
        return seen is None and source is None
    parts = _parts(source) if seen.ref() is source else None
    return (
        parts is not None
        and len(parts) == len(seen.copies)
        and all(
            stamp == _stamp(part) and (copy is None or _equal(copy, part))
            for stamp, copy, part in zip(seen.stamps, seen.copies, parts, strict=True)
        )
    )


def _stamp(part: Tensor | np.ndarray) -> tuple[Hashable, ...] | None:
    """What tells of a change, where the content is compared too or cannot be; NumPy's arrays have nothing of it."""
    if isinstance(part, np.ndarray):
        return None
    if part.is_inference():
        return (part.device,)
    if not part.is_cuda or is_transforming():
        return part._version, part.device
    return part._version, part.device, part.shape, part.data_ptr()  # `.data = …` leaves the version as it is


def _copy(part: Tensor | np.ndarray) -> Tensor | np.ndarray | None:
    """A copy to compare with later; none of what is on a GPU, where nothing but torch writes."""
    if isinstance(part, np.ndarray):
        return part.copy()
    return part.detach().clone() if part.device.type == "cpu" else None


def _equal(copy: Tensor | np.ndarray, part: Tensor | np.ndarray) -> bool:
    if isinstance(part, np.ndarray) or isinstance(copy, np.ndarray):
        return np.array_equal(copy, part)
    if part.dtype == torch.bfloat16 or part.dtype != copy.dtype or is_transforming():
        return torch.equal(copy, part)
    # NumPy compares as fast, and on this thread alone: no threads have to be waited for.
    return np.array_equal(copy.numpy(), part.detach().numpy())


def _parts(source: Any) -> list[Tensor | np.ndarray] | None:
    """The arrays that an object is made of; None where a change in them could go unnoticed."""
    if isinstance(source, np.ndarray):
        return [source]
    if sp.issparse(source):
        return [getattr(source, name) for name in _ARRAYS[source.format]] if source.format in _ARRAYS else None
    if not isinstance(source, Tensor) or (source.is_inference() and source.device.type != "cpu"):
        return None  # an inference tensor has no version: its content tells, where it is compared
    if source.layout == torch.strided:
        return [source]
    if source.device.type != "cpu":
        return None
    if source.layout == torch.sparse_coo:
        return [source._indices(), source._values()]
    if source.layout == torch.sparse_csr:
        return [source.crow_indices(), source.col_indices(), source.values()]
    if source.layout == torch.sparse_csc:
        return [source.ccol_indices(), source.row_indices(), source.values()]
    return None
