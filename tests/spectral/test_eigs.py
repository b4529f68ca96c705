import sys

import networkx as nx
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_met, graphs, undirected
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.utils import erdos_renyi_graph

from panconv import MET, METHODS, Adjacency, Fixed, Walks, eigs, lanczos, load
from panconv.testing import close

K = torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64)


def operator(graph, method):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    return MET(Walks(adj, 2), Fixed(K), method), dense_met(graph.dense(), K, method)[0]


def check(M, dense, k):
    """The k leading values are those of the dense matrix, and the vectors are eigenvectors of norm 1."""
    values, vectors = eigs(M, k)
    reference = torch.linalg.eigvals(dense)
    real = reference.real.sort(descending=True).values[:k]
    torch.testing.assert_close(values.real if values.is_complex() else values, real, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(dense.to(vectors.dtype) @ vectors, vectors * values, rtol=1e-7, atol=1e-7)
    close(vectors.abs().square().sum(0), torch.ones(k, dtype=torch.float64))


@given(graphs(min_nodes=1, max_nodes=8, zeros=False), st.sampled_from(sorted(METHODS)), st.integers(1, 8))
def test_any_graph_any_method_against_dense(graph, method, k):
    check(*operator(graph, method), min(k, graph.num_nodes))


@given(graphs(min_nodes=1, max_nodes=8, zeros=False), st.sampled_from([1, 2, 5]))
def test_components_may_be_solved_a_few_at_a_time(graph, method):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["panconv.spectral.eigs"], "_ENTRIES", 8)
        check(*operator(graph, method), graph.num_nodes)


@given(graphs(min_nodes=1, max_nodes=8).map(undirected), st.sampled_from([1, 2, 5, 6, 7, 8, 9, 10, 11]))
def test_undirected_graphs_have_real_eigenstates_that_span(graph, method):
    M, dense = operator(graph, method)
    values, vectors = eigs(M, graph.num_nodes)
    assert values.dtype == torch.float64
    close(vectors @ torch.diag(values) @ torch.linalg.inv(vectors), dense)
    if M.is_symmetric:
        close(vectors.T @ vectors, torch.eye(graph.num_nodes, dtype=torch.float64))


@given(graphs(min_nodes=1).map(undirected), st.sampled_from([1, 2, 5, 6, 7, 8, 9, 10, 11]))
def test_similarity(graph, method):
    M, dense = operator(graph, method)
    for each, matrix in ((M, dense), (M.T, dense.T)):
        S, log_Z = each.similar()
        symmetric, root = S.to_dense(torch.float64), torch.exp(0.5 * log_Z.double())
        close(symmetric, symmetric.T)
        close(symmetric / root[:, None] * root, matrix)
        assert S.is_symmetric


def two_hundred_nodes_of_everything(directed=False):
    """A large component, for ARPACK, beside many small ones, equal ones among them."""
    edges = erdos_renyi_graph(150, 0.03, directed=directed)
    small = torch.tensor([[150, 151, 152, 153, 153, 155, 157, 158], [151, 150, 153, 152, 154, 156, 158, 157]])
    both = torch.cat([edges, small] if directed else [edges, small, small.flip(0)], 1)
    return Adjacency.from_edge_index(both, num_nodes=200)


@pytest.mark.parametrize(("method", "directed"), [*((method, False) for method in METHODS), (1, True), (5, True)])
def test_large_components_go_through_arpack(method, directed, monkeypatch):
    for limit in ("_SMALL", "_UNSYMMETRIC"):
        monkeypatch.setattr(sys.modules["panconv.spectral.eigs"], limit, 16)
    M = MET(Walks(two_hundred_nodes_of_everything(directed), 2), Fixed(K), method)
    check(M, M.to_dense(torch.float64), 30)
    first, second = eigs(M, 5), eigs(M, 5)
    assert torch.equal(first.vectors, second.vectors)


def test_every_copy_of_a_repeated_eigenvalue_is_found(monkeypatch):
    """Forty cliques on one hub: one component whose second eigenvalue comes 39 times, of which ARPACK misses some."""
    monkeypatch.setattr(sys.modules["panconv.spectral.eigs"], "_SMALL", 16)
    clique = torch.combinations(torch.arange(6)).T
    spoke = torch.tensor([[240], [0]])
    edges = torch.cat([torch.cat([clique + 6 * c, spoke + torch.tensor([[0], [6 * c]])], 1) for c in range(40)], 1)
    M = MET(Walks(torch.cat([edges, edges.flip(0)], 1), 2), Fixed(K), 2)
    assert int(M.paths.adj.components.max()) == 0
    dense = M.to_dense(torch.float64)
    assert float(torch.linalg.eigvalsh(dense)[-40:-1].diff().abs().max()) < 1e-9
    check(M, dense, 42)


@pytest.mark.parametrize("dense", [4096, 16])
def test_where_arpack_gives_up(monkeypatch, dense):
    module = sys.modules["panconv.spectral.eigs"]
    monkeypatch.setattr(module, "_SMALL", 16)
    monkeypatch.setattr(module, "_DENSE", dense)

    def fails(*args, **options):
        raise module.sla.ArpackError(-9999)

    monkeypatch.setattr(module.sla, "eigsh", fails)
    ring = torch.stack([torch.arange(40), (torch.arange(40) + 1) % 40])
    M = MET(Walks(torch.cat([ring, ring.flip(0)], 1), 2), Fixed(K), 2)
    if dense > 40:
        check(M, M.to_dense(torch.float64), 5)
    else:
        with pytest.raises(ValueError, match="the 5 leading eigenpairs of a component of 40 nodes did not come out"):
            eigs(M, 5)


def test_cora_seventy_eight_times_one():
    data = load("cora", sparse=True)
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    for method in (1, 2):
        M = MET(Walks(adj, 2), [1.0, 1.0, 1.0], method)
        values, vectors = eigs(M, 90)
        assert int((values > 1 - 1e-9).sum()) == int(adj.components.max()) + 1 == 78
        close(M @ vectors, vectors * values)
        assert int(torch.linalg.matrix_rank(vectors)) == 90


@pytest.mark.parametrize("small", [256, 16])
def test_long_walks_do_not_overflow(small, monkeypatch):
    monkeypatch.setattr(sys.modules["panconv.spectral.eigs"], "_SMALL", small)
    clique = torch.combinations(torch.arange(60)).T
    tail = torch.tensor([[59, 60, 61, 70], [60, 61, 62, 71]])
    edges = torch.cat([clique, tail], 1)
    M = MET(Walks(torch.cat([edges, edges.flip(0)], 1), 200), torch.ones(201), 1)
    assert float(M.log_partition.max()) > 800  # e⁸⁰⁰ is more than float64 holds
    values, vectors = eigs(M, 14)
    close(values[:9], torch.ones(9, dtype=torch.float64))  # as many components
    close(M @ vectors, vectors * values)


def test_any_operator():
    H = torch.randn(12, 12, dtype=torch.float64)
    values, vectors = eigs(H + H.T, 3)
    close(values, torch.linalg.eigvalsh(H + H.T).flip(0)[:3])
    values, vectors = eigs(H, 12)
    assert values.dtype == torch.complex128
    torch.testing.assert_close(H.to(vectors.dtype) @ vectors, vectors * values)
    assert bool((values.real.diff() <= 1e-12).all())


def test_bad_input():
    M = MET(Walks(torch.tensor([[0, 1], [1, 0]]), 2), [1.0, 1.0, 1.0], 2)
    for k in (0, 3, -1, 1.5):
        with pytest.raises(ValueError, match=f"k must be an integer from 1 to the number of nodes, 2, got {k}"):
            eigs(M, k)
    with pytest.raises(ValueError, match="several trials"):
        eigs(MET(Walks(torch.tensor([[0, 1], [1, 0]]), 1), torch.ones(2, 3), 2), 1)
    with pytest.raises(TypeError, match=r"M must be a square matrix, got shape \(2, 3\)"):
        eigs(torch.zeros(2, 3), 1)
    with pytest.raises(ValueError, match="similar to no symmetric matrix"):
        MET(Walks(torch.tensor([[0, 1], [1, 0]]), 1), [1.0, 1.0], 3).similar()


@pytest.mark.parametrize("method", [3, 4])
def test_repeated_eigenvalues_of_operators_that_are_not_symmetric(method, monkeypatch):
    """A tree of equal branches: the second largest comes several times, of which a single Krylov space sees one."""
    monkeypatch.setattr(sys.modules["panconv.spectral.eigs"], "_UNSYMMETRIC", 16)
    edges = torch.tensor(list(nx.balanced_tree(3, 5).edges)).T
    M = MET(Walks(torch.cat([edges, edges.flip(0)], 1), 2), [1.0, 1.0, 1.0], method)
    exact = torch.linalg.eigvals(M.to_dense(torch.float64)).real.sort(descending=True).values[:9]
    values, vectors = eigs(M, 9)
    torch.testing.assert_close(values, exact, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(M @ vectors, vectors * values, rtol=1e-6, atol=1e-6)


def test_a_directed_ring_whose_eigenvalues_crowd():
    nodes = torch.arange(600)
    M = MET(Walks(torch.stack([nodes, (nodes + 1) % 600]), 2), [1.0, 1.0, 1.0], 3)
    values, vectors = eigs(M, 5)
    assert float(values[0].real) == pytest.approx(3)
    torch.testing.assert_close((M.to_dense(torch.float64).to(vectors.dtype)) @ vectors, vectors * values)


@pytest.mark.parametrize("method", [1, 7, 8, 10, 11])
def test_the_symmetric_twin(method):
    """M = Z^−½ S Z^½, of method 8 with the degrees for Z, of method 11 with the degrees times Z."""
    M = MET(Walks(TRIANGLE_AND_TAIL, 2), Fixed(K), method)
    S, log_Z = M.similar()
    assert S.is_symmetric
    root = (0.5 * log_Z.double()).exp()
    close(M.to_dense(torch.float64), S.to_dense(torch.float64) * root[None, :] / root[:, None])
    close(eigs(M, 4).values, torch.linalg.eigvalsh(S.to_dense(torch.float64)).flip(0))


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-30, 1e30, 2.0**-700, 2.0**-1040, 2.0**900])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_an_antisymmetric_matrix_has_imaginary_eigenvalues_however_small(scale, layout):
    M = scale * torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    M = M if layout == "dense" else M.to_sparse()
    found = eigs(M, 2)
    assert found.values.is_complex()
    torch.testing.assert_close(found.values.imag / scale, torch.tensor([1.0, -1.0], dtype=torch.float64))
    with pytest.raises(ValueError, match="M is not symmetric"):
        lanczos(M, torch.ones(2, dtype=torch.float64), 1)


def test_a_matrix_that_is_symmetric_to_rounding_counts_both_halves():
    M = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
    M[0, 1] += 2**-22
    torch.testing.assert_close(eigs(M, 1).values[0].item(), 1.5 + 2**-23, rtol=1e-12, atol=0)
    M[0, 1] += 2**-10
    torch.testing.assert_close(eigs(M, 1).values[0].item(), 1 + (0.5 * float(M[0, 1])) ** 0.5, rtol=1e-12, atol=0)


def test_a_complex_matrix_is_not_taken_by_its_real_part():
    with pytest.raises(TypeError, match=r"M must hold real numbers, got torch\.complex64"):
        eigs(torch.eye(2) * 1j, 1)
