"""Small graphs made of circles."""

import torch
from torch_geometric.data import Data

from panconv import Adjacency


def two_rings():
    """Two circles, a class each; features tell nothing but who the node is. The hidden labels are `truth`."""
    node = torch.arange(20)
    edges = torch.stack([node, (node + 1) % 20])
    edges = torch.cat([edges, torch.stack([node, (node + 2) % 20])], dim=1)
    edges = torch.cat([edges, edges + 20], dim=1)
    truth = torch.arange(40) // 20
    train, val = torch.zeros(40, dtype=torch.bool), torch.zeros(40, dtype=torch.bool)
    train[::4], val[1::4] = True, True
    y = truth.where(train | val, -1)
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    return Data(torch.eye(40), edges, y=y, train_mask=train, val_mask=val, truth=truth)


def ring(N, chords=0):
    """A cycle with some chords, undirected."""
    node = torch.arange(N)
    edges = torch.cat([torch.stack([node, (node + 1) % N]), torch.randint(N, (2, chords))], dim=1)
    return Adjacency.of(torch.cat([edges, edges.flip(0)], dim=1), None, N)
