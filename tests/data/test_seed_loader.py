"""The rows and gradients of all batches of seeds are those of the whole graph."""

import pickle

import pytest
import torch
from helpers.graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv

from panconv import METHODS, PAN, Adjacency, PANConv, Walks
from panconv.data import SeedLoader
from panconv.data.edge_source import AdjacencySource
from panconv.nn import PANAttention, PANEdgeAttention, SpectralConv

FAMILIES = [(method, "walks") for method in METHODS]
FAMILIES += [
    (1, "effective"),
    (2, "effective"),
    (2, "shortest"),
    (5, "shortest"),
    (6, "self_avoiding"),
    (7, "shortest"),
]


def town(seed=0, N=24, E=40, undirected=True, signed=False):
    """A random weighted graph with features, self-loops and isolated nodes."""
    draw = torch.Generator().manual_seed(seed)
    edges, weight = torch.randint(N - 2, (2, E), generator=draw), 0.5 + torch.rand(E, generator=draw).double()
    weight[: 4 if signed else 0] *= -0.05
    if undirected:
        edges, weight = torch.cat([edges, edges.flip(0)], 1), weight.repeat(2)
    x, y = torch.randn(N, 3, generator=draw).double(), torch.randint(3, (N,), generator=draw)
    return Data(x=x, y=y, edge_index=edges, edge_weight=weight)


def rows(model, loader):
    return torch.cat([model(batch.x, batch.adj)[batch.seeds] for batch in loader])


@settings(max_examples=30)
@given(graphs(), st.sampled_from(FAMILIES), st.integers(0, 3), st.integers(1, 2), st.data())
def test_rows_are_those_of_the_whole_graph(graph, family, L, layers, data):
    (method, paths), N = family, graph.num_nodes
    adj = Adjacency.of(graph.edge_index, graph.edge_weight, N)
    if paths == "effective" and not adj.is_positive:
        return
    torch.manual_seed(0)
    model, x = PAN(3, 4, 2, layers, L=L, method=method, paths=paths, dropout=0.0).double(), torch.randn(N, 3).double()
    seeds = data.draw(st.lists(st.integers(0, N - 1), max_size=6)) if N else []
    loader = SeedLoader(Data(x=x, adj=adj, num_nodes=N), model, seeds, batch_size=3)
    found = [x.new_empty(0, 2), *(model(batch.x, batch.adj)[batch.seeds] for batch in loader)]
    torch.testing.assert_close(torch.cat(found), model(x, adj)[seeds], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("method", "paths"), FAMILIES)
@pytest.mark.parametrize("kind", ["undirected", "directed", "signed"])
def test_gradients_of_an_epoch_are_those_of_the_whole_graph(method, paths, kind):
    torch.manual_seed(0)
    if kind == "signed" and paths != "walks":
        return
    data = town(undirected=kind != "directed", signed=kind == "signed")
    model = PAN(3, 4, 3, L=2, method=method, paths=paths, dropout=0.0).double()
    loss = torch.nn.CrossEntropyLoss(reduction="sum")
    parameters = list(model.parameters())  # the path weights among them
    expected = torch.autograd.grad(loss(model(data.x, data.edge_index, data.edge_weight), data.y), parameters)
    for batch in SeedLoader(data, model, batch_size=7, shuffle=True):
        loss(model(batch.x, batch.adj)[: batch.batch_size], batch.y[: batch.batch_size]).backward()
    for (name, p), grad in zip(model.named_parameters(), expected, strict=True):
        torch.testing.assert_close(p.grad, grad, rtol=1e-9, atol=1e-12, msg=lambda m, name=name: f"{name}: {m}")
        assert ".weights." not in name or grad.abs().max() > 1e-6


@pytest.mark.parametrize("method", [1, 2, 6, 7])
def test_counts_beyond_floating_point(method):
    data, model = town(undirected=method != 7), PANConv(3, 2, L=60, method=method).double()
    data.edge_weight = 1e6 * data.edge_weight
    whole = model(data.x, data.edge_index, data.edge_weight)
    assert method == 7 or Walks(Adjacency.of(data.edge_index, data.edge_weight), 60).counts().exponent is not None
    torch.testing.assert_close(rows(model, SeedLoader(data, model, [3, 1], batch_size=2)), whole[[3, 1]])


@pytest.mark.parametrize(
    "layer",
    [
        PANAttention(3, 2, L=2, method=6, rank=1),
        PANEdgeAttention(3, 2, L=2),
        PANConv(3, 2, method=2, concat=True),
        PANConv(3, 2, method=7, memory="low"),
        PANConv(3, 2, paths=lambda adj, L: Walks(adj, L), method=5),
    ],
)
def test_other_layers_take_a_block(layer):
    data, layer = town(), layer.double()
    whole = layer(data.x, data.edge_index, data.edge_weight)
    torch.testing.assert_close(rows(layer, SeedLoader(data, layer, batch_size=5)), whole)


def test_a_layer_of_pyg_beside_ours():
    class Both(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.ours, self.theirs = PANConv(3, 4, method=2).double(), SAGEConv(4, 2).double()

        def forward(self, x, adj):
            return self.theirs(self.ours(x, adj).relu(), torch.stack([adj.col.long(), adj.row]))

    torch.manual_seed(0)
    data, model = town(), Both()
    whole = model(data.x, Adjacency.of(data.edge_index, data.edge_weight, 24))
    torch.testing.assert_close(rows(model, SeedLoader(data, model, batch_size=5)), whole)


def test_a_batch_has_what_the_data_has_by_node():
    data = town()
    data.train_mask, data.name = torch.arange(24) < 9, "town"
    loader = SeedLoader(data, PANConv(3, 2), data.train_mask, batch_size=4)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert torch.cat([batch.n_id[: batch.batch_size] for batch in batches]).tolist() == list(range(9))
    for batch in batches:
        assert batch.num_nodes == batch.adj.num_nodes == len(batch.n_id)
        assert batch.seeds.tolist() == list(range(batch.batch_size))
        assert batch.x.equal(data.x[batch.n_id])
        assert batch.y.equal(data.y[batch.n_id])
        assert batch.train_mask.equal(data.train_mask[batch.n_id])
        assert batch.edge_index is None  # to which degrees and counts are unknown
        assert "name" not in batch


def test_seeds_in_any_order_repeated_or_none():
    data, model = town(), PANConv(3, 2, method=2).double()
    whole = model(data.x, data.edge_index, data.edge_weight)
    seeds = [5, 23, 5, 0, 5, 9]
    torch.testing.assert_close(rows(model, SeedLoader(data, model, seeds, batch_size=6)), whole[seeds])
    (batch,) = SeedLoader(data, model, torch.tensor(seeds), batch_size=6)
    assert batch.n_id[: batch.batch_size].tolist() == [5, 23, 0, 9]
    assert batch.seeds.tolist() == [0, 1, 0, 2, 0, 3]
    for none in ([], torch.zeros(24, dtype=torch.bool)):
        assert list(SeedLoader(data, model, none, batch_size=6, shuffle=True)) == []


def test_the_order_is_that_of_the_generator():
    def order(seed):
        shuffled = SeedLoader(data, model, batch_size=5, shuffle=True, generator=torch.Generator().manual_seed(seed))
        return [node for batch in shuffled for node in batch.n_id[: batch.batch_size].tolist()]

    data, model = town(), PANConv(3, 2)
    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == list(range(24))


def test_workers_give_the_same_batches():
    data, model = town(), PAN(3, 4, 2, method=7, dropout=0.0).double()
    here, there = (SeedLoader(data, model, batch_size=12, num_workers=workers) for workers in (0, 2))
    assert rows(model, here).equal(rows(model, there))
    batch = pickle.loads(pickle.dumps(here.collate_fn))([3, 4])
    torch.testing.assert_close(model(batch.x, batch.adj)[:2], rows(model, here)[3:5])


def test_sparse_features():
    data, model = town(), PAN(3, 4, 2, dropout=0.0).double()
    data.x = data.x.relu()
    whole = model(data.x, data.edge_index, data.edge_weight)
    data.x = data.x.to_sparse()
    loader = SeedLoader(data, model, batch_size=7)
    assert next(iter(loader)).x.layout == torch.sparse_csr
    torch.testing.assert_close(rows(model, loader), whole)


class Recorded(AdjacencySource):
    """A source that remembers what it was asked for."""

    def __init__(self, adj):
        super().__init__(adj)
        self.asked = []

    def in_edges(self, nodes):
        self.asked += nodes.tolist()
        return super().in_edges(nodes)


def test_another_source_is_asked_for_each_node_once():
    path = torch.stack([torch.arange(19), torch.arange(1, 20)])
    source = Recorded(Adjacency.of(path))  # each node hears the one before it
    model, x = PAN(3, 4, 2, L=2, method=2, dropout=0.0), torch.randn(20, 3)
    (batch,) = SeedLoader(source, model, [10])
    assert batch.n_id.tolist() == [10, 9, 8, 7, 6]
    assert source.asked == [10, 9, 8, 7]
    torch.testing.assert_close(model(x[batch.n_id], batch.adj)[:1], model(x, path)[10:11])


def test_a_layer_called_twice_says_how_far_it_looks():
    class Twice(PANConv):
        def forward(self, x, adj):
            return super().forward(super().forward(x, adj), adj)

    data, model = town(), Twice(3, 3, L=2).double()
    loader = SeedLoader(data, model, batch_size=5, num_hops=4)
    assert loader.num_hops == 4
    torch.testing.assert_close(rows(model, loader), model(data.x, Adjacency.of(data.edge_index, data.edge_weight, 24)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": 3}, "data must be a PyG Data, an Adjacency or an EdgeSource, got int"),
        ({"data": Data(x=torch.ones(2, 3))}, "data has no edge_index"),
        ({"model": SpectralConv(3, 2)}, "SpectralConv has a layer that depends on the whole graph"),
        ({"model": torch.nn.Linear(3, 2)}, "Linear has no layer whose hops can be counted"),
        ({"model": None}, "model must be a torch.nn.Module, got None"),
        ({"seeds": [4]}, "seeds must be nodes of the graph, 0 … 3, got 4"),
        ({"seeds": [-1]}, "seeds must be nodes of the graph, 0 … 3, got -1"),
        ({"seeds": [0.5]}, "seeds must be numbers of nodes"),
        ({"seeds": torch.ones(3, dtype=torch.bool)}, r"seeds as a mask must have shape \(4,\)"),
        ({"seeds": "all"}, "seeds must hold numbers"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
        ({"shuffle": "yes"}, "shuffle must be True or False, got 'yes'"),
        ({"num_hops": 1}, "num_hops must be an integer of at least 2, how far the layers look, got 1"),
        ({"num_hops": "2"}, "num_hops must be an integer of at least 2, how far the layers look, got '2'"),
    ],
)
def test_what_is_wrong_is_refused(change, message):
    given = {"data": Adjacency.of(TRIANGLE_AND_TAIL), "model": PANConv(3, 2, L=2), "seeds": [0], **change}
    with pytest.raises((ValueError, TypeError), match=message):
        SeedLoader(**given)


def test_a_model_of_another_length_is_refused():
    (batch,) = SeedLoader(Adjacency.of(TRIANGLE_AND_TAIL), PANConv(3, 2, L=2, method=1), [0])
    with pytest.raises(ValueError, match="path counts up to L = 1"):
        PANConv(3, 2, L=1, method=1)(torch.ones(batch.num_nodes, 3), batch.adj)


@pytest.mark.parametrize("weighted", [False, True])
def test_loops_and_repeats_are_read_as_the_layers_ask(weighted):
    data = town()
    data.edge_index = torch.cat([data.edge_index, data.edge_index[:, :9]], 1)
    data.edge_weight = torch.rand(data.edge_index.size(1)) if weighted else None
    conv = PANConv(3, 2, loops="remaining", repeats="sum").double()
    full = conv(data.x, data.edge_index, data.edge_weight)
    torch.testing.assert_close(rows(conv, SeedLoader(data, conv, batch_size=7)), full)
    assert not torch.allclose(full, PANConv.forward(_as_usual(conv), data.x, data.edge_index, data.edge_weight))


def _as_usual(conv):
    usual = PANConv(3, 2).double()
    usual.load_state_dict(conv.state_dict())
    return usual


def test_no_hop_at_all_on_a_graph_with_negative_weights():
    edges, weight = TRIANGLE_AND_TAIL, torch.rand(8) + 1
    weight[0] = -0.01
    data, model = Data(x=torch.randn(4, 3), edge_index=edges, edge_weight=weight), PAN(3, 4, 2, L=0).eval()
    for batch in SeedLoader(data, model, batch_size=2):
        expected = model(data.x, edges, weight)[batch.n_id[batch.seeds]]
        torch.testing.assert_close(model(batch.x, batch.adj)[batch.seeds], expected)
