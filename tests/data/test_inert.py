import pytest
from hostile_pickles import FILES, surroundings

from panconv.data.inert import Array, DType, Matrix, Name, Table, call_name, make_object, name_of, set_state
from panconv.data.pickles import read_array, read_lists, read_matrix


def test_names_are_members_of_an_enumeration():
    assert name_of("numpy", "ndarray") is Name.NDARRAY
    with pytest.raises(ValueError, match=r"it names 'numpy.load', which no Planetoid file needs"):
        name_of("numpy", "load")
    with pytest.raises(ValueError, match=r"it names 'os\.\\x1b\[2J"):  # nothing that a terminal obeys
        name_of("os", "\x1b[2J" + "x" * 10**6)


def test_calls_make_records():
    assert type(call_name(Name.DEFAULTDICT, (Name.LIST,))) is Table
    assert type(call_name(Name.RECONSTRUCT, (Name.NDARRAY, (0,), b"b"))) is Array
    assert call_name(Name.ENCODE, ("é\0", "latin1")) == b"\xe9\0"
    assert call_name(Name.BYTES, ()) == b""
    assert type(make_object(Name.CSR, ())) is Matrix
    dtype = call_name(Name.DTYPE, (b"f4", 0, 1))
    set_state(dtype, (3, b"<", None, None, None, -1, -1, 0))
    assert (dtype.code, dtype.order) == ("f4", "<")
    array = Array()
    set_state(array, (1, (2,), dtype, False, b"12345678"))
    assert array.layout.content == b"12345678"
    for one, state in ((dtype, (3, "<", None, None, None, -1, -1, 0)), (array, (1, (2,), dtype, False, b""))):
        with pytest.raises(ValueError, match="it sets a state"):  # a second time
            set_state(one, state)


@pytest.mark.parametrize("code", ["O", "O8", "V8", "S4", "U4", "M8[s]", "c8", "f4,f4", "(2,)f4", "", None, 7])
def test_dtypes_of_numbers_alone(code):
    with pytest.raises(ValueError, match=r"its dtype .* is none of b1, i1"):
        call_name(Name.DTYPE, (code, False, True))


@pytest.mark.parametrize("fields", [("f4",), {"a": 1}, 63])
def test_dtypes_without_fields(fields):
    with pytest.raises(ValueError, match="it sets a state"):
        set_state(DType("f4"), (3, "<", None, fields, fields, -1, -1, 0))


@pytest.mark.parametrize("name", FILES)
def test_no_class_or_function_changes(name):
    before = surroundings()
    for read in (read_array, read_matrix, read_lists):
        with pytest.raises(ValueError, match=r"^[ -~…]{8,200}$"):
            read(FILES[name])
    assert surroundings() == before
