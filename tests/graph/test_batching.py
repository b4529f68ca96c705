import copy
import pickle
from unittest import mock

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, Graph, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from panconv import METHODS, Adjacency, PANConv, Walks
from panconv.compute.kernels import blocks
from panconv.graph import BASES, adjacency, block_diagonal, pattern, sorting
from panconv.graph.blocks import known_blocks
from panconv.graph.cutting import piece_of
from panconv.testing import close

DTYPES = (torch.float32, torch.float64)


def prepared(graph, bases=BASES):
    adj = Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes)
    for base in bases:
        for dtype in DTYPES:
            adj.base(base).operands(dtype)
        Walks(adj.base(base), 2).counts()
    return adj


def pyg_batch(many):
    """PyG's own batch of them, the edges of an unweighted one without repeats, weighing 1 where another is weighted."""
    weighted = any(graph.edge_weight is not None for graph in many)
    data = []
    for graph in many:
        edges, weight = graph.edge_index, graph.edge_weight
        if weighted and weight is None:
            edges = torch.unique(edges, dim=1)
            weight = torch.ones(edges.size(1), dtype=torch.float64)
        data.append(Data(edge_index=edges, edge_weight=weight, num_nodes=graph.num_nodes))
    return Batch.from_data_list(data)


def assert_same(one, other, bases=BASES):
    """Every number that a product, a base or a choice depends on."""
    assert (one.num_nodes, one.num_edges) == (other.num_nodes, other.num_edges)
    assert one.num_self_loops == other.num_self_loops
    assert (one.is_symmetric, one.is_undirected) == (other.is_symmetric, other.is_undirected)
    assert (one.is_signed, one.is_positive) == (other.is_signed, other.is_positive)
    assert (one.value is None) == (other.value is None)
    for a, b in zip(one.by_column(), other.by_column(), strict=True):
        assert torch.equal(a, b)
    for base in bases:
        mine, right = one.base(base), other.base(base)
        assert torch.equal(mine.crow, right.crow)
        assert torch.equal(mine.col, right.col)
        for dtype in DTYPES:
            for a, b in zip(mine.operands(dtype), right.operands(dtype), strict=True):
                assert torch.equal(a.crow, b.crow)
                assert torch.equal(a.col, b.col)
                assert a.value.dtype == b.value.dtype == dtype
                close(a.value, b.value)
        close(Walks(mine, 2).counts().value, Walks(right, 2).counts().value)


@settings(max_examples=15)
@given(st.lists(graphs(), min_size=1, max_size=4), st.booleans())
def test_the_joined_graph_is_that_of_pyg_s_batch_and_comes_apart_again(many, everything):
    adjs = [prepared(graph, BASES if everything else ()) for graph in many]
    joined, batch = block_diagonal(adjs), pyg_batch(many)
    assert_same(joined, Adjacency.of(batch.edge_index, batch.edge_weight, batch.num_nodes))
    for i, adj in enumerate(adjs):
        assert_same(joined[i], adj)
        assert_same(joined[i - len(adjs)], adj)
    if all(graph.edge_weight is not None for graph in many):
        other = torch.rand(batch.edge_index.size(1))
        assert_same(joined.reweight(other), Adjacency.of(batch.edge_index, other, batch.num_nodes))


@settings(max_examples=6)
@given(st.lists(graphs(min_nodes=1, zeros=False), min_size=2, max_size=3))
def test_every_method_with_gradients(many):
    batch, joined = pyg_batch(many), block_diagonal([prepared(graph) for graph in many])
    for method in METHODS:
        conv = PANConv(3, 2, method=method).double()
        x = torch.randn(batch.num_nodes, 3, dtype=torch.float64, requires_grad=True)
        outs = conv(x, joined), conv(x, batch.edge_index, batch.edge_weight)
        close(*outs)
        for mine, right in zip(
            *(torch.autograd.grad(o.sin().sum(), (x, *conv.parameters())) for o in outs), strict=True
        ):
            close(mine, right)


def test_nothing_is_sorted_or_checked_again():
    directed = torch.tensor([[0, 1, 2], [1, 2, 0]])
    adjs = [prepared(Graph(directed, None, 3)), prepared(Graph(directed, torch.rand(3), 4))]
    refuse = mock.Mock(side_effect=AssertionError("prepared again"))
    with (
        mock.patch.multiple(adjacency, checked_facts=refuse, sort_edges=refuse),
        mock.patch.multiple(pattern, order_by_column=refuse, rows_of=refuse),
        mock.patch.multiple(sorting, compress=refuse, stable_order=refuse),
        mock.patch.object(torch, "argsort", refuse),
        mock.patch.object(Walks, "_count", refuse),
        mock.patch.dict(BASES, {name: refuse for name in BASES if name != "A"}),
    ):
        joined = block_diagonal(adjs)
        for graph in (joined, joined[1], pickle.loads(pickle.dumps(joined)), joined.to("meta")):
            for base in BASES:
                graph.base(base).operands(torch.float32)
                Walks(graph.base(base), 2).counts()
        assert joined.base("A+I").crow is joined.base("Â").crow  # shared as before
        assert joined.base("Â").left is joined.base("Â").right


def test_gradients_reach_the_weights_of_every_graph():
    weights = [torch.rand(8, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    plain = Adjacency.of(TRIANGLE_AND_TAIL, None, 4)
    joined = block_diagonal(
        [Adjacency.of(TRIANGLE_AND_TAIL, weights[0], 4), plain, Adjacency.of(TRIANGLE_AND_TAIL, weights[1], 4)]
    )
    assert joined.is_tracked
    conv, x = PANConv(3, 2).double(), torch.randn(12, 3, dtype=torch.float64)
    mine = torch.autograd.grad(conv(x, joined).sin().sum(), weights)
    apart = [conv(x[4 * i : 4 * i + 4], TRIANGLE_AND_TAIL, weight) for i, weight in ((0, weights[0]), (2, weights[1]))]
    right = torch.autograd.grad(sum(out.sin().sum() for out in apart), weights)
    for a, b in zip(mine, right, strict=True):
        close(a, b)


def test_signed_weights_keep_what_they_were_before_the_loops():
    signed = Graph(torch.tensor([[0, 1, 1], [0, 0, 1]]), torch.tensor([3.0, 1.0, -0.5]), 2)
    plain = Graph(TRIANGLE_AND_TAIL, None, 4)
    adjs = [prepared(signed, ["A", "A+I", "Â"]), prepared(plain, ["A", "A+I", "Â"])]
    joined, batch = block_diagonal(adjs), pyg_batch([signed, plain])
    right = Adjacency.of(batch.edge_index, batch.edge_weight, 6)
    close(joined.base("A+I").absolute().to_dense(), right.base("A+I").absolute().to_dense())
    assert_same(joined, right, ["A", "A+I", "Â"])
    assert_same(joined[1], adjs[1], ["A", "A+I", "Â"])


def test_one_large_graph_among_small_ones():
    N = 100_000
    large = torch.randint(N, (2, 300_000))
    many = [Graph(TRIANGLE_AND_TAIL, None, 4), Graph(large, None, N), Graph(torch.empty(2, 0).long(), None, 0)]
    many += [Graph(torch.empty(2, 0).long(), None, 3)]
    joined, batch = block_diagonal([prepared(graph, ["Â"]) for graph in many]), pyg_batch(many)
    right = Adjacency.of(batch.edge_index, None, batch.num_nodes)
    for a, b in zip(
        joined.base("Â").operands(torch.float32)[0], right.base("Â").operands(torch.float32)[0], strict=True
    ):
        assert torch.equal(a, b)
    assert joined[2].num_nodes == 0
    assert blocks.blocks_of(joined.crow, joined.col) is None


def test_batches_of_batches():
    one = Adjacency.of(TRIANGLE_AND_TAIL)
    pair = block_diagonal([one, one])
    joined = block_diagonal([pair, one])
    assert torch.equal(joined[0].to_dense(), pair.to_dense())
    assert torch.equal(joined.to_dense(), block_diagonal([one] * 3).to_dense())


@pytest.mark.parametrize("change", ["pickle", "copy", "move"])
def test_what_is_prepared_travels_and_stays_shared(change):
    adjs = [prepared(Graph(TRIANGLE_AND_TAIL, weight, 4)) for weight in (torch.rand(8), torch.rand(8))]
    joined = block_diagonal(adjs)
    other = {
        "pickle": lambda: pickle.loads(pickle.dumps(joined)),
        "copy": lambda: copy.deepcopy(joined),
        "move": lambda: joined.each(torch.clone),
    }[change]()
    assert_same(other, joined)
    assert set(other._cache) >= {"A+I", "Â", "D⁻¹A", torch.float32, ("walks", 2)}
    base = other.base("Â")
    assert base.crow is other.base("A+I").crow
    assert base.operands(torch.float32)[0].col is base.col
    assert base.left is base.right
    assert base.crow.data_ptr() != joined.base("Â").crow.data_ptr()
    assert known_blocks[base.col] is base.pattern.blocks[0]
    assert_same(other[1], adjs[1])


def test_moving_asks_for_each_tensor_once_and_passes_on_how():
    adj = prepared(Graph(TRIANGLE_AND_TAIL, torch.rand(8), 4))
    seen = []
    with mock.patch.object(torch.Tensor, "to", lambda self, *how, **more: seen.append((self, how, more)) or self):
        adj.to(device="meta", non_blocking=True)
    assert len(seen) == len({id(tensor) for tensor, _, _ in seen}) > 10
    assert all(more == {"non_blocking": True} for _, _, more in seen)
    with mock.patch.object(torch.Tensor, "pin_memory", lambda self: self.clone()):
        assert_same(adj.pin_memory(), adj)
    assert adj.to("cpu") is adj.cpu() is adj
    assert adj.share_memory_().base("Â").crow.is_shared()


def test_the_kernels_are_told_the_parts():
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    adj.base("Â").operands(torch.float32)
    nobody, directed = (
        Adjacency.of(torch.empty(2, 0).long(), None, 0),
        Adjacency.of(torch.tensor([[0, 1, 2], [1, 2, 1]])),
    )
    joined = pickle.loads(pickle.dumps(block_diagonal([adj, nobody, adj])))
    mixed = block_diagonal([adj, directed])
    crow_t, col_t, _ = mixed.by_column()
    for crow, col in ((joined.crow, joined.col), (mixed.crow, mixed.col), (crow_t, col_t)):
        right = blocks._find(crow, col)
        with mock.patch.object(blocks, "_find", side_effect=AssertionError("looked for")):
            found = blocks.blocks_of(crow, col)
        assert found.start.tolist() == right.start.tolist()
        assert found.start.dtype == right.start.dtype
        assert found[1:] == right[1:]


def test_parts_too_large_may_fall_into_smaller_ones():
    ends = torch.arange(150)
    pairs = Adjacency.of(torch.stack([torch.cat([2 * ends, 2 * ends + 1]), torch.cat([2 * ends + 1, 2 * ends])]))
    joined = block_diagonal([pairs, pairs])
    assert blocks.blocks_of(joined.crow, joined.col).rows == 2


def test_bad_input_is_named():
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    with pytest.raises(ValueError, match="at least one Adjacency"):
        block_diagonal([])
    with pytest.raises(TypeError, match=r"nothing but Adjacency, got .* at 1"):
        block_diagonal([adj, TRIANGLE_AND_TAIL])
    with pytest.raises(ValueError, match=r"one device, got cpu and, at 1, meta"):
        block_diagonal([adj, adj.to("meta")])
    with pytest.raises(TypeError, match="not joined from others"):
        adj[0]
    for index in (2, -3, 0.5, "a"):
        with pytest.raises(IndexError, match="integer from -2 to 1"):
            piece_of(block_diagonal([adj, adj]), index)


def test_what_is_read_alike_joins_and_goes_on_as_it_was_read():
    edges = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 1, 0, 1]])
    plain, loops = torch.tensor([[0, 1], [1, 0]]), {"loops": "remaining", "repeats": "sum"}
    weights = torch.rand(5), torch.rand(2)
    given = [Adjacency.of(e, w, 2, **loops) for e, w in zip((edges, plain), weights, strict=True)]
    joined, both = block_diagonal(given), torch.cat([edges, plain + 2], 1)
    assert_same(joined, Adjacency.of(both, torch.cat(weights), 4, **loops))
    other = torch.rand(7)
    assert_same(joined.reweight(other), Adjacency.of(both, other, 4, **loops))
    assert_same(joined[0].reweight(other[:5]), Adjacency.of(edges, other[:5], 2, **loops))
    assert joined[1].loops == "remaining"
    with pytest.raises(ValueError, match="read alike, got loops='add' and 'remaining'"):
        block_diagonal([given[0], Adjacency.of(plain)])
