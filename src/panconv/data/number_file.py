"""A text file that holds nothing but numbers, read at once; what is wrong is named by its line."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from panconv.data.planetoid import content_of
from panconv.data.remarks import counted, short

_LONGEST = 40  # characters of a number
_LONGEST_WHOLE = 18  # which int64 holds
_SPACES = b" \t\n\r\x0b\x0c"  # as bytes.split has it
_WHOLE, _REAL = b"0123456789-", b"0123456789-+.eE"


class NumberFile:
    """The numbers of a file, apart by spaces and lines; where commas are read too, they are spaces.

    Lines without a number count as lines and are nothing else.
    """

    def __init__(self, path: Path, commas: bool = False, remedy: str = "name another file") -> None:
        self.path = path
        content = content_of(path, remedy).removeprefix(b"\xef\xbb\xbf")
        content = content.replace(b",", b" ") if commas else content
        self._bytes = np.frombuffer(content, np.uint8)
        self._words = content.split()
        inside = ~_among(_SPACES)[self._bytes]
        edge = np.flatnonzero(np.diff(inside, prepend=False, append=False))
        self._begin, self._end = edge[::2], edge[1::2]
        newlines = np.flatnonzero(self._bytes == ord("\n"))
        self.line = np.searchsorted(newlines, self._begin) + 1  # of each number
        self.rows = np.flatnonzero(
            np.diff(self.line, prepend=0, append=0)
        )  # the first number of each line that has any

    def __len__(self) -> int:
        return len(self._words)

    @cached_property
    def per_row(self) -> np.ndarray:
        """How many numbers each line holds that has any, (R,)."""
        return np.diff(self.rows)

    @cached_property
    def row_line(self) -> np.ndarray:
        """Which line each of these is, (R,)."""
        return self.line[self.rows[:-1]]

    def whole(self) -> np.ndarray:
        """All of them as whole numbers, int64."""
        return self._read(np.int64, _WHOLE, _LONGEST_WHOLE, "no whole number")

    def real(self) -> np.ndarray:
        """All of them as numbers that float32 holds, float64."""
        found = self._read(np.float64, _REAL, _LONGEST, "no number")
        with np.errstate(over="ignore"):
            wide = ~np.isfinite(found.astype(np.float32))
        if wide.any():
            place = int(wide.argmax())
            raise self.error(self.line[place], f"{short(self._text(place))} is beyond what float32 holds")
        return found

    def table(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers in their columns, (R, D): as many in each line."""
        odd = np.flatnonzero(self.per_row != self.per_row[:1])
        if len(odd):
            what = f"it holds {counted(self.per_row[odd[0]], 'number')}, and line {self.row_line[0]} {self.per_row[0]}"
            raise self.error(self.row_line[odd[0]], what)
        return numbers.reshape(len(self.per_row), -1)

    def error(self, line: Any, what: str) -> ValueError:
        """What is wrong in a line, as it is raised."""
        return ValueError(f"{self.path}, line {line}: {what}")

    def _read(self, dtype: type, characters: bytes, longest: int, what: str) -> np.ndarray:
        if not len(self):
            raise ValueError(f"{self.path} is empty: it must hold numbers")
        strange = np.flatnonzero(~(_among(characters) | _among(_SPACES))[self._bytes])
        if len(strange):
            raise self._wrong(int(np.searchsorted(self._begin, strange[0], "right")) - 1, what)
        long = self._end - self._begin > longest
        if long.any():
            raise self._wrong(int(long.argmax()), "longer than a number may be")
        try:
            return np.array(self._words).astype(dtype)
        except (ValueError, OverflowError):
            place = next(i for i, word in enumerate(self._words) if not _is(dtype, word))
            raise self._wrong(place, what) from None

    def _wrong(self, place: int, what: str) -> ValueError:
        return self.error(self.line[place], f"{short(self._text(place))} is {what}")

    def _text(self, place: int) -> str:
        return self._words[place][:100].decode("utf-8", "replace")


def _among(characters: bytes) -> np.ndarray:
    """Which of the 256 bytes are some characters."""
    found = np.zeros(256, bool)
    found[list(characters)] = True
    return found


def _is(dtype: type, word: bytes) -> bool:
    try:
        np.array([word]).astype(dtype)
    except (ValueError, OverflowError):
        return False
    return True
