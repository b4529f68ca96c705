import pickle
from unittest import mock

import numpy as np
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from panconv import Adjacency, PANConv, Walks
from panconv.graph import BASES, adjacency, block_diagonal, pattern, picked, sorting
from panconv.graph.csr import CSR
from panconv.graph.picking import Gather
from panconv.graph.pieces import parted
from panconv.testing import close

DTYPES = (torch.float32, torch.float64)


def prepare(adj, bases=BASES):
    for base in bases:
        for dtype in DTYPES:
            adj.base(base).operands(dtype)
        Walks(adj.base(base), 2).counts()
    return adj


def read(graph):
    return Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes)


def assert_alike(mine, right):
    """Everything that is prepared of one is prepared of the other, to the last bit; what is shared is shared."""
    assert (mine.loops, mine.repeats, mine._mirrored) == (right.loops, right.repeats, right._mirrored)
    facts = ("_growth", "decay", "is_signed", "is_positive", "_undirected")
    assert [getattr(mine, name) for name in facts] == [getattr(right, name) for name in facts]
    for name in ("value", "left", "right", "_entry_of_edge", "_magnitude", "_overruled"):
        assert_equal(getattr(mine, name), getattr(right, name))
    assert_same_pattern(mine.pattern, right.pattern)
    for rows, others in zip(mine.pieces, right.pieces, strict=True):
        columns = 2 if rows.dtype == np.int64 and mine._entry_of_edge is None else None  # edges that none remembers
        np.testing.assert_array_equal(rows[:, :columns], others[:, :columns])
    assert mine._cache.keys() == right._cache.keys()
    for key, kept in right._cache.items():
        found = mine._cache[key]
        if isinstance(kept, Adjacency):
            assert_alike(found, kept)
            assert (found.pattern is mine.pattern) == (kept.pattern is right.pattern)
            assert (found.left is found.right) == (kept.left is kept.right)
        else:
            assert type(found) is type(kept)
            for a, b in zip(found, kept, strict=True):
                assert_equal(a, b) if isinstance(b, torch.Tensor) else None
        if isinstance(kept, CSR) and isinstance(key, torch.dtype):
            assert found.col is mine.col


def assert_same_pattern(mine, right):
    for name in ("crow", "col"):
        assert_equal(getattr(mine, name), getattr(right, name))
    for name in ("symmetric", "loops", "longest"):
        assert mine.known(name) == right.known(name)
    assert (mine.known("transposed") is None) == (right.known("transposed") is None)
    for a, b in zip(mine.known("transposed") or (), right.known("transposed") or (), strict=True):
        assert_equal(a, b)
    for a, b in zip(mine.blocks, right.blocks, strict=True):
        if b is not None:
            assert_equal(a.start, b.start)
            assert a.rows == b.rows
            assert a.entries >= b.entries


def assert_equal(a, b):
    assert (a is None) == (b is None)
    if a is not None:
        assert a.dtype == b.dtype
        assert torch.equal(a, b)


numbers = st.lists(st.integers(0, 99), min_size=1, max_size=5)


@settings(max_examples=25)
@given(st.lists(graphs(), min_size=1, max_size=5), numbers, st.booleans())
def test_picked_is_what_block_diagonal_makes_of_the_same(many, numbers, everything):
    joined = block_diagonal([prepare(read(graph), BASES if everything else ()) for graph in many])
    which = [number % len(many) for number in numbers]
    mine = picked(joined, torch.tensor(which))
    assert_alike(mine, block_diagonal([joined[i] for i in which]))
    again = picked(mine, torch.arange(len(which)).flip(0))  # what is picked can be picked from
    assert_alike(again, block_diagonal([joined[i] for i in reversed(which)]))


def union(many, weighted):
    """The union of graphs as one edge_index, as a set of graphs reads it."""
    first, edges, weights = 0, [], []
    for graph in many:
        edges.append(graph.edge_index + first)
        weights.append(graph.edge_weight)
        first += graph.num_nodes
    return torch.cat(edges, 1), torch.cat(weights) if weighted else None, torch.tensor([g.num_nodes for g in many])


@settings(max_examples=25)
@given(st.booleans().flatmap(lambda w: st.lists(graphs(weighted=w), min_size=1, max_size=5)), numbers)
def test_of_a_union_that_was_read_as_one_graph(many, numbers):
    weighted = many[0].edge_weight is not None
    edges, weight, sizes = union(many, weighted)
    joined = parted(Adjacency.of(edges, weight, int(sizes.sum())), sizes)
    prepare(joined)  # after it was joined
    which = [number % len(many) for number in numbers]
    mine = picked(joined, torch.tensor(which))
    assert_alike(mine, block_diagonal([joined[i] for i in which]))
    edges, weight, _ = union([many[i] for i in which], weighted)
    right = Adjacency.of(edges, weight, mine.num_nodes)
    assert mine.num_self_loops == right.num_self_loops
    assert mine.pattern.is_symmetric == right.pattern.is_symmetric
    assert mine.pattern.longest == right.pattern.longest
    assert (mine.is_signed, mine.is_positive) == (right.is_signed, right.is_positive)
    assert mine.growth >= right.growth
    assert mine.decay <= right.decay or not right.to_dense().any()
    for base in BASES:
        close(mine.base(base).to_dense(torch.float64), right.base(base).to_dense(torch.float64))
        close(mine.base(base).operands(torch.float64)[1].row_sums(), right.base(base).to_dense(torch.float64).sum(0))
        close(Walks(mine.base(base), 2).counts().value, Walks(right.base(base), 2).counts().value)
    if weighted:
        other = torch.rand(edges.size(1))
        close(mine.reweight(other).to_dense(), right.reweight(other).to_dense())


def test_nothing_is_sorted_or_checked_or_computed_again():
    directed = torch.tensor([[0, 1, 2], [1, 2, 0]])
    joined = block_diagonal([prepare(Adjacency.of(directed, w, 4)) for w in (None, torch.rand(3), None)])
    refuse = mock.Mock(side_effect=AssertionError("prepared again"))
    with (
        mock.patch.multiple(adjacency, checked_facts=refuse, sort_edges=refuse),
        mock.patch.multiple(pattern, order_by_column=refuse, rows_of=refuse),
        mock.patch.multiple(sorting, compress=refuse, stable_order=refuse),
        mock.patch.object(torch, "argsort", refuse),
        mock.patch.object(Walks, "_count", refuse),
        mock.patch.dict(BASES, {name: refuse for name in BASES if name != "A"}),
    ):
        mine = picked(joined, torch.tensor([2, 1, 1]))
        for graph in (mine, mine[1], pickle.loads(pickle.dumps(mine)), mine.to("meta")):
            for base in BASES:
                graph.base(base).operands(torch.float32)
                Walks(graph.base(base), 2).counts()
    assert mine.base("A+I").crow is mine.base("Â").crow  # shared as before
    assert mine.base("Â").left is mine.base("Â").right


def test_without_a_look_from_the_host():
    joined = block_diagonal(
        [prepare(Adjacency.of(torch.tensor([[0, 1], [1, 2]]), w, 4)) for w in (None, torch.rand(2))]
    )
    which = torch.tensor([1, 0, 1])
    right, there = picked(joined, which), joined.to("meta")  # which refuses whoever looks, as a GPU makes him wait
    mine = picked(there, which)
    assert mine.crow.is_meta
    assert (mine.num_nodes, mine.num_edges, mine.growth) == (12, 6, right.growth)
    for base in BASES:
        assert (
            mine.base(base).operands(torch.float32)[1].value.shape
            == right.base(base).operands(torch.float32)[1][2].shape
        )
    init = Gather.__init__

    def elsewhere(self, *given):
        init(self, *given)
        self.on_host = False

    with mock.patch.object(Gather, "__init__", elsewhere):
        assert_alike(picked(joined, which), right)


def test_signed_weights_keep_what_they_were_before_the_loops():
    signed = Adjacency.of(torch.tensor([[0, 1, 1], [0, 0, 1]]), torch.tensor([3.0, 1.0, -0.5]), 2)
    plain, bases = Adjacency.of(TRIANGLE_AND_TAIL, None, 4), ["A", "A+I", "Â"]
    joined = block_diagonal([prepare(adj, bases) for adj in (signed, plain)])
    for which in ([0], [1, 1], [1, 0]):
        mine = picked(joined, torch.tensor(which))
        assert_alike(mine, block_diagonal([joined[i] for i in which]))
        right = block_diagonal([(signed, plain)[i] for i in which])
        close(mine.base("A+I").absolute().to_dense(), right.base("A+I").absolute().to_dense())
        assert mine.is_signed == (0 in which)


def test_of_a_union_with_signs_and_directions():
    signed = torch.tensor([[0, 1, 1], [0, 0, 1]]), torch.tensor([3.0, 1.0, -0.5])
    circle = torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.ones(3)  # as many edges arrive at each node as leave it
    both = torch.cat([signed[0], circle[0] + 2], 1), torch.cat([signed[1], circle[1]])
    sizes, bases = torch.tensor([2, 3]), ["A", "A+I", "Â"]
    joined = prepare(parted(Adjacency.of(*both, 5), sizes), bases)
    for i, one in enumerate((signed, circle)):
        mine, right = picked(joined, torch.tensor([i])), Adjacency.of(*one, int(sizes[i]))
        for graph in (mine, joined[i]):
            assert graph.is_signed == graph.base("Â").is_signed == right.is_signed
            assert graph.is_positive == right.is_positive
            close(graph.base("A+I").absolute().to_dense(), right.base("A+I").absolute().to_dense())
    pair = torch.tensor([[0, 1, 3, 4, 5], [1, 0, 4, 5, 3]])
    joined = parted(Adjacency.of(pair, None, 6), torch.tensor([3, 3]))
    assert [picked(joined, torch.tensor(which)).is_symmetric for which in ([0], [1], [0, 1])] == [True, False, False]


def test_gradients_reach_the_weights():
    weight = torch.rand(16, dtype=torch.float64, requires_grad=True)
    edges = torch.cat([TRIANGLE_AND_TAIL, TRIANGLE_AND_TAIL + 4], 1)
    joined = parted(Adjacency.of(edges, weight, 8), torch.tensor([4, 4]))
    conv, x = PANConv(3, 2).double(), torch.randn(8, 3, dtype=torch.float64)
    (mine,) = torch.autograd.grad(conv(x, picked(joined, torch.tensor([1, 1]))).sin().sum(), weight)
    one = (
        conv(x[:4], TRIANGLE_AND_TAIL, weight[8:]).sin().sum() + conv(x[4:], TRIANGLE_AND_TAIL, weight[8:]).sin().sum()
    )
    close(mine, torch.autograd.grad(one, weight)[0])
    assert (mine[:8] == 0).all()


def test_a_batch_of_pyg_and_loops_that_remain():
    from panconv.transforms import PrepareGraph

    edges, weight = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 1, 0, 1]]), torch.rand(5)
    prepare = PrepareGraph(method=[1, 5], L=2, loops="remaining", repeats="sum")
    data = prepare(Data(edge_index=edges, edge_weight=weight, num_nodes=3))
    joined = Batch.from_data_list([data, data]).adj
    mine = picked(joined, torch.tensor([1]))
    assert_alike(mine, block_diagonal([joined[1]]))
    other = torch.rand(5)
    close(mine.reweight(other).to_dense(), Adjacency.of(edges, other, 3, loops="remaining", repeats="sum").to_dense())


def test_edges_of_parts_that_stand_mixed_are_refused():
    edges = torch.tensor([[0, 2, 1], [1, 3, 0]])
    with pytest.raises(ValueError, match="must stand part by part"):
        parted(Adjacency.of(edges, torch.rand(3), 4), torch.tensor([2, 2]))
    assert parted(Adjacency.of(edges, None, 4), torch.tensor([2, 2]))[0].num_edges == 2


def test_bad_input_is_named():
    joined = block_diagonal([Adjacency.of(TRIANGLE_AND_TAIL)] * 2)
    with pytest.raises(TypeError, match="not joined from others"):
        picked(Adjacency.of(TRIANGLE_AND_TAIL), torch.tensor([0]))
    for which in ([0], torch.tensor([0.5]), torch.tensor(1), torch.tensor([True])):
        with pytest.raises(TypeError, match=r"which must be a tensor \(b,\) of integers"):
            picked(joined, which)
    with pytest.raises(ValueError, match="at least one graph"):
        picked(joined, torch.tensor([], dtype=torch.long))
    for wrong in (2, -1):
        with pytest.raises(IndexError, match=rf"graphs of 0 … 1, got {wrong}"):
            picked(joined, torch.tensor([0, wrong]))
