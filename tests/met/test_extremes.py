"""Graphs with negative weights, energies with an offset, extremes: what must come out, and what must be refused."""

import math

import pytest
import torch

from panconv import (
    MET,
    METHODS,
    Adjacency,
    Boltzmann,
    EffectiveWalks,
    Fixed,
    PowerLaw,
    SelfAvoidingPaths,
    ShortestPaths,
    Walks,
)

STAR = torch.tensor([[1, 0, 2, 0], [0, 1, 0, 2]])  # 1 and 2 around 0
SIGNED = Adjacency.from_edge_index(STAR, torch.tensor([1.0, 1.0, -1.0, -1.0]))  # what reaches 0 cancels


def test_a_sum_that_cancels_drops_no_term():
    row = MET(Walks(SIGNED, 1), [4.0, 1.0], method=2).to_dense()[0]
    torch.testing.assert_close(row, torch.tensor([1.0, 1 / math.sqrt(20), -1 / math.sqrt(12)]))


@pytest.mark.parametrize(("method", "why"), [(3, "length 1 to node 0"), (4, "length 1 to node 2"), (5, "row of A.I")])
def test_what_cancels_is_not_divided_by_and_the_remedy_takes_the_graph(method, why):
    with pytest.raises(
        ValueError, match=rf"method {method} .*{why}.* cancels to 0.*takes it as it is \(1, 2\)"
    ) as said:
        MET(Walks(SIGNED, 1), [4.0, 1.0], method) @ torch.ones(3)
    for other in (1, 2):
        assert str(other) in str(said.value)
        assert MET(Walks(SIGNED, 1), [4.0, 1.0], other).to_dense().isfinite().all()


def test_signed_shortest_paths_that_cancel_are_told_from_none():
    square = torch.tensor([[0, 0, 1, 2], [1, 2, 3, 3]])  # two ways from 0 to 3
    adj = Adjacency.from_edge_index(square, torch.tensor([1.0, 1.0, 0.3, -0.3]))
    counts = ShortestPaths(adj, 2).counts()
    assert counts.arrive[2].tolist() == [False, False, False, True]
    assert float(counts.ratio[2, 3]) == 0
    assert MET(ShortestPaths(adj, 2), [1.0, 1.0, 1.0], 1).to_dense()[3, 3] == 1  # Z is 1: the ways to 3 cancel


def test_roots_of_a_partition_far_from_1():
    M = MET(Walks(torch.tensor([[0, 1], [1, 2]]), 2), Boltzmann([200.0] * 3), method=2)
    torch.testing.assert_close(M.to_dense().detach()[2], torch.tensor([3**-0.5, 6**-0.5, 1 / 3]))


@pytest.mark.parametrize("method", [1, 2, 7, 10, 11])
def test_a_common_offset_of_the_energies_cancels_exactly(method):
    energies = torch.tensor([0.0, 0.5, 1.25], dtype=torch.float64)
    for adj in (STAR, torch.tensor([[0, 1], [1, 2]])):
        there, here = (MET(Walks(adj, 2), Boltzmann(energies + c, 1e-3), method) for c in (2.0**20, 0.0))
        assert torch.equal(there.to_dense(torch.float64), here.to_dense(torch.float64))


def test_numbers_are_kept_as_they_are_written():
    assert Fixed([0.1]).k.dtype == Boltzmann([0.1]).energies.dtype == torch.float64
    assert Boltzmann(torch.zeros(2)).energies.dtype == torch.float32
    alone = Adjacency.from_edge_index(torch.zeros(2, 0, dtype=torch.long), num_nodes=1)
    assert float(MET(Walks(alone, 0), [0.1], 5) @ torch.ones(1, dtype=torch.float64)) == 0.1


def test_an_isolated_node_leaves_the_energies_a_gradient():
    weights = Boltzmann([1000.0, 0.0, 1.0])
    M = MET(Walks(Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]), num_nodes=3), 2), weights, 1)
    (M @ torch.tensor([[1.0], [2.0], [3.0]])).square().sum().backward()
    assert weights.energies.grad.isfinite().all()
    assert weights.energies.grad[2] != 0


@pytest.mark.parametrize("size", [1e12, 1e-14])
@pytest.mark.parametrize("method", [1, 2, 3, 6])
def test_features_of_any_size_beside_large_counts(method, size):
    adj = Adjacency.from_edge_index(STAR, torch.full((4,), 1e9))
    M = MET(Walks(adj, 3), [1.0, 1.0, 1.0, 1.0], method)
    x = size * torch.tensor([[1.0], [-2.0], [3.0]])
    torch.testing.assert_close(M @ x, (M @ x.double()).float(), rtol=1e-5, atol=0.0)


def test_widths_and_weights_of_any_size_keep_effective_lengths_apart():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    adj = Adjacency.from_edge_index(edges, torch.tensor([1e-30, 1e-30, 1.0, 1.0], dtype=torch.float64))
    exact = MET(EffectiveWalks(adj, 2), PowerLaw(2, alpha=2.0, trained=False), 1).to_dense(torch.float64)
    assert exact[0, 1] == 0  # 10³⁰ away
    near = math.exp(-1) / (1 + math.exp(-1) + math.exp(-4))  # lengths 0, 1 and, back again, 2
    assert math.isclose(float(exact[2, 1]), near)
    ordinary = Adjacency.from_edge_index(edges, torch.tensor([0.5, 0.5, 1.0, 1.0], dtype=torch.float64))
    fine, none = (MET(EffectiveWalks(ordinary, 2, w), PowerLaw(2, alpha=2.0), 1).to_dense() for w in (1e-19, None))
    torch.testing.assert_close(fine, none)


def test_formed_paths_beyond_float64_are_refused():
    line = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 2]]), torch.full((2,), 1e200, dtype=torch.float64))
    with pytest.raises(ValueError, match="shortest paths up to L = 2 multiply edge weights"):
        MET(ShortestPaths(line, 2), method=1) @ torch.ones(3)


def test_an_edge_of_weight_0_has_its_gradient():
    weight = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    for method, rule in METHODS.items():
        if rule.overall:
            adj = Adjacency.from_edge_index(torch.tensor([[0], [1]]), weight, 2)
            y = MET(Walks(adj, 1), [1.0, 1.0], method) @ torch.tensor([1.0, 0.0], dtype=torch.float64)
            (grad,) = torch.autograd.grad(y[1], weight)
            assert grad > 0 if rule.base in ("A", "Â") else grad == 0  # over its degree it is 1, or 0 at 0


def test_energies_that_overflow_without_z_are_refused():
    with pytest.raises(ValueError, match=r"weights overflow: that of length 1 is exp\(1e\+06\)"):
        MET(Walks(STAR, 1), Boltzmann([0.0, -1e6]), 5) @ torch.ones(3)


def test_second_derivatives_of_roots_of_a_large_partition():
    adj = Adjacency.from_edge_index(torch.zeros(2, 1, dtype=torch.long), torch.tensor([1e20], dtype=torch.float64))
    law = PowerLaw(7, temperature=torch.tensor(2.0, dtype=torch.float64))
    for method in (1, 2):  # M is 1, whatever T is
        y = MET(Walks(adj, 7), law, method) @ torch.ones(1, dtype=torch.float64)
        (first,) = torch.autograd.grad(y.sum(), law.log_temperature, create_graph=True)
        (second,) = torch.autograd.grad(first, law.log_temperature)
        assert abs(float(second)) < 1e-12


def test_roots_of_a_partition_far_from_1_lose_no_digits():
    line = torch.tensor([[0, 1], [1, 2]])
    for least in (3e-301, 7e-290, 1e-280):  # which is Z of node 0, that nothing reaches
        M = MET(Walks(line, 1), [least, 1.0], 2).to_dense(torch.float64)
        assert math.isclose(float(M[1, 0]), 1 / math.sqrt(least), rel_tol=4 * torch.finfo(torch.float64).eps)


def test_formed_paths_scaled_by_roots_far_apart():
    edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    adj = Adjacency.from_edge_index(edges, torch.tensor([1.0, 1, 1e80, 1e80, 1e80, 1e80], dtype=torch.float64))
    M = MET(ShortestPaths(adj, 3), [0.0, 1.0, 0.0, 0.0], 6).to_dense(torch.float64)
    torch.testing.assert_close(M, M.T, rtol=1e-14, atol=0.0)
    assert math.isclose(float(M[0, 1]), 1e-40)


def test_a_path_weight_below_float64_counts_where_paths_are_many():
    loops = Adjacency.from_edge_index(torch.zeros(2, 1, dtype=torch.long), torch.tensor([1e10], dtype=torch.float64))
    x = torch.ones(1, dtype=torch.float64)
    energies = torch.tensor([0.0] + [800.0] * 10, dtype=torch.float64)
    last = list(MET(Walks(loops, 10), Boltzmann(energies), 1).terms(x))[-1].detach()  # exp(−800) · 10¹⁰⁰
    assert math.isclose(float(last), math.exp(-800 + 100 * math.log(10)), rel_tol=1e-12)
    tiny = torch.tensor([0.0] * 10 + [700.0], dtype=torch.float64)
    assert float(list(MET(Walks(loops, 10), Boltzmann(tiny), 3).terms(x))[-1].detach()) == float((-tiny[-1]).exp())


def test_edges_keep_their_gradient_where_paths_weigh_little():
    gradients = []
    for dtype in (torch.float32, torch.float64):
        weight = torch.full((2,), 1e-20, dtype=dtype, requires_grad=True)
        M = MET(Walks(Adjacency.from_edge_index(torch.tensor([[0, 1], [2, 2]]), weight), 1), [1.0, 1e-25], 8)
        y = M @ torch.tensor([1e-20, 0.0, 0.0], dtype=dtype)  # half of 10⁻⁴⁵, which float32 does not hold
        gradients.append(torch.autograd.grad(y[2], weight)[0].double())
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=0.0)


def test_effective_walks_over_an_edge_that_is_all_but_infinitely_long():
    edges, factor = torch.tensor([[0, 1], [1, 2]]), 1e-306
    weight = torch.tensor([1.0, -1 / math.log(factor)], dtype=torch.float64)
    law = PowerLaw(3, temperature=torch.ones((), dtype=torch.float64), trained=False)
    for method in (1, 2):
        M = MET(EffectiveWalks(Adjacency.from_edge_index(edges, weight), 3), law, method).to_dense(torch.float64)
        assert math.isclose(float(M[2, 1]), factor / (1 if method == 1 else math.sqrt(1 + math.exp(-1))), rel_tol=1e-9)


def test_levels_whose_weight_float64_loses_count_where_walks_are_many():
    star = Adjacency.from_edge_index(torch.tensor([[0, 1, 2, 3], [4, 4, 4, 4]]))  # four walks of length 1
    law = PowerLaw(1, 2.0, torch.tensor(1 / 709.0, dtype=torch.float64), trained=False)
    y = MET(EffectiveWalks(star, 1), law, 1) @ torch.tensor([1.0, 1, 1, 1, 0], dtype=torch.float64)
    assert math.isclose(float(y[4]), 4 * math.exp(-709), rel_tol=1e-9)


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_an_edge_of_weight_0_has_its_gradient_however_long_the_walks(method):
    edges = torch.tensor([[0, 1, 0, 1, 0], [1, 0, 0, 1, 2]])  # 0 and 1, where walks are many, send 2 nothing yet
    x = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)

    def y(last):
        weight = torch.cat([torch.full((4,), 3.0, dtype=torch.float64), last])
        # The loop at 2 makes its walks as many as those at 0 and 1, but for the method that has loops of its own.
        loop = torch.tensor([[2], [2]])
        adj = Adjacency.from_edge_index(torch.cat([edges, loop], 1), torch.cat([weight, weight[:1] * 2]))
        M = MET(Walks(adj, 500), Boltzmann(torch.zeros(501, dtype=torch.float64)), method)
        return (M @ x)[2]

    at = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(y(at), at)
    step = 1e-6
    expected = (y(torch.tensor([step], dtype=torch.float64)) - y(torch.zeros(1, dtype=torch.float64))) / step
    assert math.isclose(float(slope), float(expected.detach()), rel_tol=1e-2)


def test_walks_that_weigh_more_than_float64_holds_are_refused():
    edges = torch.tensor([[0, 1, 2, 0, 1], [1, 0, 1, 0, 2]])
    adj = Adjacency.from_edge_index(edges, torch.tensor([1.0, 1.0, -0.9, 3.0, 1.0], dtype=torch.float64))
    with pytest.raises(ValueError, match=r"method 8 .*paths of length 1000 to node . weigh 10\^.*a smaller L would do"):
        MET(Walks(adj, 1000), [1.0] * 1001, 8) @ torch.ones(3)
    assert (MET(Walks(adj, 100), [1.0] * 101, 8) @ torch.ones(3, dtype=torch.float64)).isfinite().all()


def test_formed_paths_that_are_scaled_at_inference_train_afterwards():
    edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    adj = Adjacency.of(edges, torch.tensor([1e67, 1e67, 1e67, 1e67, 1.0, 1.0], dtype=torch.float64))
    M = MET(ShortestPaths(adj, 3), Boltzmann(torch.zeros(4, dtype=torch.float64)), method=2)
    x = torch.ones(4, 2, dtype=torch.float64)
    with torch.inference_mode():
        M @ x
    (M @ x.requires_grad_()).sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("width", [5e-309, 1e-290, 1e-19])
def test_a_grid_finer_than_float64_leaves_the_lengths_as_they_are(width):
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    law = PowerLaw(2, alpha=2.0, trained=False)
    for adj in (Adjacency.of(edges), Adjacency.of(edges, [1.0, 1.0, 1e-30, 1e-30])):
        fine, none = (MET(EffectiveWalks(adj, 2, w), law, 1).to_dense() for w in (width, None))
        torch.testing.assert_close(fine, none)
    assert EffectiveWalks(edges, 2, 1e308).error_bound(law) == math.inf


def test_whole_numbers_keep_their_digits():
    assert Adjacency.of(torch.tensor([[0, 1], [1, 0]]), [16777217, 1]).value.max() == 16777217
    assert Fixed(torch.tensor([16777217, 1])).k.max() == 16777217


@pytest.mark.parametrize("family", [ShortestPaths, SelfAvoidingPaths])
def test_an_edge_of_weight_0_that_no_formed_path_takes_leaves_gradients_finite(family):
    edges = torch.tensor([[2, 0, 1], [0, 2, 2]])
    weight = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64, requires_grad=True)
    M = MET(family(Adjacency.from_edge_index(edges, weight), 1), Boltzmann([2.0, 1.0], 1e-6), method=2)
    x = torch.arange(3.0, dtype=torch.float64).requires_grad_()
    (first,) = torch.autograd.grad((M @ x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first[1], weight)
    assert first.isfinite().all()
    assert second.isfinite().all()


def test_what_an_edge_of_weight_0_would_send_goes_on_however_long_the_walks():
    """0 → 1 → 1 → 2, where 1 → 1 weighs 0: nothing of two steps arrives at 1, but its gradient goes on to 2."""
    edges = torch.tensor([[0, 1, 1, 2], [1, 1, 2, 2]])
    found = []
    for L in (20, 1000):  # at 1000 the path sums leave float64
        weight = torch.tensor([1.0, 0.0, 1.0, 0.1], dtype=torch.float64, requires_grad=True)
        w = torch.zeros(L + 1, dtype=torch.float64)
        w[:10] = 1
        M = MET(Walks(Adjacency.from_edge_index(edges, weight), L), Fixed(w), method=9)
        (gradient,) = torch.autograd.grad((M @ torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)).sum(), weight)
        found.append(gradient)
    torch.testing.assert_close(*found, rtol=1e-12, atol=0)
    assert found[0][1] != 0


def test_a_weight_below_float64_has_no_gradient_where_paths_are_beyond_it():
    adj = Adjacency.from_edge_index(torch.tensor([[1], [0]]), torch.tensor([-0.7], dtype=torch.float64))
    law = PowerLaw(1000, alpha=2.0)
    M = MET(Walks(adj, 1000), law, method=5)  # Â has a row of 1/0.3: its powers reach 10^523
    (M @ torch.full((2,), 1000.0, dtype=torch.float64)).sum().backward()
    n = torch.arange(30, dtype=torch.float64)
    w = (-(n**2)).exp()
    power = (1 / 0.3) ** n  # Â = [[10/3, −0.7/√0.3], [0, 1]]
    total = power + 1 - 0.7 / math.sqrt(0.3) * (power - 1) / (1 / 0.3 - 1)
    torch.testing.assert_close(law.log_temperature.grad.double(), 1000 * (n**2 * w * total).sum(), rtol=1e-6, atol=0)


def test_a_path_weight_too_small_for_its_paths_is_not_cut():
    """Â's powers of 1/0.3 pass 10^400 where wₙ is below 10^-300: the product is held, though 2^e alone is not."""
    adj = Adjacency.from_edge_index(torch.tensor([[1], [0]]), torch.tensor([-0.7], dtype=torch.float64))
    w = torch.zeros(801, dtype=torch.float64)
    w[800] = 1e-300
    M = MET(Walks(adj, 800), Fixed(w), method=5)
    expected = 800 * math.log(1 / 0.3) + math.log(1e-300)
    assert float((M @ torch.tensor([1.0, 0.0], dtype=torch.float64))[0].log()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("method", [1, 2, 3])
def test_nodes_that_walks_leave_for_good_beside_walks_that_fade(method):
    """0 keeps 1/300 of itself with every step, while nothing of two steps arrives at 2, nor of one at 1."""
    edges = torch.tensor([[2, 1, 0], [0, 2, 0]])
    adj = Adjacency.from_edge_index(edges, torch.tensor([2.2, 0.001, 1 / 300], dtype=torch.float64))
    M = MET(Walks(adj, 1000), PowerLaw(1000, temperature=1e6), method)
    assert M.log_partition.isfinite().all()
    assert torch.stack(list(M.terms(torch.ones(3, dtype=torch.float64)))).isfinite().all()
