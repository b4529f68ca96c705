import pytest
import torch
from graphs import dense_met, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import MET, METHODS, Adjacency, Boltzmann, EffectiveWalks, Fixed, Free, PowerLaw, Walks
from panconv.compute.kernels import plain
from panconv.met import columns as blocks
from panconv.met import entries as room
from panconv.met.entries import among, closed, graph_of
from panconv.paths import SelfAvoidingPaths, ShortestPaths
from panconv.testing import assert_gradients, close

methods = st.sampled_from(sorted(METHODS))
PAIR = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])  # two components, 0–1 and 2–3–4


def adjacency(graph):
    return Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)


def one_group(M):
    return torch.zeros(M.shape[0], dtype=torch.long)


def dense(entries, K):
    found = torch.zeros(K, K, dtype=torch.float64)
    assert len(set(zip(entries.row.tolist(), entries.col.tolist(), strict=True))) == entries.row.numel()
    key = entries.row * K + entries.col
    assert bool((key.diff() > 0).all())  # by row, then column
    return found.index_put((entries.row, entries.col), entries.value)


@pytest.fixture(params=["at once", "in blocks", "sparse"])
def way(request, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK", 8 if request.param == "in blocks" else 2**21)
    if request.param == "sparse":
        monkeypatch.setattr(room, "_NARROW", 0)
        monkeypatch.setattr(room, "_DENSE", 1e-9)


@pytest.mark.usefixtures("way")
@settings(max_examples=10)
@given(graphs(), methods, st.integers(0, 3), st.data())
def test_the_entries_of_the_reference(graph, method, L, data):
    adj, w = adjacency(graph), torch.rand(L + 1, dtype=torch.float64) + 0.1
    M = MET(Walks(adj, L), w, method)
    reference, _ = dense_met(graph.dense(), w, method)
    nodes = data.draw(st.permutations(range(graph.num_nodes)).map(lambda p: p[: len(p) // 2 + 1]))
    nodes = torch.tensor(nodes, dtype=torch.long)
    for group in (one_group(M), M.components):
        close(closed(M, group), reference.diagonal())
        close(closed(M, group, nodes), reference.diagonal()[nodes])
        for operator, formed in ((M, reference), (M.T, reference.T)):
            found = among(operator, nodes, group)
            close(dense(found, len(nodes)), formed[nodes][:, nodes])
            assert bool((found.value != 0).all())


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("family", [ShortestPaths, SelfAvoidingPaths])
@settings(max_examples=6)
@given(graph=graphs(min_nodes=1), method=methods)
def test_other_paths(family, graph, method):
    M = MET(family(adjacency(graph), 3), [0.5, 1.0, 2.0, 0.25], method)
    formed = M.to_dense(torch.float64)
    close(closed(M, M.components), formed.diagonal())
    close(dense(among(M, torch.arange(M.shape[0]), M.components), M.shape[0]), formed)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize("method", [1, 2])
def test_effective_lengths(alpha, method):
    adj = Adjacency.of(PAIR, torch.tensor([1.0, 1.0, 0.5, 0.5, 2.0, 2.0]))
    M = MET(EffectiveWalks(adj, 3), PowerLaw(3, alpha=alpha, trained=False), method)
    formed = M.to_dense(torch.float64)
    close(closed(M, M.components), formed.diagonal())
    close(dense(among(M, torch.arange(5), M.components), 5), formed)


@pytest.mark.parametrize("method", [1, 2, 3, 6])
def test_counts_that_leave_floating_point(method, monkeypatch):
    ring = torch.stack([torch.arange(10), (torch.arange(10) + 1) % 10])
    full = torch.cartesian_prod(torch.arange(10, 30), torch.arange(10, 30)).T
    adj = Adjacency.from_edge_index(torch.cat([ring, ring.flip(0), full], 1))
    M = MET(Walks(adj, 260), torch.rand(261, dtype=torch.float64) + 0.1, method)  # 20²⁶⁰ walks
    formed = M.to_dense(torch.float64)
    close(closed(M, M.components), formed.diagonal())
    nodes = torch.arange(30)
    close(dense(among(M, nodes, M.components), 30), formed)
    monkeypatch.setattr(room, "_NARROW", 0)
    monkeypatch.setattr(room, "_DENSE", 1e-9)
    close(dense(among(M, nodes, M.components), 30), formed)


def test_the_symmetric_twin():
    S, _ = MET(Walks(PAIR, 2), [1.0, 0.5, 0.25], 11).similar()
    close(closed(S, one_group(S)), S.to_dense(torch.float64).diagonal())


def test_trials_each_by_itself():
    w = torch.rand(3, 2, dtype=torch.float64)
    for method in METHODS:
        M = MET(Walks(PAIR, 2), Fixed(w), method)
        found = closed(M, M.components)
        for s in range(2):
            alone = MET(Walks(PAIR, 2), w[:, s], method)
            close(found[:, s], closed(alone, alone.components))
    with pytest.raises(ValueError, match="weights must be those of one trial"):
        among(M, torch.arange(5), M.components)


@pytest.mark.parametrize("method", METHODS)
def test_gradients(method, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK", 8 if method < 6 else 2**21)
    monkeypatch.setattr(room, "_NARROW", 0 if method % 2 else 256)
    monkeypatch.setattr(room, "_DENSE", 1e-9)
    start = torch.rand(3, dtype=torch.float64) + 0.25
    weights = Boltzmann(start) if METHODS[method].overall else Free(start)
    edge_weight = torch.rand(6, dtype=torch.float64) + 0.5
    nodes = torch.tensor([4, 0, 3])

    def found(edge_weight=edge_weight):
        M = MET(Walks(Adjacency.from_edge_index(PAIR, edge_weight), 2), weights, method)
        group = torch.tensor([0, 0, 1, 1, 1])
        return torch.cat([closed(M, group), closed(M, group, nodes), among(M, nodes, group).value])

    assert_gradients(found, *weights.parameters())
    trained = edge_weight.clone().requires_grad_()
    assert_gradients(lambda: found(trained), trained)
    close(found(trained), found())


def test_what_is_closed_is_found_once(monkeypatch):
    done, multiply = [], plain.multiply
    monkeypatch.setattr(plain, "multiply", lambda *a: done.append(a[-1].size(1)) or multiply(*a))
    adj = Adjacency.from_edge_index(PAIR)
    for w in ([1.0, 1.0, 1.0], [0.0, 0.5, 3.0]):
        M = MET(Walks(adj, 2), w, 5)
        close(closed(M, M.components), M.to_dense(torch.float64).diagonal())
    assert done.count(3) == 2  # as wide as the larger component, for each length
    M = MET(Walks(adj, 3), [1.0] * 4, 5)
    close(closed(M, M.components), M.to_dense(torch.float64).diagonal())


def test_weights_for_which_the_same_walks_are_counted_in_another_way():
    full = Adjacency.from_edge_index(torch.cartesian_prod(torch.arange(9), torch.arange(9)).T)
    for energies in ([0.0, 0.0, 0.0], [0.0, 0.0, 710.0], [0.0, 0.0, 0.0]):  # exp(−710) leaves float64, 9² exp(−710) not
        M = MET(Walks(full, 2), Boltzmann(torch.tensor(energies, dtype=torch.float64)), 1)
        close(closed(M, one_group(M)), M.to_dense(torch.float64).diagonal())


def test_zeros_that_may_grow_stay():
    nodes = torch.arange(5)
    fixed = MET(Walks(PAIR, 1), [0.0, 1.0], 8)
    assert among(fixed, nodes, fixed.components).row.tolist() == [0, 1, 2, 3, 3, 4]
    weights = Free([0.0, 1.0])
    found = among(MET(Walks(PAIR, 1), weights, 8), nodes, fixed.components)
    assert found.row.numel() == 11
    found.value.sum().backward()
    assert weights.k.grad.tolist() == [5, 5]  # loops, and rows of which each sums to 1


def test_a_large_sparse_graph_goes_by_sparse_matrices(monkeypatch):
    edges = torch.randint(1500, (2, 2000))
    M, nodes = MET(Walks(edges, 2), [1.0, 0.5, 0.25], 2), torch.randperm(1400)[:600]
    formed = M.to_dense(torch.float64)[nodes][:, nodes]
    monkeypatch.setattr(room, "columns", lambda *_: pytest.fail("columns were taken"))
    close(dense(among(M, nodes, one_group(M)), 600), formed)


def test_the_graph_beneath():
    adj = Adjacency.from_edge_index(PAIR)
    for method in (1, 4, 5, 8):
        M = MET(Walks(adj, 1), None, method)
        assert graph_of(M) is adj
        assert graph_of(M.T) is adj
