import copy
import operator
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from graphs import TRIANGLE_AND_TAIL, dense_base, graphs
from hypothesis import given
from torch_geometric import EdgeIndex

from panconv import Adjacency, ShortestPaths, Walks
from panconv.testing import assert_gradients, close

DIRECTED = torch.tensor([[0, 1, 1], [1, 2, 2]])


@given(graphs())
def test_dense_form_of_every_base(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    for base in ("A", "A+I", "Â"):
        close(adj.base(base).to_dense(torch.float64), dense_base(graph.dense(), base))


@given(graphs(zeros=False))
def test_transpose_and_symmetry_are_the_dense_ones(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    A = graph.dense()
    assert adj.is_symmetric == torch.equal(A, A.T)
    for base in ("A", "A+I", "Â"):
        a, a_t = adj.base(base).operands(torch.float64)
        transposed = torch.zeros_like(A).index_put((a_t.row(), a_t.col.long()), a_t.value)
        close(transposed, dense_base(A, base).T)
        assert (a_t is a) == adj.is_symmetric  # no second copy of a symmetric graph


def test_entry_is_from_sender_to_receiver():
    A = Adjacency.from_edge_index(torch.tensor([[0], [2]]), num_nodes=3).to_dense()
    assert A[2, 0] == 1
    assert A.sum() == 1


def test_repeated_edges_are_one_edge_and_repeated_weights_add():
    assert Adjacency.from_edge_index(DIRECTED).to_dense()[2, 1] == 1
    assert Adjacency.from_edge_index(DIRECTED, torch.tensor([1.0, 2.0, 3.0])).to_dense()[2, 1] == 5


def test_a_self_loop_that_is_there_gets_one_more():
    loop = torch.tensor([[0, 0, 1], [0, 1, 0]])
    assert Adjacency.from_edge_index(loop).base("A+I").to_dense().diag().tolist() == [2, 1]


def test_indices_are_narrow_and_sorted():
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL.flip(1))
    assert adj.col.dtype == adj.crow.dtype == torch.int32
    key = adj.row * adj.num_nodes + adj.col
    assert bool((key.diff() > 0).all())


@given(graphs(min_nodes=1))
def test_components_are_the_weakly_connected_ones(graph):
    G = nx.Graph(graph.edge_index.T.tolist())
    G.add_nodes_from(range(graph.num_nodes))
    labels = Adjacency.from_edge_index(graph.edge_index, num_nodes=graph.num_nodes).components
    for component in nx.connected_components(G):
        assert len(labels[list(component)].unique()) == 1
    assert len(labels.unique()) == nx.number_connected_components(G)


class FakeSparseTensor:
    """Has what we use of torch_sparse.SparseTensor, which needs a compiled extension."""

    def __init__(self, A):
        self.A = A.to_sparse()

    def coo(self):
        return *self.A.indices(), self.A.values()

    def sparse_sizes(self):
        return tuple(self.A.shape)


FakeSparseTensor.__name__ = "SparseTensor"


@given(graphs(min_nodes=1))
def test_every_form_of_a_graph_gives_the_same(graph):
    A = graph.dense()
    forms = [A.to_sparse(), A.to_sparse_csr(), A.to_sparse_csc(), sp.csr_matrix(A.numpy()), sp.coo_array(A.numpy())]
    forms += [FakeSparseTensor(A), Adjacency.from_sparse(A.to_sparse())]
    for form in forms:
        close(Adjacency.of(form, num_nodes=graph.num_nodes).to_dense(torch.float64), A)
    for edges in (graph.edge_index, graph.edge_index.numpy(), graph.edge_index.int()):
        close(Adjacency.of(edges, graph.edge_weight, graph.num_nodes).to_dense(torch.float64), A)


def test_edge_index_class_of_pyg_brings_its_size():
    adj = Adjacency.of(EdgeIndex(DIRECTED, sparse_size=(5, 5)))
    assert adj.num_nodes == 5
    assert adj.to_dense()[2, 1] == 1


def test_unweighted_matrices_stay_without_values():
    assert Adjacency.from_sparse(sp.csr_matrix(np.array([[0, 1], [1, 0]]))).value is None
    assert Adjacency.from_sparse(torch.tensor([[False, True], [True, False]]).to_sparse()).value is None


def test_uncoalesced_entries_of_a_matrix_add():
    matrix = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 1.0], (2, 2))
    assert Adjacency.from_sparse(matrix).to_dense()[0, 1] == 2


def test_gradient_reaches_the_edge_weights_through_every_base():
    weight = torch.rand(8, dtype=torch.float64).requires_grad_()
    for base in ("A", "A+I", "Â"):
        assert_gradients(
            lambda base=base: Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight).base(base).to_dense(torch.float64),
            weight,
        )


def test_reweight_is_building_anew():
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.ones(8))
    assert adj.is_symmetric
    weight = torch.rand(8)
    close(adj.reweight(weight).to_dense(), Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight).to_dense())
    assert not adj.reweight(weight).is_symmetric


def test_what_follows_from_a_graph_is_computed_once():
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL)
    assert adj.base("Â") is adj.base("Â")
    assert all(map(operator.is_, adj.operands(torch.float32), adj.operands(torch.float32)))


def test_what_is_kept_with_a_graph_is_bounded():
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    row = adj.row
    for L in range(1, 40):
        for family in (Walks(adj, L), ShortestPaths(adj, min(L, 20))):
            family.counts()
    assert len(adj._cache) < 30
    assert Walks(adj, 39).counts() is Walks(adj, 39).counts()  # the last is there,
    assert adj.row is row  # and what there is one of


def test_copies_and_pickles():
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.rand(8))
    adj.base("Â")
    for other in (copy.deepcopy(adj), pickle.loads(pickle.dumps(adj)), adj.to("cpu")):
        close(other.base("Â").to_dense(), adj.base("Â").to_dense())
    assert adj.to("meta").base("A").device.type == "meta"


def test_prepared_at_inference_serves_training():
    with torch.inference_mode():
        adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL)
        adj.base("Â").operands(torch.float32)
    a, _ = adj.base("Â").operands(torch.float32)
    assert not a.value.is_inference()
    assert not adj.crow.is_inference()


@pytest.mark.parametrize(
    ("edges", "options", "error", "message"),
    [
        (torch.zeros(3, 7).long(), {}, ValueError, r"edge_index must have shape \(2, E\).*\(3, 7\)"),
        (torch.zeros(2, 7), {}, TypeError, r"edge_index must hold integers.*float32"),
        (torch.zeros(2, 7).bool(), {}, TypeError, "edge_index must hold integers"),
        ([[0], [1]], {}, TypeError, "the graph must be an Adjacency.*list"),
        (torch.tensor([[0, -4], [1, 1]]), {}, ValueError, "edge_index names node -4"),
        (
            torch.tensor([[0, 9], [1, 1]]),
            {"num_nodes": 5},
            ValueError,
            "names node 9, but there are only 5 nodes: x must have a row",
        ),
        (DIRECTED, {"num_nodes": -1}, ValueError, "num_nodes must be an integer of at least 0, got -1"),
        (DIRECTED, {"edge_weight": torch.ones(2)}, ValueError, r"edge_weight must have shape \(3,\).*\(2,\)"),
        (DIRECTED, {"edge_weight": torch.ones(3, 1)}, ValueError, r"edge_weight must have shape \(3,\)"),
        (DIRECTED, {"edge_weight": torch.tensor([1, torch.nan, 1])}, ValueError, "finite, got nan at edge 1"),
        (DIRECTED, {"edge_weight": torch.tensor([1, 1, -torch.inf])}, ValueError, "finite, got -inf at edge 2"),
        (DIRECTED, {"edge_weight": "111"}, TypeError, "edge_weight must be a tensor"),
        (torch.eye(3).to_sparse(), {"edge_weight": torch.ones(3)}, ValueError, "holds its own weights"),
        (torch.eye(3).to_sparse(), {"num_nodes": 4}, ValueError, "has 3 nodes, but x has 4 rows"),
        (torch.ones(2, 3).to_sparse(), {}, ValueError, r"must be square.*\(2, 3\)"),
    ],
)
def test_bad_input_is_named_in_one_line(edges, options, error, message):
    with pytest.raises(error, match=message) as caught:
        Adjacency.of(edges, **options)
    assert "\n" not in str(caught.value)


def test_reweighting_what_had_no_weights_is_refused():
    with pytest.raises(ValueError, match="made without edge weights"):
        Adjacency.from_edge_index(DIRECTED).reweight(torch.ones(3))


def test_rows_that_sum_below_zero_have_no_normalised_base():
    adj = Adjacency.from_edge_index(DIRECTED, torch.tensor([-3.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match=r"edge_weight makes a row of A.I whose sum is -2, at node 1"):
        adj.base("Â")
    with pytest.raises(ValueError, match="base must be one of"):
        adj.base("B")


def test_weights_that_differ_both_ways_by_rounding_are_symmetric():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    w = torch.tensor([0.3, 0.3 * (1 + 2e-7), 0.7, 0.7])
    adj = Adjacency.from_edge_index(edges, w)
    assert adj.is_symmetric
    assert torch.equal(adj.to_dense(), adj.to_dense().T)
    assert not Adjacency.from_edge_index(edges, torch.tensor([0.3, 0.3001, 0.7, 0.7])).is_symmetric


def test_other_values_are_kept_apart_from_whoever_gave_them_and_read_as_before():
    edges = torch.tensor([[0, 0, 1], [0, 1, 0]])
    adj = Adjacency.from_edge_index(edges, loops="remaining")
    for value in (None, torch.ones(3)):
        close(adj.with_values(value).base("A+I").to_dense(), adj.base("A+I").to_dense())
    given = torch.tensor([1.0, 2.0, 2.0])
    made = adj.with_values(given)
    given.zero_()
    assert made.value.tolist() == [1, 2, 2]
