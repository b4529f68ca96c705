"""A small graph to train on."""

import torch
from torch_geometric.data import Data


def small(sparse=False, seed=0):
    """Two communities of 20 nodes with noisy features: easy, not trivial."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(40) % 2
    same = y[:, None] == y[None, :]
    A = (torch.rand(40, 40, generator=generator) < torch.where(same, 0.3, 0.02)).triu(1)
    x = torch.rand(40, 6, generator=generator) * (torch.rand(40, 6, generator=generator) < 0.5)
    x[:, 0] += 0.3 * y
    edge_index = (A | A.T).nonzero().T
    masks = {f"{name}_mask": torch.arange(40) % 4 == i for i, name in enumerate(("train", "val", "test"))}
    masks["train_mask"] = masks["train_mask"] | (torch.arange(40) % 4 == 3)
    return Data(x=x.to_sparse_csr() if sparse else x, edge_index=edge_index, y=y, **masks)
