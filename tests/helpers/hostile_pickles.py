"""Pickles that attack their reader, and what they attack."""

import _codecs
import collections
import struct

import numpy as np
import scipy.sparse as sp

CSR = b"cscipy.sparse._csr\ncsr_matrix\n"
NDARRAY = b"cnumpy\nndarray\n"
DTYPE = b"cnumpy\ndtype\n"
RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n"
DEFAULTDICT = b"ccollections\ndefaultdict\n"
LIST = b"c__builtin__\nlist\n"
ENCODE = b"c_codecs\nencode\n"
EMPTY_ARRAY = RECONSTRUCT + NDARRAY + b"K\x00\x85U\x01b\x87R"
SLOTS = b"}U\x05ownedK\x01s"  # the state {"owned": 1}
F4 = DTYPE + b"U\x02f4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
O8 = F4.replace(b"f4", b"O8")


def long(n):
    return struct.pack("<I", n)


def integer(n):
    return b"J" + struct.pack("<i", n)


def array(shape, content, dtype=F4):
    """An array's opcodes, the content as Python 2 wrote it."""
    sizes = b"".join(map(integer, shape))
    return EMPTY_ARRAY + b"(K\x01(" + sizes + b"t" + dtype + b"\x89T" + long(len(content)) + content + b"tb"


def matrix(shape, **parts):
    sizes = b"".join(map(integer, shape))
    state = b"U\x06_shape(" + sizes + b"t"
    for name, part in parts.items():
        state += b"U" + bytes([len(name)]) + name.encode() + part
    return CSR + b")\x81}(" + state + b"ub"


def vector(values, code):
    content = np.array(values, code).tobytes()
    return array([len(values)], content, F4.replace(b"f4", code.encode()))


def csr(shape, indptr, indices, data):
    parts = {"indptr": vector(indptr, "i4"), "indices": vector(indices, "i4"), "data": vector(data, "f4")}
    return matrix(shape, **parts)


def shared_list(nodes, keys):
    """Many nodes with one list of neighbours: few bytes, many edges."""
    row = b"]r" + long(0) + b"(" + b"M\x01\x00" * nodes + b"e"
    return b"}(" + b"K\x00" + row + b"".join(b"J" + long(i) + b"h\x00" for i in range(1, keys)) + b"u"


BODIES = {
    # attributes of classes and functions
    **{
        f"attributes of {name} by {how}": opcodes + state + b"b"
        for name, opcodes in {
            "csr_matrix": CSR,
            "ndarray": NDARRAY,
            "dtype": DTYPE,
            "_reconstruct": RECONSTRUCT,
            "defaultdict": DEFAULTDICT,
            "list": LIST,
            "encode": ENCODE,
        }.items()
        for how, state in {"slots": b"N" + SLOTS + b"\x86", "dict": SLOTS, "both": SLOTS * 2 + b"\x86"}.items()
    },
    "attributes of a matrix by slots": CSR + b")\x81N" + SLOTS + b"\x86b",
    "attributes of a defaultdict": DEFAULTDICT + LIST + b"\x85R" + SLOTS + b"b",
    # calls
    "os.system": b"cposix\nsystem\nU\x05false\x85R",
    "eval": b"c__builtin__\neval\nU\x011\x85R",
    "a name with a dot": b"cnumpy\nndarray.__class__\n",
    "a name that moves the cursor": b"cnumpy\n\x1b[2Jx\n",
    "list of a string": LIST + b"U\x03abc\x85R",
    "a list of a million": LIST + b"cbuiltins\nrange\nJ\x00\x00\x00\x40\x85R\x85R",
    "defaultdict of ndarray": DEFAULTDICT + NDARRAY + b"\x85R",
    "ndarray itself": NDARRAY + b"(J\x00\x00\x00\x40t\x85R",
    "_reconstruct of a large array": RECONSTRUCT + NDARRAY + b"J\x00\x00\x00\x40\x85U\x01b\x87R",
    "_reconstruct of csr_matrix": RECONSTRUCT + CSR + b"K\x00\x85U\x01b\x87R",
    "a dtype of fields": DTYPE + b"U\x05f4,f4K\x00K\x01\x87R",
    "ndarray by __new__": NDARRAY + b"J\x00\x00\x00\x40\x85\x81",
    "a codec": ENCODE + b"X\x04\x00\x00\x00abcdX\x04\x00\x00\x00zlib\x86R",
    # arrays
    "an array of objects": array([1], b"\x41" * 8, O8),
    "a large shape of few bytes": array([2**31 - 1, 2**31 - 1], b"\0" * 4),
    "a large empty shape": array([2**31 - 1, 2**31 - 1, 2**31 - 1, 0], b""),
    "a negative shape": array([-1, -4], b"\0" * 16),
    "too few bytes": array([3], b"\0" * 8),
    "an array twice": array([1], b"\0" * 4) + b"(K\x01(K\x02t" + F4 + b"\x89T" + long(8) + b"\0" * 8 + b"tb",
    "an array without content": EMPTY_ARRAY,
    # matrices
    "a column outside": csr((2, 3), [0, 1, 2], [0, 3], [1, 1]),
    "a column below": csr((2, 3), [0, 1, 2], [0, -1], [1, 1]),
    "a row pointer outside": csr((2, 3), [0, 1, 9], [0, 1], [1, 1]),
    "a row pointer that falls": csr((3, 3), [0, 2, -5, 2], [0, 1], [1, 1]),
    "a row pointer that starts late": csr((2, 3), [-9, 1, 2], [0, 1], [1, 1]),
    "a short row pointer": csr((200, 3), [0, 1, 2], [0, 1], [1, 1]),
    "more indices than values": csr((2, 3), [0, 1, 2], [0, 1], [1]),
    "float indices": matrix((1, 1), indptr=vector([0, 1], "f4"), indices=vector([0], "f4"), data=vector([1], "f4")),
    "a shape of one": csr((2,), [0, 1, 2], [0, 1], [1, 1]),
    "many rows": csr((2**31 - 1, 3), [0, 1], [0], [1]),
    "no parts": CSR + b")\x81",
    "no data": matrix((1, 1), indptr=vector([0, 1], "i4")),
    # budgets
    "a long string": b"T" + long(2**31 - 1),
    "a long text": b"X" + long(2**32 - 1),
    "a late memo entry": b"Nr" + long(2**31 - 1),
    "a string encoded often": ENCODE
    + b"q\x00X"
    + long(10**5)
    + b"a" * 10**5
    + b"q\x01X\x06\x00\x00\x00latin1q\x02\x86R"
    + b"h\x00h\x01h\x02\x86R" * 20_000,
    "nested tuples": b"N" + b"\x85" * 10**5,
    "nested lists": b"]" * 10**5 + b"a" * (10**5 - 1),
    "nested dicts": b"}" + b"K\x00}" * 10**5 + b"s" * 10**5,
    "doubled tuples": b"Nq\x00" + b"h\x00h\x00\x86q\x00" * 10**5,
    "a tuple repeated": b"(" + b"N" * 10**5 + b"tq\x00" + b"h\x00\x85" * 10**5,
    "a list in itself": b"]q\x00h\x00a",
    "a dict in itself": b"}q\x00K\x00h\x00s",
    "marks": b"(" * 10**5,
    "empty lists": b"]" * 10**5,
    "dicts": b"}" * 10**5,
    "a value remembered often": b"N" + b"\x94" * 10**5,
    "a list of many nodes": shared_list(20_000, 6_000),
    "a node twice": b"}(K\x00]K\x00]u",
    "truth for nodes": b"}(K\x00](\x88\x88eu",
    # damage
    "an empty stack": b"R",
    "no mark": b"Nt",
    "no memo entry": b"h\x07",
    "an opcode of protocol 0": b"I1\n",
    "a persistent id": b"NQ",
    "an extension": b"\x82\x01",
    "another protocol inside": b"\x80\x05N",
    "two values": b"NN",
    "a frame past the end": b"\x95\xff\xff\xff\xff\0\0\0\0N",
}
FILES = {name: b"\x80\x02" + body + b"." for name, body in BODIES.items()}
FILES |= {
    "nothing": b"",
    "one byte": b"\x80",
    "no end": b"\x80\x02N",
    "protocol 0": b"(lp0\n.",
    "protocol 5": b"\x80\x05N.",
    "a tail": b"\x80\x02}.N.",
    "zeros": b"\0" * 1000,
    "nine bytes": b"\x80\x02Nr\xff\xff\xff\x7f.",
}


def surroundings():
    """All that the classes, functions and modules have that a pickle may name: to compare before and after."""
    named = [np.ndarray, np.dtype, *sp.csr_matrix.__mro__, collections.defaultdict, list, bytes, dict]
    functions = [_codecs.encode, np.array(0).__reduce__()[0]]
    modules = [np, sp, collections, _codecs]
    found = {repr(one): dict(vars(one)) for one in (*named, *modules)}
    return found | {repr(one): sorted(dir(one)) for one in functions}
