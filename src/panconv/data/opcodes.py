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


class _Machine:
    """A pickle's stack and memo. A public method is an opcode: from the position after it to that of the next."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # the stack under each mark
        self._memo: dict[int, Any] = {}
        self._encoded_left = len(data)  # bytes
        self._records_left = _MOST_RECORDS
        self._lists_left = 16 + len(data) // 3  # a list and its key in a graph take three bytes or more,
        self._memo_left = 64 + len(data) // 3  # and what is remembered takes some bytes itself

    def run(self) -> Any:
        if len(self._data) < 2 or self._data[0] != 0x80 or not 2 <= self._data[1] <= 4:
            raise ValueError("it is no pickle of protocol 2, 3 or 4")
        try:
            end = self._steps()
        except (IndexError, KeyError):  # an empty stack, a memo without that entry, the end of the file
            raise ValueError("it is cut short or damaged") from None
        if end != len(self._data) or len(self._stack) != 1 or self._below:
            raise ValueError("it does not end with its only value")
        return self._stack[0]

    def _steps(self) -> int:
        data, position = self._data, 2
        for _ in range(MOST_OPCODES):
            opcode = data[position]
            if opcode == 0x4D:  # BININT2, most of a large graph
                self._stack.append(data[position + 1] | data[position + 2] << 8)
                position += 3
            elif opcode == 0x2E:  # STOP
                return position + 1
            elif opcode in _OPCODES:
                position = _OPCODES[opcode](self, position + 1)
            else:
                raise ValueError(f"no Planetoid file needs the opcode {opcode:#04x}, at byte {position}")
        raise ValueError(f"it has more than {MOST_OPCODES} opcodes")

    def _count_record(self) -> None:
        self._records_left -= 1
        if self._records_left < 0:
            raise ValueError(f"it has more than {_MOST_RECORDS} arrays, dtypes and dicts")

    def _read(self, at: int, size: int) -> bytes:
        if at + size > len(self._data):
            raise ValueError(f"its value at byte {at} is to take {size} bytes, but the file has {len(self._data)}")
        return self._data[at : at + size]

    def _number(self, at: int, size: int) -> int:
        return int.from_bytes(self._data[at : at + size], "little")  # cut short, the next opcode is missing

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

    def constant(self, at: int, value: Any) -> int:
        self._stack.append(value)
        return at

    def integer(self, at: int, size: int, signed: bool) -> int:
        self._stack.append(int.from_bytes(self._data[at : at + size], "little", signed=signed))
        return at + size

    def string(self, at: int, size: int, text: bool = False) -> int:
        length = self._number(at, size)
        content = self._read(at + size, length)
        self._stack.append(content.decode("utf-8", "surrogatepass") if text else content)
        return at + size + length

    def frame(self, at: int) -> int:
        if self._number(at, 8) > len(self._data) - at - 8:  # a hint for reading ahead
            raise ValueError(f"its frame at byte {at} ends after the file")
        return at + 8

    def put(self, at: int, size: int) -> int:
        self._memo_left -= 1
        if self._memo_left < 0:
            raise ValueError("it remembers more values than a file of its size has")
        index = self._number(at, size) if size else len(self._memo)
        if index > len(self._memo) + 1:  # they are numbered one by one, by Python 2 from 1
            raise ValueError(f"its memo entry {index} at byte {at} follows {len(self._memo)} others")
        self._memo[index] = self._stack[-1]
        return at + size

    def get(self, at: int, size: int) -> int:
        self._stack.append(self._memo[self._number(at, size)])
        return at + size

    # ------------------------------------------------------------------ containers

    def mark(self, at: int) -> int:
        if len(self._below) == _MOST_MARKS:
            raise ValueError(f"it nests more than {_MOST_MARKS} containers")
        self._below.append(self._stack)
        self._stack = []
        return at

    def make_tuple(self, at: int, count: int | None) -> int:
        items = tuple(self._pop(count))
        inner = chain.from_iterable(item for item in items if type(item) is tuple)
        if len(items) > _MOST_IN_TUPLE or not _IN_TUPLE.issuperset(map(type, items)) or tuple in map(type, inner):
            raise ValueError(f"its tuple at byte {at} is longer, deeper or of other values than an array's")
        self._stack.append(items)
        return at

    def make_list(self, at: int) -> int:
        self._lists_left -= 1
        if self._lists_left < 0:
            raise ValueError("it has more lists than a graph in a file of its size")
        self._stack.append([])
        return at

    def append(self, at: int) -> int:
        return self.extend(at, [self._stack.pop()])

    def extend(self, at: int, items: list[Any] | None = None) -> int:
        items = self._pop(None) if items is None else items
        if type(self._stack[-1]) is not list or not _SCALARS.issuperset(map(type, items)):
            raise ValueError(f"what it appends at byte {at} makes no list of numbers")
        self._stack[-1].extend(items)
        return at

    def make_table(self, at: int) -> int:
        self._count_record()
        self._stack.append(Table())
        return at

    def set_items(self, at: int, count: int | None) -> int:
        items = self._pop(count)
        # Python 2 wrote its names as bytes.
        items[::2] = [key.decode("latin1") if type(key) is bytes else key for key in items[::2]]
        sound = _KEYS.issuperset(map(type, items[::2])) and _IN_TABLE.issuperset(map(type, items[1::2]))
        if type(self._stack[-1]) is not Table or len(items) % 2 or not sound:
            raise ValueError(f"what it sets at byte {at} makes no dict of numbers, lists or arrays")
        self._stack[-1].items.extend(items)
        return at

    # ------------------------------------------------------------------ names and calls

    def name(self, at: int) -> int:
        lines = []
        for _ in range(2):  # the module, and the name in it
            end = self._data.find(b"\n", at, at + _MOST_IN_NAME)
            if end < 0:
                raise ValueError(f"its name at byte {at} is longer than {_MOST_IN_NAME} bytes or cut short")
            lines.append(self._data[at:end].decode("latin1"))
            at = end + 1
        self._stack.append(name_of(*lines))
        return at

    def name_on_stack(self, at: int) -> int:
        module, name = self._pop(2)
        if type(module) is not str or type(name) is not str or max(len(module), len(name)) > _MOST_IN_NAME:
            raise ValueError(f"its name at byte {at} is longer than {_MOST_IN_NAME} bytes or no text")
        self._stack.append(name_of(module, name))
        return at

    def call(self, at: int) -> int:
        value = call_name(*self._pop(2))
        if type(value) is not bytes:
            self._count_record()
        elif len(value) > self._encoded_left:
            raise ValueError("it encodes a string again and again")
        else:
            self._encoded_left -= len(value)
        self._stack.append(value)
        return at

    def make(self, at: int) -> int:
        self._count_record()
        self._stack.append(make_object(*self._pop(2)))
        return at

    def build(self, at: int) -> int:
        (state,) = self._pop(1)
        set_state(self._stack[-1], state)
        return at


_M = _Machine
_OPCODES: dict[int, Callable[[_Machine, int], int]] = {
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
    ord("a"): _M.append,
    ord("e"): _M.extend,
    ord("}"): _M.make_table,
    ord("s"): partial(_M.set_items, count=2),
    ord("u"): partial(_M.set_items, count=None),
    ord("c"): _M.name,  # GLOBAL
    0x93: _M.name_on_stack,  # STACK_GLOBAL
    ord("R"): _M.call,
    0x81: _M.make,  # NEWOBJ
    ord("b"): _M.build,
}
