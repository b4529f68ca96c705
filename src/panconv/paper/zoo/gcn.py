"""GCN: each layer averages over the neighbours, softmax(Â·ReLU(Â·X·W₀)·W₁), with Â = D̃^−½(A+I)D̃^−½.

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from panconv.paper.zoo.stack import How, trained_by_fit, two_layers


def network(how: How, inputs: int, classes: int, activation: Callable[[Tensor], Tensor] = F.relu) -> nn.Module:
    layer = partial(GCNConv, cached=True, normalize=how["normalize"])
    return two_layers(how, inputs, classes, layer, activation)


train = trained_by_fit(network)
