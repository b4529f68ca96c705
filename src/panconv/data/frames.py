"""A pandas frame as an Arrow table: its index where that has a name, columns of mixed types as text."""

from __future__ import annotations

from numbers import Number
from typing import Any


def arrow_of(frame: Any, what: str) -> Any:
    """The frame as a `pyarrow.Table`; `what` names the argument."""
    import pyarrow as pa

    try:  # an index with a name is a column of ids; the other kind counts rows
        named = any(name is not None for name in frame.index.names)
        plain = _unmixed(frame.reset_index() if named else frame)
        found = pa.Table.from_pandas(plain, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"{what} has a column that no table has: {' '.join(str(error).split())[:200]}") from None
    return found.rename_columns([str(name) for name in found.column_names])


def _unmixed(frame: Any) -> Any:
    """The frame, its columns of both numbers and texts as texts: so a file would have them, and so ids are compared."""
    mixed = [place for place in range(frame.shape[1]) if _is_mixed(frame.iloc[:, place])]
    made = frame.copy() if mixed else frame
    for place in mixed:
        made.isetitem(place, [_text_of(each) for each in frame.iloc[:, place]])
    return made


def _is_mixed(column: Any) -> bool:
    if column.dtype.kind != "O":
        return False
    kinds = {type(each) for each in column if each is not None and each == each}
    return str in kinds and any(issubclass(each, Number) for each in kinds)


def _text_of(value: Any) -> str | None:
    """A cell as a file would have it; a whole number without its point."""
    if value is None or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
