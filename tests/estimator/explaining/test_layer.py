import numpy as np
import pytest
import torch
from planted_classes import planted

from panconv import METHODS
from panconv.estimator.explaining.layer import layer_of
from panconv.estimator.linear import LinearHead
from panconv.estimator.nodes import Nodes
from panconv.estimator.terms import Paths, blocks


@pytest.mark.parametrize("kind", ["walks", "shortest"])
@pytest.mark.parametrize("method", METHODS)
def test_a_layer_gives_the_scores_of_the_head(method, kind):
    A, X, _, _ = planted(N=30, F=4)
    paths, random = Paths(2, method, kind), np.random.default_rng(method)
    coefs = [torch.from_numpy(random.normal(size=(4, 3))) for _ in range(3)]
    head = LinearHead(coefs, torch.from_numpy(random.normal(size=3)), "even", None, {})
    nodes = Nodes.of(A, X)
    layer = layer_of(head, paths)
    with torch.no_grad():
        scores = layer(torch.from_numpy(nodes.x).float(), nodes.adj)
    np.testing.assert_allclose(scores, head.decision(blocks(nodes, paths)), rtol=1e-4, atol=1e-4)
    assert not layer.training
