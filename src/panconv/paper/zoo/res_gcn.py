"""GCN as it is tuned where neighbours differ: a stack of `GCNConv`, with norms and residual maps or without.

Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017, in the form of Luo, Shi &
Wu, Classic GNNs are strong baselines: reassessing GNNs for node classification, NeurIPS 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn
from torch_geometric.data import Data

from panconv.paper.zoo.convs import GCN
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.residual import Stack
from panconv.paper.zoo.stack import How, trained_by_fit


def layer(data: Data, how: How, device: str) -> tuple[Callable[..., nn.Module]]:
    a, a_t = renormalized(data, how, device)
    return (partial(GCN, a=a, a_t=a_t),)


train = trained_by_fit(Stack, layer)
