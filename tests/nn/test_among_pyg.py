"""Our layers where PyG's own would stand: what is asked of any layer of PyG, asked of each of ours."""

import copy
import io
import pickle

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch import nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, GraphNorm, JumpingKnowledge, Sequential, global_mean_pool
from torch_geometric.transforms import Compose, NormalizeFeatures, ToSparseTensor

from panconv import PAN, Adjacency, PANConv
from panconv.nn import HighTemperatureConv, LanczosConv, PANAttention, PANEdgeAttention, SpectralConv
from panconv.testing import close

EDGES, N, F = TRIANGLE_AND_TAIL, 4, 8
LAYERS = {
    "PANConv": lambda F=F: PANConv(F, 4),
    "PANConv concat": lambda F=F: PANConv(F, 4, method=1, concat=True),
    "PANAttention": lambda F=F: PANAttention(F, 4, heads=2, rank=2),
    "PANEdgeAttention": lambda F=F: PANEdgeAttention(F, 4, heads=2),
    "LanczosConv": lambda F=F: LanczosConv(F, 4, steps=4),
    "SpectralConv": lambda F=F: SpectralConv(F, 4, k=4),
    "HighTemperatureConv": lambda F=F: HighTemperatureConv(F, 4),
    "PAN": lambda F=F: PAN(F, 6, 4, dropout=0.0),
}
EVERY = pytest.mark.parametrize("name", LAYERS)


def stirred(module):
    """A module with parameters that are nobody's start."""
    with torch.no_grad():
        for p in module.parameters():
            p.add_(0.3 * torch.randn_like(p))
    return module


@pytest.fixture
def x():
    return torch.randn(N, F)


@EVERY
def test_a_repr_names_the_layer_and_its_width(name):
    text = repr(LAYERS[name]())
    assert text.startswith(f"{name.split()[0]}(")
    assert "8, 4" in text or name == "PAN"


@EVERY
def test_a_reset_is_a_new_start_of_the_same_kind(name, x):
    layer = LAYERS[name]()
    start = {key: p.detach().clone() for key, p in layer.named_parameters()}
    stirred(layer).reset_parameters()
    torch.manual_seed(3)
    layer.reset_parameters()
    first = layer(x, EDGES)
    torch.manual_seed(3)
    layer.reset_parameters()
    close(layer(x, EDGES), first)
    for key, p in layer.named_parameters():
        random = key.endswith("lin.weight") or key == "sender" or "filter" in key
        assert torch.equal(p, start[key]) != random, key


@EVERY
def test_the_width_may_come_from_the_first_x(name, x):
    if name == "PANAttention":
        pytest.skip("its width is to be named")
    lazy, full = LAYERS[name](-1), stirred(LAYERS[name]())
    assert lazy(x, EDGES).shape == (N, 4)
    lazy.load_state_dict(full.state_dict())
    torch.testing.assert_close(lazy(x, EDGES), full(x, EDGES))


@EVERY
def test_double_is_single_with_more_digits(name, x):
    single = stirred(LAYERS[name]())
    double = copy.deepcopy(single).double()
    out = double(x.double(), EDGES)
    assert out.dtype == torch.float64
    torch.testing.assert_close(out.float(), single(x, EDGES), rtol=1e-4, atol=1e-4)


@EVERY
def test_adj_t_is_the_edge_index_turned_round(name, x):
    """PyG's transposed adjacency, of the layouts that its transform makes, and its EdgeIndex."""
    layer = stirred(LAYERS[name]())
    directed = EDGES[:, [0, 2, 3, 4, 5, 6, 7]] if name in ("PANConv", "PANConv concat", "PANAttention") else EDGES
    expected = layer(x, directed)
    for layout in (torch.sparse_csr, torch.sparse_coo):
        data = ToSparseTensor(layout=layout, remove_edge_index=False)(Data(x=x, edge_index=directed))
        torch.testing.assert_close(layer(data.x, data.adj_t), expected)
    torch.testing.assert_close(layer(x, EdgeIndex(directed, sparse_size=(N, N))), expected)


@EVERY
def test_copies_pickles_and_files(name, x):
    layer = stirred(LAYERS[name]())
    expected = layer(x, EDGES)
    whole, state = io.BytesIO(), io.BytesIO()
    torch.save(layer, whole)
    torch.save(layer.state_dict(), state)
    whole.seek(0), state.seek(0)
    other = LAYERS[name]()
    other.load_state_dict(torch.load(state, weights_only=True))
    twins = [other, copy.deepcopy(layer), copy.copy(layer), pickle.loads(pickle.dumps(layer))]
    for twin in [*twins, torch.load(whole, weights_only=False)]:
        torch.testing.assert_close(twin(x, EDGES), expected)


@EVERY
def test_a_shell_takes_the_parameters_of_another(name, x):
    """As replicas and meta-learners do it: one module, called with parameters that are not its own."""
    shell, other = LAYERS[name](), stirred(LAYERS[name]())
    before, few = shell(x, EDGES), torch.tensor([[0, 1], [1, 0]])
    for rows, graph in ((x, EDGES), (x[:2], few), (x, EDGES)):
        lent = torch.func.functional_call(shell, other.state_dict(), (rows, graph))
        torch.testing.assert_close(lent, other(rows, graph))
    torch.testing.assert_close(shell(x, EDGES), before)


@EVERY
def test_the_order_of_the_edges_says_nothing(name, x):
    layer = stirred(LAYERS[name]())
    torch.testing.assert_close(layer(x, EDGES[:, torch.randperm(EDGES.size(1))]), layer(x, EDGES))


@EVERY
def test_a_last_node_that_no_edge_names_and_no_edges_at_all(name):
    layer, x = stirred(LAYERS[name]()), torch.randn(N + 1, F)
    out = layer(x, EDGES)
    assert out.shape == (N + 1, 4)
    torch.testing.assert_close(layer(x, Adjacency.from_edge_index(EDGES, num_nodes=N + 1)), out)
    if name not in ("LanczosConv", "SpectralConv"):  # which see a graph as a whole
        torch.testing.assert_close(out[:N], layer(x[:N], EDGES))
    assert torch.isfinite(layer(x, torch.empty(2, 0, dtype=torch.long))).all()
    assert layer(x[:0], torch.empty(2, 0, dtype=torch.long)).shape == (0, 4)


@EVERY
def test_it_trains_in_a_stack_with_layers_of_pyg(name, x):
    """Sequential, GraphNorm, JumpingKnowledge and a readout, on a batch of graphs."""
    torch.manual_seed(0)
    model = Sequential(
        "x, edge_index, batch",
        [
            (LAYERS[name](), "x, edge_index -> x1"),
            (GraphNorm(4), "x1, batch -> x1"),
            nn.ReLU(inplace=True),
            (GCNConv(4, 4), "x1, edge_index -> x2"),
            (lambda x1, x2: [x1, x2], "x1, x2 -> xs"),
            (JumpingKnowledge("cat"), "xs -> x"),
            (global_mean_pool, "x, batch -> x"),
            nn.Linear(8, 2),
        ],
    )
    graphs = [Data(x=torch.randn(N, F), edge_index=EDGES), Data(x=torch.randn(2, F), edge_index=EDGES[:, :2])]
    batch, y = Batch.from_data_list(graphs), torch.tensor([0, 1])
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.05), []
    for _ in range(15):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch.x, batch.edge_index, batch.batch), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    assert all(p.grad is not None for p in model.parameters())


@EVERY
def test_data_comes_through_transforms_and_keywords(name, x):
    layer = stirred(LAYERS[name]())
    data = Compose([NormalizeFeatures()])(Data(x=x.abs(), edge_index=EDGES, edge_weight=torch.ones(8)))
    out = layer(x=data.x, edge_index=data.edge_index, edge_weight=data.edge_weight)
    torch.testing.assert_close(out, layer(data.x, data.edge_index))
    assert data.x.sum(-1).allclose(torch.ones(N))
