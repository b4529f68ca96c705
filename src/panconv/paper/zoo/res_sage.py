"""GraphSAGE as it is tuned where neighbours differ: a stack of `SAGEConv` on all neighbours, with norms and residual
maps or without.

Hamilton, Ying & Leskovec, Inductive representation learning on large graphs, NIPS 2017, in the form of Luo, Shi & Wu,
Classic GNNs are strong baselines: reassessing GNNs for node classification, NeurIPS 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import nn
from torch_geometric.data import Data

from panconv.paper.zoo.convs import SAGE
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.residual import Stack
from panconv.paper.zoo.stack import How, trained_by_fit


def layer(data: Data, how: How, device: str) -> tuple[Callable[..., nn.Module]]:
    a, a_t = graph(data, device).base("D⁻¹A").operands(torch.float32)
    return (partial(SAGE, a=a, a_t=a_t),)


train = trained_by_fit(Stack, layer)
