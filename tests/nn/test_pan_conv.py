import copy
import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from graphs import COMPILERS, TRIANGLE_AND_TAIL, dense_met, graphs
from hypothesis import given
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, Sequential, SGConv

from panconv import MET, METHODS, PAN, Adjacency, EffectiveWalks, PANConv, PowerLaw, Walks
from panconv.nn import PANEdgeAttention
from panconv.testing import assert_equivariant, assert_gradients, close

EDGES = TRIANGLE_AND_TAIL


@pytest.fixture
def x():
    return torch.randn(4, 5)


@given(graphs(min_nodes=1))
def test_layer_is_mxw_plus_b_either_way_round(graph):
    for method in METHODS:
        for out_channels in (2, 9):  # W first, and W last
            conv = PANConv(5, out_channels, method=method).double()
            torch.nn.init.normal_(conv.bias)
            x = torch.randn(graph.num_nodes, 5, dtype=torch.float64)
            M, _ = dense_met(graph.dense(), conv.weights(), method)
            close(conv(x, graph.edge_index, graph.edge_weight), M @ x @ conv.lin.weight + conv.bias)


@pytest.mark.parametrize("method", METHODS)
def test_trials_side_by_side_are_the_layers_alone(method):
    for out_channels in (2, 9):
        many = PANConv(5, out_channels, method=method, trials=3)
        torch.nn.init.normal_(many.bias)
        shared, own = torch.randn(4, 5), torch.randn(4, 3, 5)
        for s in range(3):
            one = PANConv(5, out_channels, method=method)
            one.load_state_dict({name: state[s] for name, state in many.state_dict().items()})
            torch.testing.assert_close(many(shared, EDGES)[:, s], one(shared, EDGES))
            torch.testing.assert_close(many(own, EDGES)[:, s], one(own[:, s], EDGES))


def test_sparse_features(x):
    x = x * (x > 0)
    for conv in (PANConv(5, 2), PANConv(5, 9), PANConv(5, 2, trials=3)):
        for form in (x.to_sparse(), x.to_sparse_csr()):
            torch.testing.assert_close(conv(form, EDGES), conv(x, EDGES))


def test_every_form_of_a_graph(x):
    conv = PANConv(5, 2)
    adj = Adjacency.from_edge_index(EDGES)
    dense = adj.to_dense()
    for form in (adj, dense.to_sparse(), dense.to_sparse_csr(), EDGES.numpy(), EDGES.int()):
        close(conv(x, form), conv(x, EDGES))


@pytest.mark.parametrize("method", METHODS)
def test_equivariant(method):
    assert_equivariant(PANConv(5, 2, method=method), torch.randn(4, 5), EDGES, torch.rand(8) + 0.1)


def test_reset_and_repr():
    conv = PANConv(5, 2, method=2)
    with torch.no_grad():
        conv.weights.energies.add_(1)
        conv.bias.add_(1)
    conv.reset_parameters()
    assert conv.weights().tolist() == [1, 1, 1]
    assert conv.bias.abs().sum() == 0
    assert "PANConv(\n  5, 2, L=2, method=2, paths='walks'" in repr(conv)
    assert PANConv(5, 2, bias=False).bias is None


def test_lazy_channels(x):
    conv = PANConv(-1, 2)
    assert conv(x, EDGES).shape == (4, 2)
    assert conv.in_channels == 5
    other = PANConv(-1, 2)
    other.load_state_dict(conv.state_dict())
    close(other(x, EDGES), conv(x, EDGES))


def test_in_a_batch_graphs_do_not_meet(x):
    conv = PANConv(5, 2, method=7)
    one, two = Data(x=x, edge_index=EDGES), Data(x=torch.randn(3, 5), edge_index=torch.tensor([[0, 1], [1, 0]]))
    batch = Batch.from_data_list([one, two])
    torch.testing.assert_close(
        conv(batch.x, batch.edge_index), torch.cat([conv(g.x, g.edge_index) for g in (one, two)])
    )


def test_in_pyg_sequential(x):
    torch.manual_seed(1)
    model = Sequential(
        "x, edge_index",
        [(PANConv(5, 8), "x, edge_index -> x"), torch.nn.ReLU(), (GCNConv(8, 2), "x, edge_index -> x")],
    )
    assert model(x, EDGES).shape == (4, 2)


def test_copies_states_pickles_and_dtypes(x):
    conv = PANConv(5, 2)
    expected = conv(x, EDGES)
    state = copy.deepcopy(conv.state_dict())
    other = PANConv(5, 2)
    other.load_state_dict(state)
    for twin in (other, copy.deepcopy(conv), pickle.loads(pickle.dumps(conv)), conv.to("cpu")):
        close(twin(x, EDGES), expected)
    double = copy.deepcopy(conv).double()(x.double(), EDGES)
    assert double.dtype == torch.float64
    torch.testing.assert_close(double.float(), expected)


def test_inference_mode_before_training(x):
    conv = PANConv(5, 2)
    with torch.inference_mode():
        expected = conv(x, EDGES)
        inside = EDGES.clone()  # an inference tensor, which has no version
        close(conv(x, inside), expected)
        inside[:, :2] = 0
        assert not torch.equal(conv(x, inside), expected)
    conv(x, EDGES).sum().backward()
    assert conv.lin.weight.grad is not None


def test_deterministic_algorithms(x):
    torch.use_deterministic_algorithms(True)
    try:
        for method in METHODS:
            conv = PANConv(5, 2, method=method)
            conv(x, EDGES, torch.rand(8, requires_grad=True)).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("method", METHODS)
def test_autocast_and_scaler(x, method):
    conv = PANConv(5, 2, method=method)
    optimizer = torch.optim.SGD(conv.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    expected = conv(x, EDGES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = conv(x, EDGES)
        loss = y.float().square().mean()
    torch.testing.assert_close(y.float(), expected, rtol=0.05, atol=0.05)
    before = conv.lin.weight.detach().clone()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.isfinite(conv.lin.weight).all()
    assert not torch.equal(before, conv.lin.weight)


@pytest.mark.parametrize("backend", COMPILERS)
@pytest.mark.parametrize("warm", [False, True])
def test_compiled_whole(x, backend, warm):
    """Forward and backward, on a graph seen for the first time and on one that is prepared."""
    directed = torch.tensor([[0, 1, 2, 3, 3], [1, 2, 0, 0, 3]])
    for method in (2, 4, 5) if backend == "inductor" or warm else METHODS:
        torch.compiler.reset()
        conv = PANConv(5, 2, method=method)
        for edges in (EDGES, directed):
            adj = Adjacency.from_edge_index(edges)
            if warm:
                conv(x, adj)
            expected = torch.autograd.grad(conv(x, Adjacency.from_edge_index(edges)).sin().sum(), conv.parameters())
            compiled = torch.compile(conv, fullgraph=True, backend=backend)
            ours = torch.autograd.grad(compiled(x, adj).sin().sum(), conv.parameters())
            for a, b in zip(ours, expected, strict=True):
                torch.testing.assert_close(a, b)


def test_func_grad_and_vmap_over_models(x):
    adj = Adjacency.from_edge_index(EDGES)
    convs = [PANConv(5, 2, method=2) for _ in range(3)]
    state, buffers = torch.func.stack_module_state(convs)

    def loss(state, buffers):
        return torch.func.functional_call(convs[0], (state, buffers), (x, adj)).sin().sum()

    for graph in (adj, Adjacency.from_edge_index(EDGES)):  # warm, and first seen inside a transform
        adj = graph
        together = torch.func.vmap(torch.func.grad(loss))(state, buffers)
        for s, conv in enumerate(convs):
            alone = torch.autograd.grad(conv(x, graph).sin().sum(), conv.parameters())
            for (name, gradient), expected in zip(together.items(), alone, strict=True):
                torch.testing.assert_close(gradient[s], expected, msg=name)
        conv(x, graph).sum().backward()  # what was kept is still of use


def count_of_preparations(monkeypatch):
    made, build = [], Adjacency._read
    monkeypatch.setattr(Adjacency, "_read", lambda *a, **k: made.append(1) or build(*a, **k))
    return made


def test_a_graph_is_prepared_once_for_all_layers(x, monkeypatch):
    made = count_of_preparations(monkeypatch)
    convs, edges = [PANConv(5, 2), PANConv(5, 2, method=1), PANEdgeAttention(5, 2)], EDGES.clone()
    for conv in convs * 2:
        conv(x, edges)
    PAN(5, 4, 2)(x, edges)
    assert len(made) == 1
    weight = torch.rand(8)
    for conv in convs[:2] * 2:
        conv(x, edges, weight)
    assert len(made) == 2
    convs[0](x, edges.clone())
    assert len(made) == 3
    trained = torch.rand(8, requires_grad=True)
    for conv in convs[:2] * 2:
        conv(x, edges, trained).sum().backward()
    assert len(made) == 3  # the sorted edges served
    close(convs[0](x, edges), fresh_output(convs[0], x, edges))


def fresh_output(conv, x, graph):
    return conv(x, graph.clone() if isinstance(graph, torch.Tensor) else graph.copy())


def test_every_form_of_a_graph_is_prepared_once_and_never_stale(x, monkeypatch):
    made = count_of_preparations(monkeypatch)
    A = Adjacency.from_edge_index(EDGES, torch.rand(8)).to_dense()
    forms = {
        "coo": (A.to_sparse(), lambda m: m._values()),
        "csr": (A.to_sparse_csr(), lambda m: m.values()),
        "csc": (A.to_sparse_csc(), lambda m: m.values()),
        "scipy csr": (sp.csr_matrix(A.numpy()), lambda m: m.data),
        "scipy coo": (sp.coo_array(A.numpy()), lambda m: m.data),
        "numpy": (EDGES.numpy().copy(), lambda m: m[:, 0]),
    }
    for name, (graph, part) in forms.items():
        conv = PANConv(5, 2)
        made.clear()
        for _ in range(3):
            close(conv(x, graph), fresh_output(conv, x, graph))
        assert len(made) == 4, name  # once for the graph, and once for each copy
        part(graph)[:] = 3
        close(conv(x, graph), fresh_output(conv, x, graph))


def test_what_changed_in_place_is_never_served_stale(x):
    conv = PANConv(5, 2)

    def fresh(edges, weight=None):
        return PANConv.forward(copy.deepcopy(conv), x, edges.clone(), None if weight is None else weight.clone())

    array = EDGES.numpy().copy()
    shared, weight = torch.from_numpy(array), torch.rand(8)
    conv(x, shared)
    array[:, :2] = 3  # torch does not see this
    close(conv(x, shared), fresh(shared))
    shared[:, 2:4] = 0
    close(conv(x, shared), fresh(shared))
    shared.data[:, 4:6] = 1
    close(conv(x, shared), fresh(shared))
    conv(x, shared, weight)
    weight[0] = 7
    close(conv(x, shared, weight), fresh(shared, weight))
    weight.numpy()[1] = 9
    close(conv(x, shared, weight), fresh(shared, weight))
    close(conv(x, shared), fresh(shared))
    more = torch.randn(6, 5)
    assert conv(more, shared).shape == (6, 2)  # the same edges among more nodes


def test_trained_edge_weights_step_after_step(x):
    conv = PANConv(5, 2)
    weight = torch.rand(8, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        conv(x, EDGES, weight).square().sum().backward()
        optimizer.step()
    double = copy.deepcopy(conv).double()
    wide = (torch.rand(8, dtype=torch.float64) + 0.1).requires_grad_()
    assert_gradients(lambda: double(x.double(), EDGES, wide), wide)


def test_temperature_is_trained(x):
    conv = PANConv(5, 2, method=1, weights=PowerLaw(2))
    conv(x, EDGES).square().sum().backward()
    assert conv.weights.log_temperature.grad.abs() > 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"L": -1}, ValueError, "L must be at least 0"),
        ({"L": 1.5}, TypeError, "L must be an integer"),
        ({"method": 12}, ValueError, "method must be one of 1, 2, .* got 12"),
        ({"weights": [1.0, 1.0]}, ValueError, r"L\+1 = 3 entries"),
        (
            {"paths": "detours"},
            ValueError,
            "paths must be one of walks, shortest, self_avoiding, effective, .* got 'detours'",
        ),
        ({"paths": ["walks"]}, ValueError, "paths must be one of walks"),
        ({"weights": torch.rand(3, 2)}, ValueError, "weights have 2 columns.*trials is None"),
        ({"weights": torch.rand(3, 2), "trials": 4}, ValueError, "weights have 2 columns.*trials is 4"),
        ({"bias": False, "trials": 0}, ValueError, "trials must be an integer of at least 1, got 0"),
        ({"method": 1, "weights": "free"}, ValueError, "use Boltzmann weights"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        PANConv(5, 2, **options)


def test_bad_calls(x):
    conv = PANConv(5, 2)
    with pytest.raises(ValueError, match="the graph has 4 nodes, but x has 3 rows"):
        conv(x[:3], Adjacency.from_edge_index(EDGES))
    with pytest.raises(ValueError, match="edge_index names node 3, but there are only 3 nodes: x must have a row"):
        conv(x[:3], EDGES)
    with pytest.raises(ValueError, match=r"x must have in_channels = 5 columns, got shape \(4, 4\)"):
        conv(x[:, :4], EDGES)
    with pytest.raises(ValueError, match=r"x must be \(N, 5\)"):
        conv(x[:, 0], EDGES)
    with pytest.raises(TypeError, match=r"x must be a tensor \(N, 5\), got list"):
        conv(x.tolist(), EDGES)
    with pytest.raises(ValueError, match="edge_weight goes with an edge_index"):
        conv(x, Adjacency.from_edge_index(EDGES), torch.ones(8))
    with pytest.raises(TypeError, match="the graph must be an Adjacency"):
        conv(x, [[0], [1]])
    before = conv(x, EDGES)
    with pytest.raises(ValueError, match="edge_index must have shape"):
        conv(x, np.zeros((3, 2), dtype=int))
    close(conv(x, EDGES), before)


def test_integers_of_other_libraries(x):
    conv = PANConv(np.int64(5), np.int64(2), L=np.int64(1), method=np.int64(4))
    assert conv(x, EDGES).shape == (4, 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("widths", [(6, 2), (2, 6)])  # W first, W last
@pytest.mark.parametrize("trials", [None, 3])
def test_concat_is_the_terms_side_by_side_before_w(method, widths, trials):
    F, out = widths
    conv = PANConv(F, out, L=2, method=method, weights=[0.5, 1.0, 2.0], trials=trials, concat=True).double()
    x = torch.randn(4, *([] if trials is None else [trials]), F, dtype=torch.float64)
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    rows = torch.arange(3)
    expected = torch.zeros(4, *([] if trials is None else [trials]), out, dtype=torch.float64)
    full = MET(Walks(adj, 2), torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64), method)
    for n in rows:
        # M's own terms, each from the dense form of an operator that has that length alone.
        w = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64) * (rows == n)
        part = MET(Walks(adj, 2), w, method)
        M_n = part.to_dense(torch.float64)
        if full.rule.overall:  # its own Z in place of the sum's
            power = 1.0 if full.rule.overall == "row" else 0.5
            ratio = (part.partition / full.partition) ** power
            M_n = ratio[:, None] * M_n * (1 if power == 1 else ratio[None, :])
        W = conv.lin.weight[..., n * out : (n + 1) * out]
        rule = "nm,mf,fo->no" if trials is None else "nm,msf,sfo->nso"
        expected = expected + torch.einsum(rule, M_n, x, W)
    close(conv(x, adj), expected)
    sparse = PANConv(F, out, L=2, method=method, concat=True)
    dense = torch.randn(4, F)
    torch.testing.assert_close(sparse(dense.to_sparse(), adj), sparse(dense, adj))


def test_concat_is_equivariant_and_says_so():
    conv = PANConv(5, 3, L=2, concat=True)
    assert "concat=True" in repr(conv)
    assert_equivariant(conv, torch.randn(4, 5), TRIANGLE_AND_TAIL)
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
    adj, x = Adjacency.of(TRIANGLE_AND_TAIL), torch.randn(4, 5)
    torch.testing.assert_close(conv(x, adj), compiled(x, adj))


def test_paths_by_a_function():
    conv = PANConv(5, 3, L=2, method=1, paths=partial(EffectiveWalks, width=0.1))
    assert conv(torch.randn(4, 5), TRIANGLE_AND_TAIL, torch.rand(8) + 0.5).shape == (4, 3)
    with pytest.raises(ValueError, match="use method 1 or 2"):
        PANConv(5, 3, L=2, method=5, paths=partial(EffectiveWalks, width=0.1))


def test_special_cases():
    """GCN, SGC and an MLP are method 5 with other fixed k(n), on a graph whose edges PyG and we read alike."""
    edges = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 4], [1, 0, 2, 1, 3, 2, 4, 0]])
    x = torch.randn(5, 6, dtype=torch.float64)
    peers = (GCNConv(6, 3), SGConv(6, 3, K=3), torch.nn.Linear(6, 3))
    for k, peer in zip(([0.0, 1.0], [0.0, 0.0, 0.0, 1.0], [1.0]), peers, strict=True):
        conv, inner = PANConv(6, 3, L=len(k) - 1, method=5, weights=k).double(), peer.double()
        W, b = (p for p in sorted(inner.parameters(), key=lambda p: -p.dim()))
        with torch.no_grad():
            conv.lin.weight.copy_(W.T)
            conv.bias.copy_(torch.nn.init.normal_(b))
        close(conv(x, edges), peer(x) if isinstance(peer, torch.nn.Linear) else peer(x, edges))
