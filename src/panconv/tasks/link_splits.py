"""Links taken out of a graph at random, and as many pairs of nodes without a link."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from panconv.base.checks import as_number, checked_seed, shown
from panconv.base.random import keys, words
from panconv.graph.reading import checked_edges


class LinkSplit(NamedTuple):
    """A graph without some of its links, and the pairs to tell apart."""

    edge_index: Tensor  # (2, E), what is left, both directions
    positives: Tensor  # (2, K), the links taken out, each once
    negatives: Tensor  # (2, K), pairs of nodes without a link in the whole graph, each once
    num_nodes: int


def split_links(graph: Any, fraction: float = 0.1, seed: int = 0, num_nodes: int | None = None) -> LinkSplit:
    """Takes a random share of the links out, and draws as many of the pairs that are not linked.

    A link is an edge between two nodes, whichever its direction and however often it is stated. Self-loops stay in the
    graph and are neither links nor pairs. Weights are not looked at.

    Args:
        graph: an ``edge_index`` (2, E), or PyG's `Data`.
        fraction: the share of links taken out, above 0 and below 1; at least one link is taken out.
        seed: at least 0; the split depends on it alone, not on the device.
        num_nodes: N, where an ``edge_index`` does not name them all.

    >>> split = split_links(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), fraction=0.25)
    >>> split.edge_index.shape, split.positives.shape, split.negatives.shape
    (torch.Size([2, 6]), torch.Size([2, 1]), torch.Size([2, 1]))
    """
    edge_index = getattr(graph, "edge_index", graph)
    num_nodes = getattr(graph, "num_nodes", None) if num_nodes is None else num_nodes
    edge_index, N = checked_edges(edge_index, num_nodes)
    number, share = checked_seed(seed), as_number(fraction)
    if share is None or not 0 < share < 1:
        raise ValueError(f"fraction must be above 0 and below 1, the share of links taken out, got {shown(fraction)}")
    loop = edge_index[0] == edge_index[1]
    links = torch.unique(_number(edge_index[:, ~loop]))  # sorted
    if links.numel() < 2:
        raise ValueError(f"the graph has {links.numel()} links: taking some out and leaving some needs two")
    K = min(max(round(share * links.numel()), 1), links.numel() - 1)
    others = N * (N - 1) // 2 - links.numel()
    if others < K:
        raise ValueError(
            f"the graph has {others} pairs without a link, but {K} are to be set against the links taken out: "
            "take a smaller fraction"
        )
    origin = torch.tensor(number, device=edge_index.device)
    shuffled = links[_distinct(links.numel(), links.numel(), keys(origin, 0))]
    kept = _pair(shuffled[K:].sort().values)
    left = torch.cat([kept, kept.flip(0), edge_index[:, loop]], 1)
    return LinkSplit(left, _pair(shuffled[:K]), _pair(_nth_missing(links, _distinct(K, others, keys(origin, 1)))), N)


def _number(pair: Tensor) -> Tensor:
    """The place of {u, v} with u < v in the list (0,1), (0,2), (1,2), (0,3), …"""
    low, high = pair.min(0).values, pair.max(0).values
    return high * (high - 1) // 2 + low


def _pair(number: Tensor) -> Tensor:
    """{u, v} from its place, (2, …), u < v."""
    high = ((1 + (1 + 8 * number.double()).sqrt()) / 2).long()
    high = high - (high * (high - 1) // 2 > number).long()  # the root may be rounded up past a whole number,
    high = high + (high * (high + 1) // 2 <= number).long()  # or down
    return torch.stack([number - high * (high - 1) // 2, high])


def _nth_missing(links: Tensor, rank: Tensor) -> Tensor:
    """The rank-th whole number that is not in the sorted list."""
    before = links - torch.arange(links.numel(), device=links.device)  # how many are missing before each link
    return rank + torch.searchsorted(before, rank, right=True)


def _distinct(count: int, bound: int, key: Tensor) -> Tensor:
    """`count` different numbers of 0 … bound − 1, all sets equally likely, (count,)."""
    if bound <= 4 * count:
        return torch.argsort(_wide_words(bound, key), stable=True)[:count]
    # Draw until enough are different: the first to come stay, so that the set is an even draw.
    drawn = torch.empty(0, dtype=torch.long, device=key.device)
    for round_ in range(64):
        drawn = torch.cat([drawn, _wide_words(2 * count, key, round_) % bound])
        first = np.sort(np.unique(drawn.cpu().numpy(), return_index=True)[1])
        if len(first) >= count:
            break
    return drawn[torch.from_numpy(first[:count]).to(drawn.device)]


def _wide_words(count: int, key: Tensor, *stream: int) -> Tensor:
    """Random whole numbers of 62 bits, (count,)."""
    high, low = (words(keys(key, *stream, half), (count,)) for half in (0, 1))
    return (high << 30) ^ low
