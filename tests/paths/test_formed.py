"""Shortest and self-avoiding paths: against enumeration, on lattices and trees, under every method, within memory."""

import networkx as nx
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_base, dense_met, enumerated, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import MET, METHODS, Adjacency, Fixed, PANConv, SelfAvoidingPaths, ShortestPaths, Walks
from panconv.graph import BASES
from panconv.paths import formed, self_avoiding, shortest
from panconv.testing import assert_equivariant, assert_gradients, assert_operator, close

FAMILIES = {"shortest": ShortestPaths, "self_avoiding": SelfAvoidingPaths}
kinds = pytest.mark.parametrize("kind", FAMILIES)


def adjacency(graph, **changed):
    return Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)


def undirected(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    edges = torch.tensor(list(graph.edges)).T
    return Adjacency.from_edge_index(torch.cat([edges, edges.flip(0)], dim=1), num_nodes=len(graph))


def dense(family):
    return torch.stack(list(family.terms(torch.eye(family.num_nodes, dtype=torch.float64))))


@kinds
@given(graphs(max_nodes=6), st.integers(0, 4), st.sampled_from(sorted(BASES)))
def test_every_path_is_counted(kind, graph, L, base):
    counted = FAMILIES[kind](adjacency(graph), L).on(base)
    expected = enumerated(dense_base(graph.dense(), base), L, kind)
    close(dense(counted), torch.stack(expected))
    close(counted.counts().log.exp(), torch.stack(expected).sum(2))


@kinds
@settings(max_examples=30)
@given(graphs(max_nodes=5, zeros=False), st.integers(0, 3), st.sampled_from(sorted(METHODS)), st.data())
def test_every_method_takes_them(kind, graph, L, method, data):
    w = torch.tensor([data.draw(st.floats(0.25, 2)) for _ in range(L + 1)], dtype=torch.float64)
    M = MET(FAMILIES[kind](adjacency(graph), L), w, method)
    expected, Z = dense_met(graph.dense(), w, method, kind)
    close(M.to_dense(torch.float64), expected)
    close(M.partition, Z)
    assert_operator(M)


@given(graphs(max_nodes=7), st.integers(0, 7))
def test_what_was_found_is_told_by_a_table_or_a_search(graph, L):
    by_table = dense(ShortestPaths(adjacency(graph), L))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortest, "_TABLE", -1)
        close(dense(ShortestPaths(adjacency(graph), L)), by_table)


@kinds
def test_lengths_beyond_the_longest_path_cost_nothing(kind, monkeypatch):
    steps = []
    for module in (shortest, self_avoiding):
        extend = module.extend
        monkeypatch.setattr(module, "extend", lambda *args, extend=extend: steps.append(1) or extend(*args))
    terms = FAMILIES[kind](undirected(nx.path_graph(5)), 1000).formed()
    assert len(terms.G) == 1000
    assert len(steps) <= 5
    assert len({id(G) for G in terms.G}) == 5  # of 1 to 4 steps, and of all that are longer
    assert not terms.counts().value[5:].any()


@kinds
def test_many_blocks_are_one(kind, monkeypatch):
    adj = undirected(nx.gnm_random_graph(40, 90, seed=1))
    whole = dense(FAMILIES[kind](adj, 3))
    monkeypatch.setattr(formed, "_BLOCK", 50)
    fresh = undirected(nx.gnm_random_graph(40, 90, seed=1))
    close(dense(FAMILIES[kind](fresh, 3)), whole)


def test_on_a_square_lattice_they_agree_for_two_steps_and_not_for_three():
    adj = undirected(nx.grid_2d_graph(7, 7))
    shortest, avoiding = dense(ShortestPaths(adj, 3)), dense(SelfAvoidingPaths(adj, 3))
    close(shortest[:3], avoiding[:3])
    centre = 3 * 7 + 3
    assert avoiding[3, centre].sum() == 36  # self-avoiding walks of 3 steps on the square lattice
    assert shortest[3, centre].sum() == 28  # 4 straight and 8 · 3 bent: 2³⁺² − 4
    assert avoiding[3, centre, centre + 1] == 2  # around the two squares beside the edge


@given(st.integers(2, 9), st.integers(0, 100))
def test_on_a_tree_all_paths_are_shortest(N, seed):
    adj = undirected(nx.random_labeled_tree(N, seed=seed))
    close(dense(ShortestPaths(adj, N)), dense(SelfAvoidingPaths(adj, N)))
    assert dense(ShortestPaths(adj, N)).sum() == N * N  # one path between any two nodes


@kinds
def test_gradients_reach_edge_weights_through_long_products(kind):
    weight = torch.rand(8, dtype=torch.float64) + 0.5
    weight.requires_grad_()
    x = torch.randn(4, 2, dtype=torch.float64)
    for method in METHODS:

        def apply(method=method):
            adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, weight)
            return MET(FAMILIES[kind](adj, 2), Fixed(torch.ones(3, dtype=torch.float64)), method) @ x

        assert_gradients(apply, weight)


@kinds
def test_the_layer_takes_them_by_name(kind):
    conv = PANConv(5, 3, L=3, method=2, paths=kind)
    x = torch.randn(4, 5)
    assert_equivariant(conv, x, TRIANGLE_AND_TAIL)
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL)
    close(conv(x, adj), MET(FAMILIES[kind](adj, 3), conv.weights, 2) @ conv.lin(x) + conv.bias)
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, adj), conv(x, adj))


@kinds
def test_counts_beyond_float32_are_still_exact(kind):
    """Weights of 1e9 along a line: products of four leave the range in which float32 is safe."""
    line = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    adj = Adjacency.from_edge_index(line, torch.full((4,), 1e9, dtype=torch.float64))
    family = FAMILIES[kind](adj, 4)
    assert not family.counts().held_by(torch.float32)
    for method in (1, 3):
        w = torch.tensor([1e9**-n for n in range(5)], dtype=torch.float64)
        expected, _ = dense_met(adj.to_dense(torch.float64), w, method, kind)
        close(MET(family, w, method).to_dense(torch.float64), expected)


@kinds
@given(graphs(max_nodes=6), st.integers(0, 5))
def test_the_bound_on_what_grows_at_once_is_one(kind, graph, L):
    """It decides about blocks and memory: no receiver may have more paths of any length than it says."""
    family = FAMILIES[kind](adjacency(graph), L)
    most = formed._most_at_once(formed._without_loops(family.adj), L, merges=False)
    pattern = (graph.dense() != 0).double()
    for G in enumerated(pattern, L, "self_avoiding")[1:]:
        assert bool((G.sum(1) <= most).all())


def layers(width):
    """Three layers of nodes, each joined to all of the next: no walk is longer than two steps."""
    nodes = torch.arange(3 * width).reshape(3, width)
    return torch.cat([torch.cartesian_prod(nodes[i], nodes[i + 1]).T for i in range(2)], dim=1)


@kinds
def test_dead_ends_do_not_hide_what_came_before(kind):
    adj = Adjacency.from_edge_index(layers(300))
    assert int(formed._most_at_once(formed._without_loops(adj), 5, merges=False).max()) == 300**2
    with pytest.raises(ValueError, match="would take about"):
        FAMILIES[kind](adj, 5, memory_limit=2**22).counts()


@pytest.mark.parametrize(
    ("graph", "L", "paths"),
    [(nx.cycle_graph(130), 60, 130 * 2 * 60), (nx.star_graph(300), 5, 2 * 300 + 300 * 299), (nx.path_graph(2), 9, 2)],
)
def test_few_paths_fit_however_many_walks_there_are(graph, L, paths):
    family = SelfAvoidingPaths(undirected(graph), L, memory_limit=2**25)
    assert float(family.counts().log[1:].exp().sum()) == pytest.approx(paths)


@kinds
def test_a_graph_that_would_not_fit_is_refused_with_an_estimate(kind):
    graph = nx.barabasi_albert_graph(3000, 5, seed=0)
    with pytest.raises(ValueError, match=r"L = 4 on 3,000 nodes would take about \d+\.\d GiB.*smaller L, walks"):
        FAMILIES[kind](undirected(graph), 4, memory_limit=2**28).counts()
    # The estimate follows the result: what is held in the end, 12 bytes per entry and more, is on the right side of it.
    held = 12 * sum(G.num_edges for G in FAMILIES[kind](undirected(graph), 3).formed().G)
    with pytest.raises(ValueError, match="would take about"):
        FAMILIES[kind](undirected(graph), 3, memory_limit=held).counts()
    assert FAMILIES[kind](undirected(graph), 3, memory_limit=2**30).counts().held_by(torch.float32)
    for bad in (0, -5, "a"):
        with pytest.raises(ValueError, match="memory_limit must be an integer of at least 1"):
            FAMILIES[kind](undirected(graph), 3, memory_limit=bad)


@kinds
def test_built_once_per_graph(kind, monkeypatch):
    built = []
    build = formed.FormedPaths._build
    monkeypatch.setattr(formed.FormedPaths, "_build", lambda self: built.append(1) or build(self))
    conv, x = PANConv(4, 3, paths=kind), torch.randn(4, 4)
    for _ in range(3):
        conv(x, TRIANGLE_AND_TAIL)
    assert len(built) == 1
    adj = Adjacency.of(TRIANGLE_AND_TAIL)
    for method in (1, 2, 3, 6):  # on one base
        _ = MET(FAMILIES[kind](adj, 2), [1.0, 1.0, 1.0], method) @ x
    assert len(built) == 2


@kinds
def test_compiling_before_building_is_refused(kind):
    conv = PANConv(5, 3, L=2, paths=kind)
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL)
    with pytest.raises(Exception, match="eager mode"):
        torch.compile(conv, fullgraph=True, backend="aot_eager")(torch.randn(4, 5), adj)


def test_unknown_paths_are_refused():
    with pytest.raises(
        ValueError, match="paths must be one of walks, shortest, self_avoiding, effective, or a function"
    ):
        PANConv(5, 3, paths="longest")


def test_simplified_and_full_layer_agree_on_regular_graphs_alone():
    """Eq. 10 with k(n) = wₙ dⁿ / Σ wₘ dᵐ is eq. 9 where every node has degree d."""
    w = torch.tensor([1.0, 0.5, 0.25, 0.125], dtype=torch.float64)
    regular, irregular = undirected(nx.random_regular_graph(4, 12, seed=0)), Adjacency.of(TRIANGLE_AND_TAIL)
    for adj, equal in ((regular, True), (irregular, False)):
        full = MET(Walks(adj, 3), w, method=1)
        k = full.path_weights.mean(1)
        difference = full.to_dense(torch.float64) - MET(Walks(adj, 3), k, method=3).to_dense(torch.float64)
        assert (float(difference.abs().max()) < 1e-12) == equal
        assert equal == (float(full.path_weights.std(1).max()) < 1e-12)
