"""Self-loops and repeated edges: read as PyG's layers read them, where that is asked for, and as ever where not."""

import copy
import pickle

import pytest
import scipy.sparse as sp
import torch
from graphs import dense_base, dense_met, graphs
from hypothesis import given, settings
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, LGConv, SGConv, SimpleConv
from torch_geometric.utils import add_remaining_self_loops, to_dense_adj

from panconv import METHODS, PAN, Adjacency, PANConv, fit
from panconv.nn import LanczosConv, PANAttention, PANEdgeAttention, SpectralConv
from panconv.testing import assert_gradients, close

AS_PYG = {"loops": "remaining", "repeats": "sum"}
# Repeated edges, a repeated self-loop at 2, one self-loop at 3, and a node that is not named, all of them directed.
EDGES = torch.tensor([[0, 0, 1, 1, 2, 2, 2, 0, 3], [1, 1, 0, 2, 1, 2, 2, 2, 3]])


def summed(graph):
    """A[receiver, sender] with every edge counted, edge by edge."""
    A = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.float64)
    for e, (source, target) in enumerate(graph.edge_index.T.tolist()):
        A[target, source] += 1 if graph.edge_weight is None else graph.edge_weight[e]
    return A


def with_remaining(graph):
    """A+I by PyG's own hand, dense."""
    edges, weight = add_remaining_self_loops(graph.edge_index, graph.edge_weight, 1.0, graph.num_nodes)
    return to_dense_adj(edges, edge_attr=weight, max_num_nodes=graph.num_nodes)[0].T.double()


def twin(peer, **options):
    """A layer of ours with the parameters of one of PyG's."""
    conv = PANConv(6, 3, **options).double()
    inner = peer.double().lin
    with torch.no_grad():
        conv.lin.weight.copy_(inner.weight.T)
        bias = inner.bias if inner.bias is not None else peer.bias
        conv.bias.copy_(torch.nn.init.normal_(bias))
    return conv


@given(graphs(min_nodes=1))
@settings(max_examples=40)
def test_layers_of_pyg_come_out(graph):
    x = torch.randn(graph.num_nodes, 6, dtype=torch.float64)
    pairs = [
        (GCNConv(6, 3), {"L": 1, "weights": [0.0, 1.0], **AS_PYG}),
        (SGConv(6, 3, K=3), {"L": 3, "weights": [0.0, 0.0, 0.0, 1.0], **AS_PYG}),
        (GCNConv(6, 3, add_self_loops=False), {"L": 1, "method": 9, "weights": [0.0, 1.0], "repeats": "sum"}),
        (SGConv(6, 3, K=2, add_self_loops=False), {"L": 2, "method": 9, "weights": [0.0, 0.0, 1.0], "repeats": "sum"}),
    ]
    for peer, options in pairs:
        conv = twin(peer, **options)
        close(conv(x, graph.edge_index, graph.edge_weight), peer(x, graph.edge_index, graph.edge_weight))
    alike = PANConv(6, 6, L=1, method=9, weights=[0.0, 1.0], repeats="sum", bias=False).double()
    mean = PANConv(6, 6, L=1, method=8, weights=[0.0, 1.0], repeats="sum", bias=False).double()
    with torch.no_grad():
        alike.lin.weight.copy_(torch.eye(6))
        mean.lin.weight.copy_(torch.eye(6))
    close(alike(x, graph.edge_index, graph.edge_weight), LGConv()(x, graph.edge_index, graph.edge_weight))
    if graph.edge_weight is None:
        close(mean(x, graph.edge_index), SimpleConv(aggr="mean")(x, graph.edge_index))


@given(graphs())
@settings(max_examples=50)
def test_every_base_is_the_dense_one(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes, repeats="sum")
    for base in ("A", "A+I", "Â", "D⁻¹A"):
        close(adj.base(base).to_dense(torch.float64), dense_base(summed(graph), base))
    loops = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes, **AS_PYG).base("A+I")
    close(loops.to_dense(torch.float64), with_remaining(graph))
    close(loops.operands(torch.float64)[1].row_sums(), with_remaining(graph).sum(0))


@given(graphs(min_nodes=1, zeros=False))
@settings(max_examples=15)
def test_every_method_on_remaining_loops_is_the_dense_one(graph):
    """On A+I the reference is given that matrix as A; on A what is left of repeated loops is the last."""
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes, **AS_PYG)
    x, w = torch.randn(graph.num_nodes, 2, dtype=torch.float64), torch.tensor([0.5, 1.0, 0.25], dtype=torch.float64)
    tilde = with_remaining(graph)
    given = tilde * (summed(graph) != 0)
    on = {"A": (given, {}), "A+I": (tilde, {4: 3}), "Â": (tilde, {5: 9, 7: 10})}
    for method, rule in METHODS.items():
        A, same_on_A = on.get(rule.base, (given, {}))
        M = dense_met(A, w, same_on_A.get(method, method))[0]
        conv = PANConv(2, 2, method=method, weights=w, bias=False).double()
        close(conv(x, adj), M @ x @ conv.lin.weight)


def test_a_loop_of_weight_zero_stays_zero_and_keeps_its_gradient():
    edges, weight = torch.tensor([[0, 0, 1], [0, 1, 1]]), torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    adj = Adjacency.from_edge_index(edges, weight, loops="remaining")
    assert adj.base("A+I").to_dense().tolist() == [[0, 0], [1, 2]]
    assert adj.base("Â").to_dense()[0].tolist() == [0, 0]  # nothing arrives there: 1/0 is 0
    assert not adj.base("A+I").is_positive  # by which a trace is told that it may vanish,
    assert adj.base("Â").decay < 1
    added = Adjacency.from_edge_index(edges, weight)  # as it never does with 1 on the diagonal
    assert added.base("A+I").is_positive
    assert added.base("Â").decay == 1
    conv, x = PANConv(2, 2, L=3, method=4, loops="remaining").double(), torch.randn(2, 2, dtype=torch.float64)
    weight = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert_gradients(lambda: conv(x, edges, weight), weight)


def test_of_repeated_loops_the_last_counts_and_alone_has_a_gradient():
    weight = (torch.rand(9, dtype=torch.float64) + 0.1).requires_grad_()
    adj = Adjacency.from_edge_index(EDGES, weight, loops="remaining")
    assert adj.to_dense()[2, 2] == weight[6].float()
    conv, x = PANConv(5, 2, loops="remaining").double(), torch.randn(5, 5, dtype=torch.float64)
    assert_gradients(lambda: conv(x, EDGES, weight), weight)
    conv(x, EDGES, weight).sum().backward()
    assert weight.grad[5] == 0 != weight.grad[6]


def test_the_defaults_are_the_designs():
    adj = Adjacency.from_edge_index(EDGES)
    assert (adj.loops, adj.repeats) == ("add", "one")
    assert adj.value is None
    assert adj.base("A+I").to_dense().diag().tolist() == [1, 1, 2, 2]
    assert Adjacency.from_edge_index(EDGES, torch.ones(9)).base("A+I").to_dense().diag().tolist() == [1, 1, 3, 2]
    unlooped = Adjacency.from_edge_index(EDGES, loops="remaining")
    assert unlooped.base("A+I").value is None  # all ones: nothing to store
    assert unlooped.base("A+I").to_dense().diag().tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("weight", [None, torch.rand(9)])
def test_what_is_made_from_a_graph_is_read_like_it(weight):
    adj = Adjacency.from_edge_index(EDGES, weight, 5, **AS_PYG)
    expected = adj.base("A+I").to_dense()
    twins = [copy.deepcopy(adj), pickle.loads(pickle.dumps(adj)), adj.detach(), adj.with_values(adj.value)]
    for other in [*twins, Adjacency.of(adj, loops="remaining"), adj.to("meta").to("meta")]:
        assert other.loops == "remaining"
        if other.device.type == "cpu":
            close(other.base("A+I").to_dense(), expected)
    new = torch.rand(9)
    again = adj.reweight(new) if weight is not None else Adjacency.from_edge_index(EDGES, new, 5, **AS_PYG)
    close(again.base("A+I").to_dense(), Adjacency.from_edge_index(EDGES, new, 5, **AS_PYG).base("A+I").to_dense())


def test_of_a_matrix_entries_add_and_its_diagonal_is_a_loop():
    matrix = torch.sparse_coo_tensor([[0, 0, 1], [0, 0, 0]], [1.0, 2.0, 1.0], (2, 2))
    for form in (matrix, sp.coo_array(matrix.to_dense().numpy())):
        adj = Adjacency.of(form, loops="remaining", repeats="sum")
        assert adj.base("A+I").to_dense().tolist() == [[3, 0], [1, 1]]


def test_a_layer_that_is_called_in_turns_reads_each_graph_by_its_own_words():
    x = torch.randn(5, 4)
    usual, pyg = PANConv(4, 3), PANConv(4, 3, **AS_PYG)
    pyg.load_state_dict(usual.state_dict())
    for weight in (None, torch.rand(9), None):
        for conv, words in ((usual, {}), (pyg, AS_PYG)):
            close(conv(x, EDGES, weight), usual(x, Adjacency.from_edge_index(EDGES, weight, 5, **words)))
    assert not torch.allclose(usual(x, EDGES), pyg(x, EDGES))
    usual.reading = pyg.reading
    close(usual(x, EDGES), pyg(x, EDGES))  # what was prepared before is not taken for it
    assert "loops='remaining', repeats='sum'" in repr(pyg)


@pytest.mark.parametrize("make", [PANAttention, PANEdgeAttention, LanczosConv, SpectralConv])
def test_the_other_layers_and_the_model_take_the_words(make):
    both = torch.cat([EDGES, EDGES.flip(0)], 1)
    method = {} if make is PANEdgeAttention else {"method": 5}
    layer, x = make(4, 2, **method, **AS_PYG), torch.randn(5, 4)
    adj = Adjacency.from_edge_index(both, None, 5, **AS_PYG)
    torch.testing.assert_close(layer(x, both), layer(x, adj))
    assert "repeats='sum'" in repr(layer)
    with pytest.raises(ValueError, match="repeats is 'sum', but the Adjacency was made with repeats='one'"):
        layer(x, Adjacency.from_edge_index(both, None, 5, loops="remaining"))


def test_the_model_is_saved_and_trained_with_its_words(tmp_path):
    model, x = PAN(4, 8, 2, dropout=0.0, **AS_PYG), torch.randn(5, 4)
    model.save(tmp_path / "m.safetensors")
    again = PAN.load(tmp_path / "m.safetensors")
    assert again.reading == model.reading == ("remaining", "sum")
    close(again(x, EDGES), model(x, EDGES))
    close(model(x, EDGES), model(x, Adjacency.from_edge_index(EDGES, None, 5, **AS_PYG)))
    masks = {f"{part}_mask": torch.arange(5) == i for i, part in enumerate(("train", "val", "test"))}
    data = Data(x=x, edge_index=EDGES, y=torch.tensor([0, 1, 1, 0, 1]), **masks)
    fit(model, data, epochs=2)  # an Adjacency made by other words would be refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"loops": "none"}, "loops must be 'add' or 'remaining', got 'none'"),
        ({"loops": True}, "loops must be 'add' or 'remaining', got True"),
        ({"repeats": ["sum"]}, r"repeats must be 'one' or 'sum', got \['sum'\]"),
    ],
)
def test_other_words_are_refused(words, message):
    for make in (lambda: PANConv(4, 2, **words), lambda: PAN(4, 2, 2, **words), lambda: Adjacency.of(EDGES, **words)):
        with pytest.raises(ValueError, match=message):
            make()


def test_a_graph_that_was_read_otherwise_is_refused_with_the_remedy():
    conv, x = PANConv(4, 2, **AS_PYG), torch.randn(4, 4)
    with pytest.raises(ValueError, match=r"loops is 'remaining', but .* made with loops='add': make it with Adjacency"):
        conv(x, Adjacency.from_edge_index(EDGES))
    with pytest.raises(ValueError, match=r"repeats is 'sum', but .* made with repeats='one'"):
        conv(x, Adjacency.from_edge_index(EDGES, loops="remaining"))
    once = torch.tensor([[0, 1], [1, 0]])  # nothing is repeated: there is but one way to read it
    assert conv(torch.randn(2, 4), Adjacency.from_edge_index(once, loops="remaining")).shape == (2, 2)
