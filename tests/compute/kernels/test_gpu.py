"""The Triton kernels: through Triton's interpreter where there is no GPU, in small; on one, in full."""

import pytest
import torch
from graphs import graphs
from hypothesis import given

pytest.importorskip("triton")

from panconv import MET, METHODS, Adjacency, Walks
from panconv.compute import kernels
from panconv.compute.kernels import dots, gpu, plain, schedule
from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR
from panconv.testing import assert_operator, close

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
on_gpu = pytest.mark.skipif(DEVICE == "cpu", reason="no CUDA: too much for the interpreter")


@pytest.fixture(autouse=True)
def everywhere(monkeypatch):
    """Triton's kernels for every tensor, also those that are not on a GPU; rows count as long from 4 entries on."""
    monkeypatch.setattr(kernels, "_gpu", lambda x: kernels._triton())
    short(monkeypatch)
    yield
    gpu.tile_of.cache_clear()


def short(monkeypatch):
    monkeypatch.setattr(schedule, "LONG_OF_SMALL", 4)
    schedule._made.clear()
    gpu.tile_of.cache_clear()


def star(hub=11, directed=False):
    """Node 0 hears from `hub` others, node 1 from nobody but 0, the last node is alone."""
    out = torch.stack([torch.arange(1, hub + 1), torch.zeros(hub, dtype=torch.long)])
    edge_index = out if directed else torch.cat([out, out.flip(0)], 1)
    weight = torch.rand(edge_index.size(1), dtype=torch.float64) + 0.1
    return Adjacency.from_edge_index(edge_index, weight, hub + 2).to(DEVICE)


def test_rows_are_cut_into_chunks_that_cover_them():
    crow = torch.tensor([0, 3, 3, 12, 16, 21], dtype=torch.int32)
    made = schedule.schedule_of(crow, 21)
    assert made.rows.tolist() == [2, 4]
    assert made.first.tolist() == [0, 3, 5]
    assert made.row.tolist() == [2, 2, 2, 4, 4]
    assert made.start.tolist() == [3, 7, 11, 16, 20]
    assert made.end.tolist() == [7, 11, 12, 20, 21]
    assert schedule.schedule_of(crow, 21) is made
    assert all(part.dtype == torch.int32 for part in made[:-1])
    assert made.longest == 4


def test_a_pattern_without_long_rows_is_not_kept():
    for _ in range(3):
        crow = torch.tensor([0, 2, 3])
        schedule.known_longest[crow] = 2
        assert not len(schedule.schedule_of(crow, 3).rows)
    del crow
    assert not len(schedule._made)
    assert not len(schedule.known_longest)


def test_a_schedule_goes_with_its_pattern():
    crow = torch.tensor([0, 9])
    schedule.schedule_of(crow, 21)
    assert len(schedule._made) == 1
    del crow
    assert len(schedule._made) == 0


@on_gpu
@given(graphs())
def test_product_on_any_graph(graph):
    adj = Adjacency.from_edge_index(graph.edge_index, graph.edge_weight, graph.num_nodes).to(DEVICE)
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64, device=DEVICE)
    close(spmm(*adj.operands(torch.float64), x).cpu(), graph.dense() @ x.cpu())


def test_empty_graphs_and_single_nodes():
    for edges, N in [(torch.empty(2, 0, dtype=torch.long), n) for n in (0, 1)] + [(torch.zeros(2, 1).long(), 1)]:
        adj = Adjacency.from_edge_index(edges, num_nodes=N).to(DEVICE)
        x = torch.randn(N, 3, dtype=torch.float64, device=DEVICE)
        close(spmm(*adj.operands(torch.float64), x), adj.to_dense(torch.float64) @ x)


def factors(*names, R, S):
    shapes = {"right": (R, S), "scale": (1, S), "keep": (R, S), "hold": (1, S), "add": (R, S)}
    return {name: torch.randn(shapes[name], dtype=torch.float64, device=DEVICE) for name in names}


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize(("width", "value", "wide"), [(4, True, False), (5, False, False), (5, True, True)])
def test_a_step_with_all_that_surrounds_it(trials, width, value, wide, monkeypatch):
    monkeypatch.setattr(gpu, "WIDEST", 8)  # 12 or 15 columns of three trials are two tiles
    if wide:
        monkeypatch.setattr(gpu, "WIDE", 1)  # places in 64 bits
    adj = star(hub=5)
    crow, col, values = adj.operands(torch.float64)[0]
    part = (crow, col, values if value else None)
    R, K = adj.num_nodes, trials * width
    x, y0, base, dot = (torch.randn(R, K, dtype=torch.float64, device=DEVICE) for _ in range(4))
    for names in [(), ("right", "keep"), ("right", "scale", "keep", "hold", "add")]:
        given_factors = factors(*names, R=R, S=trials)
        options = {"trials": trials, "dot": dot, **given_factors}
        options |= {"y0": y0} if "keep" in names else {}
        options |= {"base": base} if "add" in names else {}
        ours = kernels.step(*part, x, **options)
        theirs = plain.step(
            *part,
            x,
            *(options.get(n) for n in ("right", "scale", "y0", "keep", "base", "hold", "add", "dot")),
            True,
            trials,
        )
        for mine, expected in zip(ours, theirs, strict=True):
            assert (mine is None) == (expected is None)
            if mine is not None:
                close(mine, expected)


def test_what_lies_between_other_values_is_read_as_it_is():
    """As the coefficients of one head among several do."""
    adj = star()
    (crow, col, values), _ = adj.operands(torch.float32)
    value = torch.stack([torch.zeros_like(values), values], 1)[:, 1]
    x, y0, base, dot = (torch.rand(adj.num_nodes, 8, device=DEVICE)[:, ::2] for _ in range(4))
    options = {"y0": y0, "base": base, "dot": dot}
    options |= {name: torch.rand(1, 1, device=DEVICE) for name in ("keep", "hold", "add")}
    found = kernels.step(crow, col, value, x, **options)
    expected = kernels.step(crow, col, values, x.contiguous(), **{k: v.contiguous() for k, v in options.items()})
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    torch.testing.assert_close(
        kernels.multiply(crow, col, value, adj.num_nodes, x), plain.multiply(crow, col, values, adj.num_nodes, x)
    )


def test_a_running_sum_without_hold_is_added_to_in_place():
    adj = star()
    part = adj.operands(torch.float64)[0]
    x, base = (torch.randn(adj.num_nodes, 3, dtype=torch.float64, device=DEVICE) for _ in range(2))
    add = torch.tensor([[2.0]], dtype=torch.float64, device=DEVICE)
    expected = base + 2 * (adj.to_dense(torch.float64) @ x)
    found = kernels.step(*part, x, base=base, add=add, store=False)
    assert found.running is base
    assert found.out is None
    close(base, expected)


def test_gradients_of_edge_values(monkeypatch):
    adj = star(hub=5, directed=True)
    crow, col, value = adj.operands(torch.float64)[0]
    monkeypatch.setattr(gpu, "WIDEST", 4)
    monkeypatch.setattr(dots, "WIDEST", 4)
    for K in (1, 6):
        g, x = (torch.randn(adj.num_nodes, K, dtype=torch.float64, device=DEVICE) for _ in range(2))
        close(dots.entry_dots(crow, col, g, x), (g[adj.row] * x[col.long()]).sum(-1))
        close(plain.entry_dots(crow, col, g, x), (g[adj.row] * x[col.long()]).sum(-1))
    value = value.clone().requires_grad_()
    a_t = adj.operands(torch.float64)[1]
    y = spmm(CSR(crow, col, value), a_t, x)
    y.backward(g)
    close(value.grad, (g[adj.row] * x[col.long()]).sum(-1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_half_precision_is_added_in_float32(dtype):
    adj = star(hub=20)
    a, a_t = adj.operands(torch.float32)
    x = torch.rand(adj.num_nodes, 4, device=DEVICE).to(dtype)
    exact = adj.to_dense(torch.float64) @ x.double()
    y = spmm(CSR(a.crow, a.col, a.value), a_t, x)
    assert y.dtype == dtype
    # One rounding at the end, not one per edge.
    torch.testing.assert_close(y.double(), exact, rtol=torch.finfo(dtype).eps, atol=1e-6)


def test_an_operator_of_half_precision_is_rounded_once():
    # A sum rounded at each length would stop growing; path counts leave the range of float16.
    pair = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]])).to(DEVICE)
    M = MET(Walks(pair, 60), [1 / 61] * 61, method=5)
    assert (M @ torch.ones(2, 1, dtype=torch.bfloat16, device=DEVICE)).tolist() == [[1.0], [1.0]]
    nodes = torch.arange(12)
    edge_index = torch.cartesian_prod(nodes, nodes).T
    full = Adjacency.from_edge_index(edge_index[:, edge_index[0] != edge_index[1]]).to(DEVICE)
    for method in (1, 3, 4):
        M = MET(Walks(full, 5), [0, 0, 0, 0, 0, 1.0], method)
        assert (M @ torch.ones(12, 1, dtype=torch.float16, device=DEVICE)).float().max() == 1


def test_no_columns_at_all():
    adj = star(hub=5)
    M = MET(Walks(adj, 2), method=3)
    x = torch.ones(adj.num_nodes, 0, dtype=torch.float64, device=DEVICE, requires_grad=True)
    (M @ x).sum().backward()
    assert x.grad.shape == x.shape


@on_gpu
@pytest.mark.parametrize("method", METHODS)
def test_every_method_by_the_laws_of_an_operator(method):
    adj = star(hub=5, directed=method in (3, 8))
    M = MET(Walks(adj, 3), method=method)
    M.weights.to(torch.float64)
    assert_operator(M, device=DEVICE)


@pytest.mark.parametrize(
    ("method", "memory", "trials"),
    [(2, None, None), (2, "low", 2), (3, None, 2), (3, "low", None), (5, None, None), (5, "low", None)],
)
def test_gradients_of_path_weights(method, memory, trials, monkeypatch):
    from panconv.weights import weights_from

    adj = star(hub=5)
    weights = weights_from("boltzmann" if method < 3 else "free", 2, trials).to(DEVICE, torch.float64)
    shape = (adj.num_nodes, 4) if trials is None else (adj.num_nodes, trials, 2)
    x = torch.randn(*shape, dtype=torch.float64, device=DEVICE, requires_grad=True)
    g = torch.randn_like(x)

    def gradients():
        y = MET(Walks(adj, 2), weights, method, memory) @ x
        return y, *torch.autograd.grad(y, [x, *weights.parameters()], g)

    ours = gradients()
    monkeypatch.setattr(kernels, "_gpu", lambda x: None)
    for mine, expected in zip(ours, gradients(), strict=True):
        close(mine, expected)


def test_the_same_bits_on_every_run():
    adj = star(hub=20)
    a, a_t = adj.operands(torch.float32)
    x = torch.randn(adj.num_nodes, 16, device=DEVICE)
    assert torch.equal(spmm(a, a_t, x), spmm(a, a_t, x))


def test_without_triton_torch_gives_the_same(monkeypatch):
    adj = star()
    x = torch.randn(adj.num_nodes, 3, dtype=torch.float64, device=DEVICE)
    ours = spmm(*adj.operands(torch.float64), x)
    monkeypatch.setattr(kernels, "_gpu", lambda x: None)
    close(spmm(*adj.operands(torch.float64), x), ours)


@on_gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("F", [1, 7, 16, 64, 100, 300])
def test_a_large_graph_with_hubs_against_float64(dtype, F, monkeypatch):
    monkeypatch.undo()
    N, E = 20_000, 1_200_000
    generator = torch.Generator(DEVICE).manual_seed(0)
    sender = torch.randint(N, (E,), device=DEVICE, generator=generator)
    receiver = (torch.rand(E, device=DEVICE, generator=generator) ** 3 * N).long()
    adj = Adjacency.from_edge_index(torch.stack([sender, receiver]), num_nodes=N).base("D⁻¹A")
    assert int(adj.crow.diff().max()) > 5 * schedule.LONG
    x = torch.rand(N, F, device=DEVICE, generator=generator).to(dtype)
    a, _ = adj.operands(torch.float64)
    exact = torch.sparse_csr_tensor(a.crow, a.col, a.value, (N, N)) @ x.double()
    b, b_t = adj.operands(torch.float32)
    y = spmm(b, b_t, x)
    torch.testing.assert_close(y.double(), exact, rtol=max(torch.finfo(dtype).eps, 1e-5), atol=1e-6)
    assert torch.equal(y, spmm(b, b_t, x))
    if dtype == torch.float32:
        g = torch.rand(N, F, device=DEVICE, generator=generator)
        expected = torch.cat(
            [(g[r] * x[c]).sum(-1) for r, c in zip(adj.row.split(9999), adj.col.split(9999), strict=True)]
        )
        torch.testing.assert_close(dots.entry_dots(adj.crow, adj.col, g, x), expected, rtol=1e-4, atol=1e-5)
