"""GCN: each layer averages over the neighbours, softmax(Â·ReLU(Â·X·W₀)·W₁), with Â = D̃^−½(A+I)D̃^−½.

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from panconv.graph.csr import CSR
from panconv.paper.zoo.convs import GCN
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import How, trained_by_fit, two_layers


def network(
    how: How, inputs: int, classes: int, a: CSR, a_t: CSR, activation: Callable[[Tensor], Tensor] = F.relu
) -> nn.Module:
    """Two layers on Â and its transpose."""
    return two_layers(how, inputs, classes, partial(GCN, a=a, a_t=a_t), activation)


train = trained_by_fit(network, renormalized)
