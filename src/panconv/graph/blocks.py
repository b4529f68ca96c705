"""The small parts that a graph such as a batch of molecules falls into, where they are known."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary


class Blocks(NamedTuple):
    """Consecutive rows that no entry leaves."""

    start: Tensor  # (blocks + 1,) first row of each
    rows: int  # of the largest
    entries: int  # of the longest row


MOST_ROWS = 128  # of a part that one program can take

# By the columns of the matrix, and for as long as they live; None where there are no such parts.
known_blocks: WeakIdKeyDictionary = WeakIdKeyDictionary()
