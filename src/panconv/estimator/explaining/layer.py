"""The linear head as a layer, so that what works on layers, PyG's explainers for one, works on it."""

from __future__ import annotations

import torch

from panconv.estimator.linear import LinearHead
from panconv.estimator.terms import Paths
from panconv.nn import PANConv


def layer_of(head: LinearHead, paths: Paths) -> PANConv:
    """A layer with a matrix per length that gives the scores of the head, in float32.

    Args:
        head: the head.
        paths: whose terms it takes.
    """
    F, C = head.coefs[0].shape
    layer = PANConv(F, C, paths.L, paths.method, [1.0] * (paths.L + 1), paths.kind, concat=True)
    with torch.no_grad():
        layer.lin.weight.copy_(torch.cat(head.coefs, 1))
        assert layer.bias is not None
        layer.bias.copy_(head.intercept)
    return layer.eval()
