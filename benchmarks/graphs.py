"""Graphs to measure on: seeded, undirected, made on the device they are used on without a loop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from panconv import Adjacency, load


@dataclass(eq=False)
class Graph:
    """An undirected graph as PyG holds it, and what either side makes of it before the clock starts."""

    name: str
    edge_index: Tensor  # (2, E), both directions
    num_nodes: int

    @property
    def entries(self) -> int:
        return self.edge_index.size(1)

    @property
    def device(self) -> torch.device:
        return self.edge_index.device

    @cached_property
    def adj(self) -> Adjacency:
        return Adjacency.from_edge_index(self.edge_index, num_nodes=self.num_nodes)

    @cached_property
    def normalised(self) -> tuple[Tensor, Tensor]:
        """PyG's edge_index with self-loops, and the values of Â: independent of panconv."""
        return gcn_norm(self.edge_index, num_nodes=self.num_nodes)


@lru_cache(maxsize=1)
def power_law(N: int, E: int, device: torch.device, seed: int = 0) -> Graph:
    """Expected degrees ∝ rank^−½, about E stored entries, nodes in random order (no locality but the hubs')."""
    g = torch.Generator(device).manual_seed(seed)
    # By inverting the distribution of ends, Σ_{r ≤ R} r^−½ ∝ √R. A few more than asked for: repetitions fall away.
    ends = torch.rand(2, int(0.53 * E), generator=g, device=device, dtype=torch.float64).square_().mul_(N).long()
    return _undirected(f"power law {size(N)} / {size(E)}", _relabelled(ends, N, g), N, E // 2, g)


@lru_cache(maxsize=1)
def communities(
    N: int, E: int, device: torch.device, ordered: bool, members: int = 500, outside: float = 0.05, seed: int = 0
) -> Graph:
    """Blocks of nodes, and a share of random links between them; numbered block by block, or at random."""
    g = torch.Generator(device).manual_seed(seed)
    count = int(0.53 * E)
    one = torch.randint(N, (count,), generator=g, device=device)
    within = one // members * members + torch.randint(members, (count,), generator=g, device=device)
    anywhere = torch.randint(N, (count,), generator=g, device=device)
    stray = torch.rand(count, generator=g, device=device) < outside
    ends = torch.stack([one, torch.where(stray, anywhere, within).clamp_(max=N - 1)])
    ends = ends if ordered else _relabelled(ends, N, g)
    order = "ordered" if ordered else "shuffled"
    return _undirected(f"communities {size(N)} / {size(E)}, {order}", ends, N, E // 2, g)


def molecules(count: int, device: torch.device, seed: int = 0) -> Graph:
    """A PyG batch of small trees with a ring closed: 19 … 31 nodes each, as molecules have."""
    g = torch.Generator().manual_seed(seed)
    graphs = []
    for N in torch.randint(19, 32, (count,), generator=g).tolist():
        nodes = torch.arange(1, N)
        parents = nodes - 1 - (torch.rand(N - 1, generator=g) * nodes.clamp(max=3)).long()
        rings = torch.tensor([[0, N // 2, N // 3], [5, N - 1, N // 3 + 5]])
        ends = torch.cat([torch.stack([nodes, parents]), rings], dim=1)
        edge_index = torch.cat([ends, ends.flip(0)], dim=1).unique(dim=1)
        graphs.append(Data(edge_index=edge_index, num_nodes=N))
    batch = Batch.from_data_list(graphs).to(device)
    return Graph(f"{count} molecules", batch.edge_index, batch.num_nodes)


def citations(name: str, device: torch.device) -> Graph:
    """A built-in graph."""
    data = load(name)
    return Graph(name, data.edge_index.to(device), data.num_nodes)


def size(number: int) -> str:
    """2000 as 2 k, 20000000 as 20 M."""
    for unit, word in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            return f"{number / unit:.3g} {word}"
    return str(number)


def _relabelled(ends: Tensor, N: int, g: torch.Generator) -> Tensor:
    return torch.randperm(N, generator=g, device=ends.device)[ends]


def _undirected(name: str, ends: Tensor, N: int, pairs: int, g: torch.Generator) -> Graph:
    """At most `pairs` distinct links, without loops, in both directions."""
    low, high = ends.amin(0), ends.amax(0)
    key = torch.unique((low * N + high)[low != high])
    if key.numel() > pairs:
        key = key[torch.randperm(key.numel(), generator=g, device=key.device)[:pairs]]
    one = torch.stack([key // N, key % N])
    return Graph(name, torch.cat([one, one.flip(0)], dim=1), N)
