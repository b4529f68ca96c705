"""M as a filter of frequencies: what it makes of the eigenvectors u of the normalised Laplacian.

A filter would multiply each u by a number. M does not: it has eigenvectors of its own, so beside the gain uᵀMu stands
the leakage ‖Mu − u(uᵀMu)‖, what comes out in other frequencies. Over several u, those of an eigenvalue that repeats or
of a band, the gain is the mean ḡ of uᵀMu and the leakage the root of the mean of ‖Mu − ḡu‖² = ‖Mu‖² − ḡ²; neither
depends on which basis of an eigenspace a solver found.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import checked_count, checked_seed, kind_of
from panconv.base.random import keys, uniform
from panconv.graph import Adjacency
from panconv.spectral.laplacian import Laplacian
from panconv.spectral.operator import Operator, as_operator

EXACT = 4000  # nodes up to which all eigenvectors are computed
_SAME = 1e-8  # frequencies that differ by less are one
_COLUMNS = 512  # eigenvectors that are multiplied at a time
_SEEN = 0.5  # states: a band that holds fewer, by the estimate, counts as empty


class Modes(NamedTuple):
    """The eigenvectors of I − D^−½AD^−½, by rising frequency."""

    frequency: Tensor  # (N,) float64, 0 … 2
    vectors: Tensor  # (N, N), in columns


class Response(NamedTuple):
    """Gain and leakage by frequency, all float64."""

    frequency: Tensor  # (K,), an eigenvalue, or the middle of a band
    states: Tensor  # (K,), how many eigenvectors there are, or an estimate
    gain: Tensor  # (K,), the mean of uᵀMu; nan in an empty band
    leakage: Tensor  # (K,)

    def in_bands(self, bands: int) -> Response:
        """The same over bands of equal width from 0 to 2."""
        bands = checked_count(bands, "bands")
        place = (self.frequency * bands / 2).long().clamp(0, bands - 1)
        known = self.states > 0
        sums = [
            torch.zeros(bands, dtype=torch.float64, device=place.device).index_add(0, place[known], each[known])
            for each in (self.states, self.states * self.gain, self.states * (self.leakage**2 + self.gain**2))
        ]
        return _response(*sums)


def modes(adj: Any) -> Modes:
    """All eigenvectors of the normalised Laplacian, by a dense solver.

    Args:
        adj: an undirected graph with weights of at least 0, of at most 4,000 nodes.
    """
    L = Laplacian(Adjacency.of(adj))
    if L.shape[0] > EXACT:
        raise ValueError(
            f"adj has {L.shape[0]:,} nodes, and all eigenvectors are found of at most {EXACT:,}: use band_response"
        )
    frequency, vectors = torch.linalg.eigh(L.to_dense(torch.float64))
    return Modes(frequency.clamp(0, 2), vectors)


def response(M: Operator | Tensor, basis: Modes) -> Response:
    """Gain and leakage of M at every frequency of a graph.

    Args:
        M: any operator on the graph's nodes, such as a `MET` of any method.
        basis: `modes` of the graph, found once for all operators.

    >>> ring = torch.stack([torch.arange(12), (torch.arange(12) + 1) % 12])
    >>> ring = torch.cat([ring, ring.flip(0)], 1)
    >>> found = response(MET(Walks(ring, 1), [0.5, 0.5], method=3), modes(ring))
    >>> torch.allclose(found.gain, 1 - found.frequency / 2), float(found.leakage.max()) < 1e-6
    (True, True)
    """
    if not isinstance(basis, Modes):
        raise TypeError(f"basis must be the modes of a graph, modes(adj), got {kind_of(basis)}")
    M = _checked(M, len(basis.frequency))
    frequency, U = basis
    with torch.no_grad():
        through = [M @ part for part in U.split(_COLUMNS, 1)]
        MU = torch.cat(through, 1) if through else U
        apart = frequency.diff(prepend=frequency[:1]) > _SAME
        group = apart.long().cumsum(0)
        count = int(group[-1]) + 1 if len(group) else 0
        gain = (U * MU).sum(0)
        sums = [U.new_zeros(count).index_add(0, group, each) for each in (torch.ones_like(gain), gain, (MU**2).sum(0))]
        middle = U.new_zeros(count).index_add(0, group, frequency) / sums[0]
        # ‖Mu − ḡu‖ is taken from what it says, not as a difference of squares, which loses half of the digits.
        rest = ((MU - U * (sums[1] / sums[0])[group]) ** 2).sum(0)
        leakage = (U.new_zeros(count).index_add(0, group, rest) / sums[0]).sqrt()
    return Response(middle, sums[0], sums[1] / sums[0], leakage)


def band_response(
    M: Operator | Tensor, adj: Any, bands: int = 25, steps: int = 300, starts: int = 8, seed: int = 0
) -> Response:
    """Gain and leakage over bands of frequency, estimated, for graphs that are too large to diagonalise.

    With P the projection onto a band, tr P, tr PM and tr PMᵀM are the numbers of states, the sum of the gains and of
    ‖Mu‖². Each is the mean of zᵀP(·)z over random signs z, with P a Chebyshev series of `steps` terms, damped by
    Jackson's kernel: its edges are blurred by about π/steps. `steps` products with the graph in all. The error of a
    gain falls as 1/√(states · starts).

    Args:
        M: any operator on the graph's nodes.
        adj: an undirected graph with weights of at least 0.
        bands: of equal width from 0 to 2. An odd number keeps the frequency 1, which often repeats, inside of one.
        steps: the degree of the series.
        starts: how many random vectors.
        seed: of the random vectors.
    """
    S = Laplacian(Adjacency.of(adj), complement=True)  # 1 − frequency, within [−1, 1]
    M, N = _checked(M, S.shape[0]), S.shape[0]
    bands, steps, starts = (checked_count(*each) for each in ((bands, "bands"), (steps, "steps"), (starts, "starts")))
    trial = torch.arange(starts, device=S.device)
    with torch.no_grad():
        z = uniform(keys(trial, checked_seed(seed)), (N,)).T.double().round() * 2 - 1  # (N, starts)
        Mz = M @ z
        sides, moments = (z, Mz, M.T @ Mz), []
        before, now = z, S @ z
        for _ in range(steps + 1):
            moments.append(torch.stack([(before * side).sum() / starts for side in sides]))
            before, now = now, 2 * (S @ now) - before
        return _response(*_over_bands(torch.stack(moments), bands).T)


def _over_bands(moments: Tensor, bands: int) -> Tensor:
    """∫ over each band of the measure with Chebyshev's moments (K + 1, 3), damped: (bands, 3)."""
    k = torch.arange(1, len(moments), dtype=torch.float64, device=moments.device)
    q = math.pi / (len(moments) + 1)
    damping = ((len(moments) - k + 1) * torch.cos(q * k) + torch.sin(q * k) / math.tan(q)) / (len(moments) + 1)
    edges = torch.acos(1 - torch.linspace(0, 2, bands + 1, dtype=torch.float64, device=k.device))
    below = 2 * torch.sin(edges[:, None] * k) / k * damping  # (bands + 1, K)
    return (edges[:, None] * moments[0] + below @ moments[1:]).diff(dim=0) / math.pi


def _response(states: Tensor, gain: Tensor, power: Tensor) -> Response:
    """The response in bands, from sums over their states."""
    width = 2 / len(states)
    middle = (torch.arange(len(states), dtype=torch.float64, device=states.device) + 0.5) * width
    seen = states > _SEEN
    states = states.where(seen, 0.0)
    mean = gain / states.where(seen, torch.nan)
    leakage = (power / states.where(seen, torch.nan) - mean**2).clamp(min=0).sqrt()
    return Response(middle, states, mean, leakage)


def _checked(M: Any, N: int) -> Operator:
    M = as_operator(M, torch.float64)
    if M.shape[0] != N:
        raise ValueError(f"M must be an operator on the graph's {N} nodes, got shape {tuple(M.shape)}")
    return M
