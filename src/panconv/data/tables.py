"""Tables as people have them: CSV, TSV, Parquet, JSON lines, a pandas frame. The one table engine is Arrow.

Of a text file every cell is kept as it was written, so that 007 stays 007; what is a number is decided afterwards, and
whatever is refused is named by file, line and column. docs/read.md has the engines that were measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from panconv.base.files import expanded
from panconv.base.near import a_folder, missing_file, nearest
from panconv.data.cells import CODE, COMMA, NO_COMMA, UNKNOWN, number_in
from panconv.data.csv_files import Dialect, as_utf8, check_rows, dialect_of, header_of, line_of, long_row, native
from panconv.data.frames import arrow_of
from panconv.data.remarks import Remarks

TEXTS = (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXTS, ".parquet", ".jsonl", ".ndjson")
MOSTLY = 0.9  # a column of which so many cells are numbers, or dates, is of numbers, or of dates
_BLOCK = 2**24  # bytes that Arrow parses in one go; a row must fit
_REMEDIES = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save it as CSV"),
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz", ".zst"), "unpack it first"),
    ".json": "write a line per row, and call it .jsonl",
}
_MOST_BYTES, _GROWTH = 2**28, 1000  # that a Parquet file may unpack to, or so many times its own size


@dataclass
class Table:
    """A table and where it came from.

    Args:
        name: in messages.
        arrow: a `pyarrow.Table`.
        path, dialect: of a text file, to find a row's line again.
        rows: which rows of the file these are, where some were left out.
    """

    name: str
    arrow: Any
    path: Path | None = None
    dialect: Dialect | None = None
    rows: np.ndarray | None = None

    @property
    def columns(self) -> list[str]:
        return list(self.arrow.column_names)

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def where(self, row: int, column: str = "") -> str:
        """A cell in words: the file, the line, the column."""
        row = row if self.rows is None else int(self.rows[row])
        place = f"{self.name}, row {row + 1}"
        if self.path is not None and self.dialect is not None:
            with suppress(OSError):  # a file that is there no more
                place = f"{self.name}, line {line_of(self.path, self.dialect, row)}"
        return f"{place}, column {column!r}" if column else place

    def check(self, column: str, argument: str) -> str:
        """The column itself, if there is one of that name."""
        check_name(column, argument, self.columns, self.name)
        return column

    def _cells(self, column: str) -> Any:
        """A column in one piece; half precision is widened, since Arrow computes nothing with it."""
        import pyarrow as pa

        values = self.arrow[column].combine_chunks()
        return values.cast(pa.float32()) if pa.types.is_float16(values.type) else values

    def texts(self, column: str) -> Any:
        """A column as an Arrow array of texts, without blanks around them; null where there is nothing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self._cells(column)
        if pa.types.is_floating(values.type):  # ids that a frame with gaps holds as 1.0, 2.0
            whole = pc.cast(values, pa.int64(), safe=False)
            if pc.all(pc.equal(pc.cast(whole, values.type, safe=False), values)).as_py() is not False:
                values = whole
        try:
            values = pc.utf8_trim_whitespace(pc.cast(values, pa.large_string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise ValueError(f"{self.name}, column {column!r} holds {values.type}, which is no text") from None
        return pc.if_else(pc.equal(values, ""), pa.scalar(None, pa.large_string()), values)

    def only(self, *columns: str) -> Table:
        """The table with these columns alone."""
        return replace(self, arrow=self.arrow.select([*columns]))

    def without(self, rows: np.ndarray) -> Table:
        """The table without some of its rows; those left know their lines."""
        import pyarrow as pa

        left = np.setdiff1d(np.arange(len(self)), rows)
        return replace(self, arrow=self.arrow.take(pa.array(left)), rows=left if self.rows is None else self.rows[left])

    def numbers(self, column: str) -> np.ndarray | None:
        """A column as float64, NaN where there is nothing; None where some cell is no number."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self._cells(column)
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            plain = pa.types.is_boolean(values.type) or pa.types.is_integer(values.type)
            if not (plain or pa.types.is_floating(values.type)):
                return None
            whole = pc.cast(values, pa.uint8()) if pa.types.is_boolean(values.type) else values
            return _floats(pc.cast(whole, pa.float64(), safe=False))
        texts = self.known_texts(column)
        if _matches(texts, CODE):
            return None
        try:
            return _floats(pc.cast(self.pointed(texts), pa.float64()))
        except pa.ArrowInvalid:
            return None

    def known_texts(self, column: str) -> Any:
        """A column's texts, null too where they say that nothing is known."""
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = self.texts(column)
        known = pc.is_in(pc.utf8_lower(texts), pa.array(UNKNOWN, texts.type))
        return pc.if_else(known, pa.scalar(None, texts.type), texts)

    def pointed(self, texts: Any) -> Any:
        """Numbers such as 1,5, as half of the world writes them beside semicolons, with a point; other texts as they
        are.

        Where one of them has a decimal point, or two commas, a comma is none.
        """
        import pyarrow.compute as pc

        return pc.replace_substring_regex(texts, COMMA, r"\1.\2") if self.has_commas(texts) else texts

    def has_commas(self, texts: Any) -> bool:
        """Whether these texts of a column are to be read with a decimal comma."""
        return self.dialect is not None and self.dialect.delimiter == ";" and not _matches(texts, NO_COMMA)

    def parsed(self, column: str) -> np.ndarray:
        """A column as float64, NaN where a cell is no number."""
        cells = self.pointed(self.known_texts(column)).to_pylist()
        return np.array([np.nan if each is None else number_in(each) for each in cells])


def check_name(column: str, argument: str, columns: Sequence[str], table: str) -> None:
    """Refuses a column that a table does not have, by its likely name."""
    if column not in columns:
        near = nearest(column, columns)
        hint = f"it has {_listed(columns)}" if near is None else f"did you mean {near!r}?"
        raise ValueError(f"{argument}={column!r} is no column of {table}: {hint}")


def check_names(path: Path, named: Mapping[str, str]) -> None:
    """Refuses columns that a file does not have, by its header alone; says nothing of a file that cannot be read."""
    suffix = path.suffix.lower()
    columns: Sequence[str] = ()
    with suppress(ValueError, OSError, ImportError):
        if named and suffix in TEXTS:
            columns = header_of(path)
        elif named and suffix == ".parquet":
            from pyarrow import parquet

            columns = parquet.read_schema(path).names
    for argument, column in named.items() if columns else ():
        check_name(column, argument, columns, str(path))


def _matches(texts: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _floats(values: Any) -> np.ndarray:
    return np.array(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def read_table(source: Any, what: str, remarks: Remarks) -> Table:
    """A table from a file or a frame; `what` names the argument."""
    _check_engine()
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # a pandas frame
        return Table(f"the frame {what}", arrow_of(source, what))
    if not isinstance(source, (str, Path)):
        from panconv.base.checks import kind_of  # which imports torch, and names of columns are checked without it

        raise TypeError(f"{what} must be a file or a pandas frame, got {kind_of(source)}")
    path = expanded(source)
    if not os.path.exists(path):
        raise missing_file(path, what)
    if path.is_dir():
        raise a_folder(path, what, SUFFIXES)
    if not path.is_file():
        raise ValueError(f"{what} {str(source)!r} is no ordinary file: name a table ({', '.join(SUFFIXES)})")
    suffix = path.suffix.lower()
    if suffix in TEXTS:
        return _text(path, remarks)
    if suffix in SUFFIXES:
        return _binary(path, suffix)
    raise other_kind(source, what)


def other_kind(source: str | Path, what: str) -> ValueError:
    """The error where a file is of a kind that is not read; `what` names the argument."""
    remedy = _REMEDIES.get(Path(source).suffix.lower(), "write it as one of these")
    return ValueError(f"{what} {str(source)!r} is of no kind that is read ({', '.join(SUFFIXES)}): {remedy}")


def _check_engine() -> None:
    if find_spec("pyarrow") is None:
        raise ValueError("tables are read by Arrow, which is not here: pip install pyarrow")


def _text(path: Path, remarks: Remarks) -> Table:
    """Delimited text, every cell as it was written."""
    import pyarrow as pa
    from pyarrow import csv

    how = dialect_of(path)
    if how.note:
        remarks.mend(*how.note)
    read = csv.ReadOptions(column_names=[*how.header], skip_rows=how.before, block_size=_BLOCK)
    read.skip_rows_after_names = 1
    parse = csv.ParseOptions(delimiter=how.delimiter, newlines_in_values=True)
    kinds = dict.fromkeys(how.header, pa.large_string())
    convert = csv.ConvertOptions(column_types=kinds, strings_can_be_null=True, null_values=[""])
    try:
        with as_utf8(path, how.encoding) as file:
            found = csv.read_csv(file, read_options=read, parse_options=parse, convert_options=convert)
    except pa.ArrowInvalid as error:
        check_rows(path, how, _BLOCK)  # says on which line
        raise ValueError(f"{path} cannot be read as a table: {' '.join(str(error).split())[:200]}") from None
    return _with_short_rows(Table(str(path), found, path, how))


def _with_short_rows(table: Table) -> Table:
    """The table itself, if no row is longer than a block: Arrow takes one that is, if it ends soon enough."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = zip(table.columns, table.arrow.schema.types, strict=True)
    names = [name for name, kind in kinds if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    lengths = [pc.fill_null(pc.binary_length(table.arrow[name]), 0) for name in names]
    if sum(pc.max(each).as_py() or 0 for each in lengths) > _BLOCK:
        whole = sum(each.to_numpy().astype(np.int64) for each in lengths)
        if whole.max() > _BLOCK:
            row = int(whole.argmax())
            name = max(names, key=lambda each: len(table.arrow[each][row].as_py() or ""))
            raise ValueError(long_row(table.where(row, name), len(table.arrow[name][row].as_py()), _BLOCK))
    return table


def _binary(path: Path, suffix: str) -> Table:
    import pyarrow as pa
    from pyarrow import json, parquet

    try:
        with native(path) as file:
            if suffix == ".parquet":
                _check_size(path, parquet.read_metadata(file))
                found = parquet.read_table(file)
            else:
                found = json.read_json(file, json.ReadOptions(block_size=_BLOCK))
        found.validate(full=True)  # a damaged file may hold texts that are none, and names
        _ = found.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        said = f"a row is longer than {_BLOCK // 2**20} MiB" if "straddling" in said else said
        raise ValueError(f"{path} cannot be read as {suffix[1:]}: {said}") from None
    return _with_short_rows(Table(str(path), found))


def _check_size(path: Path, metadata: Any) -> None:
    """Refuses a file that unpacks to far more than its own size: a value that repeats takes next to no room in it."""
    total = 8 * metadata.num_rows * metadata.num_columns
    if total > max(_MOST_BYTES, _GROWTH * path.stat().st_size):
        raise ValueError(f"it would unpack to {total:,} bytes, far more than its own size")


def _listed(names: Iterable[str], most: int = 12) -> str:
    names = [*map(repr, names)]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
