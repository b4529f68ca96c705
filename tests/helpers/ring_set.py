"""A small set of graphs: rings and paths, which the degrees do not tell apart by themselves."""

import torch

from panconv.data import GraphSet


def rings(count=40, name="rings", seed=0):
    """Rings, class 1, and the same rings less an edge, class 0; two features of noise.

    None is constant: what a batch norm takes out again has a gradient of rounding alone, of which Adam makes steps.
    """
    draw = torch.Generator().manual_seed(seed)
    sizes = [4 + i % 3 for i in range(count)]
    ends, first = [], 0
    for i, n in enumerate(sizes):
        node = torch.arange(first, first + n)
        pairs = torch.stack([node, node.roll(-1)])[:, : n if i % 2 else n - 1]
        ends += [pairs, pairs.flip(0)]
        first += n
    x = torch.randn(first, 2, generator=draw)
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    return GraphSet(x, torch.cat(ends, 1), ptr, torch.arange(count) % 2, name=name)
