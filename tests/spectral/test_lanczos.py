import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs, undirected
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.utils import subgraph

from panconv import MET, Adjacency, Boltzmann, Fixed, Walks, eigs, lanczos, load
from panconv.testing import assert_gradients, close

RING = torch.stack([torch.arange(10), (torch.arange(10) + 1) % 10])
TREE = torch.tensor([[0, 0, 1, 1, 2, 3, 3, 5], [1, 2, 3, 4, 5, 6, 7, 8]])  # 9 nodes, no symmetry
CONNECTED = torch.cat([TREE, TREE.flip(0)], 1)


@given(graphs(min_nodes=1).map(undirected), st.sampled_from([2, 5, 6]), st.booleans())
def test_an_orthonormal_basis_in_which_m_is_tridiagonal(graph, method, several):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    M = MET(Walks(adj, 2), [1.0, 0.5, 0.25], method)
    N = graph.num_nodes
    x = torch.randn(N, 3, dtype=torch.float64) if several else torch.randn(N, dtype=torch.float64)
    found = lanczos(M, x, N)
    dense = M.to_dense(torch.float64)
    columns = [(found.Q, found.tridiagonal(), x)]
    if several:
        columns = [(found.Q[:, :, b], found.tridiagonal()[b], x[:, b]) for b in range(3)]
    for Q, T, start in columns:
        alive = Q.norm(dim=0) > 0.5
        assert bool((alive[:-1] >= alive[1:]).all())  # once exhausted, 0 for good
        close(Q.T @ Q, torch.diag(alive.double()))
        close(Q.T @ dense @ Q, T)
        close(Q[:, 0], start / start.norm())
        close(dense @ Q, Q @ T)  # N steps exhaust the space
    close(torch.triu(T, 2), torch.zeros_like(T))


def test_no_ghosts():
    """Without re-orthogonalisation, copies of the leading eigenvalue appear long before step 150."""
    data = load("cora", sparse=True)
    component = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes).components
    edges, _ = subgraph(component == component.mode().values, data.edge_index, relabel_nodes=True)
    M = MET(Walks(edges, 2), [1.0, 1.0, 1.0], 2)
    found = lanczos(M, torch.randn(M.shape[0], dtype=torch.float64), 150)
    close(found.Q.T @ found.Q, torch.eye(150, dtype=torch.float64))
    ritz = torch.linalg.eigvalsh(found.tridiagonal())
    close(ritz[-1], torch.ones((), dtype=torch.float64))
    assert float(ritz.diff().min()) > 1e-7


@pytest.mark.parametrize("method", [2, 5, 6])
def test_gradients_of_the_start_and_of_path_weights(method):
    weights = Boltzmann(torch.rand(3, dtype=torch.float64))
    M = MET(Walks(CONNECTED, 2), weights, method)
    x = torch.randn(9, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: lanczos(M, x, 5), x)
    for part in ("alpha", "beta", "Q"):
        assert_gradients(lambda part=part: getattr(lanczos(M, x.detach(), 5), part), weights.energies)


def test_breakdown_is_zero_and_has_gradients():
    weights = Boltzmann(torch.rand(3, dtype=torch.float64))
    M = MET(Walks(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, num_nodes=7), 2), weights, 2)
    for x in (torch.eye(7)[5], torch.eye(7)[0], torch.ones(7)):
        x = x.double().requires_grad_()
        found = lanczos(M, x, 7)
        assert bool((found.Q[:, 4:] == 0).all())
        total = found.alpha.sum() + found.beta.sum() + found.Q.sum()
        for g in torch.autograd.grad(total, [x, weights.energies]):
            assert bool(torch.isfinite(g).all())


def test_breakdown_in_float32():
    ring = Adjacency.from_edge_index(torch.cat([RING, RING.flip(0)], 1))
    found = lanczos(MET(Walks(ring, 1), [0.0, 1.0], 5), torch.ones(10), 10)
    assert float(found.alpha[0]) == pytest.approx(1)
    assert not bool(found.Q[:, 1:].any())  # the start is an eigenvector


def test_trials_each_with_an_operator_of_their_own():
    k = torch.rand(3, 2, dtype=torch.float64)
    x = torch.randn(9, 2, dtype=torch.float64)
    both = lanczos(MET(Walks(CONNECTED, 2), Fixed(k), 2), x, 4)
    for s in range(2):
        alone = lanczos(MET(Walks(CONNECTED, 2), Fixed(k[:, s]), 2), x[:, s], 4)
        close(both.tridiagonal()[s], alone.tridiagonal())


def test_any_symmetric_operator():
    H = torch.randn(6, 6, dtype=torch.float64)
    H = H + H.T
    found = lanczos(H, torch.randn(6, dtype=torch.float64), 6)
    close(torch.linalg.eigvalsh(found.tridiagonal()), torch.linalg.eigvalsh(H))
    assert lanczos(H, torch.randn(6, dtype=torch.float64), 1).beta.shape == (0,)


def test_bad_input():
    M, x = MET(Walks(CONNECTED, 2), [1.0, 1.0, 1.0], 2), torch.randn(9)
    for method in (1, 3, 4, 7):
        with pytest.raises(ValueError, match=r"M is not symmetric.*M.similar"):
            lanczos(MET(Walks(CONNECTED, 2), [1.0, 1.0, 1.0], method), x, 3)
    with pytest.raises(ValueError, match="M is not symmetric"):
        lanczos(torch.randn(9, 9), x, 3)
    for steps in (0, 10, 2.5):
        with pytest.raises(ValueError, match=f"from 1 to the number of nodes, 9, got {steps}"):
            lanczos(M, x, steps)
    with pytest.raises(ValueError, match=r"N = 9.*got shape \(8,\)"):
        lanczos(M, x[:8], 3)
    with pytest.raises(TypeError, match=r"float32 or float64 tensor, got torch.int64"):
        lanczos(M, x.long(), 3)


@pytest.mark.parametrize("start", [torch.zeros(3), torch.full((3,), torch.nan)])
def test_a_start_from_which_nothing_grows(start):
    with pytest.raises(ValueError, match="finite and not 0 throughout"):
        lanczos(torch.eye(3), start, 2)


@pytest.mark.parametrize("layout", ["strided", "sparse_coo", "sparse_csr"])
def test_matrices_of_any_layout(layout):
    H = torch.tensor([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    M = H if layout == "strided" else H.to_sparse_coo() if layout == "sparse_coo" else H.to_sparse_csr()
    found = lanczos(M, torch.tensor([1.0, 0.0, 0.0]), 3)
    torch.testing.assert_close(torch.linalg.eigvalsh(found.tridiagonal()), torch.linalg.eigvalsh(H))
    torch.testing.assert_close(eigs(M, 3).values, torch.linalg.eigvalsh(H.double()).flip(0))


@pytest.mark.parametrize(("start", "scale"), [(1e-25, 1.0), (1.0, 1e22), (1e25, 1e-22)])
def test_squares_that_leave_float32(start, scale):
    D = torch.diag(torch.tensor([3.0, 1.0, 0.0]))
    found, plain = lanczos(D * scale, torch.ones(3) * start, 2), lanczos(D, torch.ones(3), 2)
    torch.testing.assert_close(found.alpha / scale, plain.alpha)
    torch.testing.assert_close(found.Q, plain.Q)
