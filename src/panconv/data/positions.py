"""Where a node stands in a graph: 64 numbers, alike for nodes that many paths join."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import torch
from torch_geometric.utils import to_undirected

from panconv.data.graph import Graph
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.paths import Walks

COLUMNS, STEPS = 64, 16  # at most 64, the bits of a hash


def positions(graph: Graph) -> np.ndarray:
    """Â¹⁶ of random signs, less what its degree tells of a node, (N, 64).

    Every node starts with 64 signs of its own. Walks of 16 steps carry them to each other, so what a node ends with
    tells among which others it stands: the products of two rows are nearly those of Â³² (Johnson and Lindenstrauss).
    The signs are the bits of a hash of the node's id. So a node keeps its position, nearly, when other nodes come and
    go, and a model can be asked of the graph of the day after; in a graph of other ids positions mean nothing. An edge
    counts both ways, and weights are not looked at.
    """
    N = graph.num_nodes
    edges = to_undirected(graph.edge_index, num_nodes=N) if graph.directed else graph.edge_index
    adj = Adjacency.from_edge_index(edges, num_nodes=N)
    M = MET(Walks(adj, STEPS), [0.0] * STEPS + [1.0], method=5)
    found = (M @ torch.from_numpy(_signs(graph.ids))).double()
    first = (adj.crow.diff() + 1).double().sqrt()  # adj holds each edge once
    first /= first.norm()  # the eigenvector of the eigenvalue 1, which all walks tend to
    return (found - torch.outer(first, first @ found)).numpy()


def _signs(ids: np.ndarray) -> np.ndarray:
    """(N, 64) of −1 and 1, by the ids as texts."""
    hashes = b"".join(blake2b(str(each).encode(), digest_size=8).digest() for each in ids.tolist())
    bits = np.unpackbits(np.frombuffer(hashes, np.uint8).reshape(len(ids), 8), axis=1)
    return bits.astype(np.float32) * 2 - 1
