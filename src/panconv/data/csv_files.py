"""Delimited text as people have it: its encoding, its delimiter, and the line on which something stands.

Arrow parses the text. It refuses rows of another width, but does not say on which line they are, and takes a quote that
is never closed for the rest of the file. So what is wrong is looked for with Python's reader, line by line, once it is
known that something is.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from panconv.data.remarks import short

DELIMITERS = ",;\t|"
_PIECE = 2**24  # bytes looked at in one go
_LARGEST_FIELD = 2**30 - 1  # bytes; Arrow's limit for a cell is 2 GiB
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class Dialect:
    """How a file of delimited text is written."""

    encoding: str
    delimiter: str
    header: tuple[str, ...]
    before: int = 0  # blank lines before the header
    note: tuple[str, str] | None = None  # what was not as it should be, and how that was mended


def dialect_of(path: Path) -> Dialect:
    """The encoding, delimiter and column names of a file; refuses what is no such file."""
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty: its first line must name the columns")
    encoding, odd_quotes, note = _scanned(path)
    header, delimiter, before = _header(path, encoding)
    if odd_quotes:
        _check_quotes(path, encoding, delimiter)
    return Dialect(encoding, delimiter, header, before, note)


def header_of(path: Path) -> tuple[str, ...]:
    """The names of the columns alone, without a look at what follows them."""
    with path.open("rb") as file:
        encoding = _marked(file.read(4))
    return _header(path, encoding)[0]


def _marked(start: bytes) -> str:
    """The encoding that a byte order mark names; UTF-8 where there is none."""
    return next((name for bom, name in _BOMS if start.startswith(bom)), "utf-8")


def _scanned(path: Path) -> tuple[str, bool, tuple[str, str] | None]:
    """The encoding, whether the quotes are odd in number, and what is to be said about either; in one pass."""
    with path.open("rb") as file:
        encoding = _marked(file.read(4))
        file.seek(0)
        decoder, quotes, lines = codecs.getincrementaldecoder(encoding)(), 0, 1
        piece = b"-"
        while piece:
            piece = file.read(_PIECE)
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                if encoding != "utf-8":
                    raise ValueError(f"{path} begins as {encoding}, but is not: save it as UTF-8") from None
                line = lines + error.object[: error.start].count(b"\n")
                note = f"{path}, line {line}: not UTF-8", "the file is read as Windows-1252, so look at its accents"
                return "cp1252", _has_odd_quotes(path), note
            if "\0" in text:
                line = lines + text[: text.index("\0")].count("\n")
                raise ValueError(f"{path}, line {line}: a zero byte; it is no text file, or damaged")
            quotes, lines = quotes + text.count('"'), lines + text.count("\n")
    return encoding, bool(quotes % 2), None


def _has_odd_quotes(path: Path) -> bool:
    with path.open("rb") as file:
        return bool(sum(piece.count(b'"') for piece in iter(lambda: file.read(_PIECE), b"")) % 2)


def _header(path: Path, encoding: str) -> tuple[tuple[str, ...], str, int]:
    """The names of the columns, what stands between them, and how many blank lines come before.

    What divides the first row into most stands between them; a blank, where nothing else does.
    """
    wholes = {each: _first(path, encoding, each) for each in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda each: len(wholes[each][0]))  # a comma where none divides it
    row, before = wholes[delimiter]
    if len(row) == 1 and (blanks := _by_blanks(path, encoding)):
        delimiter, row = " ", blanks
    names = tuple(name.strip() for name in row)
    if not any(names):
        raise ValueError(f"{path} is empty: its first line must name the columns")
    for place, name in enumerate(names):
        if name in names[:place]:
            what = f"two columns are called {short(name)}" if name else "two columns have no name"
            raise ValueError(f"{path}, line {before + 1}: {what}; rename one of them")
    return names, delimiter, before


def _by_blanks(path: Path, encoding: str) -> list[str]:
    """The first row of a file whose cells have one blank between them, as its second row shows; else nothing."""
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        rows = (row for row in csv.reader(_lines(file), delimiter=" ") if row)
        try:
            first, second = next(rows, []), next(rows, [])
        except csv.Error:
            return []
    return first if 1 < len(first) == len(second) and all(first) and all(second) else []


def _first(path: Path, encoding: str, delimiter: str) -> tuple[list[str], int]:
    """The first row that is not blank, and how many lines come before it."""
    before = 0
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        reader = csv.reader(_lines(file), delimiter=delimiter)
        try:
            for row in reader:
                if row:
                    return row, before
                before = reader.line_num
        except csv.Error:  # a cell of more than 128 KiB is no name of a column
            pass
    return [], 0


def _lines(file: Any) -> Iterator[str]:
    """Lines of a text file, of no more than a million characters: a first line is never that long."""
    while line := file.readline(2**20):
        yield line.lstrip("\ufeff")


def _check_quotes(path: Path, encoding: str, delimiter: str) -> None:
    """Refuses a quote that opens a cell and is never closed."""
    last = 1
    with _reading(path, encoding, delimiter) as reader:
        try:
            for _ in reader:
                last = reader.line_num + 1
        except csv.Error as error:
            if "end of data" in str(error):
                raise ValueError(f'{path}, line {last}: a quote " is opened here and never closed') from None
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from None


def check_rows(path: Path, how: Dialect, most: int) -> None:
    """Refuses rows that have more or fewer cells than the header, or are longer than so many bytes, by their line."""
    last, width = 1, len(how.header)
    with _reading(path, how.encoding, how.delimiter, strict=False) as reader:
        for row in reader:
            if row and len(row) != width:
                raise ValueError(
                    f"{path}, line {last}: {len(row)} cells where the header has {width}; put cells that hold "
                    f'{how.delimiter!r} into quotes "…"'
                )
            if sum(map(len, row)) > most // 4 and _bytes_of(row) > most:  # a character has up to four bytes
                size, column = max((len(cell), name) for cell, name in zip(row, how.header, strict=False))
                raise ValueError(long_row(f"{path}, line {last}, column {column!r}", size, most))
            last = reader.line_num + 1


def long_row(where: str, size: int, most: int) -> str:
    """The message of a row that is longer than so many bytes, by its longest cell."""
    return f"{where}: a cell of {size:,} characters makes a row longer than {most // 2**20} MiB; shorten it"


def _bytes_of(row: list[str]) -> int:
    """What a row takes in a file: its cells, what divides them, and quotes where there may be some."""
    return sum(len(cell.encode()) + cell.count('"') + 3 for cell in row)


def line_of(path: Path, how: Dialect, row: int) -> int:
    """The line on which a row of data begins, counted from 1; rows are counted from 0."""
    last, count = 1, -2  # the header is no row
    with _reading(path, how.encoding, how.delimiter, strict=False) as reader:
        for cells in reader:
            count += bool(cells)  # blank lines are passed over
            if count == row:
                return last
            last = reader.line_num + 1
    return last


@contextmanager
def _reading(path: Path, encoding: str, delimiter: str, strict: bool = True) -> Iterator[Any]:
    former = csv.field_size_limit(_LARGEST_FIELD)
    try:
        with path.open(encoding=encoding, errors="replace", newline="") as file:
            yield csv.reader(file, delimiter=delimiter, strict=strict)
    finally:
        csv.field_size_limit(former)


def as_utf8(path: Path, encoding: str) -> Any:
    """The text of a file in UTF-8, as Arrow takes it: a file or a buffer of Arrow's own, as in `native`."""
    if encoding in ("utf-8", "utf-8-sig"):
        return native(path)
    import pyarrow as pa

    recoded = pa.BufferOutputStream()
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        while piece := file.read(_PIECE):
            recoded.write(piece.encode())
    return pa.BufferReader(recoded.getvalue())


def native(path: Path) -> Any:
    """A file that Arrow opens itself.

    Its threads may let go of a file after the table has been handed over, and to let go of one of Python's they need
    the interpreter: where that is ending, the whole process aborts.
    """
    import pyarrow as pa

    return pa.OSFile(os.fsencode(path))
