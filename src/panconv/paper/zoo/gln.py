"""GLN: GCN without the ReLU between its layers, softmax(Â²·X·W₀·W₁): what is left is linear propagation.

Thekumparampil, Wang, Oh & Li, Attention-based graph neural network for semi-supervised learning, 2018.
"""

from __future__ import annotations

from functools import partial

from torch import nn

from panconv.paper.zoo import gcn
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import trained_by_fit

network = partial(gcn.network, activation=nn.Identity())
train = trained_by_fit(network, renormalized)
