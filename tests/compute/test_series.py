"""The sum as one operation: against the sum term by term, in value, gradient and what it stores."""

import pytest
import torch
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

from panconv import MET, METHODS, Adjacency, Free, Walks
from panconv.met.plan import Plan
from panconv.testing import close
from panconv.weights import weights_from

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0, 0, 2], [1, 0, 2, 1, 3, 2, 0, 3, 2, 0]])  # node 4 is alone


def operator(adj, method, memory=None, trials=None, L=3):
    weights = weights_from(METHODS[method].weights, L, trials).to(torch.float64)
    with torch.no_grad():
        for p in weights.parameters():
            p.add_(torch.rand_like(p))
    return MET(Walks(adj, L), weights, method, memory)


def results(M, x, g):
    y = M @ x
    return y, *torch.autograd.grad(y, [x, *M.weights.parameters()], g)


def term_by_term(M, x, g):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "_is_one_operation", lambda plan: False)
        return results(M, x, g)


@given(
    graphs(min_nodes=1, zeros=False), st.sampled_from(sorted(METHODS)), st.sampled_from([None, "low"]), st.booleans()
)
def test_values_and_gradients_are_those_of_the_terms(graph, method, memory, side_by_side):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    trials = 2 if side_by_side else None
    M = operator(adj, method, memory, trials)
    shape = (graph.num_nodes, 3) if trials is None else (graph.num_nodes, trials, 3)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    g = torch.randn_like(x)
    for ours, expected in zip(results(M, x, g), term_by_term(M, x, g), strict=True):
        close(ours, expected)
    for ours, expected in zip(results(M.T, x, g), term_by_term(M.T, x, g), strict=True):
        close(ours, expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("memory", [None, "low"])
def test_derivatives_of_derivatives(method, memory):
    M = operator(Adjacency.from_edge_index(EDGES, num_nodes=5), method, memory)
    parameters = list(M.weights.parameters())
    x = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *_: M @ x, (x, *parameters), check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda *_: M @ x, (x, *parameters))


def test_the_gradient_of_x_alone():
    adj = Adjacency.from_edge_index(EDGES, num_nodes=5)
    M = MET(Walks(adj, 3), [0.5, 0.2, 0.2, 0.1], method=1)
    x = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: M @ x, (x,))
    assert torch.autograd.gradgradcheck(lambda x: (M @ x).sin(), (x,))


def test_forward_mode_and_transforms_go_term_by_term():
    adj = Adjacency.from_edge_index(EDGES, num_nodes=5)
    M = operator(adj, 2)
    dense = M.to_dense(torch.float64).detach()
    x, v = torch.randn(2, 5, 3, dtype=torch.float64)
    close(torch.func.jvp(lambda x: M @ x, (x,), (v,))[1].detach(), dense @ v)
    close(torch.func.grad(lambda x: (M @ x).sum())(x).detach(), dense.T @ torch.ones_like(x))
    batch = torch.randn(4, 5, 3, dtype=torch.float64)
    close(torch.func.vmap(lambda x: M @ x)(batch).detach(), dense @ batch)


def test_a_batch_of_edge_weights_is_refused_in_a_line():
    edge_index, x = torch.tensor([[0, 1], [1, 0]]), torch.ones(2, 1)

    def f(w):
        return MET(Walks(Adjacency.from_edge_index(edge_index, w), 1), [1.0, 1.0], 1) @ x

    with pytest.raises(ValueError, match=r"edge_weight must be one weight per edge, got a batch .* torch\.vmap"):
        torch.func.vmap(f)(torch.ones(3, 2))
    assert torch.func.jacrev(f)(torch.ones(2)).shape == (2, 1, 2)
    assert torch.func.jacfwd(f)(torch.ones(2)).shape == (2, 1, 2)


def test_a_second_backward_through_the_same_graph():
    M = operator(Adjacency.from_edge_index(EDGES, num_nodes=5), 3)
    x = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    y = M @ x
    first = torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
    close(torch.autograd.grad(y.sum(), x)[0], first)


def test_an_unknown_kind_of_memory_is_refused():
    with pytest.raises(ValueError, match="memory must be 'low' or None, got 'high'"):
        MET(Walks(EDGES, 2), method=5, memory="high")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("method", [1, 3, 5])
def test_a_tangent_that_enters_by_the_gradient(method, dtype):
    from torch.autograd import forward_ad

    adj = Adjacency.from_edge_index(EDGES, num_nodes=5)
    M = MET(Walks(adj, 3), [0.4, 0.3, 0.2, 0.1], method)
    x = torch.randn(5, 6, dtype=dtype, requires_grad=True)
    g, v = torch.randn(2, 5, 6, dtype=dtype)
    y = M @ x
    with forward_ad.dual_level():
        grad = torch.autograd.grad(y, x, forward_ad.make_dual(g, v))[0]
        tangent = forward_ad.unpack_dual(grad).tangent
    torch.testing.assert_close(tangent, M.T.to_dense(dtype) @ v, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_the_adjoint_on_a_directed_graph_without_gradients(method):
    adj = Adjacency.from_edge_index(EDGES[:, ::2], num_nodes=5)
    M = operator(adj, method)
    x = torch.randn(5, 2, dtype=torch.float64)
    with torch.no_grad():
        close(M.T @ x, M.to_dense(torch.float64).T @ x)


def test_a_gradient_of_path_weights_keeps_its_digits_where_all_has_one_sign():
    """One long sum of float32 numbers would lose them, as it does not of random signs."""
    N = 4096
    ring = torch.stack([torch.arange(N), (torch.arange(N) + 1) % N])
    adj = Adjacency.from_edge_index(torch.cat([ring, ring.flip(0)], 1))
    found = []
    for dtype in (torch.float32, torch.float64):
        weights = Free(torch.tensor([0.3, 0.3, 0.4]))
        y = MET(Walks(adj, 2), weights, method=5) @ torch.full((N, 16), 0.3, dtype=dtype)
        (y.square().sum() / 2).backward()
        found.append(weights.k.grad.double())
    torch.testing.assert_close(found[0], found[1], rtol=2e-6, atol=0.0)
