"""GLN: GCN without the ReLU between its layers, softmax(Â²·X·W₀·W₁): what is left is linear propagation.

Thekumparampil, Wang, Oh & Li, Attention-based graph neural network for semi-supervised learning, 2018.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.paper.zoo import gcn
from panconv.paper.zoo.stack import Tell, fitted


def network(how: Mapping[str, Any], inputs: int, classes: int) -> nn.Module:
    return gcn.network(how, inputs, classes, activation=nn.Identity())


def train(
    data: Data, how: Mapping[str, Any], seeds: Sequence[int], device: str = "cpu", tell: Tell | None = None
) -> Tensor:
    return fitted(partial(network, how), data, how, seeds, device, tell)
