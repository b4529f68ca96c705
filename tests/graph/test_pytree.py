"""A graph as a pytree: taken apart and put together, and as an input of a program that torch.export made."""

import io
import math
import pickle

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from panconv import Adjacency, PANConv
from panconv.graph import bases

PATH = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 3], [1, 0, 2, 1, 3, 2, 3, 0]])  # as many edges as TRIANGLE_AND_TAIL


class Nets(torch.nn.Module):
    """A layer of each method, side by side."""

    def __init__(self, methods, L=2):
        super().__init__()
        self.convs = torch.nn.ModuleList(PANConv(3, 2, L=L, method=method) for method in methods)

    def forward(self, x, graph):
        return torch.stack([conv(x, graph) for conv in self.convs])


def exported(model, adj, **given):
    return torch.export.export(model, (torch.randn(adj.num_nodes, 3), adj), **given).module()


def check(program, model, *adjs):
    for adj in adjs:
        x = torch.randn(adj.num_nodes, 3)
        torch.testing.assert_close(program(x, adj), model(x, adj))


def star(leaves, weight=None):
    centre, ends = torch.zeros(leaves, dtype=torch.long), torch.arange(1, leaves + 1)
    edges = torch.stack([torch.cat([centre, ends]), torch.cat([ends, centre])])
    return Adjacency.of(edges, None if weight is None else torch.full((2 * leaves,), weight), 30)


@given(graphs())
def test_taken_apart_and_put_together(graph):
    adj = Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes)
    leaves, structure = tree_flatten(adj)
    assert tree_unflatten(leaves, structure) is adj  # with all that it has cached
    other = tree_map(torch.clone, adj)
    assert other is not adj
    assert repr(other) == repr(adj)
    facts = ("growth", "decay", "is_signed", "is_positive", "is_undirected", "num_self_loops")
    assert [getattr(other, name) for name in facts] == [getattr(adj, name) for name in facts]
    for base in ("A", "Â", "D⁻¹A"):  # what follows from one is a graph with sides, and a pytree too
        again = tree_map(torch.clone, adj.base(base))
        torch.testing.assert_close(again.to_dense(torch.float64), other.base(base).to_dense(torch.float64))
    if graph.edge_weight is not None:
        assert other.reweight(2 * graph.edge_weight).num_edges == adj.num_edges


def test_signed_bases_keep_their_magnitudes():
    adj = Adjacency.of(torch.tensor([[0, 1, 0], [1, 0, 0]]), torch.tensor([2.0, 2.0, -1.0])).base("A+I")
    other = tree_map(torch.clone, adj)
    torch.testing.assert_close(other.absolute().to_dense(), adj.absolute().to_dense())


def test_only_tensors_make_a_graph():
    with pytest.raises(TypeError, match="made of tensors"):
        tree_map(lambda tensor: tensor.shape, Adjacency.of(PATH))


@pytest.mark.filterwarnings("ignore::FutureWarning")  # torch, about its own tree
def test_the_structure_is_pickled_without_its_graph():
    structure = tree_flatten(Adjacency.of(PATH))[1]
    assert pickle.loads(pickle.dumps(structure)) == structure


@pytest.mark.parametrize("strict", [False, True])
def test_a_program_takes_another_graph(strict):
    model = Nets([1] if strict else [1, 5, 6])
    first, second = Adjacency.of(TRIANGLE_AND_TAIL), Adjacency.of(PATH)
    model(torch.randn(4, 3), first)  # what is cached with the first must not become part of the program
    check(exported(model, first, strict=strict), model, first, second)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_program_of_every_method(directed, weighted, strict):
    def graph(seed):
        torch.manual_seed(seed)
        edges = torch.randperm(144)[:30]
        edges = torch.stack([edges % 12, edges // 12])
        edges = edges[:, edges[0] < edges[1]][:, :9]
        weight = 0.5 + torch.rand(9)
        if not directed:
            edges, weight = torch.cat([edges, edges.flip(0)], 1), weight.repeat(2)
        return Adjacency.of(edges, weight if weighted else None, 12)

    model = Nets(range(1, 12))
    check(exported(model, graph(0), strict=strict), model, *map(graph, range(4)))


def test_a_program_takes_graphs_of_other_sizes():
    model, small, large = Nets([2, 5, 6]), Adjacency.of(PATH), star(6)
    sizes = torch.export.AdditionalInputs()
    sizes.add((torch.randn(30, 3), large))
    program = exported(model, small, dynamic_shapes=sizes)
    check(program, model, small, large, star(7), Adjacency.of(TRIANGLE_AND_TAIL))


@pytest.mark.filterwarnings("ignore:The given buffer is not writable")  # torch 2.11 of its own file
def test_a_program_is_trained_and_saved():
    model, adj = PANConv(3, 2, method=1), Adjacency.of(PATH)
    x = torch.randn(4, 3)
    program = torch.export.export(model, (x, adj))
    expected = torch.autograd.grad(model(x, adj).sin().sum(), model.parameters())
    own = program.module()
    ours = torch.autograd.grad(own(x, adj).sin().sum(), own.parameters())
    for a, b in zip(sorted(ours, key=lambda g: g.numel()), sorted(expected, key=lambda g: g.numel()), strict=True):
        torch.testing.assert_close(a, b)
    program.example_inputs, file = None, io.BytesIO()  # they would be a pickle in the file
    torch.export.save(program, file)
    file.seek(0)
    check(torch.export.load(file).module(), model, adj, Adjacency.of(TRIANGLE_AND_TAIL))


def test_a_graph_of_another_kind_is_refused():
    program = exported(PANConv(3, 2), Adjacency.of(PATH))
    for edges, weight in (
        (PATH[:, ::2], None),  # one way
        (PATH, torch.ones(8) * 2),  # weighted
        (torch.cat([PATH, torch.tensor([[0], [0]])], 1), None),  # with a self-loop
        (PATH, torch.tensor([-1.0, -1.0, *[1.0] * 6])),  # with negative weights
    ):
        with pytest.raises(ValueError, match=r"<undirected, unweighted, 0 self-loops(.|\n)*but actually got"):
            program(torch.randn(4, 3), Adjacency.of(edges, weight, 4))


@pytest.mark.parametrize("strict", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_graph_beyond_the_bounds_is_refused(strict):
    model = PANConv(3, 2, L=3, method=1)
    sizes = torch.export.AdditionalInputs()
    sizes.add((torch.randn(30, 3), star(5, 2.0)))
    program = exported(model, star(4, 1.0), strict=strict, dynamic_shapes=sizes)
    check(program, model, star(7, 2.0), star(6, 0.3))
    for adj in (star(20, 1.0), star(4, 0.2)):  # more than four times the sum, less than a quarter of the weight
        with pytest.raises(RuntimeError, match=r"at most 16 at a node .* at least 0\.25"):
            program(torch.randn(30, 3), adj)


def test_signed_weights_may_grow_where_no_value_is_looked_at(monkeypatch):
    monkeypatch.setattr(bases, "may_look", lambda *_: False)
    weight = torch.tensor([1.0, -0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert [Adjacency.of(PATH, w).base("Â").growth for w in (None, weight.abs(), weight)] == [1, 1, math.inf]
