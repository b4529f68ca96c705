"""The layer of all scales: powers of M near, a basis far."""

import torch
from rings import ring

from panconv.graph.csr import CSR
from panconv.paper.zoo.scales import Scales
from panconv.paper.zoo.symmetric import Symmetric, start, symmetric


def test_it_is_the_concatenation_of_all_scales_through_one_matrix():
    M = symmetric(ring(10, 5), "Â")
    dense = (Symmetric(M) @ torch.eye(10, dtype=torch.float64)).float()
    layer = Scales(4, 3, CSR(M.crow, M.col, M.value.float()), short=(1, 2, 5), long=2)
    x, Q, G = torch.randn(10, 4), torch.randn(10, 6), torch.randn(2, 6, 6)
    near = [torch.linalg.matrix_power(dense, s) @ x for s in (1, 2, 5)]
    far = [Q @ g @ Q.T @ x for g in G]
    expected = torch.cat(near + far, dim=1) @ layer.weight.flatten(0, 1) + layer.bias
    assert torch.allclose(layer(x, Q, G), expected, atol=1e-4)


def test_the_start_is_always_the_same():
    assert torch.equal(start(50, torch.device("cpu")), start(50, torch.device("cpu")))
