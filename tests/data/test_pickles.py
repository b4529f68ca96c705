import collections
import os
import pickle

import fuzz_pickles
import numpy as np
import pytest
import scipy.sparse as sp
from hostile_pickles import array, csr, matrix, shared_list, vector

from panconv.data.pickles import read_array, read_lists, read_matrix

PROTOCOLS = pytest.mark.parametrize("protocol", [2, 3, 4])


def python2(body):
    return b"\x80\x02" + body + b"."


@PROTOCOLS
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", ">f4", ">i8"])
def test_arrays(dtype, protocol):
    values = np.arange(-6, 6).reshape(3, 4).astype(dtype)
    for given in (
        values,
        np.asfortranarray(values),
        values[:, ::2],
        values[:0],
        values.ravel(),
        np.array(values[0, 0]),
    ):
        found = read_array(pickle.dumps(given, protocol))
        np.testing.assert_array_equal(found, given)
        assert found.dtype.isnative
        assert found.flags.writeable
        assert found.dtype == (np.uint8 if dtype == "?" else given.dtype.newbyteorder("="))


@PROTOCOLS
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?"])
def test_matrices(dtype, protocol):
    dense = np.diag([1, 0, 3, 4])[:, :3].astype(dtype)
    cut = sp.csr_matrix(dense)
    cut.data, cut.indices = np.append(cut.data, cut.data[:1]), np.append(cut.indices, 77)  # behind the last row
    for given in (sp.csr_matrix(dense), sp.csr_matrix((3, 5), dtype=dtype), sp.csr_matrix((0, 0), dtype=dtype), cut):
        found = read_matrix(pickle.dumps(given, protocol))
        assert type(found) is sp.csr_matrix
        assert found.shape == given.shape
        np.testing.assert_array_equal(found.toarray(), dense if given.nnz else np.zeros(given.shape))


@PROTOCOLS
def test_adjacency_lists(protocol):
    graph = {3: [1, 1, 300], 0: [], 1: [70_000, -2], 2: [0] * 2500}
    for given in (graph, collections.defaultdict(list, graph)):
        sources, targets = read_lists(pickle.dumps(given, protocol))
        assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == [(i, j) for i in graph for j in graph[i]]
    sources, targets = read_lists(pickle.dumps({}, protocol))
    assert sources.dtype == targets.dtype == np.int64
    assert not len(sources)


def test_files_of_python_2():
    np.testing.assert_array_equal(read_array(python2(vector([1.5, 2], "f4"))), [1.5, 2])
    found = read_matrix(python2(csr((2, 3), [0, 1, 2], [0, 2], [5, 7])))
    np.testing.assert_array_equal(found.toarray(), [[5, 0, 0], [0, 0, 7]])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            array([2**31 - 1] * 2, b"abcd"),
            r"array in it has shape \(2147483647, 2147483647\) and dtype f4, but 4 bytes",
        ),
        (array([2], b"abcd"), r"shape \(2,\) and dtype f4, but 4 bytes"),
        (b"}.", "it does not end"),
        (b"}", "it holds no array"),
    ],
)
def test_forged_arrays(body, message):
    with pytest.raises(ValueError, match=message):
        read_array(python2(body))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (csr((2, 3), [0, 1, 2], [0, 3], [1, 1]), "names a column that is none of 0 … 2"),
        (csr((2, 3), [0, 1, 2], [-1, 2], [1, 1]), "names a column that is none of 0 … 2"),
        (csr((2, 3), [0, 1, 9], [0, 2], [1, 1]), "the rows of its sparse matrix hold 9 values, but it has 2 and 2"),
        (csr((2, 3), [0, 1, 2], [0, 2], [1]), "hold 2 values, but it has 2 and 1"),
        (csr((3, 3), [0, 2, 1, 2], [0, 1], [1, 1]), "the row pointer of its sparse matrix is none of 3 rows"),
        (csr((2, 3), [1, 1, 2], [0, 1], [1, 1]), "the row pointer of its sparse matrix is none of 2 rows"),
        (csr((2**31 - 1, 3), [0, 1], [0], [1]), "the row pointer .* is none of 2147483647 rows"),
        (csr((-1, 3), [0], [], []), "has no shape of two sizes"),
        (matrix((1, 1), indptr=vector([0, 1], "f4")), "the vector 'indptr' of its sparse matrix holds no integers"),
        (matrix((1, 1), indptr=vector([0, 0], "i4")), "has no vector 'indices'"),
        (matrix((1, 1), indptr=array([1, 2], b"abcdefgh")), "has no vector 'indptr'"),
    ],
)
def test_an_index_out_of_bounds_never_reaches_scipy(body, message, monkeypatch):
    monkeypatch.setattr(sp, "csr_matrix", None)
    with pytest.raises(ValueError, match=message):
        read_matrix(python2(body))


def test_lists_that_nodes_share():
    one = [1, 2, 3]
    assert len(read_lists(pickle.dumps({0: one, 1: one}, 2))[0]) == 6
    with pytest.raises(ValueError, match="its lists have 120000000 entries together, more than a file of"):
        read_lists(python2(shared_list(20_000, 6_000)))


def test_fuzzed():
    """At random; PANCONV_FUZZ=1000000 for more."""
    failure = fuzz_pickles.main(int(os.environ.get("PANCONV_FUZZ", "1000")), seed=0)
    assert failure is None, failure
