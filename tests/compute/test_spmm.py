import pytest
import torch
from graphs import COMPILERS, graphs
from hypothesis import given

from panconv import Adjacency
from panconv.compute import spmm as products
from panconv.compute.kernels import plain
from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR
from panconv.testing import close

EDGES = torch.tensor([[0, 1, 2, 3, 3, 0, 2], [1, 2, 0, 0, 4, 3, 2]])  # directed, with a loop; node 5 alone


def pattern(weight):
    adj = Adjacency.from_edge_index(EDGES, weight, 6)
    return adj, *adj.operands(torch.float64)


@pytest.fixture
def weighted():
    return pattern(torch.rand(7, dtype=torch.float64) + 0.1)


def product(a, a_t, perm, value, x):
    """A·x as a function of the stored values and of x."""
    return spmm(CSR(a.crow, a.col, value), CSR(a_t.crow, a_t.col, value[perm]), x)


@pytest.fixture
def function(weighted):
    adj, a, a_t = weighted
    return lambda value, x: product(a, a_t, adj.by_column()[2], value, x)


@given(graphs())
def test_product_on_any_graph_and_any_trailing_shape(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    for shape in [(), (3,), (2, 3)]:
        x = torch.randn(graph.num_nodes, *shape, dtype=torch.float64)
        close(spmm(*adj.operands(torch.float64), x), torch.tensordot(graph.dense(), x, dims=1))


@given(graphs())
def test_plain_torch_path_gives_the_same(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "_CSR_ON_CPU", False)
        patch.setattr(torch, "sparse_csr_tensor", None)  # what such a machine cannot do
        close(spmm(*adj.operands(torch.float64), x), graph.dense() @ x)


def test_gradients_of_first_and_second_order_in_both_modes(weighted, function):
    _, a, _ = weighted
    value = a.value.clone().requires_grad_()
    x = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (value, x), check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(function, (value, x))


def test_func_transforms_give_the_right_values(weighted, function):
    adj, a, _ = weighted
    A = adj.to_dense(torch.float64)
    x = torch.randn(6, 2, dtype=torch.float64)

    grad = torch.func.grad(lambda x: function(a.value, x).square().sum())(x)
    close(grad, 2 * A.T @ A @ x)

    batch = torch.randn(4, 6, 2, dtype=torch.float64)
    close(torch.func.vmap(lambda x: function(a.value, x))(batch), A @ batch)
    close(
        torch.func.vmap(lambda x: function(a.value, x), in_dims=2, out_dims=2)(batch.movedim(0, 2)).movedim(2, 0),
        A @ batch,
    )

    values = torch.randn(4, 7, dtype=torch.float64)
    one_by_one = torch.stack([function(value, x) for value in values])
    close(torch.func.vmap(lambda value: function(value, x))(values), one_by_one)
    both = torch.stack([function(value, x) for value, x in zip(values, batch, strict=True)])
    close(torch.func.vmap(function)(values, batch), both)
    with pytest.MonkeyPatch.context() as patch:  # as where they are large: one product after another
        patch.setattr(products, "_SMALL", 0)
        close(torch.func.vmap(lambda value: function(value, x))(values), one_by_one)
        close(torch.func.vmap(function)(values, batch), both)
        close(torch.func.vmap(function, in_dims=(1, 2), out_dims=1)(values.T, batch.movedim(0, 2)), both.movedim(0, 1))

    tangent = torch.randn_like(x)
    primal, out = torch.func.jvp(lambda x: function(a.value, x), (x,), (tangent,))
    close(primal, A @ x)
    close(out, A @ tangent)

    hessian = torch.func.hessian(lambda x: function(a.value, x).square().sum())(x[:, 0])
    close(hessian, 2 * A.T @ A)


@pytest.mark.parametrize("backend", COMPILERS)
def test_compiled_whole_forward_and_backward(weighted, function, backend):
    _, a, _ = weighted
    x = torch.randn(6, 2, dtype=torch.float64)

    def gradients(f):
        value, inputs = a.value.clone().requires_grad_(), x.clone().requires_grad_()
        loss = f(value, inputs).sin().sum()
        return loss.detach(), *torch.autograd.grad(loss, (value, inputs))

    torch.compiler.reset()
    compiled = torch.compile(function, fullgraph=True, backend=backend)
    for ours, expected in zip(gradients(compiled), gradients(function), strict=True):
        close(ours, expected)


def test_autocast_leaves_the_product_alone(weighted):
    adj, _, _ = weighted
    a, a_t = adj.operands(torch.float32)
    x = torch.randn(6, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = spmm(a, a_t, x)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, adj.to_dense() @ x)


def test_same_bits_every_time(weighted):
    _, a, a_t = weighted
    x = torch.randn(6, 40, dtype=torch.float64)
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.equal(spmm(a, a_t, x), spmm(a, a_t, x))
    finally:
        torch.use_deterministic_algorithms(False)
