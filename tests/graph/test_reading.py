"""A graph as it is handed in: repeated entries, patterns, gradients, and sizes that no memory holds."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from panconv import Adjacency
from panconv.compute.features import SparseRows
from panconv.graph.reading import checked_num_nodes, entries

INDEX = torch.tensor([[0, 0, 1], [1, 1, 0]])  # receiver, sender; the first entry twice
EDGES = INDEX.flip(0)
CROW, COL = torch.tensor([0, 2, 3]), torch.tensor([1, 1, 0])
CONTAINERS = {
    "torch COO": lambda values: torch.sparse_coo_tensor(INDEX, values, (2, 2), check_invariants=True),
    "torch CSR": lambda values: torch.sparse_csr_tensor(CROW, COL, values, (2, 2), check_invariants=False),
    "SciPy COO": lambda values: sp.coo_matrix((values.numpy(), INDEX.numpy()), shape=(2, 2)),
    "SciPy CSR": lambda values: sp.csr_matrix((values.numpy(), COL.numpy(), CROW.numpy()), shape=(2, 2)),
}
in_every_container = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)


@in_every_container
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_repeated_entries_of_a_matrix_add_be_they_all_one(container, dtype):
    ones, others = torch.ones(3, dtype=dtype), torch.tensor([2, 3, 4], dtype=dtype)
    assert Adjacency.from_sparse(container(ones)).to_dense().tolist() == [[0, 2], [1, 0]]
    assert Adjacency.from_sparse(container(others)).to_dense().tolist() == [[0, 5], [4, 0]]


@in_every_container
def test_a_matrix_of_bools_is_a_pattern(container):
    adj = Adjacency.from_sparse(container(torch.tensor([True, True, True])))
    assert adj.value is None
    assert adj.to_dense().tolist() == [[0, 1], [1, 0]]
    some = Adjacency.from_sparse(container(torch.tensor([True, False, False])))  # False is no edge
    assert some.to_dense().tolist() == [[0, 1], [0, 0]]


def test_only_without_weights_a_repeated_edge_is_one():
    assert Adjacency.of(EDGES).to_dense().tolist() == [[0, 1], [1, 0]]
    assert Adjacency.of(EDGES, torch.ones(3)).to_dense().tolist() == [[0, 2], [1, 0]]


def test_sums_are_taken_in_float64_and_rounded_once():
    weight = torch.tensor([1.0, 2.0**-24, 2.0**-24, 2.0**-24], requires_grad=True)  # in float32 each addition is lost
    index = INDEX[:, :1].repeat(1, 4)
    for given in (weight.detach(), weight):
        matrix = torch.sparse_coo_tensor(index, given, (2, 2), check_invariants=True)
        for adj in (Adjacency.of(index.flip(0), given), Adjacency.from_sparse(matrix)):
            assert adj.to_dense(torch.float64)[0, 1] == 1 + 2 * 2.0**-23
    adj.value.sum().backward()
    assert torch.equal(weight.grad, torch.ones(4))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_past_the_dtype_is_refused(sign):
    large = sign * torch.tensor([3e38, 3e38, 1.0])
    for make in (lambda: Adjacency.of(EDGES, large), lambda: Adjacency.from_sparse(CONTAINERS["SciPy COO"](large))):
        with pytest.raises(ValueError, match=r"edge_weight adds up to ±6e\+38 on an edge that is repeated"):
            make()
    assert Adjacency.of(EDGES, large.double()).to_dense(torch.float64)[0, 1] == 2 * float(large[0])
    with pytest.raises(ValueError, match="edge_weight adds up to ±inf"):
        Adjacency.of(EDGES, torch.tensor([1.5e308, 1.5e308, 1.0], dtype=torch.float64))


@in_every_container
def test_an_imaginary_part_is_not_dropped(container):
    for values in (torch.full((3,), 1 + 2j), torch.ones(3, dtype=torch.complex128)):
        with pytest.raises(TypeError, match=r"the sparse matrix must hold real numbers, got torch\.complex"):
            entries(container(values))


def test_too_many_nodes_are_refused_before_memory_is_taken():
    host = torch.device("cpu")
    with pytest.raises(ValueError, match="num_nodes is 3037000500: so many nodes take 90"):
        checked_num_nodes(0, 3037000500, host)  # squared, it does not fit into int64
    with pytest.raises(ValueError, match="number the nodes from 0 on without gaps"):
        Adjacency.of(torch.tensor([[0], [10**13]]))
    with pytest.raises(ValueError, match="the sparse matrix has 3037000500 rows"):
        Adjacency.of(sp.coo_matrix((np.ones(1), ([0], [5])), shape=(3037000500, 3037000500)))
    assert checked_num_nodes(0, 10**7, host) == 10**7


@pytest.mark.parametrize(
    ("crow", "col"), [([0, 5, 2], [0, 1]), ([0, 1, 2], [0, 7]), ([0, 1, 2], [0, -1]), ([1, 1, 2], [0, 1])]
)
def test_a_sparse_tensor_that_points_outside_itself_is_refused(crow, col):
    bad = torch.sparse_csr_tensor(torch.tensor(crow), torch.tensor(col), torch.ones(2), (2, 2), check_invariants=False)
    for read in (Adjacency.of, SparseRows.of):
        with pytest.raises(ValueError, match="indices that point outside"):
            read(bad)
