"""What a pickle names and calls, as inert values: no class of NumPy, SciPy or Python is looked up, called or changed.

A name becomes a member of `Name`. A call makes one of the records `DType`, `Array`, `Table` and `Matrix`, or bytes, and
the state that a pickle sets on such a record is checked and kept as it is. `panconv.data.pickles` makes arrays of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple


class Name(Enum):
    """What a pickle may name, and the places where Python, NumPy and SciPy have had it."""

    NDARRAY = (("numpy", "ndarray"),)
    DTYPE = (("numpy", "dtype"),)
    RECONSTRUCT = (("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"))
    CSR = (("scipy.sparse.csr", "csr_matrix"), ("scipy.sparse._csr", "csr_matrix"))
    DEFAULTDICT = (("collections", "defaultdict"),)
    LIST = (("__builtin__", "list"), ("builtins", "list"))
    # Protocol 2 has no bytes: Python 3 writes text, and the call that encodes it.
    ENCODE = (("_codecs", "encode"),)
    BYTES = (("__builtin__", "bytes"),)


_NAMES = {place: name for name in Name for place in name.value}
# Objects, text, dates and records of fields are no data of a graph.
NUMBERS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")


@dataclass(eq=False)
class DType:
    """A dtype's code, one of `NUMBERS`, and its byte order, None until the pickle states it."""

    code: str
    order: str | None = None


class Layout(NamedTuple):
    shape: tuple[int, ...]
    dtype: DType
    fortran: bool
    content: bytes


@dataclass(eq=False)
class Array:
    layout: Layout | None = None  # None until the pickle states it


@dataclass(eq=False)
class Table:
    """A dict as it was written: key, value, key, value. Keys are not hashed, and may occur twice."""

    items: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class Matrix:
    parts: Table | None = None  # None until the pickle states them


def name_of(module: str, name: str) -> Name:
    if (module, name) not in _NAMES:
        raise ValueError(f"it names {f'{module}.{name}'[:80]!a}, which no Planetoid file needs")
    return _NAMES[module, name]


def call_name(name: Any, arguments: Any) -> DType | Array | Table | bytes:
    """What a call makes; its arguments must be those that NumPy and Python write."""
    if type(name) is not Name or type(arguments) is not tuple:
        raise ValueError("it calls what is no function")
    if name is Name.RECONSTRUCT and (*arguments[:2], *map(_text, arguments[2:])) == (Name.NDARRAY, (0,), "b"):
        return Array()
    if name is Name.DTYPE and len(arguments) == 3 and _flags(arguments[1:]):
        code = _text(arguments[0])
        if code not in NUMBERS:
            raise ValueError(f"its dtype {ascii(code)[:80]} is none of {', '.join(NUMBERS)}")
        return DType(code)
    if name is Name.DEFAULTDICT and arguments == (Name.LIST,):
        return Table()
    if name is Name.ENCODE and tuple(map(type, arguments)) == (str, str) and arguments[1] == "latin1":
        return arguments[0].encode("latin1")
    if name is Name.BYTES and arguments == ():
        return b""
    raise ValueError(f"it calls {name.name.lower()} with arguments that no Planetoid file needs")


def make_object(name: Any, arguments: Any) -> Matrix:
    """What a pickle makes by a class's `__new__`: sparse matrices alone."""
    if name is not Name.CSR or arguments != ():
        raise ValueError("it makes an object that is no sparse matrix")
    return Matrix()


def set_state(record: Any, state: Any) -> None:
    """Gives a record its state, once; an object that is none of the records has no state."""
    if type(record) is DType and record.order is None and type(state) is tuple:
        order = _text(state[1]) if len(state) > 1 else None
        if order in ("<", ">", "|", "=") and state[0] == 3 and state[2:] == (None, None, None, -1, -1, 0):
            record.order = order
            return
    if type(record) is Array and record.layout is None and type(state) is tuple and len(state) == 5:
        layout = Layout(*state[1:])
        types = tuple(map(type, layout))
        numbers = types[0] is tuple and all(type(n) is int and n >= 0 for n in layout.shape)
        if state[0] == 1 and numbers and types[1] is DType and _flags(layout[2:3]) and types[3] is bytes:
            record.layout = layout
            return
    if type(record) is Matrix and record.parts is None and type(state) is Table:
        record.parts = state
        return
    raise ValueError("it sets a state that no array and no sparse matrix has")


def _text(value: Any) -> Any:
    """A short string as text (Python 2 wrote strings as bytes); anything else as it is."""
    return value.decode("latin1") if type(value) is bytes and len(value) <= 2 else value


def _flags(values: tuple[Any, ...]) -> bool:
    return all(type(value) in (bool, int) and value in (0, 1) for value in values)
