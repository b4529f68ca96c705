import copy
import io
import pickle
from types import SimpleNamespace

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_met, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import GCNConv, SAGPooling, global_mean_pool
from torch_geometric.nn.pool import PANPooling
from torch_geometric.nn.pool.connect.filter_edges import filter_adj
from torch_geometric.transforms import ToSparseTensor

from panconv import MET, METHODS, Adjacency, PANConv, PANPool, Walks
from panconv.graph import block_diagonal
from panconv.graph.block import Block
from panconv.nn import num_hops
from panconv.nn.pan_pool import CENTRALITIES, EDGES
from panconv.testing import assert_equivariant, assert_gradients, close

PATHS, N, F = TRIANGLE_AND_TAIL, 4, 3
EVERY = [(centrality, edges) for centrality in CENTRALITIES for edges in EDGES]
every = pytest.mark.parametrize(("centrality", "edges"), EVERY)


def stirred(pool):
    """With parameters that are nobody's start, in float64."""
    with torch.no_grad():
        for p in pool.double().parameters():
            p.add_(0.3 * torch.randn_like(p))
    return pool


def features(N):
    return torch.randn(N, F, dtype=torch.float64)


def dense(edges, weight, K):
    """The matrix of a graph of K nodes in either form, repeated edges added."""
    if isinstance(edges, Adjacency):
        return edges.to_dense(torch.float64)
    weight = torch.ones(edges.size(1)) if weight is None else weight
    return torch.zeros(K, K, dtype=torch.float64).index_put((edges[1], edges[0]), weight.double(), accumulate=True)


def molecules():
    """Graphs of many sizes, one without edges."""
    ring = torch.stack([torch.arange(5), (torch.arange(5) + 1) % 5])
    made = [PATHS, torch.cat([ring, ring.flip(0)], 1), torch.empty(2, 0, dtype=torch.long), torch.tensor([[0], [1]])]
    return [Data(x=features(n), edge_index=e, num_nodes=n) for e, n in zip(made, (4, 6, 3, 2), strict=True)]


# ---------------------------------------------------------------------- what it computes


@settings(max_examples=12)
@given(graphs(min_nodes=1), st.sampled_from(CENTRALITIES), st.sampled_from(sorted(METHODS)))
def test_the_score_is_its_formula(graph, centrality, method):
    pool, x = stirred(PANPool(F, centrality=centrality, method=method)), features(graph.num_nodes)
    c = 0
    if centrality != "none":
        M, _ = dense_met(graph.dense(), pool.weights().detach(), method)
        c = {"rows": M.sum(1), "columns": M.sum(0), "diagonal": M.diagonal()}[centrality]
    expected = torch.tanh(pool.beta[0] * (x @ pool.p) + pool.beta[1] * c)
    close(pool.scores(x, graph.edge_index, graph.edge_weight), expected)


@settings(max_examples=12)
@given(graphs(), st.sampled_from([0.3, 0.5, 1.0]), st.sampled_from([1.0, 2.5]))
def test_what_is_returned_with_the_edges_of_pyg(graph, ratio, multiplier):
    pool, x = stirred(PANPool(F, ratio, multiplier=multiplier)), features(graph.num_nodes)
    scores = pool.scores(x, graph.edge_index, graph.edge_weight)
    kept, edges, weight, batch, perm, score = pool(x, graph.edge_index, graph.edge_weight)
    close(score, scores[perm])
    close(kept, multiplier * x[perm] * score.unsqueeze(1))
    assert score.tolist() == sorted(scores.tolist(), reverse=True)[: len(perm)]
    assert batch.tolist() == [0] * len(perm)
    theirs = filter_adj(graph.edge_index, graph.edge_weight, perm, num_nodes=graph.num_nodes)
    assert torch.equal(edges, theirs[0])
    assert (weight is None) == (theirs[1] is None)
    assert weight is None or torch.equal(weight, theirs[1])
    adj = Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes)
    left = pool(x, adj)
    assert torch.equal(left[4], perm)
    assert left[2] is None
    close(left[1].to_dense(torch.float64), adj.to_dense(torch.float64)[perm][:, perm])


@settings(max_examples=12)
@given(graphs(min_nodes=1), st.sampled_from(sorted(METHODS)))
def test_edges_that_are_paths_are_m_between_the_nodes(graph, method):
    pool, x = stirred(PANPool(F, edges="paths", L=3, method=method)), features(graph.num_nodes)
    M = pool.met(Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes)).to_dense(torch.float64)
    _, edges, weight, _, perm, _ = pool(x, graph.edge_index, graph.edge_weight)
    close(dense(edges, weight, len(perm)), M[perm][:, perm])
    left = pool(x, Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes))
    close(left[1].to_dense(torch.float64), M[perm][:, perm])


def test_as_pyg_pools_by_the_columns_of_m():
    """PyG's own layer, with a stand-in for the matrix of torch-sparse that it takes, and without the random sign of
    its selection."""
    theirs, ours = PANPooling(F).double(), PANPool(F, centrality="columns", edges="paths", method=5).double()
    nn.init.ones_(theirs.select.weight)
    x, batch = features(6), torch.tensor([0, 0, 0, 0, 1, 1])
    edges = torch.cat([PATHS[:, 1:], torch.tensor([[4], [5]])], 1)
    M = ours.met(Adjacency.of(edges)).to_sparse(torch.float64).detach()
    expected = theirs(x, SimpleNamespace(coo=lambda: (*M.indices(), M.values())), batch)
    found = ours(x, edges, batch=batch)
    for a, b in zip(found[3:] + found[:1], expected[3:] + expected[:1], strict=True):
        close(a, b)
    close(dense(*found[1:3], 3), dense(*expected[1:3], 3))


# ---------------------------------------------------------------------- laws


@every
def test_renumbered_nodes_are_kept_alike(centrality, edges):
    pool, x = stirred(PANPool(F, centrality=centrality, edges=edges)), features(N)
    weight = torch.rand(PATHS.size(1), dtype=torch.float64) + 0.5
    assert_equivariant(pool.scores, x, PATHS, weight)
    node, edge = torch.randperm(N), torch.randperm(PATHS.size(1))
    plain, moved = pool(x, PATHS, weight), pool(x[node], node.argsort()[PATHS][:, edge], weight[edge])
    close(moved[0], plain[0])
    close(moved[5], plain[5])
    assert torch.equal(node[moved[4]], plain[4])
    close(dense(*moved[1:3], 2), dense(*plain[1:3], 2))


@every
def test_a_batch_is_its_graphs_one_by_one(centrality, edges):
    pool, many = stirred(PANPool(F, centrality=centrality, edges=edges)), molecules()
    batch = Batch.from_data_list(many)
    x, index, weight, graph, perm, score = pool(batch.x, batch.edge_index, batch=batch.batch)
    alone = [pool(data.x, data.edge_index) for data in many]
    close(x, torch.cat([each[0] for each in alone]))
    close(score, torch.cat([each[5] for each in alone]))
    assert perm.tolist() == [i + int(first) for each, first in zip(alone, batch.ptr, strict=False) for i in each[4]]
    assert graph.tolist() == [0, 0, 1, 1, 1, 2, 2, 3]
    close(dense(index, weight, 8), torch.block_diag(*(dense(*each[1:3], len(each[0])) for each in alone)))
    joined = pool(
        batch.x, block_diagonal([Adjacency.of(d.edge_index, None, d.num_nodes) for d in many]), None, graph_of(many)
    )
    assert torch.equal(joined[4], perm)
    close(joined[1].to_dense(torch.float64), dense(index, weight, 8))


def graph_of(many):
    return torch.cat([torch.full((d.num_nodes,), i) for i, d in enumerate(many)])


@every
def test_gradients_reach_everything(centrality, edges):
    method = 5 if centrality == "columns" else 2
    pool, x = stirred(PANPool(F, centrality=centrality, edges=edges, method=method)), features(N).requires_grad_()
    edge_weight = (torch.rand(PATHS.size(1), dtype=torch.float64) + 0.5).requires_grad_()

    def out():
        kept, _, weight, *_ = pool(x, PATHS, edge_weight)
        return torch.cat([kept.flatten(), weight])

    assert_gradients(out, x, edge_weight, *pool.parameters())
    out().sum().backward()
    assert all(
        p.grad is not None and bool(p.grad.any())
        for p in [pool.p, *([] if pool.weights is None else pool.weights.parameters())]
    )


def test_nodes_that_are_alike_tie_and_the_first_is_kept():
    """On a ring all nodes are one another's images: rounding must not choose among them."""
    ring = torch.stack([torch.arange(9), (torch.arange(9) + 1) % 9])
    edges = torch.cat([ring, ring.flip(0)], 1)
    for centrality in CENTRALITIES:
        for method in METHODS:
            pool = PANPool(F, centrality=centrality, method=method, L=3)
            for order in (torch.arange(18), torch.randperm(18)):
                assert pool(torch.full((9, F), 0.1), edges[:, order])[4].tolist() == [0, 1, 2, 3, 4]


# ---------------------------------------------------------------------- how it is called


def test_m_of_a_layer_that_has_run():
    conv, x = PANConv(F, F, L=3, method=1), torch.randn(N, F)
    h, M = conv(x, PATHS, return_met=True)
    for centrality, edges in EVERY[:-2]:
        own = PANPool(F, centrality=centrality, edges=edges, L=3, method=1, weights=conv.weights)
        lent = PANPool(F, centrality=centrality, edges=edges, L=None)
        assert set(dict(lent.named_parameters())) == {"p", "beta"}
        expected = own(h, PATHS)
        for found in (lent(h, PATHS, met=M), lent(h, met=M), lent(h, Adjacency.of(PATHS), met=M)):
            assert torch.equal(found[4], expected[4])
            torch.testing.assert_close(found[0], expected[0])
            torch.testing.assert_close(dense(*found[1:3], 2), dense(*expected[1:3], 2))
        assert isinstance(lent(h, met=M)[1], Adjacency)
        loss = lent(h, PATHS, met=M)[0].sum()
        assert torch.autograd.grad(loss, conv.weights.energies, retain_graph=True)[0].any()


def test_every_form_of_a_graph():
    pool, x = PANPool(F), torch.randn(N, F)
    expected = pool(x, PATHS)
    for form in (PATHS.int(), PATHS.numpy(), EdgeIndex(PATHS, sparse_size=(N, N))):
        found = pool(x, form)
        assert torch.equal(found[1], expected[1])
        assert type(found[1]) is torch.Tensor
    data = ToSparseTensor(layout=torch.sparse_csr, remove_edge_index=False)(Data(x=x, edge_index=PATHS))
    for form in (data.adj_t, Adjacency.of(PATHS), [Adjacency.of(PATHS)]):
        found = pool(x, form)
        assert torch.equal(found[4], expected[4])
        close(found[1].to_dense(), dense(*expected[1:3], 2).float())
    named = pool(x=x, edge_index=PATHS, edge_weight=[1.0] * 8, batch=torch.zeros(N, dtype=torch.long))
    torch.testing.assert_close(named[0], expected[0])


def test_loops_and_repeats_are_read_as_they_are_to_be():
    edges = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 1, 0, 2, 1, 2]])
    for reading in ({}, {"loops": "remaining"}, {"repeats": "sum"}):
        pool, x = PANPool(F, method=5, **reading).double(), features(3)
        adj = Adjacency.from_edge_index(edges, **reading)
        close(pool.scores(x, edges), pool.scores(x, adj))
        assert pool(x, edges)[1].size(1) == filter_adj(edges, None, pool(x, edges)[4])[0].size(1)
        left = pool(x, adj)[1]
        assert (left.loops, left.repeats) == (adj.loops, adj.repeats)
        assert PANPool(F, edges="paths", **reading)(x.float(), adj)[1].loops == adj.loops


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_little_or_nothing_to_pool(centrality, edges):
    pool, none = PANPool(F, centrality=centrality, edges=edges), torch.empty(2, 0, dtype=torch.long)
    for graph in (none, Adjacency.of(none, None, 0)):
        x, left, *_, perm, score = pool(torch.empty(0, F), graph)
        assert x.shape == (0, F)
        assert perm.numel() == score.numel() == 0
        assert left.shape == (2, 0) if isinstance(left, torch.Tensor) else left.num_nodes == 0
    x, left, *_ = pool(torch.randn(1, F), none)
    assert x.shape == (1, F)
    batch = torch.tensor([3, 3, 3, 7])  # graphs 0, 1, 2, 4, 5, 6 have no nodes
    assert pool(torch.randn(4, F), none, batch=batch)[3].tolist() == [3, 3, 7]


def test_a_number_of_nodes():
    batch = torch.tensor([0] * 4 + [1] * 2)
    _, _, _, graph, *_ = PANPool(F, number=3)(torch.randn(6, F), PATHS, batch=batch)
    assert graph.tolist() == [0, 0, 0, 1, 1]
    assert PANPool(F, 1.0)(torch.randn(6, F), PATHS, batch=batch)[3].tolist() == [0] * 4 + [1] * 2


def test_a_batch_need_not_be_sorted():
    pool, x, batch = PANPool(F, centrality="diagonal", edges="paths").double(), features(8), torch.tensor([0, 1] * 4)
    edges = torch.cat([2 * PATHS, 2 * PATHS + 1], 1)
    found = pool(x, edges, batch=batch)
    for g in (0, 1):
        alone = pool(x[g::2], PATHS)
        close(found[0][2 * g : 2 * g + 2], alone[0])
        close(dense(*found[1:3], 4)[2 * g : 2 * g + 2, 2 * g : 2 * g + 2], dense(*alone[1:3], 2))


@pytest.mark.parametrize(
    ("given_", "act"),
    [("relu", torch.relu), (torch.sin, torch.sin), (None, lambda s: s), (nn.PReLU(), nn.PReLU().double())],
)
def test_nonlinearities(given_, act):
    x, plain = features(N), PANPool(F, nonlinearity=None).double()
    pool = PANPool(F, nonlinearity=given_).double()
    close(pool.scores(x, PATHS), act(plain.scores(x, PATHS)))
    pool.reset_parameters()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@every
def test_other_dtypes(dtype, centrality, edges):
    pool, x = PANPool(F, centrality=centrality, edges=edges), torch.randn(N, F).to(dtype)
    expected = pool(x.float(), PATHS, torch.ones(8))
    found = copy.deepcopy(pool).to(dtype)(x, PATHS, torch.ones(8))
    assert torch.equal(found[4], expected[4])
    for a, b in ((found[0], expected[0]), (found[5], expected[5])):
        assert a.dtype == dtype
        torch.testing.assert_close(a.float(), b, rtol=2e-2, atol=2e-2)


def test_autocast():
    pool, conv, x = PANPool(F, edges="paths", centrality="diagonal"), nn.Linear(F, F), torch.randn(N, F)
    with torch.autocast("cpu", torch.bfloat16):
        kept, edges, weight, *_ = pool(conv(x), PATHS)
        assert kept.dtype == torch.bfloat16
        GCNConv(F, 2)(kept, edges, weight).sum().backward()
    assert all(p.grad is not None for p in pool.parameters())


def test_it_runs_under_the_compiler():
    pool, x = PANPool(F, centrality="diagonal", edges="paths"), torch.randn(N, F)
    expected = pool(x, PATHS)
    compiled = torch.compile(pool, backend="eager")
    for graph in (PATHS, Adjacency.of(PATHS)):
        found = compiled(x, graph)
        assert torch.equal(found[4], expected[4])
        torch.testing.assert_close(found[0], expected[0])


# ---------------------------------------------------------------------- a module among others


def test_parameters_copies_and_files():
    pool, x = stirred(PANPool(F, centrality="columns", method=5)), features(N)
    assert {name: tuple(p.shape) for name, p in pool.named_parameters()} == {"p": (F,), "beta": (2,), "weights.k": (3,)}
    assert [set(dict(PANPool(F, centrality="none").named_parameters())), len(list(PANPool(F).parameters()))] == [
        {"p", "beta"},
        3,
    ]
    other, state = PANPool(F, centrality="columns", method=5).double(), io.BytesIO()
    torch.save(pool.state_dict(), state)
    state.seek(0)
    other.load_state_dict(torch.load(state, weights_only=True))
    for twin in (other, copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))):
        close(twin.scores(x, PATHS), pool.scores(x, PATHS))
    other.reset_parameters()
    assert other.p.tolist() == [1] * F
    assert other.beta.tolist() == [0.5, 0.5]
    torch.testing.assert_close(other.weights().float(), torch.full((3,), 1 / 3))


def test_a_repr_says_what_it_is():
    assert repr(PANPool(8)).startswith(
        "PANPool(\n  8, ratio=0.5, centrality='rows', edges='induced', L=2, method=2, paths='walks'"
    )
    assert repr(PANPool(8, L=None)).startswith("PANPool(\n  8, ratio=0.5, centrality='rows', edges='induced', L=None\n")
    plain = repr(PANPool(8, number=3, centrality="none", multiplier=2.0, repeats="sum"))
    assert plain.startswith(
        "PANPool(\n  8, number=3, centrality='none', edges='induced', repeats='sum', multiplier=2.0\n"
    )


@every
def test_it_trains_among_layers_of_pyg(centrality, edges):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.pool = GCNConv(F, 8), PANPool(8, 0.8, centrality=centrality, edges=edges)
            self.second, self.other, self.third = GCNConv(8, 8), SAGPooling(8, 0.8), PANConv(8, 8)
            self.out = nn.Linear(8, 2)

        def forward(self, x, edge_index, batch):
            x = self.first(x, edge_index).relu()
            x, edge_index, weight, batch, _, _ = self.pool(x, edge_index, None, batch)
            x = self.second(x, edge_index, weight).relu()
            x, edge_index, weight, batch, _, _ = self.other(x, edge_index, weight, batch)
            return self.out(global_mean_pool(self.third(x, edge_index, weight), batch))

    torch.manual_seed(1)
    model, batch, y = Model(), Batch.from_data_list(molecules()), torch.tensor([0, 1, 0, 1])
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.05), []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch.x.float(), batch.edge_index, batch.batch), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    assert all(p.grad is not None for p in model.parameters())
    assert num_hops(model) == float("inf")


def test_what_explainers_mask():
    pool, x = PANPool(F, method=5, centrality="columns"), torch.randn(N, F)
    mask = torch.full((8,), 0.5, requires_grad=True)
    plain = pool.scores(x, PATHS)
    set_masks(pool, mask, PATHS, apply_sigmoid=False)
    masked = pool.scores(x, PATHS)
    clear_masks(pool)
    assert not torch.allclose(masked, plain)
    masked.sum().backward()
    assert bool(mask.grad.any())
    torch.testing.assert_close(pool.scores(x, PATHS), plain)


# ---------------------------------------------------------------------- what is refused

MADE = [
    ({"channels": 0}, "channels must be an integer of at least 1, got 0"),
    ({"ratio": 0}, "ratio must be above 0 and at most 1, got 0: a number of nodes goes by number="),
    ({"ratio": 5}, "ratio must be above 0 and at most 1, got 5"),
    ({"ratio": "half"}, "ratio must be above 0 and at most 1, got 'half'"),
    ({"number": 0}, "number must be an integer of at least 1, got 0"),
    ({"centrality": "row"}, "centrality must be one of rows, columns, diagonal, none, got 'row': did you mean 'rows'"),
    ({"edges": "path"}, "edges must be one of induced, paths, got 'path': did you mean 'paths'"),
    ({"diagonal": "lanczos"}, "diagonal must be one of auto, exact, hutchinson, got 'lanczos'"),
    ({"multiplier": float("nan")}, "multiplier must be a finite number, got nan"),
    ({"method": 12}, "method must be one of"),
    ({"method": 2, "weights": "free"}, "method 2 divides by the partition function"),
    ({"L": -1}, "L must be at least 0"),
    ({"weights": torch.ones(3, 2)}, "weights must be those of one trial"),
    ({"nonlinearity": "tahn"}, "nonlinearity must be the name of an activation of torch.nn"),
    ({"loops": "none"}, "loops must be 'add' or 'remaining'"),
]


@pytest.mark.parametrize(("words", "message"), MADE)
def test_what_cannot_be_made(words, message):
    with pytest.raises(ValueError, match=message) as error:
        PANPool(**{"channels": F, **words})
    assert "\n" not in str(error.value)


def test_what_it_cannot_be_called_with():
    pool, lent, x = PANPool(F, centrality="diagonal"), PANPool(F, L=None), torch.randn(N, F)
    M = MET(Walks(PATHS, 2), None, 2)
    calls = [
        (lambda: pool([1.0], PATHS), TypeError, r"x must be a dense tensor \(N, 3\), got list"),
        (lambda: pool(x.to_sparse(), PATHS), TypeError, "x must be a dense tensor .* got torch.sparse_coo"),
        (lambda: pool(x[:, :2], PATHS), ValueError, r"x must be \(N, 3\), a row per node, got shape \(4, 2\)"),
        (lambda: pool(x.unsqueeze(1), PATHS), ValueError, r"got shape \(4, 1, 3\)"),
        (lambda: pool(x.double(), PATHS), TypeError, "x is torch.float64, but the layer's parameters are"),
        (lambda: pool(x.long(), PATHS), TypeError, "x must hold floating-point numbers"),
        (lambda: pool(x[:3], PATHS), ValueError, "edge_index names node 3, but there are only 3 nodes"),
        (lambda: pool(x[:3], Adjacency.of(PATHS)), ValueError, "the graph has 4 nodes, but x has 3 rows"),
        (lambda: pool(x, PATHS, torch.ones(8, 2)), ValueError, r"edge_weight must have shape \(8,\)"),
        (lambda: pool(x, PATHS, edge_attr=torch.ones(8, 2)), TypeError, "edge_attr .*torch_geometric.utils.subgraph"),
        (lambda: pool(x, PATHS, size=3), TypeError, "size is nothing that PANPool takes"),
        (lambda: pool(x, PATHS, batch=torch.zeros(3).long()), ValueError, r"batch must have shape \(4,\)"),
        (lambda: pool(x, PATHS, batch=torch.arange(4)), ValueError, "batch puts nodes 0 and 1 into graphs 0 and 1"),
        (lambda: pool(x), ValueError, "edge_index must be given"),
        (lambda: pool(x, PATHS, met=M), ValueError, "met is given, but the pool has an M of its own"),
        (lambda: lent(x, PATHS), ValueError, "met must be given, since the pool was made with L=None"),
        (lambda: lent(x, PATHS, met=torch.eye(4)), TypeError, "met must be a MET.*got Tensor"),
        (lambda: lent(x[:3], met=M), ValueError, "met is on 4 nodes, but x has 3 rows"),
        (lambda: lent(x, None, torch.ones(8), met=M), ValueError, "edge_weight goes with an edge_index"),
        (lambda: lent(x, met=MET(Walks(PATHS, 0), torch.ones(1, 2), 5)), ValueError, "met must be that of one trial"),
        (lambda: pool.to("meta")(x.to("meta"), PATHS), ValueError, "x is on the meta device"),
    ]
    for call, kind, message in calls:
        with pytest.raises(kind, match=message) as error:
            call()
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=r"nonlinearity must give a number per node, \(4,\), got shape \(\)"):
        PANPool(F, nonlinearity=torch.sum)(x, PATHS)
    with pytest.raises(ValueError, match="block of a larger graph"):
        PANPool(F, centrality="none")(x, Block(Adjacency.of(PATHS).pattern, None))
    with pytest.raises(ValueError, match="TorchScript"):
        torch.jit.trace(PANPool(F), (x, PATHS))
    with pytest.raises(ValueError, match=r"which torch.export cannot follow"):
        torch.export.export(PANPool(F), (x, Adjacency.of(PATHS)))


@pytest.mark.parametrize("form", ["edge_index", "Adjacency", "met"])
@every
def test_an_edge_between_two_graphs_of_a_batch_is_refused(centrality, edges, form):
    apart, batch, x = (
        torch.cat([PATHS, torch.tensor([[4, 5], [5, 4]])], 1),
        torch.tensor([0] * 4 + [1] * 2),
        features(6),
    )
    across = torch.cat([apart, torch.tensor([[3], [4]])], 1)
    pool = PANPool(F, centrality=centrality, edges=edges, L=None if form == "met" else 2).double()

    def called(graph):
        if form == "met":
            return pool(x, batch=batch, met=MET(Walks(graph, 2), None, 2))
        return pool(x, graph if form == "edge_index" else Adjacency.of(graph), batch=batch)

    assert len(called(apart)[4]) == 3
    with pytest.raises(ValueError, match=r"batch puts nodes 3 and 4 into graphs 0 and 1, but an edge joins them: give"):
        called(across)
    with pytest.raises(ValueError, match="an edge joins them"):
        pool.scores(x, batch=batch, **given_to(pool, across))
    if form == "met":  # beside a graph of its own, each of the two is looked at
        for graph, other in ((apart, across), (across, apart)):
            with pytest.raises(ValueError, match="an edge joins them"):
                pool(x, graph, batch=batch, met=MET(Walks(other, 2), None, 2))


def given_to(pool, graph):
    return {"edge_index": graph} if pool.L is not None else {"met": MET(Walks(graph, 2), None, 2)}


@pytest.mark.parametrize("graph", [lambda edges: edges, Adjacency.of])
@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_paths_on_a_star_are_more_than_memory_holds(centrality, graph, monkeypatch):
    monkeypatch.setattr("panconv.met.entries.free_bytes", lambda device: 2**34)
    N, leaves = 60_000, torch.arange(1, 60_000)
    edges = torch.stack([leaves, torch.zeros_like(leaves)])
    star, x = graph(torch.cat([edges, edges.flip(0)], 1)), torch.randn(N, F)
    message = (
        r"about 9e\+08 entries between 30,000 nodes, .* take 168 GiB, more than the 12 GiB .*: use edges='induced'"
    )
    with pytest.raises(ValueError, match=message) as error:
        PANPool(F, centrality=centrality, edges="paths")(x, star)
    assert "\n" not in str(error.value)
    found = PANPool(F, centrality=centrality, edges="paths", L=1)(x, star)[1]
    assert (found.num_edges if isinstance(found, Adjacency) else found.size(1)) < 3 * N
