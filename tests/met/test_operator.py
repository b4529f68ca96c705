import math

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_met, graphs, undirected
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.transforms import GDC
from torch_geometric.utils import to_dense_adj

from panconv import MET, METHODS, Adjacency, Boltzmann, Fixed, Free, PowerLaw, ShortestPaths, Walks, load
from panconv.testing import assert_gradients, assert_operator, close

methods = st.sampled_from(sorted(METHODS))


def adjacency(graph):
    return Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes)


def kinds(L, method):
    """Path weights of every kind that the method takes, in float64 and away from their starts."""
    start = torch.rand(L + 1, dtype=torch.float64) + 0.25
    made = [Fixed(start), Boltzmann(start), PowerLaw(L, alpha=1.5, temperature=1.5), Fixed(torch.arange(L + 1.0))]
    if not METHODS[method].overall:
        made += [Free(start - 0.6)]
    return [weights.double() for weights in made]


@given(graphs(), methods, st.integers(0, 4))
def test_every_method_and_every_kind_of_weights_is_its_formula(graph, method, L):
    for weights in kinds(L, method):
        M = MET(Walks(adjacency(graph), L), weights, method)
        reference, Z = dense_met(graph.dense(), weights().detach(), method)
        close(M.to_dense(torch.float64).detach(), reference)
        if weights.positive:
            close(M.partition.detach(), Z)
            close(M.log_partition.detach(), Z.log())


@given(graphs(max_nodes=5), methods)
def test_conformance(graph, method):
    for weights in kinds(2, method):
        assert_operator(MET(Walks(adjacency(graph), 2), weights, method))


@given(graphs(min_nodes=1, max_nodes=5), methods)
def test_conformance_of_trials_side_by_side(graph, method):
    weights = Fixed(torch.rand(3, 2, dtype=torch.float64) + 0.1)
    M = MET(Walks(adjacency(graph), 2), weights, method)
    assert_operator(M, trials=2)
    for s in range(2):
        alone = MET(Walks(adjacency(graph), 2), weights()[:, s], method)
        close(M.to_dense(torch.float64)[s], alone.to_dense(torch.float64))
        close(M.partition[:, s], alone.partition)
        close(M.path_weights[..., s], alone.path_weights)


@given(graphs(min_nodes=1, max_nodes=5, zeros=False), methods, st.integers(0, 3))
def test_gradients_of_weights_and_edges(graph, method, L):
    x = torch.randn(graph.num_nodes, 2, dtype=torch.float64)
    for weights in kinds(L, method):
        if trained := [p for p in weights.parameters() if L or not isinstance(weights, PowerLaw)]:
            assert_gradients(lambda weights=weights: MET(Walks(adjacency(graph), L), weights, method) @ x, *trained)
    if graph.edge_weight is not None and graph.edge_weight.numel():
        graph.edge_weight.requires_grad_()
        fixed = kinds(L, method)[0]
        assert_gradients(lambda: MET(Walks(adjacency(graph), L), fixed, method) @ x, graph.edge_weight)


@given(graphs(min_nodes=1, max_nodes=5, zeros=False), methods)
def test_long_walks_take_another_way_to_the_same_place(graph, method):
    """The logarithmic form, forced where the plain one still fits: values, adjoint, matrix and gradients."""
    adj, weights = adjacency(graph), kinds(3, method)[1]

    class Long(Walks):
        def on(self, base):
            return Long(self.adj.base(base), self.L)

        def counts(self):
            return super().counts().frexp()._replace(span=math.inf)

    M, plain = MET(Long(adj, 3), weights, method), MET(Walks(adj, 3), weights, method)
    close(M.to_dense(torch.float64).detach(), plain.to_dense(torch.float64).detach())
    assert_operator(M)
    x = torch.randn(graph.num_nodes, 2, dtype=torch.float64)
    assert_gradients(lambda: M @ x, *weights.parameters())
    if graph.edge_weight is not None and graph.edge_weight.numel():
        graph.edge_weight.requires_grad_()
        assert_gradients(lambda: MET(Long(adjacency(graph), 3), weights, method) @ x, graph.edge_weight)


@pytest.mark.parametrize(
    ("method", "loop", "inside", "outside"),
    [(1, None, None, "row"), (2, None, None, "sym"), (5, 1, "sym", None), (7, 1, "sym", "row")],
)
def test_against_pyg_gdc(method, loop, inside, outside):
    """PyG's diffusion, which knows nothing of us, for the four methods it can express."""
    k = [0.5, 1.0, 0.25]
    edges = torch.randint(0, 12, (2, 20))
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    edges = edges[:, edges[0] != edges[1]].unique(dim=1)
    gdc = GDC(
        self_loop_weight=loop,
        normalization_in=inside,
        normalization_out=outside,
        diffusion_kwargs={"method": "coeff", "coeffs": k},
        sparsification_kwargs={"method": "threshold", "eps": 0.0},
        exact=True,
    )
    data = gdc(Data(edge_index=edges, num_nodes=12))
    diffusion = to_dense_adj(data.edge_index, edge_attr=data.edge_attr, max_num_nodes=12)[0]
    ours = MET(Walks(Adjacency.from_edge_index(edges, num_nodes=12), 2), k, method).to_dense()
    torch.testing.assert_close(ours, diffusion, rtol=1e-5, atol=1e-6)


@given(graphs(min_nodes=1), st.integers(0, 4))
def test_row_sums(graph, L):
    adj, ones = adjacency(graph), torch.ones(graph.num_nodes, dtype=torch.float64)
    k = torch.rand(L + 1, dtype=torch.float64) + 0.1
    for method in (1, 7, 10, 11):
        close(MET(Walks(adj, L), k, method) @ ones, ones)
    close(MET(Walks(adj, L), k, 4) @ ones, k.sum() * ones)
    alive = Walks(adj, L).counts().log > -torch.inf
    close(MET(Walks(adj, L), k, 3) @ ones, (k[:, None] * alive).sum(0))


@given(graphs(min_nodes=1), st.integers(0, 4), st.booleans())
def test_the_generic_walk_over_Z_is_the_one_without_and_weights_that_add_up_to_1(graph, L, mirror):
    """On D⁻¹A every length has the row sum 1, so Z = Σ wₙ, wherever no walk comes from a node that nothing reaches."""
    adj = adjacency(undirected(graph) if mirror else graph)
    k = torch.rand(L + 1, dtype=torch.float64) + 0.1
    over_Z, plain = (MET(Walks(adj, L), w, m).to_dense(torch.float64) for w, m in ((k, 11), (k / k.sum(), 8)))
    joined = adj.to_dense(torch.float64) != 0
    ends = ~joined.any(1)  # at a node that nothing reaches, and so at those that a walk from it comes to
    for _ in range(L - 1):
        ends = ends | (joined & ends).any(1)
    whole = ~ends if L else torch.ones_like(ends)
    close(over_Z[whole], plain[whole])
    if mirror:
        alone = ends & bool(L)
        close(over_Z[alone], torch.eye(graph.num_nodes, dtype=torch.float64)[alone])


@given(graphs(), st.integers(0, 4))
def test_path_weights_are_eq_2(graph, L):
    k = torch.rand(L + 1, dtype=torch.float64) + 0.1
    A = graph.dense()
    for method in (1, 2):
        M = MET(Walks(adjacency(graph), L), k, method)
        D = torch.stack([torch.linalg.matrix_power(A, n).sum(1) for n in range(L + 1)])
        close(M.path_weights, k[:, None] * D / dense_met(A, k, method)[1])
    close(MET(Walks(adjacency(graph), L), k, 3).path_weights, k[:, None].expand(L + 1, graph.num_nodes))


@pytest.mark.parametrize("method", METHODS)
def test_low_temperature_is_the_identity(method):
    M = MET(Walks(TRIANGLE_AND_TAIL, 4), PowerLaw(4, temperature=1e-3), method)
    close(M.to_dense().detach(), torch.eye(4))


@given(graphs(min_nodes=1, weighted=False))
def test_method_2_of_length_1_is_gcn(graph):
    loops = graph.edge_index[0] == graph.edge_index[1]
    both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)[:, ~loops.repeat(2)].unique(dim=1)
    edges, weight = gcn_norm(both, num_nodes=graph.num_nodes)
    gcn = to_dense_adj(edges, edge_attr=weight, max_num_nodes=graph.num_nodes)[0].T
    M = MET(Walks(Adjacency.from_edge_index(both, num_nodes=graph.num_nodes), 1), Boltzmann([0.0, 0.0]), 2)
    torch.testing.assert_close(M.to_dense().detach(), gcn)


@pytest.mark.parametrize("leaves", [2, 3, 10, 1000])
def test_in_which_sense_length_1_is_gcn_on_a_star(leaves):
    """L = 1, E = 0: method 2 is Â itself, method 1 its twin of rows of sum 1, eq. 10 a matrix up to ½ away."""
    hub, leaf = torch.zeros(leaves, dtype=torch.long), torch.arange(1, leaves + 1)
    walks = Walks(torch.stack([torch.cat([hub, leaf]), torch.cat([leaf, hub])]), 1)
    made = {2: [1.0, 1.0], 1: [1.0, 1.0], 3: [0.5, 0.5]}
    of = [MET(walks, w, method).to_dense(torch.float64) for method, w in made.items()]
    # A row and a column of the hub, one of a leaf; the leaves do not hear each other.
    corners = [M[:2, :2] for M in of]
    m, root = leaves, 1 / math.sqrt(2 * (leaves + 1))
    gcn = [[1 / (m + 1), root], [root, 0.5]]
    rows = [[1 / (m + 1), 1 / (m + 1)], [0.5, 0.5]]
    simplified = [[0.5, 0.5 / m], [0.5, 0.5]]
    for corner, expected in zip(corners, (gcn, rows, simplified), strict=True):
        close(corner, torch.tensor(expected, dtype=torch.float64))
    assert float((of[2] - of[0]).abs().max()) == pytest.approx(0.5 - 1 / (m + 1), abs=1e-12)


@given(graphs(min_nodes=1, weighted=False), st.floats(0.1, 3))
def test_eq_10_is_eq_9_on_regular_graphs_alone(graph, E):
    """L = 1 without self-loops: some k(n) give Z⁻¹(w₀ + w₁A) where all degrees are equal, and only there."""
    loops = graph.edge_index[0] == graph.edge_index[1]
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)[:, ~loops.repeat(2)]
    adj = Adjacency.from_edge_index(edges, num_nodes=graph.num_nodes)
    d, eq_9 = adj.row_sums(), MET(Walks(adj, 1), Fixed([1.0, math.exp(-E)]), 1)
    M = eq_9.to_dense(torch.float64)
    terms = torch.stack([MET(Walks(adj, 1), k, 3).to_dense(torch.float64).flatten() for k in ([1.0, 0], [0.0, 1])], 1)
    best = torch.linalg.lstsq(terms, M.flatten(), driver="gelsd").solution
    error = float((terms @ best - M.flatten()).norm())  # of no other k(n) is it smaller
    if bool((d == d[0]).all()):
        close(MET(Walks(adj, 1), eq_9.path_weights[:, 0], 3).to_dense(torch.float64), M)
        assert error < 1e-9
    else:
        assert error > 1e-4


@pytest.mark.parametrize("L", [1, 2, 4])
def test_eq_10_and_eq_9_on_longer_paths(L):
    """On a regular graph k(n) = wₙdⁿ/Σ wₘdᵐ makes them one; on the star none comes within a tenth in norm."""
    w = torch.exp(-torch.arange(L + 1, dtype=torch.float64) / 2)
    ring = torch.stack([torch.arange(9), (torch.arange(9) + 1) % 9])
    ring = torch.cat([ring, ring.flip(0)], 1)
    k = w * 2.0 ** torch.arange(L + 1)
    one, other = MET(Walks(ring, L), k / k.sum(), 3), MET(Walks(ring, L), w, 1)
    close(one.to_dense(torch.float64), other.to_dense(torch.float64))
    star = torch.tensor([[0] * 8, list(range(1, 9))])
    star = torch.cat([star, star.flip(0)], 1)
    M = MET(Walks(star, L), w, 1).to_dense(torch.float64).flatten()
    terms = torch.stack([MET(Walks(star, L), one, 3).to_dense(torch.float64).flatten() for one in torch.eye(L + 1)], 1)
    best = torch.linalg.lstsq(terms, M, driver="gelsd").solution
    assert float((terms @ best - M).norm()) > 0.1


@pytest.mark.parametrize("method", METHODS)
def test_an_isolated_node_keeps_what_it_has(method):
    M = MET(Walks(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, num_nodes=5), 2), [0.5, 1.0, 2.0], method)
    row = M.to_dense()[4]
    expected = {1: 1.0, 2: 1.0, 3: 0.5, 6: 0.5, 4: 3.5, 5: 3.5, 7: 1.0, 8: 0.5, 9: 0.5, 10: 1.0, 11: 1.0}[method]
    torch.testing.assert_close(row, expected * torch.eye(5)[4])
    nothing = MET(Walks(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, num_nodes=5), 2), [0.0, 1.0, 1.0], method)
    if METHODS[method].base not in ("A+I", "Â"):  # no path reaches it: Z = 0 is legal, and 1/0 is 0
        assert nothing.to_dense()[4].abs().sum() == 0
        assert torch.isfinite(nothing.to_dense()).all()


def test_however_small_its_weight_an_isolated_node_is_its_own():
    M = MET(Walks(Adjacency.from_edge_index(TRIANGLE_AND_TAIL, num_nodes=5), 2), Boltzmann([120.0, 0.0, 0.0]), 1)
    assert (M @ torch.eye(5))[4, 4] == 1


@pytest.mark.parametrize("method", [1, 2, 3, 4, 5, 7, 10, 11])
def test_two_hundred_steps_on_cora_in_single_precision(method):
    data = load("cora")
    adj = Adjacency.from_edge_index(data.edge_index)
    x = torch.randn(data.num_nodes, 3)
    k = torch.rand(201) + 0.1
    M = MET(Walks(adj, 200), k, method)
    single, double = M @ x, M @ x.double()
    assert torch.isfinite(single).all()
    error = (single - double).abs().amax(1) / double.abs().amax(1)  # of every node of every component
    assert error.max() < 1e-4
    reference = torch.zeros_like(double)  # independent of the above: the recurrence in float64, which holds 10²³²
    D, y, Z = [], x.double(), 0
    B = adj.base(METHODS[method].base).to_dense(torch.float64).to_sparse_csr()
    ones = torch.ones(data.num_nodes, 1, dtype=torch.float64)
    for w in k.double():
        D.append(ones)
        Z, ones = Z + w * ones, B @ ones
    y = y / Z.sqrt() if method == 2 else y
    for w, d in zip(k.double(), D, strict=True):
        reference += w * (y / d if METHODS[method].per_length else y)
        y = B @ y
    reference /= {"row": Z, "sym": Z.sqrt(), None: 1}[METHODS[method].overall]
    assert ((double - reference).abs().amax(1) / reference.abs().amax(1)).max() < 1e-9
    assert torch.isfinite(M.log_partition).all()


def test_long_walks_train():
    M_weights = Boltzmann(torch.arange(201.0))  # outweighs the growth of the counts: short walks matter
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL)
    (MET(Walks(adj, 200), M_weights, 1) @ torch.randn(4, 2)).square().sum().backward()
    assert torch.isfinite(M_weights.energies.grad).all()
    assert M_weights.energies.grad[:3].abs().min() > 1e-4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("method", METHODS)
def test_half_precision_sums_in_single(method, dtype):
    x = torch.randn(4, 3).to(dtype)
    M = MET(Walks(TRIANGLE_AND_TAIL, 2), [0.1, 0.2, 0.3], method)
    assert (M @ x).dtype == dtype
    assert torch.equal(M @ x, (M @ x.float()).to(dtype))  # rounded once, at the end


def test_negative_edges_where_the_scaling_stays_positive():
    edges = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    weight = torch.tensor([-0.25, -0.25, 1.0, 1.0, 1.0, 1.0], dtype=torch.float64)
    adj = Adjacency.from_edge_index(edges, weight)
    k = torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64)
    for method in (1, 2, 4, 5, 7):
        reference, Z = dense_met(adj.to_dense(torch.float64), k, method)
        assert (Z > 0).all()
        assert_operator(MET(Walks(adj, 2), k, method))
        close(MET(Walks(adj, 2), k, method).to_dense(torch.float64), reference)


def test_negative_fixed_weights_are_legal_while_z_is_positive():
    k = torch.tensor([4.0, -0.5, 0.5], dtype=torch.float64)
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL)
    for method in METHODS:
        reference, _ = dense_met(adj.to_dense(torch.float64), k, method)
        close(MET(Walks(adj, 2), k, method).to_dense(torch.float64), reference)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda w: MET(w, [1.0, -3.0, 0.0], 1) @ torch.ones(4), ValueError, "Z is negative at node"),
        (lambda w: MET(w, method=0), ValueError, "method must be one of 1, 2.*got 0"),
        (lambda w: MET(w, method="5"), ValueError, "method must be one of"),
        (lambda w: MET(w, method=True), ValueError, "method must be one of"),
        (lambda w: MET(w, [1.0, 1.0]), ValueError, r"L\+1 = 3 entries"),
        (lambda w: MET(w, Free([1.0, 1.0, 1.0]), 7), ValueError, "method 7 divides by.*Boltzmann"),
        (lambda w: MET(w) @ torch.ones(5, 2), ValueError, r"x must have 4 rows.*\(5, 2\)"),
        (lambda w: MET(w) @ torch.ones(4).long(), TypeError, "x must be dense and floating point"),
        (lambda w: MET(w) @ torch.ones(4, 2).to_sparse(), TypeError, "x must be dense.*sparse"),
        (lambda w: MET(w, method=5.0), ValueError, "method must be one of"),
        (lambda w: MET(w, method=[5]), ValueError, "method must be one of"),
        (lambda w: MET(w) @ [1.0], TypeError, "x must be a tensor"),
        (lambda w: MET(w, torch.ones(3, 2)) @ torch.ones(4, 3), ValueError, r"x must be \(N, 2, …\)"),
        (lambda w: MET(w, torch.ones(3, 2)).to_sparse(), ValueError, "to_sparse takes the weights of one trial"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make(Walks(TRIANGLE_AND_TAIL, 2))


def test_negative_sums_that_are_divided_by_are_refused():
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.tensor([-9.0] + [1.0] * 7))
    with pytest.raises(
        ValueError,
        match=r"method 3 does not .*: the paths of length 1 to node 1 have a sum that is neg",
    ):
        MET(Walks(adj, 2), method=3) @ torch.ones(4)


def test_natural_weights_and_repr():
    assert isinstance(MET(Walks(TRIANGLE_AND_TAIL, 2), method=1).weights, Boltzmann)
    assert isinstance(MET(Walks(TRIANGLE_AND_TAIL, 2), method=5).weights, Free)
    assert "method=2 (base=A" in repr(MET(Walks(TRIANGLE_AND_TAIL, 2), method=2))


def cliques(sizes, joints, weights):
    """Complete graphs side by side, and single edges (source, target) between them."""
    edges, first = [], 0
    for size in sizes:
        nodes = torch.arange(first, first + size)
        pairs = torch.cartesian_prod(nodes, nodes)
        edges += [pairs[pairs[:, 0] != pairs[:, 1]]]
        first += size
    count = sum(map(len, edges))
    edge_index = torch.cat([*edges, torch.tensor(joints)]).T
    return Adjacency.from_edge_index(edge_index, torch.tensor([1.0] * count + weights).double())


@pytest.mark.parametrize("method", METHODS)
def test_an_edge_of_weight_zero_is_no_edge_however_long_the_walks(method):
    L = 40 if method == 6 else 600
    with_zeros = cliques([20, 2], [[0, 20], [20, 0]], [0.0, 0.0])
    without = cliques([20, 2], [[0, 1]], [0.0])
    k = torch.rand(L + 1, dtype=torch.float64) + 0.1
    a, b = (MET(Walks(adj, L), k, method) for adj in (with_zeros, without))
    close(a.to_dense(torch.float64), b.to_dense(torch.float64))
    close(a.log_partition, b.log_partition)
    assert with_zeros.components.max() == 1
    if METHODS[method].base == "A":
        close(a.log_partition[20:].exp(), k.sum().expand(2))  # a pair has one walk of each length


def test_roots_that_no_float32_holds_are_refused_and_float64_is_right():
    adj = cliques([20, 3], [[20, 0]], [1.0])  # directed: one component spans 10¹⁹⁰
    M = MET(Walks(adj, 200), torch.ones(201), 2)
    with pytest.raises(ValueError, match=r"method 2 does not take this graph.* than torch.float32 holds .*float64"):
        M @ torch.ones(23)
    A = adj.to_dense(torch.float64)
    power, total = torch.eye(23, dtype=torch.float64), torch.zeros(23, 23, dtype=torch.float64)
    for _ in range(201):
        total, power = total + power, power @ A
    root = total.sum(1).sqrt()
    reference = total / root[:, None] / root[None, :]
    torch.testing.assert_close(M.to_dense(torch.float64), reference, rtol=1e-9, atol=1e-300)
    assert torch.isfinite(MET(Walks(adj, 200), torch.ones(201), 1) @ torch.ones(23)).all()


@pytest.mark.parametrize("method", [1, 2])
def test_a_partition_that_cancels_to_zero_is_refused(method):
    M = MET(Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), 1), [2.0, -1.0], method)
    assert M.partition.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=rf"method {method} does not take this graph: .*Z cancels to 0 at node 1"):
        M.to_dense()


def test_partition_has_a_gradient_where_a_weight_is_zero():
    free = Free([0.0, 1.0, 1.0]).double()
    M = MET(Walks(TRIANGLE_AND_TAIL, 2), free, 5)
    assert_gradients(lambda: M.partition, free.k)


def differentiable_met(A, w, method):
    """M with dense powers, in torch, which takes every derivative of it."""

    def inverse(v, power):  # 1/0 is 0
        return torch.where(v == 0, 0.0, v.abs().clamp(min=1e-300) ** -power)

    rule, eye = METHODS[method], torch.eye(len(A), dtype=A.dtype)
    B = A + eye if rule.base in ("A+I", "Â") else A
    root = inverse(B.sum(1), 0.5)
    if rule.base in ("Â", "D^−½AD^−½"):
        B = root[:, None] * B * root
    elif rule.base == "D⁻¹A":
        B = inverse(B.sum(1), 1)[:, None] * B
    M, Z = torch.zeros_like(A), A.new_zeros(len(A))
    for n, k in enumerate(w):
        G = torch.linalg.matrix_power(B, n)
        D = G.sum(1)
        Z = Z + k * D
        if rule.per_length == "row":
            G = inverse(D, 1)[:, None] * G
        elif rule.per_length == "sym":
            G = inverse(D, 0.5)[:, None] * G * inverse(D, 0.5)
        M = M + k * G
    if rule.overall == "row":
        return inverse(Z, 1)[:, None] * M
    return inverse(Z, 0.5)[:, None] * M * inverse(Z, 0.5) if rule.overall == "sym" else M


@pytest.mark.parametrize("method", METHODS)
def test_forward_mode_in_the_edge_weights_of_a_symmetric_graph(method):
    """Where the values are symmetric but their tangent is not, the transpose must not be taken for the matrix."""
    edges, k = TRIANGLE_AND_TAIL, torch.tensor([0.5, 1.0, 0.25], dtype=torch.float64)
    weight = torch.ones(8, dtype=torch.float64)
    tangent, x = torch.randn(8, dtype=torch.float64), torch.randn(4, dtype=torch.float64)

    def ours(weight, x):
        return MET(Walks(Adjacency.from_edge_index(edges, weight), 2), k, method)

    def dense(weight, x):
        A = torch.zeros(4, 4, dtype=torch.float64).index_put((edges[1], edges[0]), weight)
        return differentiable_met(A, k, method)

    for function in (
        lambda make: lambda w: make(w, x) @ x,
        lambda make: lambda w: make(w, x).T @ x,
        lambda make: lambda w: torch.func.grad(lambda x: (make(w, x) @ x).sin().sum())(x),
    ):
        mine = torch.func.jvp(function(ours), (weight,), (tangent,))
        theirs = torch.func.jvp(function(dense), (weight,), (tangent,))
        for a, b in zip(mine, theirs, strict=True):
            close(a, b)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(weight, tangent)
        mine, theirs = (torch.autograd.forward_ad.unpack_dual(f(dual, x).T @ x).tangent for f in (ours, dense))
    close(mine, theirs)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_weights_given_as_numbers_go_where_the_graph_is():
    adj = Adjacency.from_edge_index(TRIANGLE_AND_TAIL).to("cuda")
    for weights in ([1.0, 1.0, 1.0], None, "boltzmann"):
        assert (MET(Walks(adj, 2), weights, method=2) @ torch.ones(4, device="cuda")).is_cuda


@pytest.mark.parametrize("name", ["paths", "weights", "method", "rule", "memory", "shape", "T"])
def test_an_operator_stays_as_it_was_made(name):
    M = MET(Walks(TRIANGLE_AND_TAIL, 2), [1.0, 0.5, 0.25], 1)
    with pytest.raises(AttributeError):
        setattr(M, name, None)
    assert M.T.T.rule == M.rule == METHODS[1]
    assert M.similar()[0].rule.overall == "sym"
    assert M.rule.overall == "row"


@given(graphs(), methods, st.integers(0, 3))
def test_the_terms_of_the_transposed_are_the_terms_transposed(graph, method, L):
    eye = torch.eye(graph.num_nodes, dtype=torch.float64)
    for family in (Walks, ShortestPaths):
        M = MET(family(adjacency(graph), L), [1.0] * (L + 1), method)
        for term, transposed in zip(M.terms(eye), M.T.terms(eye), strict=True):
            close(transposed, term.T)
