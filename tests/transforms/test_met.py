import copy
import pickle
from functools import partial
from unittest import mock

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from graphs import TRIANGLE_AND_TAIL, dense_met, graphs
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.nn import APPNP, ChebConv, GATConv, GCNConv, SGConv, SimpleConv, SSGConv

from panconv import MET, METHODS, Adjacency, Boltzmann, EffectiveWalks, Free, METTransform, PowerLaw, load
from panconv.met.entries import at_most
from panconv.paths import PATHS
from panconv.testing import close
from panconv.transforms import met

methods = st.sampled_from(sorted(METHODS))


def data_of(graph, features=2):
    x = torch.randn(graph.num_nodes, features, dtype=torch.float64)
    return Data(x=x, edge_index=graph.edge_index, edge_weight=graph.edge_weight)


def dense(data):
    """The written matrix, [target, source]: each entry is there once, and none is 0."""
    M = torch.zeros(data.num_nodes, data.num_nodes, dtype=torch.float64)
    for (source, target), weight in zip(data.edge_index.T.tolist(), data.edge_weight.tolist(), strict=True):
        assert M[target, source] == 0
        assert weight != 0
        M[target, source] = weight
    return M


def reference(graph, method, L):
    w = torch.full((L + 1,), 1 / (L + 1), dtype=torch.float64)
    return dense_met(graph.dense(), w, method)[0]


# ---------------------------------------------------------------------- what is written


@given(graphs(), methods, st.integers(0, 3))
def test_the_written_matrix_is_m(graph, method, L):
    M = reference(graph, method, L)
    transform = METTransform(L, method)
    close(dense(transform(data_of(graph))), M)
    kept, *lost = transform.dropped
    assert kept == int((M != 0).sum())
    assert lost == [0, 0, 0]
    close(dense(METTransform(L, method, laplacian=True)(data_of(graph))), torch.eye(len(M)).double() - M)


@given(graphs(), methods)
def test_a_plain_weighted_sum_of_messages_is_m_times_x(graph, method):
    data = data_of(graph)
    out = METTransform(2, method)(data)
    close(SimpleConv(aggr="sum")(data.x, out.edge_index, out.edge_weight), reference(graph, method, 2) @ data.x)


@given(graphs(weighted=False, min_nodes=2), st.integers(0, 3))
@pytest.mark.parametrize(
    ("method", "loop", "inside", "outside"),
    [(1, None, None, "row"), (2, None, None, "sym"), (5, 1, "sym", None), (7, 1, "sym", "row")],
)
def test_against_pyg_gdc(method, loop, inside, outside, graph, L):
    """PyG's own diffusion transform, for the four methods that it can express on undirected graphs."""
    last = torch.tensor([[0], [graph.num_nodes - 1]])  # it takes the number of nodes from the edges
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0), last, last.flip(0)], dim=1)
    edges = edges[:, edges[0] != edges[1]].unique(dim=1)
    gdc = T.GDC(
        self_loop_weight=loop,
        normalization_in=inside,
        normalization_out=outside,
        diffusion_kwargs={"method": "coeff", "coeffs": [1 / (L + 1)] * (L + 1)},
        sparsification_kwargs={"method": "threshold", "eps": 0.0},
        exact=True,
    )
    theirs = gdc(Data(edge_index=edges, num_nodes=graph.num_nodes))
    D = torch.zeros(graph.num_nodes, graph.num_nodes)
    D[theirs.edge_index[0], theirs.edge_index[1]] = theirs.edge_attr  # it scales the source's side: rows are ours
    ours = dense(METTransform(L, method)(Data(edge_index=edges, num_nodes=graph.num_nodes)))
    torch.testing.assert_close(ours.float(), D, rtol=1e-5, atol=1e-6)


def test_weights():
    data = Data(edge_index=TRIANGLE_AND_TAIL, num_nodes=4)
    trained = Boltzmann([0.0, 1.0, 2.0])
    transform = METTransform(weights=trained)
    expected = METTransform(weights=trained().tolist())(data).edge_weight
    with torch.no_grad():
        trained.energies.zero_()  # trained on: the transform keeps the weights it was given
    out = transform(data)
    torch.testing.assert_close(out.edge_weight, expected)
    assert not out.edge_weight.requires_grad
    assert trained.energies.requires_grad
    torch.testing.assert_close(METTransform(weights="boltzmann")(data).edge_weight, METTransform()(data).edge_weight)
    # Trained without constraint they would be refused under Z; held as they are they need only keep Z positive.
    assert METTransform(weights=Free([1.0, -0.1, 0.5]))(data).edge_weight.min() < 0.2


def test_edge_weight_is_read_and_no_gradient_is_kept():
    weight = torch.rand(8, requires_grad=True)
    data = Data(edge_index=TRIANGLE_AND_TAIL, edge_weight=weight, num_nodes=4)
    assert not METTransform()(data).edge_weight.requires_grad
    doubled = Data(edge_index=TRIANGLE_AND_TAIL, edge_weight=2 * weight.detach(), num_nodes=4)
    ours, theirs = (METTransform(weights=[0, 0, 1], method=5)(d).edge_weight for d in (data, doubled))
    assert not torch.allclose(ours, theirs)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtype_is_that_of_the_features(dtype):
    data = Data(x=torch.ones(4, 1, dtype=dtype), edge_index=TRIANGLE_AND_TAIL)
    assert METTransform()(data).edge_weight.dtype == dtype
    assert METTransform()(Data(edge_index=TRIANGLE_AND_TAIL, num_nodes=4)).edge_weight.dtype == torch.float32


# ---------------------------------------------------------------------- what is dropped


def shares(M, kept):
    """The share of |M| that went, and the largest of a row."""
    size, lost = np.abs(M), np.abs(M) * ~kept
    rows = [lost[i].sum() / size[i].sum() for i in range(len(M)) if size[i].sum()]
    return lost.sum() / size.sum() if size.sum() else 0.0, max(rows, default=0.0)


def assert_dropped(transform, M, kept):
    report = transform.dropped
    assert (report.kept, report.dropped) == (kept.sum(), (M != 0).sum() - kept.sum())
    np.testing.assert_allclose(report[2:], shares(M, kept), rtol=1e-9, atol=1e-12)


@given(graphs(max_nodes=9), methods, st.integers(1, 4))
def test_top_k_against_a_loop_over_rows(graph, method, k):
    M = reference(graph, method, 2).numpy()
    kept = np.zeros(M.shape, dtype=bool)
    for i, row in enumerate(np.abs(M).astype(np.float32)):  # of equal entries the smaller sender: a stable sort
        best = np.argsort(-row, kind="stable")[:k]
        kept[i, best] = row[best] > 0
    transform = METTransform(2, method, sparsify=("top_k", k))
    close(dense(transform(data_of(graph))), torch.from_numpy(M * kept))
    assert_dropped(transform, M, kept)


@given(graphs(max_nodes=9), methods, st.floats(0, 0.6))
def test_threshold_against_a_mask(graph, method, eps):
    M = reference(graph, method, 2).numpy()
    kept = (np.abs(M) >= eps) & (M != 0)
    if np.any(np.isclose(np.abs(M), eps, rtol=1e-9)):
        return  # which side of the bound rounding puts it is nobody's business
    transform = METTransform(2, method, sparsify=("threshold", eps))
    close(dense(transform(data_of(graph))), torch.from_numpy(M * kept))
    assert_dropped(transform, M, kept)


@given(graphs(max_nodes=9), methods, st.integers(0, 3))
@pytest.mark.parametrize("sparsify", [("top_k", 2), ("threshold", 0.15)])
def test_in_blocks_of_rows_it_comes_out_the_same(sparsify, graph, method, L):
    """What a large graph takes, forced on a small one: three or fewer rows of nine at a time."""
    data, whole, parts = data_of(graph), *(METTransform(L, method, sparsify=sparsify) for _ in range(2))
    expected = whole(data)
    bound = at_most(Adjacency.of(graph.edge_index, num_nodes=graph.num_nodes), L)
    assert whole.dropped.kept + whole.dropped.dropped <= bound
    with mock.patch.multiple(met, _ENTRIES=0, _BLOCK=27):
        out = parts(data)
    assert torch.equal(out.edge_index, expected.edge_index)
    close(out.edge_weight, expected.edge_weight)
    np.testing.assert_allclose(parts.dropped, whole.dropped, rtol=1e-9)


def test_dropped_of_a_star():
    """A hub with d leaves, method 1, L = 1: the hub's row is d + 1 entries of 1/(d+1), a leaf's two of 1/2."""
    d, k = 9, 4
    leaves = torch.arange(1, d + 1)
    edges = torch.stack([torch.cat([leaves, torch.zeros_like(leaves)]), torch.cat([torch.zeros_like(leaves), leaves])])
    data = Data(edge_index=edges, num_nodes=d + 1)
    transform = METTransform(L=1, method=1, sparsify=("top_k", k))
    out = transform(data)
    lost = (d + 1 - k) / (d + 1)
    assert transform.dropped[:2] == (2 * d + k, d + 1 - k)
    assert transform.dropped.largest_row_share == pytest.approx(lost)
    assert transform.dropped.share == pytest.approx(lost / (d + 1))
    assert out.edge_index[0, out.edge_index[1] == 0].tolist() == [0, 1, 2, 3]  # a tie of ten: the smaller senders
    assert "dropped=6.00 % of |M|" in repr(transform)
    # The Laplacian of what was kept.
    laplacian = METTransform(L=1, method=1, sparsify=("top_k", k), laplacian=True)(data)
    torch.testing.assert_close(dense(laplacian).float(), torch.eye(d + 1) - dense(out).float())


def test_ties_do_not_depend_on_the_order_of_edges():
    data = load("cora")
    shuffled = data.clone()
    shuffled.edge_index = data.edge_index[:, torch.randperm(data.num_edges)]
    a, b = (METTransform(L=3, sparsify=("top_k", 8))(each) for each in (data, shuffled))
    assert torch.equal(a.edge_index, b.edge_index)
    assert torch.equal(a.edge_weight, b.edge_weight)
    assert torch.bincount(a.edge_index[1]).max() == 8


# ---------------------------------------------------------------------- as a PyG transform


def test_the_graph_given_is_left_alone_and_the_rest_of_it_kept():
    data = Data(x=torch.randn(6, 3), edge_index=TRIANGLE_AND_TAIL, y=torch.arange(6))  # nodes 4 and 5 are isolated
    before = copy.deepcopy(data)
    out = T.Compose([T.ToUndirected(), METTransform(), T.NormalizeFeatures()])(data)
    assert torch.equal(data.edge_index, before.edge_index)
    assert "edge_weight" not in data
    assert torch.equal(out.y, data.y)
    assert out.num_nodes == 6
    assert dense(out)[4:, 4:].equal(torch.eye(2).double())
    nameless = Data(edge_index=TRIANGLE_AND_TAIL)
    with pytest.warns(UserWarning, match="infer 'num_nodes'"):  # PyG's own, on reading it
        out = METTransform(sparsify=("threshold", 2))(nameless)
    assert (out.num_nodes, out.num_edges) == (4, 0)
    transform = pickle.loads(pickle.dumps(METTransform(weights=[1, 2, 3])))
    assert transform(data).edge_weight.equal(METTransform(weights=[1, 2, 3])(data).edge_weight)


def test_batches():
    generator = torch.Generator().manual_seed(1)
    several = [
        Data(x=torch.randn(n, 2), edge_index=torch.randint(0, n, (2, 2 * n), generator=generator)) for n in (3, 5, 4)
    ]
    transform = METTransform(sparsify=("top_k", 3))
    one_by_one = [transform(data) for data in several]
    of_batch = transform(Batch.from_data_list(several))
    batched = Batch.from_data_list(one_by_one)
    for key in ("edge_index", "edge_weight", "batch", "ptr"):
        torch.testing.assert_close(of_batch[key], batched[key])
    for apart, alone in zip(of_batch.to_data_list(), one_by_one, strict=True):
        assert torch.equal(apart.edge_index, alone.edge_index)
        torch.testing.assert_close(apart.edge_weight, alone.edge_weight)
    (loaded,) = DataLoader(one_by_one, batch_size=3)
    assert torch.equal(loaded.edge_index, batched.edge_index)


@pytest.mark.parametrize(
    "layer",
    [
        ChebConv(3, 2, K=3),
        GCNConv(3, 2),
        SGConv(3, 2, K=2),
        APPNP(K=4, alpha=0.1),
        GATConv(3, 2),
        GATConv(3, 2, edge_dim=1),
        SSGConv(3, 2, alpha=0.1, K=4),
    ],
    ids=lambda layer: str(layer)[:10],
)
def test_other_models_run_on_it_unchanged(layer):
    data = Data(x=torch.randn(6, 3), edge_index=TRIANGLE_AND_TAIL)
    for transform in (METTransform(), METTransform(method=5, sparsify=("top_k", 2)), METTransform(L=3, method=7)):
        out = transform(data)
        weighted = not isinstance(layer, GATConv) or layer.edge_dim
        y = layer(out.x, out.edge_index, *[out.edge_weight] * bool(weighted))
        assert y.size(0) == 6
        assert torch.isfinite(y).all()


@given(graphs(weighted=False, min_nodes=1))
def test_what_gcn_makes_of_m(graph):
    """Of an undirected graph: method 2 with L = 1 is GCN's own matrix, and GCN leaves a row-stochastic M as it is."""
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
    edges = edges[:, edges[0] != edges[1]].unique(dim=1)
    data = Data(x=torch.randn(graph.num_nodes, 3), edge_index=edges)
    conv = GCNConv(3, 2)
    M = METTransform(L=1, method=2)(data)
    conv.normalize = False
    on_m = conv(M.x, M.edge_index, M.edge_weight)
    conv.normalize = True
    torch.testing.assert_close(on_m, conv(data.x, edges), rtol=1e-4, atol=1e-5)
    M = METTransform(L=3, method=7)(data)
    applied = dense(M).float() @ conv.lin(data.x)
    torch.testing.assert_close(conv(M.x, M.edge_index, M.edge_weight), applied, rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"L": -1}, ValueError, "L must be at least 0"),
        ({"method": 0}, ValueError, "method must be one of"),
        ({"paths": "trails"}, ValueError, "paths must be one of walks"),
        ({"weights": [1.0, 2.0]}, ValueError, r"weights must have L\+1 = 3 entries"),
        ({"weights": torch.ones(3, 2)}, ValueError, "weights must be those of one trial"),
        ({"sparsify": ("top_k", 0)}, ValueError, r"sparsify=\('top_k', k\): k must be an integer of at least 1, got 0"),
        ({"sparsify": ("top_k", 1.5)}, ValueError, "k must be an integer of at least 1, got 1.5"),
        ({"sparsify": ("threshold", -1e-3)}, ValueError, "eps must be a finite number of at least 0, got -0.001"),
        ({"sparsify": ("threshold", float("nan"))}, ValueError, "eps must be a finite number"),
        ({"sparsify": ("threshold", "1")}, ValueError, "eps must be a finite number"),
        ({"sparsify": ("best", 3)}, ValueError, "sparsify must be None, .*got \\('best', 3\\)"),
        ({"sparsify": 0.1}, ValueError, "sparsify must be None, .*got 0.1"),
        ({"sparsify": ("top_k",)}, ValueError, "sparsify must be None"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        METTransform(**options)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (Data(x=torch.ones(2, 1)), ValueError, "data.edge_index is missing"),
        (HeteroData(), TypeError, "one kind of node and edge, got HeteroData"),
        (TRIANGLE_AND_TAIL, TypeError, "data must be a PyG Data"),
        (
            Data(edge_index=TRIANGLE_AND_TAIL, edge_attr=torch.ones(8, 2), num_nodes=4),
            ValueError,
            "data.edge_attr has a value for each edge of A.*del data.edge_attr",
        ),
        (Data(edge_index=TRIANGLE_AND_TAIL, edge_type=torch.ones(8), num_nodes=4), ValueError, "data.edge_type has"),
        (Data(edge_index=TRIANGLE_AND_TAIL, x=torch.ones(2, 1)), ValueError, "edge_index names node 3"),
        (
            Data(edge_index=TRIANGLE_AND_TAIL, edge_weight=torch.full((8,), torch.nan), num_nodes=4),
            ValueError,
            "edge_weight must be finite",
        ),
    ],
)
def test_bad_graphs(data, error, message):
    with pytest.raises(error, match=message):
        METTransform()(data)


@pytest.mark.parametrize("paths", ["shortest", "self_avoiding", "effective", partial(EffectiveWalks, width=0.25)])
def test_every_family_of_paths(paths):
    edges = torch.tensor([[0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2]])
    data = Data(edge_index=edges, edge_weight=torch.tensor([1.0, 1.0, 2.0, 2.0, 0.5, 0.5, 1.0, 1.0]), num_nodes=4)
    written = METTransform(2, 1, paths=paths)(data)
    adj = Adjacency.from_edge_index(edges, data.edge_weight)
    family = PATHS[paths] if isinstance(paths, str) else paths
    weights = PowerLaw(2, trained=False) if paths not in ("shortest", "self_avoiding") else [1.0, 1.0, 1.0]
    found = torch.zeros(4, 4).index_put((written.edge_index[1], written.edge_index[0]), written.edge_weight)
    torch.testing.assert_close(found, MET(family(adj, 2), weights, 1).to_dense())


def test_numbers_are_taken_in_float64():
    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert float(METTransform(1, 5, [0.1, 0.9]).matrix(Adjacency.of(path))[2][0]) == pytest.approx(0.55, abs=1e-15)


def test_a_matrix_that_would_not_fit(monkeypatch):
    monkeypatch.setattr("panconv.transforms.met.free_bytes", lambda device: 100)
    with pytest.raises(ValueError, match="use a smaller L, or sparsify"):
        METTransform(2)(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
