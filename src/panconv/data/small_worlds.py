"""Generated small worlds with a hub: a ring with long-range links, and a graph that grew by preferential attachment."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.utils import to_undirected

from panconv.base.checks import checked_count, checked_seed


def ring_with_hub(
    num_nodes: int, neighbours: int = 6, rewired: float = 0.05, links: int = 100, seed: int = 0
) -> Tensor:
    """The ring of Watts and Strogatz (Nature 393, 440, 1998), where node 0 is given long-range links besides.

    Each node is joined to its `neighbours` nearest on the ring, and each of these links leads somewhere else with
    probability `rewired`. Loops and repeated links are left out, so a few are missing.

    Args:
        num_nodes: N.
        neighbours: an even number.
        rewired: the probability, 0 … 1.
        links: of node 0, to different nodes drawn evenly.
        seed: of all that is drawn.

    Returns:
        edge_index (2, E), both ways.
    """
    N, half = checked_count(num_nodes, "num_nodes", 3), checked_count(neighbours, "neighbours", 2) // 2
    if neighbours % 2 or neighbours >= N:
        raise ValueError(f"neighbours must be even and below num_nodes = {N}, got {neighbours}")
    if not 0 <= rewired <= 1:
        raise ValueError(f"rewired must be a probability, 0 … 1, got {rewired}")
    checked_count(links, "links", 0, N - 1)
    draw = torch.Generator().manual_seed(checked_seed(seed))
    source = torch.arange(N).repeat(half)
    target = (source + torch.arange(1, half + 1).repeat_interleave(N)) % N
    elsewhere = torch.randint(N, (N * half,), generator=draw)
    target = torch.where(torch.rand(N * half, generator=draw) < rewired, elsewhere, target)
    far = 1 + torch.randperm(N - 1, generator=draw)[:links]
    return _simple(torch.cat([source, torch.zeros_like(far)]), torch.cat([target, far]), N)


def preferential_attachment(num_nodes: int, links: int = 3, seed: int = 0) -> Tensor:
    """The graph of Barabási and Albert (Science 286, 509, 1999), whose new nodes join those that have many links.

    Node by node, each of `links` links leads to the end of a link that is drawn evenly from those there are, the new
    one among them (Batagelj and Brandes, Phys. Rev. E 71, 036113, 2005). Loops and repeated links are left out.

    Args:
        num_nodes: N.
        links: of each new node.
        seed: of all that is drawn.

    Returns:
        edge_index (2, E), both ways.
    """
    N, m = checked_count(num_nodes, "num_nodes"), checked_count(links, "links")
    draw = torch.Generator().manual_seed(checked_seed(seed))
    # Link e has the ends 2e, which is its new node, and 2e + 1, which is what an earlier end is, drawn among 0 … 2e.
    link = torch.arange(N * m)
    end = torch.arange(2 * N * m)
    end[1::2] = (torch.rand(N * m, generator=draw, dtype=torch.float64) * (2 * link + 1)).long()
    while bool((end % 2 == 1).any()):  # each round follows the references twice as far
        end = end[end]
    return _simple(end[::2] // 2 // m, end[1::2] // 2 // m, N)


def _simple(source: Tensor, target: Tensor, num_nodes: int) -> Tensor:
    """The links both ways, each once, without loops."""
    edges = torch.stack([source, target])
    return to_undirected(edges[:, source != target], num_nodes=num_nodes)
