"""Skip-gram on random walks: a node's vector is to foretell the nodes near it on a walk, max Σ log Pr(c | u).

Mikolov et al., Distributed representations of words and phrases and their compositionality, NIPS 2013. Pr is a
hierarchical softmax, Π σ(±uᵀθ) along the way to c in a Huffman tree, or negative sampling stands in for it:
log σ(uᵀv_c) + K·E log σ(−uᵀv_n) with n drawn by visits^¾.

Vectors are looked up once per walk, and all pairs of a walk are a small matrix product. Pairs at a distance δ count
1 − (δ − 1)/window, the share with which a window of random size would hold them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from panconv.base.random import keys, uniform, words
from panconv.paper.zoo.huffman import huffman
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.training.epoch import descend
from panconv.walkers import RandomWalk, SecondOrderWalk

_START, _ORDER, _WALK, _DRAW = range(4)  # streams of random numbers
_POWER = 0.75


Walker = RandomWalk | SecondOrderWalk  # what walks come from
# From the vectors of walks (S, B, T, d), the walks (S, B, T), and the number of the step.
Loss = Callable[[Tensor, Tensor, int], Tensor]


def embedded(walk: Walker, starts: Tensor, how: How, seeds: Seeds, tell: Tell = silent) -> Tensor:
    """Vectors of the nodes for S trials, (S, N, dimension), by Adam with a rate that falls to 0.

    Args:
        walk: what the walks are drawn from.
        starts: the nodes that walks start from, on the device; the vectors of nodes that no walk meets stay at random.
        how: dimension, length (nodes per walk), walks (from each node), window, epochs (over the walks), batch (walks a
            step), lr, and loss: "hierarchical" or "negative", the latter with negatives (K).
        seeds: one per trial.
        tell: called with the share that is done.
    """
    N, d = walk.num_nodes, how["dimension"]
    seed = torch.tensor(list(seeds), device=starts.device)
    paths = walks(walk, starts, how["length"], how["walks"], seed)  # (S, R, T)
    visits = torch.stack([torch.bincount(each.flatten(), minlength=N) for each in paths])
    table = ((uniform(keys(seed, _START), (N, d)) - 0.5) / d).requires_grad_()  # (S, N, d)
    loss, others = LOSSES[how["loss"]](visits, d, seed, how)
    optimizer = torch.optim.Adam([table, others], lr=how["lr"], fused=True)
    batches = -(-paths.size(1) // how["batch"])
    steps = how["epochs"] * batches
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = how["lr"] * (1 - step / steps)
        batch = paths[:, step % batches :: batches]
        descend(optimizer, loss(lookup(table, batch), batch, step))
        tell((step + 1) / steps)
    return table.detach()


def walks(walk: Walker, starts: Tensor, length: int, times: int, seed: Tensor) -> Tensor:
    """Walks of so many nodes, from each start so many times, in a random order, (S, times · starts, length)."""
    made = []
    for key in seed:
        order = torch.argsort(words(keys(key, _ORDER), (times, starts.numel())), 1)
        made.append(walk.sample(starts[order].flatten(), length - 1, int(keys(key, _WALK))))
    return torch.stack(made)


def nearness(length: int, window: int, device: torch.device) -> Tensor:
    """How much a pair of places on a walk counts, (T, T): 0 beyond the window and for a place with itself."""
    place = torch.arange(length, device=device)
    distance = (place[:, None] - place).abs()
    return (1 - (distance - 1) / window).clamp(min=0) * (distance > 0)


def negative(visits: Tensor, d: int, seed: Tensor, how: How) -> tuple[Loss, Tensor]:
    """Negative sampling, and the vectors of the nodes as contexts."""
    S, N = visits.shape
    context = torch.zeros(S, N, d, device=visits.device, requires_grad=True)
    share = visits.double() ** _POWER
    ends = (share.cumsum(1) / share.sum(1, keepdim=True)).float()  # (S, N)
    near = nearness(how["length"], how["window"], visits.device)

    def loss(u: Tensor, batch: Tensor, step: int) -> Tensor:
        chance = uniform(keys(seed, _DRAW, step), (batch[0].numel(),))  # as many as there are places
        drawn = torch.searchsorted(ends, chance, right=True).clamp(max=N - 1).reshape(batch.shape)
        return contrast(u, lookup(context, batch), lookup(context, drawn), near, how["negatives"])

    return loss, context


def contrast(u: Tensor, v: Tensor, noise: Tensor, near: Tensor, negatives: float) -> Tensor:
    """−Σ log σ(uᵀv) over the pairs of each walk, and so many log σ(−uᵀn) for each.

    All places of a walk share the nodes that are drawn for it.

    Args:
        u, v: vectors of the walks' nodes, and as contexts, (S, B, T, d).
        noise: context vectors of the nodes that are drawn, (S, B, Q, d).
        near: how much a pair of places counts, (T, T).
        negatives: K.
    """
    weight = near.sum(1, keepdim=True) * negatives / noise.size(-2)
    return -(F.logsigmoid(u @ v.mT) * near).sum() - (F.logsigmoid(-(u @ noise.mT)) * weight).sum()


def lookup(table: Tensor, nodes: Tensor) -> Tensor:
    """Each trial's vectors of its nodes, (S, …, d), from tables (S, N, d) and nodes (S, …)."""
    S, N, _ = table.shape
    trial = torch.arange(S, device=nodes.device).reshape(S, *[1] * (nodes.dim() - 1)) * N
    return F.embedding(nodes + trial, table.flatten(0, 1))


def hierarchical(visits: Tensor, d: int, seed: Tensor, how: How) -> tuple[Loss, Tensor]:
    """Hierarchical softmax over a Huffman tree of each trial, and the vectors of the trees' inner nodes."""
    S, N = visits.shape
    inner = torch.zeros(S, N - 1, d, device=visits.device, requires_grad=True)
    trees = [huffman(count.clamp(min=1)) for count in visits.cpu()]
    depth = max(way.size(1) for way, _ in trees)
    way, turn = (
        torch.stack([F.pad(tree[part], (0, depth - tree[part].size(1))) for tree in trees]).to(visits.device)
        for part in (0, 1)
    )  # (S, N, D)
    trial = torch.arange(S, device=visits.device).reshape(S, 1, 1)
    near = nearness(how["length"], how["window"], visits.device).repeat_interleave(depth, 1)  # (T, T·D)

    def loss(u: Tensor, batch: Tensor, step: int) -> Tensor:
        theta = lookup(inner, way[trial, batch]).flatten(2, 3)  # (S, B, T·D, d)
        side = turn[trial, batch].flatten(2).unsqueeze(2)  # (S, B, 1, T·D)
        return -(F.logsigmoid(side * (u @ theta.mT)) * (near * side.abs())).sum()

    return loss, inner


LOSSES: dict[str, Callable[..., tuple[Loss, Tensor]]] = {"negative": negative, "hierarchical": hierarchical}
