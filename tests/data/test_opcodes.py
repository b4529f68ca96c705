import pickle

import pytest
from hostile_pickles import long

from panconv.data import opcodes
from panconv.data.inert import Array, Table
from panconv.data.opcodes import interpret


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("value", [None, True, 7, 300, -5, 2**31 - 1, "é\ud800", (), (1, (2, 3)), [1, None, "a"], []])
def test_plain_values(value, protocol):
    assert interpret(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_bytes(protocol):
    for value in (b"", b"\x00\xe9\xff", bytes(range(256)) * 3):
        assert interpret(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_a_dict_is_kept_as_it_was_written(protocol):
    graph = {i: [i + 1, 70_000, -1] for i in range(2500)}  # in three parts
    table = interpret(pickle.dumps(graph, protocol))
    assert type(table) is Table
    assert dict(zip(table.items[::2], table.items[1::2], strict=True)) == graph


def test_a_value_that_stands_there_twice_is_one():
    row = [1, 2]
    items = interpret(pickle.dumps({0: row, 1: row}, 2)).items
    assert items[1] is items[3]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"Nr" + long(2**31 - 1), "its memo entry 2147483647 at byte 4 follows 0 others"),
        (b"T" + long(2**31 - 1), r"its value at byte 7 is to take 2147483647 bytes, but the file has 8"),
        (b"(" * 9, "it nests more than 8 containers"),
        (b"N\x85\x85\x85", "its tuple at byte 6 is longer, deeper or of other values than an array's"),
        (b"(" + b"N" * 17 + b"t", "its tuple at byte 21 is longer"),
        (b"]]a", "what it appends at byte 5 makes no list of numbers"),
        (b"}K\x00}s", "what it sets at byte 7 makes no dict"),
        (b"}" * 65, "it has more than 64 arrays, dtypes and dicts"),
        (b"]" * 100, "it has more lists than a graph in a file of its size"),
        (b"N" + b"\x94" * 200, "it remembers more values than a file of its size has"),
        (b"I1\n", "no Planetoid file needs the opcode 0x49, at byte 2"),
        (b"h\x00", "it is cut short or damaged"),
        (b"NN", "it does not end with its only value"),
        (b"c" + b"x" * 300, "its name at byte 3 is longer than 256 bytes or cut short"),
        (b"NN\x93", "its name at byte 5 is longer than 256 bytes or no text"),
    ],
)
def test_budgets(body, message):
    with pytest.raises(ValueError, match=message):
        interpret(b"\x80\x02" + body + b".")


def test_opcodes_are_counted(monkeypatch):
    monkeypatch.setattr(opcodes, "MOST_OPCODES", 100)
    with pytest.raises(ValueError, match="it has more than 100 opcodes"):
        interpret(b"\x80\x02](" + b"M\x01\x00" * 100 + b"e.")


@pytest.mark.parametrize("protocol", [0, 1, 5])
def test_other_protocols_are_refused(protocol):
    with pytest.raises(ValueError, match="it is no pickle of protocol 2, 3 or 4"):
        interpret(pickle.dumps([1], protocol))


def test_every_beginning_of_a_pickle_is_refused():
    content = pickle.dumps({0: [1, 2], 3: [4]}, 4)
    for end in range(len(content)):
        with pytest.raises(ValueError, match=r"\w"):
            interpret(content[:end])


def test_arrays_stay_records():
    import numpy as np

    assert type(interpret(pickle.dumps(np.eye(2), 2))) is Array
