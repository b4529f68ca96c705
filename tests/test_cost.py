"""What an application costs, in sparse products and in bytes: numbers that no slow machine can blur.

A change that multiplies once more, or keeps a term that it could do without, fails here.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import torch

from panconv import METHODS, PAN, Adjacency, PANConv, Walks, fit
from panconv.base.random import keys
from panconv.compute import kernels
from panconv.compute.features import SparseRows
from panconv.compute.kernels import plain
from panconv.graph.degrees import Facts
from panconv.graph.pattern import Pattern
from panconv.met import MET, plan
from panconv.paths.walks import ScaledWalks
from panconv.weights import weights_from

N, F, L = 2000, 128, 4
BLOCK = N * F * 4  # bytes of features


@pytest.fixture(scope="module")
def graph():
    generator = torch.Generator().manual_seed(0)
    ends = torch.randint(N, (2, 4 * N), generator=generator)
    return Adjacency.from_edge_index(torch.cat([ends, ends.flip(0)], 1), num_nodes=N)


@pytest.fixture(scope="module")
def directed():
    edge_index = torch.randint(N, (2, 8 * N), generator=torch.Generator().manual_seed(0))
    return Adjacency.from_edge_index(edge_index, num_nodes=N)


@pytest.fixture
def products(monkeypatch):
    """The sparse products that were done, by the number of columns of x."""
    done, multiply = [], plain.multiply
    monkeypatch.setattr(plain, "multiply", lambda *a: done.append(a[-1].size(1)) or multiply(*a))
    return done


def operator(graph, method, memory=None, fixed=False):
    weights = weights_from([1 / (L + 1)] * (L + 1) if fixed else METHODS[method].weights, L)
    return MET(Walks(graph, L), weights, method, memory)


def counted(M, products):
    """Products of the forward and of the backward, what is kept with the graph being there already."""
    x = torch.randn(N, F, requires_grad=True)
    M @ x
    products.clear()
    y = M @ x
    forward = len(products)
    y.backward(torch.ones_like(y))
    return forward, len(products) - forward


# (forward, backward), with trained weights.
ONCE = (L, L)


@pytest.mark.parametrize("method", METHODS)
def test_a_product_per_length_and_no_more(graph, directed, products, method):
    assert counted(operator(graph, method), products) == ONCE
    assert counted(operator(directed, method), products) == ONCE
    assert counted(operator(graph, method, fixed=True), products) == ONCE


def test_method_6_has_the_lengths_side_by_side(graph, products, monkeypatch):
    M, x = operator(graph, 6), torch.randn(N, F)
    y, y_t = M @ x, M.T @ x
    columns = [F * n for n in range(L, 0, -1)]
    for A, order in ((M, columns), (M.T, columns[::-1])):
        products.clear()
        A @ x
        assert products == order
    monkeypatch.setattr(plan, "_SIDE_BY_SIDE", 2 * N * F)  # two at a time
    products.clear()
    torch.testing.assert_close(M @ x, y)
    assert products == [2 * F, F, 2 * F, 2 * F, 2 * F, F]
    torch.testing.assert_close(M.T @ x, y_t)


def test_method_6_makes_each_step_of_a_long_walk_once(monkeypatch):
    long, made, make = 600, [], ScaledWalks.matrix
    monkeypatch.setattr(ScaledWalks, "matrix", lambda self, n, *a: made.append(n) or make(self, n, *a))
    M = MET(Walks(torch.tensor([[0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0]]), long), [1.0] * (long + 1), 6)
    M @ torch.ones(3)
    assert len(made) == 2 * long  # with its transpose


@pytest.mark.parametrize("method", [m for m in METHODS if m != 6])
def test_low_memory_costs_the_forward_once_more(graph, products, method):
    assert counted(operator(graph, method, "low"), products) == (L, 2 * L)
    assert counted(operator(graph, method, "low", fixed=True), products) == ONCE


def test_path_counts_are_computed_once(graph, products):
    other = Adjacency(Pattern(graph.crow, graph.col, True), None, facts=Facts(growth=graph.growth, decay=1.0))
    operator(other, 1) @ torch.randn(N, F)
    assert products.count(1) == L  # D_n = Aⁿ·1
    operator(other, 2) @ torch.randn(N, F)
    assert products.count(1) == L


def test_W_goes_where_the_features_are_narrow(graph, products):
    for channels, width in [((64, 8), 8), ((8, 64), 8)]:
        products.clear()
        PANConv(*channels, L=L)(torch.randn(N, channels[0]), graph)
        assert products == [width] * L


def test_a_layer_whose_input_needs_no_gradient_still_has_one_pass_back(graph, products):
    conv = PANConv(64, 8, L=L)
    y = conv(torch.randn(N, 64), graph)
    products.clear()
    y.sum().backward()
    assert len(products) == L


# ---------------------------------------------------------------------- memory


def _meter():
    """The suite's own meter, under a name that no test has."""
    spec = spec_from_file_location("benchmarks_measure", Path(__file__).parents[1] / "benchmarks/measure.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def peak(function):
    """The most that torch held above the start, in blocks of N × F values."""
    return _meter().peak_bytes(function, torch.device("cpu")) / BLOCK


def forward_and_backward(M):
    """With its input and the gradient of its output made on the way, so that they are counted."""

    def run():
        x = torch.ones(N, F, requires_grad=True)
        g = torch.ones(N, F)
        y = M @ x
        return y, torch.autograd.grad(y, [x, *M.weights.parameters()], g)

    return run


# x, y and their gradients are four blocks; a backward needs two more, to go from one to the other.
LEAST = 4
# What is one number per node and length, D_n, weights, dots, and the piece in which dots are taken.
SMALL = 0.7


@pytest.mark.parametrize("method", [1, 2, 5, 7, 8, 9, 10, 11])
def test_methods_with_a_number_per_length_store_no_term(graph, method):
    assert peak(forward_and_backward(operator(graph, method))) < LEAST + 2 + SMALL
    assert peak(forward_and_backward(operator(graph, method, "low"))) < LEAST + 1 + SMALL


@pytest.mark.parametrize("method", [3, 4])
def test_methods_with_a_number_per_node_store_the_terms_or_not(graph, method):
    stored = peak(forward_and_backward(operator(graph, method)))
    assert LEAST + L - 1 < stored < LEAST + L + 2 + SMALL
    assert peak(forward_and_backward(operator(graph, method, "low"))) < LEAST + 1 + SMALL


def test_without_gradients_nothing_is_kept(graph):
    def forward():
        with torch.no_grad():
            return operator(graph, 5) @ torch.ones(N, F)

    assert peak(forward) < 3 + SMALL  # x, and a step from one block to the next


def test_the_adjoint_keeps_nothing_either(graph):
    def backward(M):
        def run():
            with torch.no_grad():
                return M.T @ torch.ones(N, F)

        return run

    for method in (3, 5):
        assert peak(backward(operator(graph, method))) < 3 + SMALL


# ---------------------------------------------------------------------- an epoch


def test_products_of_a_training_epoch(products):
    from two_communities import small

    epochs = []
    for count in (3, 4):
        products.clear()
        fit(PAN(6, 8, 2, trials=3), small(), seeds=range(3), epochs=count)
        epochs.append(len(products))
    # Two layers of L = 2: forward and backward in training, forward in evaluation.
    assert epochs[1] - epochs[0] == 2 * (2 + 2) + 2 * 2


def test_the_guard_counts_every_product(graph, products):
    kernels.multiply(*graph.operands(torch.float32)[0], N, torch.ones(N, F))
    kernels.step(*graph.operands(torch.float32)[0], torch.ones(N, F))
    assert products == [F, F]


def test_a_layer_finds_dropped_features_where_it_multiplies_them_alone(graph, monkeypatch):
    x = SparseRows.of(torch.eye(graph.num_nodes).to_sparse()).drop(keys(torch.arange(3)), 0.5)
    conv = PANConv(graph.num_nodes, 2, trials=3)
    monkeypatch.setattr(SparseRows, "_remaining", lambda *_: pytest.fail("all values were made"))
    conv(x, graph)
