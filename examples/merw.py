"""The maximal entropy random walk beside the generic one: entropy rates, where they live, and samples of both.

python examples/merw.py
"""

import torch

from panconv import Adjacency, load
from panconv.walkers import KINDS


def main() -> dict[str, float]:
    data = load("cora")
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    rates = {}
    print(
        "Cora: entropy rate, nodes that hold half of the stationary distribution, and of 10,000 walkers after 50 steps"
    )
    for name, make in KINDS.items():
        walk = make(adj)
        rates[name] = walk.entropy_rate
        starts = torch.multinomial(walk.stationary, 10_000, replacement=True)
        ends = walk.sample(starts, steps=50, seed=0)[:, -1]
        found = torch.bincount(ends, minlength=adj.num_nodes) / ends.numel()
        print(f"  {name:16} {rates[name]:.3f} nats per step, {half(walk.stationary):4} nodes, {half(found):4} nodes")
    return rates


def half(distribution: torch.Tensor) -> int:
    """The fewest nodes that hold half of it."""
    return int((distribution.sort(descending=True).values.cumsum(0) < 0.5).sum()) + 1


if __name__ == "__main__":
    main()
