"""The graph with a self-loop at every node, for the methods of attention: made once, before the training."""

from __future__ import annotations

import copy

from torch_geometric.data import Data
from torch_geometric.utils import add_remaining_self_loops


def with_loops(data: Data) -> Data:
    """The same graph without weights and with the edge (i, i) of each node, once."""
    looped = copy.copy(data)  # shallow
    looped.edge_index, _ = add_remaining_self_loops(data.edge_index, num_nodes=data.num_nodes)
    looped.edge_weight = None
    return looped
