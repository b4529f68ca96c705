import itertools
import math

import pytest
import torch
from hypothesis import given
from undirected import dense_perron, undirected

from panconv import Adjacency
from panconv.spectral import perron
from panconv.testing import close
from panconv.walkers.log_perron import log_perron


@given(undirected())
def test_it_is_the_logarithm_of_each_component_s_eigenvector(graph):
    if graph.num_nodes:
        psi, _ = dense_perron(graph.dense())
        close(log_perron(graph.adjacency()).exp(), psi)


def kite(leaves, tail):
    """A hub with leaves and a tail: (edge_index of both directions); node 0 is the hub, the tail comes last."""
    edges = [(0, leaf) for leaf in range(1, leaves + 1)]
    chain = [0, *range(leaves + 1, leaves + tail + 1)]
    edges += list(itertools.pairwise(chain))
    edge_index = torch.tensor(edges).T
    return torch.cat([edge_index, edge_index.flip(0)], 1)


@pytest.mark.parametrize("tail", [5, 40, 400, 1500])
def test_a_long_tail_is_exact_far_below_the_smallest_float(tail):
    """Along the tail ψ is sinh((tail + 1 − j)θ) with 2 cosh θ = λ: for 1,500 nodes it falls to 10⁻⁷⁰⁰."""
    leaves = 9
    adj = Adjacency.from_edge_index(kite(leaves, tail))
    log = log_perron(adj)
    theta = math.acosh(float(perron(adj).value[0]) / 2)

    def log_sinh(x):
        return x + torch.log1p(-(-2 * x).exp()) - math.log(2)

    left = torch.arange(tail + 1, 0, -1, dtype=torch.float64) * theta  # hub, then the tail
    ours = torch.cat([log[:1], log[leaves + 1 :]])
    torch.testing.assert_close(ours - ours[0], log_sinh(left) - log_sinh(left)[0], rtol=1e-10, atol=1e-10)
    assert tail < 1500 or ours[-1] < -1500
