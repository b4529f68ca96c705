"""Edges in the order of a matrix, whatever order they come in, and on whichever way they are sorted."""

import pytest
import torch
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric import EdgeIndex

from panconv import Adjacency, PANConv
from panconv.graph import csr, sorting
from panconv.graph.sorting import sort_edges

DIRECTED = torch.tensor([[0, 0, 1, 3], [1, 2, 2, 0]])  # by source, then target
RING = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]])


def dense(found, edge_index, weight, N):
    """The matrix that the weights make where they are said to go."""
    pattern, entry = found
    entry = torch.arange(edge_index.size(1)) if entry is None else entry.long()
    value = torch.zeros(pattern.col.numel(), dtype=torch.float64).index_add(0, entry, weight)
    return torch.zeros(N, N, dtype=torch.float64).index_put((pattern.row, pattern.col.long()), value)


@given(graphs(weighted=False), st.sampled_from(["as it comes", "row", "col", "device"]), st.booleans())
def test_every_edge_goes_to_its_entry_in_order_and_once(graph, order, large):
    edge_index, N = graph.edge_index, graph.num_nodes
    if order in ("row", "col"):
        ends = edge_index if order == "row" else edge_index.flip(0)
        ends = torch.unique(ends, dim=1) if ends.numel() else ends
        edge_index = ends if order == "row" else ends.flip(0)
    weight = torch.rand(edge_index.size(1), dtype=torch.float64) + 0.1
    expected = torch.zeros(N, N, dtype=torch.float64)
    expected.index_put_((edge_index[1], edge_index[0]), weight, accumulate=True)
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(csr, "_RADIX", 0)
            patch.setattr(sorting, "_FEW", 0)
        if order == "device":
            patch.setattr(sorting, "on_host", lambda *_: False)
        found = sort_edges(edge_index, N, weighted=True)
    torch.testing.assert_close(dense(found, edge_index, weight, N), expected)
    key = found.pattern.row * N + found.pattern.col
    assert bool((key.diff() > 0).all())
    crow, col, perm = found.pattern.by_column()
    fresh = csr.order_by_column(found.pattern.crow, found.pattern.col, N)
    assert torch.equal(crow, fresh[0])
    assert torch.equal(col, fresh[1])
    assert torch.equal(perm, fresh[2])


@pytest.mark.parametrize("bound", [10, 2**16, 2**16 + 1])
@pytest.mark.parametrize("count", [0, 1, 1000, csr._RADIX + 1])
def test_numbers_are_ordered_as_by_a_stable_sort(bound, count):
    number = torch.randint(bound, (count,), generator=torch.Generator().manual_seed(0))
    for dtype in (torch.long, torch.int32):
        assert torch.equal(csr.stable_order(number.to(dtype), bound), torch.argsort(number, stable=True))


@pytest.mark.parametrize("edges", [DIRECTED, DIRECTED.flip(0), RING, RING.flip(1)])
def test_edges_in_order_are_not_sorted(edges, monkeypatch):
    """By target nothing is sorted, by source one end, and nothing where the graph is known to be undirected."""
    asked = []
    monkeypatch.setattr(sorting, "_FEW", 0)
    order = sorting.stable_order
    monkeypatch.setattr(sorting, "stable_order", lambda *a: asked.append(a) or order(*a))
    sort_edges(edges, 4, weighted=False)
    by_source = bool((edges[0].diff() * 4 + edges[1].diff() > 0).all())
    by_target = bool((edges[1].diff() * 4 + edges[0].diff() > 0).all())
    assert len(asked) == (1 if by_source else 0 if by_target else 2)
    asked.clear()
    if torch.equal(edges, RING):
        sort_edges(edges, 4, weighted=False, undirected=True)
        assert not asked


def test_claims_are_believed():
    expected = Adjacency.from_edge_index(DIRECTED)
    for edges, claim in ((DIRECTED, True), (DIRECTED, "row"), (DIRECTED.flip(0), "col")):
        graph = Adjacency.from_edge_index(edges, is_sorted=claim, is_undirected=False)
        transposed = claim == "col"
        assert torch.equal(graph.to_dense(), expected.to_dense().T if transposed else expected.to_dense())
        assert not graph.is_symmetric
    known = Adjacency.from_edge_index(RING, is_sorted=True, is_undirected=True)
    assert torch.equal(known.to_dense(), Adjacency.from_edge_index(RING).to_dense())
    told = Adjacency.from_edge_index(DIRECTED, is_undirected=True)  # it is not: whoever says so is believed
    assert told.is_symmetric
    edge_index = EdgeIndex(RING, sparse_size=(4, 4), sort_order="row", is_undirected=True)
    assert Adjacency.from_edge_index(edge_index).num_nodes == 4


def test_what_is_never_believed_is_a_node_number():
    for claims in ({"validate": False}, {"is_sorted": True}, {"is_undirected": True}):
        with pytest.raises(ValueError, match="names node 7, but there are only 4 nodes"):
            Adjacency.from_edge_index(torch.tensor([[0], [7]]), num_nodes=4, **claims)
        with pytest.raises(ValueError, match="names node -1"):
            Adjacency.from_edge_index(torch.tensor([[0], [-1]]), num_nodes=4, **claims)
    weight = torch.tensor([1.0, torch.nan, 1.0, 1.0])
    with pytest.raises(ValueError, match="must be finite"):
        Adjacency.from_edge_index(DIRECTED, weight)
    assert Adjacency.from_edge_index(DIRECTED, weight.nan_to_num(), validate=False).num_edges == 4


@pytest.mark.parametrize(("name", "wrong"), [("validate", 1), ("is_undirected", "yes"), ("is_sorted", "source")])
def test_a_claim_of_another_kind_is_refused(name, wrong):
    with pytest.raises((ValueError, TypeError), match=name):
        Adjacency.from_edge_index(RING, **{name: wrong})


def test_nothing_is_found_that_a_layer_does_not_need(monkeypatch):
    """Method 5 without a gradient asks neither for a transpose nor for a symmetry."""
    monkeypatch.setattr("panconv.graph.pattern.order_by_column", None)
    edges = RING[:, torch.tensor([3, 0, 5, 1, 4, 2])]  # in no order: the transpose is not known from the reading
    with torch.no_grad():
        PANConv(3, 2, method=5)(torch.randn(4, 3), edges)
