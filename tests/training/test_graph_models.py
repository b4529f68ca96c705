"""`PANGraph`: what it computes, that trials are what they are alone, and what it is told of empty graphs."""

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.loader import DataLoader

from panconv import Adjacency, PowerLaw, fit
from panconv.nn.graph_convs import CONVS
from panconv.nn.graph_layers import Nodes
from panconv.training.graph_models import PANGraph

F, H, C = 3, 4, 2
# A triangle with a tail, a pair, a node by itself; the second of five graphs and the last have no nodes.
EDGES = torch.cat([TRIANGLE_AND_TAIL, torch.tensor([[4, 5], [5, 4]])], 1)
BATCH = torch.tensor([0, 0, 0, 0, 2, 2, 3])
X = torch.randn(7, F, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
GRAPHS = {"batch": BATCH, "batch_size": 5}
OPTIONS = [
    {"update": "linear", "jk": "sum", "readout": "mean", "head": "linear"},
    {"residual": "layer", "jk": "last", "readout": "max", "norm": "layer"},
    {"readout": "attention", "concat": False, "method": 2, "act": "elu"},
    {"norm": None, "weights": {"kind": "layers", "of": ["free", [0.5, 1.0, 2.0]]}, "num_layers": 2},
    {"num_layers": 0, "readout": "attention"},
    *({"conv": kind} for kind in CONVS if kind != "pan"),
]


def shaken(model):
    """In float64, from other numbers than those of the start."""
    model = model.double()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.rand_like(p) - 0.5)
    return model


def made(trials=None, **options):
    return shaken(PANGraph(F, H, C, **{"num_layers": 3, **options}, trials=trials))


def test_the_formula():
    model = made(num_layers=2, norm=None, residual="layer", readout="sum").eval()
    A = Adjacency.of(EDGES, num_nodes=7).to_dense(torch.float64)
    P = A / A.sum(1, keepdim=True).clamp(min=1)
    h, rows = X, []
    for block in model.blocks:
        W = block.conv.lin.weight.unflatten(1, (3, H))
        out = h @ W[:, 0] + P @ h @ W[:, 1] + P @ P @ h @ W[:, 2] + block.conv.bias
        out = out.relu() @ block.lin.weight + block.lin.bias
        h = (out + h @ block.beside.weight).relu()
        rows.append(torch.stack([h[g == BATCH].sum(0) for g in range(5)]))
    read = torch.cat(rows, 1) @ model.hidden.weight + model.hidden.bias
    expected = read.relu() @ model.lin.weight + model.lin.bias
    torch.testing.assert_close(model(X, EDGES, **GRAPHS), expected)


class GIN(nn.Module):
    """As in PyG's examples, with a readout of every layer."""

    def __init__(self):
        super().__init__()
        maps = [nn.Sequential(nn.Linear(a, H), nn.BatchNorm1d(H), nn.ReLU(), nn.Linear(H, H)) for a in (F, H)]
        self.convs = nn.ModuleList(pyg.GINConv(each, train_eps=True) for each in maps)
        self.norms = nn.ModuleList(nn.BatchNorm1d(H) for _ in maps)
        self.head = nn.Sequential(nn.Linear(2 * H, H), nn.ReLU(), nn.Linear(H, C))

    def forward(self, x, edge_index, batch, size):
        rows = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x, edge_index)).relu()
            rows.append(pyg.global_add_pool(x, batch, size))
        return self.head(torch.cat(rows, 1))


def test_with_the_sum_it_is_gin():
    ours, theirs = made(conv="gin", num_layers=2), GIN().double()
    with torch.no_grad():
        for block, conv, norm in zip(ours.blocks, theirs.convs, theirs.norms, strict=True):
            conv.eps.copy_(block.conv.eps)
            for lin, our in ((conv.nn[0], block.conv.lin), (conv.nn[3], block.lin)):
                lin.weight.copy_(our.weight.T)
                lin.bias.zero_()
            for each, our in ((conv.nn[1], block.inner), (norm, block.norm)):
                each.load_state_dict(our.state_dict(), strict=False)
        for lin, our in ((theirs.head[0], ours.hidden), (theirs.head[2], ours.lin)):
            lin.weight.copy_(our.weight.T)
            lin.bias.copy_(our.bias)
    for training in (True, True, False):
        found, expected = ours.train(training)(X, EDGES, **GRAPHS), theirs.train(training)(X, EDGES, BATCH, 5)
        torch.testing.assert_close(found, expected)
    torch.testing.assert_close(ours.blocks[1].norm.running_var, theirs.norms[1].running_var)


@pytest.mark.parametrize("options", [{}, *OPTIONS])
def test_a_graph_is_what_it_is_alone_in_any_order_and_one_without_nodes_is_zeros(options):
    model = made(**options).eval()
    together = model(X, EDGES, **GRAPHS)
    order = torch.randperm(7)
    place = order.argsort()
    torch.testing.assert_close(model(X[order], place[EDGES], batch=BATCH[order], batch_size=5), together)
    for g in (0, 2, 3):
        own = g == BATCH
        kept = own[EDGES[0]]
        edges = EDGES[:, kept] - int(own.nonzero()[0])
        torch.testing.assert_close(model(X[own], edges), together[g : g + 1])
    assert torch.equal(together[1], together[4])
    nothing = model(X[:0], EDGES[:, :0], batch=BATCH[:0], batch_size=2)
    torch.testing.assert_close(nothing, together[1].expand(2, -1))
    torch.testing.assert_close(model(X[:0], EDGES[:, :0]), nothing[:1])
    read = model.lin if model.hidden is None else model.hidden
    torch.testing.assert_close(model.scores(torch.zeros(1, read.in_channels).double()), nothing[:1])


@pytest.mark.parametrize("options", [{}, {"weights": PowerLaw(2, 1.0, [0.5, 1.0, 2.0])}, *OPTIONS])
@pytest.mark.parametrize("shared", [True, False])
def test_trials_are_the_models_alone(options, shared):
    many = made(3, dropout=0.4, dropout_head=[0.1, 0.2, 0.6], **options)
    x = X if shared else torch.randn(7, 3, F, dtype=torch.float64)
    weight = torch.tensor([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 1.0]])
    ones, half = [many.trial(s) for s in range(3)], many.narrowed([2, 0])
    many.key([7, 8, 9], 4)
    half.key([9, 7], 4)
    found = many(x, EDGES, **GRAPHS, graph_weight=weight)
    part = half(x if shared else x[:, [2, 0]], EDGES, **GRAPHS, graph_weight=weight[:, [2, 0]])
    torch.testing.assert_close(part, found[:, [2, 0]])
    for s, one in enumerate(ones):
        one.key([7 + s], 4)
        scores = one(x if shared else x[:, s], EDGES, **GRAPHS, graph_weight=weight[:, s])
        torch.testing.assert_close(found[:, s], scores)
        for name, state in many.state_dict().items():
            torch.testing.assert_close(state[s], one.state_dict()[name])


def test_what_is_not_a_trials_own_changes_nothing_of_it():
    model, weight = made(2), torch.tensor([[1, 1], [1, 1], [1, 0], [1, 1], [1, 1.0]])
    other = X.where(BATCH.unsqueeze(1) != 2, 100.0)
    scores = [model(x, EDGES, **GRAPHS, graph_weight=weight) for x in (X, other)]
    torch.testing.assert_close(scores[0][[0, 3], 1], scores[1][[0, 3], 1])
    assert not torch.allclose(scores[0][[0, 3], 0], scores[1][[0, 3], 0])
    for own in (torch.ones(5), torch.ones(5, 2)):  # the fast path, and as if nothing had been said
        alike = [made(2) for _ in range(2)]
        alike[1].load_state_dict(alike[0].state_dict())
        assert torch.equal(alike[0](X, EDGES, **GRAPHS, graph_weight=own), alike[1](X, EDGES, **GRAPHS))


def test_seeded_trials_are_the_models_alone():
    for options in ({}, *OPTIONS):
        many = PANGraph(F, H, C, **{"num_layers": 3, **options}, trials=2)
        many.seed([3, 1])
        for s, seed in enumerate([3, 1]):
            one = PANGraph(F, H, C, **{"num_layers": 3, **options})
            one.seed([seed])
            for name, state in one.state_dict().items():
                assert torch.equal(state, many.state_dict()[name][s]), name


def test_what_pyg_starts_is_seeded_too():
    options = {"act": "prelu", "norm": "GraphNorm", "pool": {"kind": "topk", "layers": [1]}}
    one, other = (PANGraph(F, H, C, 2, **options) for _ in range(2))
    for model in (one, other):
        model.seed([5])
    assert all(torch.equal(p, other.state_dict()[name]) for name, p in one.state_dict().items())
    other.seed([6])
    assert not torch.equal(one.pools["1"].select.weight, other.pools["1"].select.weight)


def nodes_of(batch):
    return Nodes.of(batch, 5, None, torch.float64)


@pytest.mark.parametrize("kind", ["topk", "sag"])
@pytest.mark.parametrize("jk", ["last", "cat"])
def test_pools_between_the_layers(kind, jk):
    model = made(num_layers=2, pool={"kind": kind, "ratio": 0.5, "layers": [1]}, jk=jk)
    (pool,) = model.pools.values()
    for graph in (EDGES, Adjacency.of(EDGES, num_nodes=7)):
        read = []
        model.eval()
        h = model.blocks[0](X, (EDGES,), nodes_of(BATCH), torch.relu)
        h2, edges, _, batch, *_ = pool(h, EDGES, batch=BATCH)
        read = [pyg.global_add_pool(h2, batch, 5)]
        read.append(pyg.global_add_pool(model.blocks[1](h2, (edges,), nodes_of(batch), torch.relu), batch, 5))
        expected = model.scores(torch.cat(read, 1) if jk == "cat" else read[1])
        torch.testing.assert_close(model(X, graph, **GRAPHS), expected)
    model.train()(X, EDGES, **GRAPHS, graph_weight=torch.tensor([1, 1, 0, 1, 1.0])).sum().backward()
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)
    if kind == "sag":  # PyG would draw a sign
        for seed in range(3):
            model.seed([seed])
            model.reset_parameters()
            assert float(pool.select.weight) == 1
            assert not pool.select.weight.requires_grad


def test_the_width_is_found_and_features_may_be_sparse():
    model, data = PANGraph(-1, H, C, residual="layer"), X.float().relu()
    model.materialize(F)
    assert (model.in_channels, model.hidden_channels, model.out_channels, model.num_hops) == (F, H, C, 8)
    model.eval()
    torch.testing.assert_close(model(data.to_sparse_csr(), EDGES, **GRAPHS), model(data, EDGES, **GRAPHS))
    assert PANGraph(-1, H, C, 0)(data.to_sparse(), EDGES, **GRAPHS).shape == (5, C)


def test_what_weight_decay_falls_on():
    model = PANGraph(F, H, C, 1, residual="layer", readout="attention")
    names = {id(p): name for name, p in model.named_parameters()}
    first = ["blocks.0.conv.lin.weight"]
    layers = [*first, "blocks.0.lin.weight", "blocks.0.beside.weight"]
    behind = ["hidden.weight", "lin.weight", "readouts.0.attention.gate.weight"]
    for model.decay, expected in (("first", first), ("layers", layers), ("all", layers + behind)):
        assert [names[id(p)] for p in model.decayed()] == expected
    model.decay = "none"
    with pytest.raises(ValueError, match="decay must be one of first, layers, all, got 'none'"):
        model.decayed()


def labelled(count, numbers=False):
    """Graphs whose class, or number, is told by how many edges they have; some have none."""
    draw = torch.Generator().manual_seed(count)
    for i in range(count):
        nodes = int(torch.randint(1, 9, (), generator=draw))
        ring = torch.stack([torch.arange(nodes), torch.arange(1, nodes + 1) % nodes])
        edges = torch.cat([ring, ring.flip(0)], 1) if i % 2 and nodes > 2 else torch.zeros(2, 0).long()
        y = torch.tensor([float(edges.size(1))]) if numbers else torch.tensor([int(edges.size(1) > 0)])
        yield Data(torch.ones(nodes, F), edges, y=y)


@pytest.mark.parametrize("numbers", [False, True])
def test_it_learns_graphs_from_pygs_loader(numbers):
    train, val = [*labelled(60, numbers)], [*labelled(25, numbers)]
    model = PANGraph(-1, 8, 1 if numbers else 2, 2, trials=2, readout="mean" if not numbers else "sum")
    given = DataLoader(train, 20, shuffle=True), DataLoader(val, 10)
    result = fit(model, given[0], val=given[1], test=val, seeds=[0, 1], lr=0.05, epochs=25)
    if numbers:
        assert max(result.test_metric) < 2.0
    else:
        assert min(result.test_metric) == 1.0
    assert result.predicted.shape == ((25, 2, 1) if numbers else (25, 2))


def test_pyg_explains_it():
    model = PANGraph(F, 16, C, 2, act="elu").eval()
    config = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}
    explainer = Explainer(
        model, GNNExplainer(epochs=3), explanation_type="model", edge_mask_type="object", model_config=config
    )
    found = explainer(X.float(), EDGES, batch=BATCH.where(BATCH < 1, 1))
    assert found.edge_mask.shape == (10,)
    assert found.edge_mask.max() > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"update": "map"}, "update must be one of mlp, linear, got 'map'"),
        ({"head": None}, "head must be one of mlp, linear, got None"),
        ({"jk": "max"}, "jk must be one of last, cat, sum, got 'max'"),
        ({"residual": "input"}, "residual must be one of None, layer, got 'input'"),
        ({"readout": "add"}, "readout must be one of sum, mean, max, attention, got 'add'"),
        ({"conv": "gat"}, "conv must be one of pan, gin, gcn, sage, none, got 'gat'"),
        ({"conv": "gin", "method": 5}, "method goes with conv='pan', got method=5 with conv='gin'"),
        ({"num_layers": -1}, "num_layers must be an integer of at least 0"),
        ({"num_layers": 0, "pool": {"kind": "topk"}}, "pool stands behind layers, and there are none"),
        ({"hidden_channels": 0}, "hidden_channels must be an integer of at least 1"),
        ({"trials": 0}, "trials must be an integer of at least 1"),
        ({"trials": 2, "pool": {"kind": "topk"}}, "pool goes with one trial"),
        ({"trials": 2, "dropout": [0.1, 0.2, 0.3]}, "dropout must be a number, or 2 numbers"),
        ({"dropout_head": 1.0}, "dropout_head must be at least 0 and below 1"),
        ({"paths": lambda adj, L: None}, "paths must be plain"),
        ({"norm": "GraphNorm", "trials": 2}, "norm must be one of batch, layer where there are trials"),
    ],
)
def test_bad_settings(options, words):
    with pytest.raises(ValueError, match=words):
        PANGraph(**{"in_channels": F, "hidden_channels": H, "out_channels": C, "num_layers": 2, **options})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"graph_weight": torch.ones(4)}, r"graph_weight must be \(5,\) or \(5, 2\), .* got a Tensor of shape \(4,\)"),
        ({"graph_weight": [1.0] * 5}, "graph_weight must be"),
        ({"batch": BATCH[:3]}, "batch must be 7 numbers of graphs"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1"),
    ],
)
def test_bad_calls(given, words):
    with pytest.raises(ValueError, match=words):
        made(2)(X, EDGES, **{**GRAPHS, **given})


def test_a_batch_as_pyg_has_it():
    graphs = [Data(X[:4].float(), TRIANGLE_AND_TAIL), Data(X[4:6].float(), torch.tensor([[0, 1], [1, 0]]))]
    joined = Batch.from_data_list(graphs)
    model = PANGraph(F, H, C).eval()
    found = model(joined.x, joined.edge_index, batch=joined.batch)
    torch.testing.assert_close(found, torch.cat([model(each.x, each.edge_index) for each in graphs]))


def test_a_step_is_traced_whole():
    model, adj = made(2, num_layers=1), Adjacency.of(EDGES, num_nodes=7)
    other, given = made(2, num_layers=1), {**GRAPHS, "graph_weight": torch.tensor([[1.0, 0]] * 2 + [[1.0, 1]] * 3)}
    other.load_state_dict(model.state_dict())
    compiled = torch.compile(other, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(X, adj, **given), model(X, adj, **given))
    torch.testing.assert_close(other.blocks[0].norm.running_var, model.blocks[0].norm.running_var)


def test_a_batch_of_one_node_trains_by_the_running_means():
    model = made().train()
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    model(X[:1], EDGES[:, :0], batch=torch.zeros(1, dtype=torch.long), batch_size=1).sum().backward()
    assert all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None)
    assert all(torch.equal(buffer, before[name]) for name, buffer in model.named_buffers())


@pytest.mark.parametrize("batch", [[0, 0, 3], [-1, 0, 1]])
def test_graphs_that_there_are_not_are_refused(batch):
    with pytest.raises(ValueError, match=r"batch must name graphs of 0 … 1, as batch_size = 2 says"):
        made()(X[:3], EDGES[:, :0], batch=torch.tensor(batch), batch_size=2)
