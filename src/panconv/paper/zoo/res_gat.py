"""GAT as it is tuned where neighbours differ: a stack of `GATConv` without dropout of the attention, with norms and
residual maps or without.

Veličković et al., Graph attention networks, ICLR 2018, in the form of Luo, Shi & Wu, Classic GNNs are strong baselines:
reassessing GNNs for node classification, NeurIPS 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn
from torch_geometric.data import Data

from panconv.paper.zoo.convs import GAT, Pattern
from panconv.paper.zoo.operator import graph, with_loops
from panconv.paper.zoo.residual import Stack
from panconv.paper.zoo.stack import How, trained_by_fit


def layer(data: Data, how: How, device: str) -> tuple[Callable[..., nn.Module]]:
    return (partial(GAT, pattern=Pattern.of(graph(with_loops(data), device)), heads=how["heads"]),)


train = trained_by_fit(Stack, layer)
