import math

import pytest
import torch
from torch_geometric.utils import erdos_renyi_graph

from panconv import MET, Adjacency, Walks, load
from panconv.spectral import density
from panconv.testing import close

ONES = [1.0, 1.0, 1.0]


def test_the_cumulated_density_is_that_of_the_exact_spectrum():
    M = MET(Walks(Adjacency.from_edge_index(erdos_renyi_graph(500, 0.008), num_nodes=500), 2), ONES, 2)
    exact = torch.linalg.eigvalsh(M.to_dense(torch.float64))
    found = density(M, steps=60, starts=40)
    close(found.weights.sum(), torch.ones((), dtype=torch.float64))
    at = torch.linspace(0, 1, 30)
    below = torch.stack([(found.weights * (found.values <= t)).sum() for t in at])
    truth = torch.stack([(exact <= t).double().mean() for t in at])
    # 60 points resolve a steep spectrum no better than their own weights: over 25 random graphs 0.01 was usual, 0.021
    # the most.
    assert float((below - truth).abs().max()) < 0.03
    for p in (1, 2, 5):
        assert float((found.weights * found.values**p).sum()) == pytest.approx(float((exact**p).mean()), abs=0.01)


def test_cora_with_its_many_equal_eigenvalues():
    data = load("cora", sparse=True)
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    found = density(MET(Walks(adj, 2), ONES, 2), steps=40, starts=16)
    assert float(found.weights[found.values > 1 - 1e-6].sum()) == pytest.approx(78 / 2708, rel=0.1)


def test_more_starts_are_closer_and_seeds_differ():
    N = 64
    ring = torch.stack([torch.arange(N), (torch.arange(N) + 1) % N])
    M = MET(Walks(torch.cat([ring, ring.flip(0)], 1), 1), [0.0, 1.0], 6)  # eigenvalues cos(2πi/N)

    def error(starts, seed):
        found = density(M, 30, starts, seed)
        return abs(
            float((found.weights * found.values.exp()).sum())
            - sum(math.exp(math.cos(2 * math.pi * i / N)) for i in range(N)) / N
        )

    assert error(4, 0) != error(4, 1)
    assert sum(error(256, s) for s in range(4)) < sum(error(4, s) for s in range(4)) / 2


def test_progress_and_bad_input():
    M, done = MET(Walks(torch.tensor([[0, 1], [1, 0]]), 2), ONES, 2), []
    assert density(M, starts=11, callback=done.append).values.shape == (22,)
    assert done == [8, 3]
    for name in ("steps", "starts"):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1"):
            density(M, **{name: 0})
    with pytest.raises(ValueError, match="not symmetric"):
        density(MET(Walks(torch.tensor([[0, 1], [1, 0]]), 2), ONES, 1))
