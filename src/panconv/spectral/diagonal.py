"""The diagonal of an operator: exact, column by column, or estimated by random signs with the error that this has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import checked_count, checked_seed, checked_word
from panconv.base.random import keys, uniform
from panconv.graph.groups import Grouped, checked_groups
from panconv.met import MET
from panconv.met.columns import columns
from panconv.met.entries import closed
from panconv.spectral.operator import Operator, as_operator

HOW = ("auto", "exact", "hutchinson")
LARGEST = 2048  # nodes of a component up to which "auto" is exact
_AT_ONCE = 2**21  # values of a product with random signs


class Diagonal(NamedTuple):
    """Mᵢᵢ with the standard error that it is known to, 0 where it is exact."""

    value: Tensor  # (N,) or, for S trials, (N, S), float64
    error: Tensor  # the same


def diagonal(
    M: Operator | Tensor,
    how: str = "auto",
    *,
    probes: int = 64,
    seed: int = 0,
    groups: Tensor | None = None,
) -> Diagonal:
    r"""Mᵢᵢ, what of a node's own features comes back to it: with walks on A the subgraph centrality, by closed walks.

    ``"exact"`` multiplies M with unit vectors. Nodes of different components do not mix, so that theirs go side by
    side: as many columns as the largest component has nodes serve a whole batch of graphs. Of many columns some are
    taken at a time. ``"hutchinson"`` takes P vectors z of random signs,

    .. math:: M_{ii} \approx \frac{1}{P} \sum_{p=1}^{P} z_i^{(p)} \big(M z^{(p)}\big)_i, \qquad
        \mathrm{variance} \; \frac{1}{P} \sum_{j \neq i} M_{ij}^2

    and states the standard error of this mean, as the P values have it. ``"auto"`` is exact in the components of at
    most 2,048 nodes, and estimates in the others: a graph has the same result alone and in a batch.

    Gradients flow to whatever M depends on. The exact one of a `MET` is found without a trace, from G(n)ᵢᵢ, which no
    path weight changes; that of walks is kept with the graph. Only edge weights that are trained have every column held
    for the backward.

    There is no estimate by Lanczos: eᵢᵀMeᵢ is one product as it is, and where a symmetric M was split, into what some
    steps know of it, QTQᵀ, and a rest that is left to the signs, the error on Cora was larger than that of as many
    products with signs alone, for each of methods 2, 5, 6, 9 and L = 1, 2, 5, 20.

    Args:
        M: any `Operator`, or a matrix.
        how: one of ``"auto"``, ``"exact"``, ``"hutchinson"``.
        probes: P, at least 2.
        seed: of the signs, which depend on it and on a node's place in its component alone.
        groups: a number per node, (N,), such as PyG's ``batch``, where it is known that M mixes no two of them: it
            saves finding the components where they are small, and changes nothing else.

    >>> M = MET(Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=2), [1.0, 1.0, 1.0], method=1)
    >>> diagonal(M).value
    tensor([0.5000, 0.6000, 0.5000], dtype=torch.float64)
    >>> estimate = diagonal(M, "hutchinson", probes=1000)
    >>> bool(((estimate.value - diagonal(M).value).abs() < 4 * estimate.error).all())
    True
    """
    how = checked_word(how, HOW, "how")
    M = as_operator(M, torch.float64)
    probes, seed = checked_count(probes, "probes", 2), checked_seed(seed)
    N, known = M.shape[0], groups is not None
    group = Grouped.of(checked_groups(groups, N, M.device, "groups") if known else M.components)
    if known and N and (how == "hutchinson" or int(group.size.max()) > LARGEST):
        group = Grouped.of(M.components)  # by which results go
    if how == "exact":
        return _exact(M, group, None)
    large = group.size[group.group] > (LARGEST if how == "auto" else 0)
    if not bool(large.any()):
        return _exact(M, group, None)
    estimate = _hutchinson(M, group, probes, seed)
    if bool(large.all()):
        return estimate
    small = (~large).nonzero().squeeze(1)
    exact = _exact(M, group, small)
    return Diagonal(*(e.index_copy(0, small, part) for e, part in zip(estimate, exact, strict=True)))


def _exact(M: Operator, group: Grouped, nodes: Tensor | None) -> Diagonal:
    """That of some nodes, or of all."""
    if isinstance(M, MET):
        value = closed(M, group.group, nodes)
    else:
        nodes = torch.arange(M.shape[0], device=M.device) if nodes is None else nodes
        value = torch.zeros(nodes.numel(), dtype=torch.float64, device=M.device)
        for block in columns(nodes, group.group):
            value = value.index_copy(0, block.which, (M @ block.unit)[nodes[block.which], block.at])
    return Diagonal(value, torch.zeros_like(value))


def _hutchinson(M: Operator, group: Grouped, probes: int, seed: int) -> Diagonal:
    """The mean of z ⊙ Mz over random signs z, and its standard error.

    Sums are of what differs from the first: where nothing does, as at a node without edges, the error is exactly 0.
    """
    first = total = square = torch.zeros((), dtype=torch.float64, device=M.device)
    for signs in _signs(M, group, probes, seed):
        sample = signs * (M @ signs)  # (N[, S], P)
        first = sample[..., :1].detach() if not first.dim() else first
        away = sample - first
        total, square = total + away.sum(-1), square + away.detach().square().sum(-1)
    spread = (square - total.detach().square() / probes).clamp(min=0) / (probes - 1)
    return Diagonal(first.squeeze(-1) + total / probes, (spread / probes).sqrt())


def _signs(M: Operator, group: Grouped, probes: int, seed: int) -> Iterator[Tensor]:
    """Random signs, (N[, S], P) float64, some P at a time."""
    trials = getattr(M, "trials", None)
    most = int(group.size.max())
    for probe in torch.arange(probes, device=M.device).split(max(1, _AT_ONCE // (M.shape[0] * (trials or 1)))):
        signs = uniform(keys(probe, seed), (most,)).T.double().round() * 2 - 1  # (largest group, P)
        by_node = signs[group.place]
        yield by_node if trials is None else by_node.unsqueeze(1).expand(-1, trials, -1)
