"""The part of a graph that a model looks at from some seed nodes, as a graph of its own."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import torch
from torch import Tensor, nn

from panconv.data.edge_source import EdgeSource
from panconv.graph.block import DIVIDED, Block
from panconv.graph.degrees import Facts
from panconv.graph.sorting import sort_edges
from panconv.met.methods import METHODS
from panconv.nn.hops import layers_of
from panconv.nn.on_paths import OnPaths
from panconv.paths import Walks, family_of


class Need(NamedTuple):
    """What a layer takes from the whole graph."""

    base: str
    L: int
    counted: bool  # whether the walks on it are to be counted


def needs_of(model: nn.Module, facts: Facts) -> set[Need]:
    """What the layers of a model take from a graph of which some facts are known.

    Paths other than walks are counted in each block, by its own edges: `num_hops` has room for that.
    """
    needs = set()
    for layer in layers_of(model):
        if isinstance(layer, OnPaths):
            rule, walks = METHODS[layer.method], issubclass(family_of(layer.paths), Walks)
            if not walks and rule.divides and facts.signed:
                raise ValueError(
                    f"paths {layer.paths!r} with method {layer.method} divide by sums over the paths of a block, which "
                    "negative edge weights could cancel at its rim: use walks, or weights of at least 0"
                )
            # Without a scaling counts tell how far the powers of a base grow, which those of an undirected one do not.
            grows = facts.signed or not facts.undirected
            needs.add(Need(rule.base, layer.L, walks and (rule.divides or grows)))
    return needs


def cut(source: EdgeSource, seeds: Tensor, hops: int, needs: Collection[Need]) -> tuple[Block, Tensor]:
    """All that lies within some hops of the seeds, against the edges; and which node each of it is, (n,).

    The seeds, of which none may come twice, are the first of them, in their order. Every node has all the edges that
    arrive at it but those that are `hops` away, which have none.
    """
    nodes, edges = _expand(source, seeds, hops)
    row, sender, weight = edges
    n, order = nodes.numel(), nodes.argsort(stable=True)
    col = order[torch.searchsorted(nodes[order], sender)]
    pattern, entry = sort_edges(torch.stack([col, row]), n, weight is not None)
    value = weight if weight is None or entry is None else torch.empty_like(weight).scatter_(0, entry, weight)
    block = Block(pattern, value, facts=source.facts)
    block.loops, block.repeats = source.reading.filled()["loops"], source.reading.repeats
    for base, L, counted in sorted(needs):
        if base in DIVIDED and base not in block.known:
            block.divide(base, source.degrees(DIVIDED[base], nodes))
        on = block.base(base)
        assert isinstance(on, Block)
        on.by_column()  # gradients need it, and here it is a worker that finds it
        if base != "A":
            block.known[base] = on  # it is to go with the block from a worker to the trainer
        if counted:
            on.known["walks", L] = source.counts(base, L, nodes)
    return block, nodes


def _expand(source: EdgeSource, seeds: Tensor, hops: int) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor | None]]:
    """The nodes, those nearest to the seeds first; and of each edge the receiver's place among them, sender, weight."""
    frontier, seen, start = seeds, seeds.unique(), 0
    nodes, rows, senders = [seeds], [seeds.new_empty(0)], [seeds.new_empty(0)]
    weights = [source.in_edges(seeds[:0])[2]]  # none, but it tells whether there are any
    for _ in range(hops):
        receiver, sender, weight = source.in_edges(frontier)
        rows.append(receiver + start)
        senders.append(sender)
        weights.append(weight)
        start += frontier.numel()
        frontier = _without(sender.unique(), seen)
        if not frontier.numel():
            break
        nodes.append(frontier)
        seen = torch.cat([seen, frontier]).sort().values
    weighed = [weight for weight in weights if weight is not None]
    return torch.cat(nodes), (torch.cat(rows), torch.cat(senders), torch.cat(weighed) if weighed else None)


def _without(nodes: Tensor, seen: Tensor) -> Tensor:
    """The nodes that have not been seen, both in ascending order."""
    at = torch.searchsorted(seen, nodes).clamp(max=max(seen.numel() - 1, 0))
    return nodes[seen[at] != nodes] if seen.numel() else nodes
