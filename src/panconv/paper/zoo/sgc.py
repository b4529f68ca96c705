"""SGC: logistic regression on features that were averaged K times over the neighbours, softmax(Âᴷ·X·W).

Wu et al., Simplifying graph convolutional networks, ICML 2019.
"""

from __future__ import annotations

from collections import deque

from torch import Tensor
from torch_geometric.data import Data

from panconv.paper.zoo.mlp import Blind
from panconv.paper.zoo.operator import powers, renormalized
from panconv.paper.zoo.stack import How, Seeds, Tell, fitted_alone, silent


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    smoothed = powers(renormalized(data, how, device), data.x.float().to(device), how["K"])
    z = deque(smoothed, maxlen=1).pop()  # the last one; those before are not held
    return fitted_alone(regression, z, data, how, seeds, device, tell)


def regression(inputs: int, classes: int) -> Blind:
    layer = Blind(inputs, classes)
    layer.reset_parameters()  # PyG's layer draws its start a second time, and seeds mean what they meant with it
    return layer
