"""Held against PyG's own `PANConv`, run on a stand-in for torch-sparse, and the authors' repository, restated."""

import copy
import pickle

import authors_repository
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from hypothesis import strategies as st
from pyg_pan import running_without_torch_sparse
from torch_geometric.explain.algorithm.utils import set_masks
from torch_geometric.nn import PANConv

from panconv import Adjacency
from panconv.nn import AuthorsConv, num_hops
from panconv.testing import assert_equivariant, assert_gradients, close

EDGES = TRIANGLE_AND_TAIL
UNWEIGHTED = graphs(weighted=False)


@pytest.fixture(autouse=True, scope="module")
def pyg_runs():
    with running_without_torch_sparse():
        yield


def stirred(conv):
    """With weights that are nobody's start; the layer of the authors bounds its own."""
    torch.nn.init.uniform_(conv.weight, -0.2, 1.2)
    return conv.double()


def gradients(out, M, module, x):
    """Of all that is trained, and of x, by way of the features and of M."""
    r = torch.Generator().manual_seed(1)
    loss = (out * torch.randn(out.shape, generator=r)).sum() + (M * torch.randn(M.shape, generator=r)).sum()
    tensors = [*(p for _, p in sorted(module.named_parameters())), x]
    return torch.autograd.grad(loss, tensors, allow_unused=True, materialize_grads=True)


@given(UNWEIGHTED, st.integers(0, 3))
def test_it_is_the_layer_of_pyg(graph, L):
    theirs, ours = stirred(PANConv(3, 2, filter_size=L)), AuthorsConv(3, 2, filter_size=L).double()
    ours.load_state_dict(theirs.state_dict(), strict=True)
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    out, M = ours(x, graph.edge_index)
    expected, their_M = theirs(x, graph.edge_index)
    close(out, expected)
    close(M.to_dense(), their_M.dense())
    assert M.is_coalesced()
    assert torch.equal(M.indices(), torch.stack(their_M.coo()[:2]))  # zeros that are stored, too
    found, wanted = gradients(out, M.to_dense(), ours, x), gradients(expected, their_M.dense(), theirs, x)
    for mine, other in zip(found, wanted, strict=True):
        close(mine, other)


@given(graphs(min_nodes=1, weighted=True), st.booleans())
def test_weights_of_a_sparse_matrix_are_multiplied_along_walks_as_in_pyg(graph, rows):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    matrix = adj.operands(torch.float64)[0].to_coo((graph.num_nodes,) * 2)
    matrix = matrix.to_sparse_csr() if rows else matrix
    theirs, ours = stirred(PANConv(3, 2, filter_size=2)), AuthorsConv(3, 2, filter_size=2).double()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64)
    for found in (ours(x, matrix), ours(x, adj)):
        for mine, other in zip(found, theirs(x, matrix), strict=True):
            close(mine.to_dense(), other if isinstance(other, torch.Tensor) else other.dense())


@given(UNWEIGHTED, st.integers(0, 3))
def test_it_is_the_layer_of_the_authors(graph, L):
    conv = stirred(AuthorsConv(3, 2, filter_size=L, code="authors"))
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    A = authors_repository.dense(graph.edge_index, graph.num_nodes)
    out, M = conv(x, graph.edge_index)
    assert ((conv.weight >= 0) & (conv.weight <= 1)).all()
    expected = authors_repository.convolve(conv, x, A)
    close(out, expected)
    close(out, M.to_dense() @ conv.lin(x))
    nothing = torch.zeros(0)
    for mine, other in zip(gradients(out, nothing, conv, x), gradients(expected, nothing, conv, x), strict=True):
        close(mine, other)


@pytest.mark.parametrize("code", ["pyg", "authors"])
def test_gradients_pass_through_m_and_through_the_weights_of_the_graph(code):
    conv = AuthorsConv(2, 2, filter_size=1 if code == "authors" else 3, code=code).double()
    x = torch.randn(4, 2, dtype=torch.float64)
    weight = torch.rand(EDGES.size(1), dtype=torch.float64, requires_grad=True)

    def both():
        out, M = conv(x, Adjacency.of(EDGES, weight))
        return torch.cat([out.flatten(), M.values()])

    assert_gradients(both, weight, *conv.parameters())


def test_the_authors_bound_their_weights_within_a_step_and_without_a_word_to_autograd():
    conv = AuthorsConv(2, 2, filter_size=2, code="authors")
    torch.nn.init.constant_(conv.weight, 3.0)
    before = conv.weight._version
    x, other = torch.randn(4, 2), torch.randn(4, 2)
    (conv(x, EDGES)[0].sum() + conv(other, EDGES)[0].sum()).backward()
    assert torch.equal(conv.weight, torch.ones(3))
    assert conv.weight._version == before
    assert conv.weight.grad.isfinite().all()


def test_the_walks_are_counted_once_for_all_layers_on_a_graph():
    adj = Adjacency.of(EDGES)
    AuthorsConv(2, 3, filter_size=3)(torch.randn(4, 2), adj)
    kept = adj._cache["formed walks", 3]
    AuthorsConv(3, 2, filter_size=3, code="authors")(torch.randn(4, 3), adj)
    assert adj._cache["formed walks", 3] is kept


@pytest.mark.parametrize("code", ["pyg", "authors"])
def test_renumbering_the_nodes_renumbers_what_comes_out(code):
    conv, directed = AuthorsConv(3, 2, filter_size=2, code=code), EDGES[:, :5]
    assert_equivariant(lambda x, edges, _: conv(x, edges)[0], torch.randn(4, 3), directed)


@given(graphs(min_nodes=1, weighted=False))
def test_a_mask_of_an_explainer_is_multiplied_along_walks_and_leaves_what_divides(graph):
    conv, N = stirred(AuthorsConv(3, 2, filter_size=2)), graph.num_nodes
    x, mask = torch.randn(N, 3, dtype=torch.float64), torch.rand(graph.edge_index.size(1), dtype=torch.float64)
    A, covered = authors_repository.dense(graph.edge_index, N).T, torch.zeros(N, N, dtype=torch.float64)
    for e, (source, target) in enumerate(graph.edge_index.T.tolist()):
        covered[target, source] += 1 if source == target else mask[e]
    w0, w1, w2 = conv.weight
    root = ((torch.eye(N) + A + A @ A) > 0).sum(1).double().rsqrt()
    total = w0 * torch.eye(N) + w0 * w1 * covered + w0 * w1 * w2 * covered @ covered
    expected = conv.lin(root[:, None] * total * root @ x)
    set_masks(conv, mask, graph.edge_index, apply_sigmoid=False)
    close(conv(x, graph.edge_index)[0], expected)


def test_it_says_how_far_it_looks_as_that_of_pyg_does():
    assert num_hops(AuthorsConv(3, 2, filter_size=3)) == num_hops(PANConv(3, 2, filter_size=3)) == 6


def test_the_width_may_come_from_the_first_x_or_from_what_is_loaded():
    full, x = AuthorsConv(3, 2, filter_size=1), torch.randn(4, 3)
    lazy, other = AuthorsConv(-1, 2, filter_size=1), AuthorsConv(-1, 2, filter_size=1)
    assert lazy(x, EDGES)[0].shape == (4, 2)
    other.load_state_dict(full.state_dict())
    torch.testing.assert_close(other(x, EDGES)[0], full(x, EDGES)[0])
    assert repr(lazy).startswith("AuthorsConv(\n  3, 2, filter_size=1, code='pyg'")
    for same in (copy.deepcopy(full), pickle.loads(pickle.dumps(full))):
        torch.testing.assert_close(same(x, EDGES)[0], full(x, EDGES)[0])


@pytest.mark.parametrize("code", ["pyg", "authors"])
def test_half_precision_is_summed_in_float32(code):
    conv, x = AuthorsConv(3, 2, filter_size=2, code=code), torch.randn(4, 3)
    out, M = conv(x, EDGES)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(conv(x, EDGES)[0].float(), out, rtol=0.05, atol=0.05)
    half, half_M = conv.bfloat16()(x.bfloat16(), EDGES)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half_M, M)
    torch.testing.assert_close(half.float(), out, rtol=0.05, atol=0.05)


def test_bad_input():
    conv, x = AuthorsConv(3, 2, filter_size=2), torch.randn(4, 3)
    with pytest.raises(ValueError, match="code must be 'pyg' or 'authors', got 'paper'"):
        AuthorsConv(3, 2, filter_size=2, code="paper")
    with pytest.raises(ValueError, match="filter_size must be an integer of at least 0, got -1"):
        AuthorsConv(3, 2, filter_size=-1)
    with pytest.raises(ValueError, match="in_channels = 3 columns"):
        conv(torch.randn(4, 5), EDGES)
    with pytest.raises(ValueError, match="a row per node"):
        conv(torch.randn(4, 1, 3), EDGES)
    with pytest.raises(TypeError, match="x must be a tensor"):
        conv([1.0], EDGES)
    with pytest.raises(TypeError, match=r"x is torch\.float64, but the layer's parameters are torch\.float32"):
        conv(x.double(), EDGES)
    with pytest.raises(TypeError, match="dense and floating point"):
        conv(x.to_sparse(), EDGES)
    with pytest.raises(ValueError, match="on the meta device"):
        conv(x, EDGES.to("meta"))
    twice = Adjacency.of(torch.cat([EDGES, EDGES], 1))
    with pytest.raises(ValueError, match="repeats is 'sum', but the Adjacency was made with repeats='one'"):
        conv(x, twice)
