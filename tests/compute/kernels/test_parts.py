"""The whole sum in one launch: where it applies, and that it is the sum."""

import pytest
import torch

pytest.importorskip("triton")

from panconv import MET, METHODS, Adjacency, Walks
from panconv.compute import kernels
from panconv.compute.kernels import blocks, gpu
from panconv.testing import close
from panconv.weights import weights_from

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def molecules(directed=False):
    """A ring of 4, a path of 3, a node alone, a pair."""
    edges = torch.tensor([[0, 1, 2, 3, 4, 5, 8], [1, 2, 3, 0, 5, 6, 9]])
    edge_index = edges if directed else torch.cat([edges, edges.flip(0)], 1)
    weight = torch.rand(edge_index.size(1), dtype=torch.float64) + 0.1
    if not directed:
        weight = torch.cat([weight[:7], weight[:7]])
    return Adjacency.from_edge_index(edge_index, weight, 10).to(DEVICE)


def test_parts_are_what_no_entry_leaves():
    adj = molecules()
    found = blocks.blocks_of(adj.crow, adj.col)
    assert found.start.tolist() == [0, 4, 7, 8, 10]
    assert found.rows == 4
    assert found.entries == 2
    assert blocks.blocks_of(adj.crow, adj.col) is found
    # An edge between the ends of the numbering leaves one part, however few the edges.
    ring = Adjacency.from_edge_index(torch.tensor([[0, 0], [1, 9]]), num_nodes=10)
    assert blocks.blocks_of(ring.crow, ring.col).start.tolist() == [0, 10]


def test_large_parts_are_left_to_the_steps():
    path = torch.arange(blocks.MOST_ROWS)
    one_more = Adjacency.from_edge_index(torch.stack([path, path + 1]))
    assert blocks.blocks_of(one_more.crow, one_more.col) is None
    just = Adjacency.from_edge_index(torch.stack([path[:-1], path[:-1] + 1]))
    assert blocks.blocks_of(just.crow, just.col) is not None
    empty = Adjacency.from_edge_index(torch.empty(2, 0, dtype=torch.long), num_nodes=0)
    assert blocks.blocks_of(empty.crow, empty.col) is None


@pytest.mark.parametrize(
    ("method", "trials", "directed", "transposed"),
    [
        (1, None, False, True),
        (2, 2, False, False),
        (5, None, True, False),
        (5, 3, False, False),
        (7, None, False, False),
    ],
)
def test_values_and_gradients(method, trials, directed, transposed, monkeypatch):
    adj = molecules(directed)
    weights = weights_from(METHODS[method].weights, 2, trials).to(DEVICE, torch.float64)
    shape = (10, 5) if trials is None else (10, trials, 3)
    x = torch.randn(*shape, dtype=torch.float64, device=DEVICE, requires_grad=True)
    g = torch.randn_like(x)
    used, kinds = [], {name: getattr(kernels, name) for name in ("whole", "plain_whole")}
    for name, kind in kinds.items():
        monkeypatch.setattr(f"panconv.compute.series.{name}", lambda *a, kind=kind: used.append(kind(*a)) or used[-1])
    gpu.tile_of.cache_clear()
    monkeypatch.setattr(gpu, "WIDEST", 4)
    monkeypatch.setattr("panconv.compute.kernels.parts.WIDEST", 4)

    def results():
        M = MET(Walks(adj, 2), weights, method)
        y = (M.T if transposed else M) @ x
        return y, *torch.autograd.grad(y, [x, *weights.parameters()], g)

    with monkeypatch.context() as patch:
        patch.setattr(kernels, "_gpu", lambda x: kernels._triton())
        ours = results()
    assert used
    assert used[0] is not None
    monkeypatch.setattr(kernels, "_gpu", lambda x: None)
    for mine, expected in zip(ours, results(), strict=True):
        close(mine, expected)
