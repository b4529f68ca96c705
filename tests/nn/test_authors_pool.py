"""Held against PyG's own `PANPooling`, run on a stand-in for torch-sparse, and the authors' repository, restated."""

import authors_repository
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from hypothesis import strategies as st
from pyg_pan import SparseTensor, running_without_torch_sparse
from torch_geometric.nn import PANConv, PANPooling

from panconv import Adjacency
from panconv.nn import AuthorsConv, AuthorsPool
from panconv.testing import close

EDGES = TRIANGLE_AND_TAIL
KEPT = [{"ratio": 0.5}, {"ratio": 0.3, "multiplier": 2.0}, {"ratio": 2}, {"min_score": 0.4}, {"nonlinearity": "relu"}]


@pytest.fixture(autouse=True, scope="module")
def pyg_runs():
    with running_without_torch_sparse():
        yield


def stirred(pool):
    """With parameters that are nobody's start, small, so that no two scores round to 1."""
    for p in pool.parameters():
        torch.nn.init.uniform_(p, 0.05, 0.3)
    return pool.double()


def in_graphs(draw, N):
    """Which graph each node is in, by number, though edges may lead from one to another."""
    return torch.tensor(sorted(draw(st.lists(st.integers(0, 2), min_size=N, max_size=N))), dtype=torch.long)


@given(graphs(weighted=False), st.sampled_from(KEPT), st.booleans(), st.data())
def test_it_is_the_pool_of_pyg(graph, options, turned, data):
    theirs, ours = stirred(PANPooling(3, **options)), AuthorsPool(3, **options).double()
    if turned:  # the sign that PyG may have drawn: the lowest are kept
        theirs.select.weight.data.neg_()
    ours.load_state_dict(theirs.state_dict(), strict=True)
    N = graph.num_nodes
    x, batch = torch.randn(N, 3, dtype=torch.float64, requires_grad=True), in_graphs(data.draw, N)
    _, M = AuthorsConv(3, 2, filter_size=2).double()(x.detach(), graph.edge_index)
    value = (M.values().detach() + torch.rand(M._nnz())).requires_grad_()
    expected = theirs(x, SparseTensor(*M.indices(), value, M.shape), batch)
    found = ours(x, torch.sparse_coo_tensor(M.indices(), value, M.shape, is_coalesced=True), batch)
    for mine, other in zip(found, expected, strict=True):
        close(mine, other)
    r = [torch.randn(part.shape, dtype=torch.float64) for part in (found[0], found[2], found[5])]

    def gradients(parts, pool):
        loss = sum((a * b).sum() for a, b in zip((parts[0], parts[2], parts[5]), r, strict=True))
        tensors = [x, value, pool.p, pool.beta, *([pool.select.weight] if "min_score" in options else [])]
        return torch.autograd.grad(loss, tensors, materialize_grads=True, allow_unused=True)

    if found[0].numel():
        for mine, other in zip(gradients(found, ours), gradients(expected, theirs), strict=True):
            close(mine, other)


@given(graphs(weighted=False), st.integers(0, 3), st.data())
def test_with_a_sum_of_its_own_it_is_the_pool_of_the_authors(graph, L, data):
    pool, N = stirred(AuthorsPool(3, filter_size=L)), graph.num_nodes
    x, batch = torch.randn(N, 3, dtype=torch.float64), in_graphs(data.draw, N)
    A = authors_repository.dense(graph.edge_index, N)
    found = pool(x, graph.edge_index, batch)
    expected = authors_repository.pool(pool, x, A, batch)
    their_x, their_A, their_batch, their_kept, their_score = expected
    assert torch.equal(found[4], their_kept)
    for mine, other in zip((found[0], found[3], found[5]), (their_x, their_batch, their_score), strict=True):
        close(mine, other)
    close(authors_repository.dense(found[1], len(their_kept)), their_A)
    total, _ = authors_repository.weighed_powers(A, pool.weight)
    close(found[2], total[their_kept][:, their_kept][tuple(found[1])])
    parameters = [pool.p, pool.beta, pool.weight]
    mine, other = (
        torch.autograd.grad(part.square().sum(), parameters, materialize_grads=True, allow_unused=True)
        for part in (found[5], their_score)
    )
    for a, b in zip(mine, other, strict=True):
        close(a, b)


def test_multi_hop_edges_stay():
    conv, pool = AuthorsConv(1, 1, filter_size=2), AuthorsPool(1, ratio=2)
    path, x = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([[5.0], [0.0], [4.0]])
    _, M = conv(x, path)
    _, edge_index, weight, _, kept, _ = pool(x, M)
    assert kept.tolist() == [0, 2]
    assert edge_index.tolist() == [[0, 1, 0, 1], [0, 0, 1, 1]]  # 0 and 2, once two steps apart
    torch.testing.assert_close(weight, M.to_dense()[kept][:, kept].flatten())


def test_graphs_in_a_batch_are_pooled_as_one_by_one():
    conv, pool = AuthorsConv(3, 3, filter_size=2), AuthorsPool(3)
    x, N = torch.randn(8, 3), 4
    both, batch = torch.cat([EDGES, EDGES[:, :5] + N], 1), torch.tensor([0] * N + [1] * N)
    together = pool(*conv(x, both), batch)
    for graph, edges in enumerate((EDGES, EDGES[:, :5])):
        alone = pool(*conv(x[N * graph : N * graph + N], edges))
        here = together[3] == graph
        torch.testing.assert_close(together[0][here], alone[0])
        assert torch.equal(together[4][here] - N * graph, alone[4])


def test_what_pyg_saved_before_it_drew_a_sign_loads_too():
    old = {"p": torch.rand(3), "beta": torch.rand(2)}
    pool = AuthorsPool(3)
    torch.nn.init.constant_(pool.select.weight, -1)
    whole = torch.nn.Sequential(pool)
    whole.load_state_dict({f"0.{name}": part for name, part in old.items()}, strict=True)
    assert float(pool.select.weight) == 1
    with pytest.raises(RuntimeError, match="Missing key"):
        pool.load_state_dict({"p": old["p"]})


def test_weight_decay_leaves_the_sign_alone_which_it_turns_in_pyg():
    pools = AuthorsPool(3), PANPooling(3)
    torch.nn.init.constant_(pools[1].select.weight, 0.01)
    turned = []
    for pool in pools:
        adam = torch.optim.Adam(pool.parameters(), lr=0.005, weight_decay=1e-3)
        for _ in range(20):
            x = torch.randn(4, 3)
            adam.zero_grad()
            M = torch.eye(4).to_sparse()
            pool(x, M if pool is pools[0] else SparseTensor(*M.indices(), M.values(), (4, 4)))[0].sum().backward()
            adam.step()
            turned += [pool] if float(pool.select.weight.detach()) < 0 else []
    assert float(pools[0].select.weight) == 1
    assert pools[1] in turned
    assert AuthorsPool(3, min_score=0.1).select.weight.requires_grad


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_any_sparse_matrix_of_torch_will_do(layout):
    x, M = torch.randn(4, 3), torch.rand(4, 4)
    pool = AuthorsPool(3)
    torch.testing.assert_close(pool(x, M.to_sparse(layout=layout)), pool(x, M.to_sparse()))
    # entries that are not in order, or named twice
    rows, cols = M.nonzero().flip(0).T
    given = torch.sparse_coo_tensor(torch.stack([rows.repeat(2), cols.repeat(2)]), M[rows, cols].repeat(2) / 2)
    torch.testing.assert_close(pool(x, given), pool(x, M.to_sparse()))


def test_repr_and_reset():
    pool = AuthorsPool(3, ratio=0.7, filter_size=2)
    assert repr(pool).startswith("AuthorsPool(\n  3, ratio=0.7, multiplier=1.0, filter_size=2")
    assert "min_score=0.1" in repr(AuthorsPool(3, min_score=0.1))
    stirred(pool).reset_parameters()
    for p, start in ((pool.p, 1.0), (pool.select.weight, 1.0), (pool.beta, 0.5), (pool.weight, 0.5)):
        assert torch.equal(p, torch.full_like(p, start))


def test_bad_input():
    pool, x, M = AuthorsPool(3), torch.randn(4, 3), torch.eye(4).to_sparse()
    with pytest.raises(TypeError, match=r"M must be the sparse matrix .* made with filter_size=L"):
        pool(x, EDGES)
    with pytest.raises(TypeError, match=r"M must be the sparse matrix .* got Adjacency"):
        pool(x, Adjacency.of(EDGES))
    with pytest.raises(ValueError, match=r"M must be \(3, 3\), as x has rows, got shape \(4, 4\)"):
        pool(x[:3], M)
    with pytest.raises(ValueError, match=r"x must be \(N, 3\)"):
        pool(x[:, :2], M)
    with pytest.raises(ValueError, match="batch must be 4 numbers of graphs, one per node"):
        pool(x, M, torch.zeros(3, dtype=torch.long))
    with pytest.raises(ValueError, match="ratio must be above 0"):
        AuthorsPool(3, ratio=0)
    with pytest.raises(TypeError, match="min_score must be a number"):
        AuthorsPool(3, min_score="high")
    with pytest.raises(ValueError, match="filter_size must be an integer of at least 0"):
        AuthorsPool(3, filter_size=-2)
    with pytest.raises(ValueError, match="in_channels must be an integer of at least 1"):
        AuthorsPool(0)


def test_a_pair_of_pygs_loads_into_a_pair_of_ours():
    theirs = torch.nn.ModuleList([PANConv(3, 8, filter_size=2), PANPooling(8)])
    ours = torch.nn.ModuleList([AuthorsConv(3, 8, filter_size=2), AuthorsPool(8)])
    ours.load_state_dict(theirs.state_dict(), strict=True)
    x = torch.randn(4, 3)
    for mine, other in zip(ours[1](*ours[0](x, EDGES)), theirs[1](*theirs[0](x, EDGES)), strict=True):
        torch.testing.assert_close(mine, other)
