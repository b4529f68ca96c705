"""GCN: each layer averages over the neighbours, softmax(Â·ReLU(Â·X·W₀)·W₁), with Â = D̃^−½(A+I)D̃^−½.

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from panconv.paper.zoo.stack import Layers, trained_by_fit


def network(
    how: Mapping[str, Any], inputs: int, classes: int, activation: Callable[[Tensor], Tensor] = F.relu
) -> nn.Module:
    options = {"cached": True, "normalize": how["normalize"]}
    first, second = GCNConv(inputs, how["hidden"], **options), GCNConv(how["hidden"], classes, **options)
    return Layers(first, second, how["dropout"], activation)


train = trained_by_fit(network)
