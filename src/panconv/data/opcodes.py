"""Interprets a pickle's opcodes on inert values, within a budget.

A pickle is a program: it names classes, calls them, and sets attributes on what they return or on the classes
themselves. This interpreter knows only the opcodes that Planetoid's files are written in (protocol 2 by Python 2 or 3,
and protocols 3 and 4), and its names and calls are those of `panconv.data.inert`.

What a file costs is bounded by its size. An opcode takes a byte or more, and does no more work than the bytes it
stands for. What is written briefly and costs much has a budget: copies of a string, records, lists, memo entries and
nesting. A table holds arrays, tuples and lists; a list holds numbers; a tuple holds numbers and tuples of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from panconv.data.inert import Array, DType, Name, Table, call_name, make_object, name_of, set_state

MOST_OPCODES = 2**24  # a hundred times those of Pubmed's graph; a few seconds
_MOST_RECORDS = 64  # a matrix takes 8
_MOST_MARKS = 8  # a matrix takes 3
_MOST_IN_TUPLE = 16  # the state of a dtype has 8
_MOST_IN_NAME = 256

_SCALARS: set[type] = {int, bool, type(None), str, bytes}
_IN_TUPLE: set[type] = _SCALARS | {tuple, Name, DType}
_KEYS = {int, str}
_IN_TABLE: set[type] = _SCALARS | {tuple, list, Array}


def interpret(content: bytes) -> Any:
    """What a pickle holds: a number, a string, a tuple or list of them, or a record of `panconv.data.inert`."""
    return _Machine(content).run()


# What is written briefly and costs much, and what is said where a file has more of it than it may.
_SPENT = {
    "bytes encoded": "it encodes a string again and again",
    "records": f"it has more than {_MOST_RECORDS} arrays, dtypes and dicts",
    "lists": "it has more lists than a graph in a file of its size",
    "memo": "it remembers more values than a file of its size has",
}


class _Machine:
    """A pickle's stack and memo, and the place that is read. A public method is an opcode, which has been read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 2
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # the stack under each mark
        self._memo: dict[int, Any] = {}
        third = len(data) // 3  # a list and its key in a graph take three bytes or more, as does what is remembered
        self._left = {"bytes encoded": len(data), "records": _MOST_RECORDS, "lists": 16 + third, "memo": 64 + third}

    def run(self) -> Any:
        if len(self._data) < 2 or self._data[0] != 0x80 or not 2 <= self._data[1] <= 4:
            raise ValueError("it is no pickle of protocol 2, 3 or 4")
        try:
            self._steps()
        except (IndexError, KeyError):  # an empty stack, a memo without that entry, the end of the file
            raise ValueError("it is cut short or damaged") from None
        if self._at != len(self._data) or len(self._stack) != 1 or self._below:
            raise ValueError("it does not end with its only value")
        return self._stack[0]

    def _steps(self) -> None:
        data = self._data
        for _ in range(MOST_OPCODES):
            at = self._at
            opcode = data[at]
            if opcode == 0x4D:  # BININT2, most of a large graph
                self._stack.append(data[at + 1] | data[at + 2] << 8)
                self._at = at + 3
                continue
            self._at = at + 1
            if opcode == 0x2E:  # STOP
                return
            if opcode not in _OPCODES:
                raise ValueError(f"no Planetoid file needs the opcode {opcode:#04x}, at byte {at}")
            _OPCODES[opcode](self)
        raise ValueError(f"it has more than {MOST_OPCODES} opcodes")

    def _spend(self, what: str, amount: int = 1) -> None:
        self._left[what] -= amount
        if self._left[what] < 0:
            raise ValueError(_SPENT[what])

    def _read(self, size: int) -> bytes:
        at = self._at
        self._at += size
        if self._at > len(self._data):
            raise ValueError(f"its value at byte {at} is to take {size} bytes, but the file has {len(self._data)}")
        return self._data[at : self._at]

    def _number(self, size: int) -> int:
        return int.from_bytes(self._read(size), "little")

    def _pop(self, count: int | None) -> list[Any]:
        """So many values from the top of the stack, or all above the mark."""
        if count is None:
            items, self._stack = self._stack, self._below.pop()
            return items
        if len(self._stack) < count:
            raise IndexError
        items = self._stack[-count:]
        del self._stack[-count:]
        return items

    # ------------------------------------------------------------------ values

    def constant(self, value: Any) -> None:
        self._stack.append(value)

    def integer(self, size: int, signed: bool) -> None:
        self._stack.append(int.from_bytes(self._read(size), "little", signed=signed))

    def string(self, size: int, text: bool = False) -> None:
        content = self._read(self._number(size))
        self._stack.append(content.decode("utf-8", "surrogatepass") if text else content)

    def frame(self) -> None:
        if self._number(8) > len(self._data) - self._at:  # a hint for reading ahead
            raise ValueError(f"its frame at byte {self._at} ends after the file")

    def put(self, size: int) -> None:
        self._spend("memo")
        at, index = self._at, self._number(size) if size else len(self._memo)
        if index > len(self._memo) + 1:  # they are numbered one by one, by Python 2 from 1
            raise ValueError(f"its memo entry {index} at byte {at} follows {len(self._memo)} others")
        self._memo[index] = self._stack[-1]

    def get(self, size: int) -> None:
        self._stack.append(self._memo[self._number(size)])

    # ------------------------------------------------------------------ containers

    def mark(self) -> None:
        if len(self._below) == _MOST_MARKS:
            raise ValueError(f"it nests more than {_MOST_MARKS} containers")
        self._below.append(self._stack)
        self._stack = []

    def make_tuple(self, count: int | None) -> None:
        items = tuple(self._pop(count))
        inner = chain.from_iterable(item for item in items if type(item) is tuple)
        if len(items) > _MOST_IN_TUPLE or not _IN_TUPLE.issuperset(map(type, items)) or tuple in map(type, inner):
            raise ValueError(f"its tuple at byte {self._at} is longer, deeper or of other values than an array's")
        self._stack.append(items)

    def make_list(self) -> None:
        self._spend("lists")
        self._stack.append([])

    def extend(self, count: int | None) -> None:
        items = self._pop(count)
        if type(self._stack[-1]) is not list or not _SCALARS.issuperset(map(type, items)):
            raise ValueError(f"what it appends at byte {self._at} makes no list of numbers")
        self._stack[-1].extend(items)

    def make_table(self) -> None:
        self._spend("records")
        self._stack.append(Table())

    def set_items(self, count: int | None) -> None:
        items = self._pop(count)
        # Python 2 wrote its names as bytes.
        items[::2] = [key.decode("latin1") if type(key) is bytes else key for key in items[::2]]
        sound = _KEYS.issuperset(map(type, items[::2])) and _IN_TABLE.issuperset(map(type, items[1::2]))
        if type(self._stack[-1]) is not Table or len(items) % 2 or not sound:
            raise ValueError(f"what it sets at byte {self._at} makes no dict of numbers, lists or arrays")
        self._stack[-1].items.extend(items)

    # ------------------------------------------------------------------ names and calls

    def name(self) -> None:
        lines = []
        for _ in range(2):  # the module, and the name in it
            end = self._data.find(b"\n", self._at, self._at + _MOST_IN_NAME)
            if end < 0:
                raise ValueError(f"its name at byte {self._at} is longer than {_MOST_IN_NAME} bytes or cut short")
            lines.append(self._data[self._at : end].decode("latin1"))
            self._at = end + 1
        self._stack.append(name_of(*lines))

    def name_on_stack(self) -> None:
        module, name = self._pop(2)
        if type(module) is not str or type(name) is not str or max(len(module), len(name)) > _MOST_IN_NAME:
            raise ValueError(f"its name at byte {self._at} is longer than {_MOST_IN_NAME} bytes or no text")
        self._stack.append(name_of(module, name))

    def call(self) -> None:
        value = call_name(*self._pop(2))
        if type(value) is bytes:
            self._spend("bytes encoded", len(value))
        else:
            self._spend("records")
        self._stack.append(value)

    def make(self) -> None:
        self._spend("records")
        self._stack.append(make_object(*self._pop(2)))

    def build(self) -> None:
        (state,) = self._pop(1)
        set_state(self._stack[-1], state)


_M = _Machine
_OPCODES: dict[int, Callable[[_Machine], None]] = {
    ord("N"): partial(_M.constant, value=None),
    0x88: partial(_M.constant, value=True),
    0x89: partial(_M.constant, value=False),
    ord(")"): partial(_M.constant, value=()),
    ord("K"): partial(_M.integer, size=1, signed=False),  # BININT1
    ord("J"): partial(_M.integer, size=4, signed=True),  # BININT
    ord("U"): partial(_M.string, size=1),  # SHORT_BINSTRING
    ord("T"): partial(_M.string, size=4),  # BINSTRING
    ord("C"): partial(_M.string, size=1),  # SHORT_BINBYTES
    ord("B"): partial(_M.string, size=4),  # BINBYTES
    ord("X"): partial(_M.string, size=4, text=True),  # BINUNICODE
    0x8C: partial(_M.string, size=1, text=True),  # SHORT_BINUNICODE
    0x95: _M.frame,
    ord("q"): partial(_M.put, size=1),  # BINPUT
    ord("r"): partial(_M.put, size=4),  # LONG_BINPUT
    0x94: partial(_M.put, size=0),  # MEMOIZE
    ord("h"): partial(_M.get, size=1),  # BINGET
    ord("j"): partial(_M.get, size=4),  # LONG_BINGET
    ord("("): _M.mark,
    ord("t"): partial(_M.make_tuple, count=None),
    0x85: partial(_M.make_tuple, count=1),
    0x86: partial(_M.make_tuple, count=2),
    0x87: partial(_M.make_tuple, count=3),
    ord("]"): _M.make_list,
    ord("a"): partial(_M.extend, count=1),
    ord("e"): partial(_M.extend, count=None),
    ord("}"): _M.make_table,
    ord("s"): partial(_M.set_items, count=2),
    ord("u"): partial(_M.set_items, count=None),
    ord("c"): _M.name,  # GLOBAL
    0x93: _M.name_on_stack,  # STACK_GLOBAL
    ord("R"): _M.call,
    0x81: _M.make,  # NEWOBJ
    ord("b"): _M.build,
}
