import pytest
import torch
from graphs import dense_met, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from panconv import MET, METHODS, Adjacency, Boltzmann, EffectiveWalks, Fixed, Free, PowerLaw, Walks
from panconv.compute.kernels import plain
from panconv.met import columns as blocks
from panconv.met import entries as room
from panconv.met.entries import among, at_most, closed, graph_of
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


# ---------------------------------------------------------------------- more than memory may hold


@given(graphs(min_nodes=1), methods, st.integers(0, 3), st.data())
def test_a_bound_on_the_entries(graph, method, L, data):
    M = MET(Walks(adjacency(graph), L), torch.rand(L + 1, dtype=torch.float64) + 0.1, method)
    nodes = data.draw(st.permutations(range(graph.num_nodes)).map(lambda p: p[: len(p) // 2 + 1]))
    nodes = torch.tensor(nodes, dtype=torch.long)
    for some, group in ((nodes, M.components), (nodes, None), (None, M.components), (None, None)):
        asked = torch.arange(M.shape[0]) if some is None else some
        found = among(M, asked, one_group(M)).value.numel()
        most = at_most(M.paths.adj, L, some, group)
        groups = one_group(M) if group is None else group
        assert found <= most <= int(torch.bincount(groups[asked]).square().sum())


def star(N):
    edges = torch.stack([torch.zeros(N - 1, dtype=torch.long), torch.arange(1, N)])
    return torch.cat([edges, edges.flip(0)], 1)


def test_the_bound_is_of_the_nodes_that_are_asked_for():
    adj, leaves = Adjacency.of(star(50)), torch.arange(20, 50)
    assert at_most(adj, 1) == 50 + 2 * 49
    assert at_most(adj, 2) == 50**2
    assert at_most(adj, 1, leaves) == 30
    assert at_most(adj, 2, leaves) == 30**2
    two = Adjacency.of(PAIR)
    assert at_most(two, 9, torch.tensor([0, 2, 4]), torch.tensor([3, 3, 1, 1, 1])) == 1 + 4


@pytest.mark.parametrize("trained", [False, True])
def test_more_entries_than_memory_holds_are_refused_before_they_are_found(trained, monkeypatch):
    weight = torch.ones(98, requires_grad=trained)
    M, leaves = MET(Walks(Adjacency.of(star(50), weight), 2), [1.0, 1.0, 1.0], 5), torch.arange(20, 50)
    needed = 30**2 * (128 + 3 * 24) + trained * 16 * 50 * 30 * 3
    monkeypatch.setattr(room, "free_bytes", lambda device: needed / 0.75)
    assert among(M, leaves, one_group(M)).value.numel() == 30**2
    monkeypatch.setattr(room, "free_bytes", lambda device: needed / 0.75 - 1)
    for never in ("_from_columns", "_from_matrices"):
        monkeypatch.setattr(room, never, None)
    with pytest.raises(ValueError, match=r"M of L = 2 has about 900 entries between 30 nodes") as error:
        among(M, leaves, one_group(M))
    assert str(error.value).endswith("GiB that can be had: take fewer nodes, or a smaller L")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("sample", [5, 17, 256])
def test_many_walks_to_few_nodes_are_no_reason_to_refuse(sample, monkeypatch):
    """On a long path walks of 20 steps are a million, to 41 nodes at most; on two components as on one."""
    path = torch.stack([torch.arange(299), torch.arange(1, 300)])[:, torch.arange(299) != 149]
    M = MET(Walks(Adjacency.of(torch.cat([path, path.flip(0)], 1)), 20), torch.ones(21).double(), 1)
    nodes = torch.arange(0, 300, 2)
    monkeypatch.setattr(room, "_SAMPLE", sample)
    monkeypatch.setattr(room, "free_bytes", lambda device: 150 * 23 * (128 + 21 * 24) / 0.75)
    for group in (one_group(M), M.components):
        assert among(M, nodes, group).value.numel() < 150 * 21
    monkeypatch.setattr(room, "free_bytes", lambda device: 150 * 8 * (128 + 21 * 24) / 0.75)
    for group in (one_group(M), M.components):
        with pytest.raises(ValueError, match=r"M of L = 20 has about .* entries between 150 nodes") as error:
            among(M, nodes, group)
        about = float(str(error.value).split("about ")[1].split()[0])
        assert about == pytest.approx(sum(min(i % 75, 10) + min(74 - i % 75, 10) + 1 for i in range(150)), rel=0.1)


def test_many_small_groups_are_not_taken_for_one_large(monkeypatch):
    M = MET(Walks(PAIR, 2), [1.0, 1.0, 1.0], 5)
    monkeypatch.setattr(room, "free_bytes", lambda device: 13 * 200 / 0.75)  # 2² + 3²
    monkeypatch.setattr(room, "_about", None)
    assert among(M, torch.arange(5), M.components).value.numel() == 13
