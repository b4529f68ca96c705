"""One trial of a deep model around a node, taken apart at the gates that it has there.

Forwards, the gates are found; backwards, what each node adds. Let v_p be the gradient of the score with respect to what
a layer says at each node, over paths that take p steps in the layers behind it. Then the layer before has

    v'_q = Σ_{n + p = q} Mₙᵀ (s ⊙ gate ⊙ v_p) Wₙᵀ,

and b and t go to the bias. All in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from panconv.estimator.explaining.linear import features_of, rows_of
from panconv.estimator.explaining.unrolled import Act, Layer, Unrolled
from panconv.estimator.nodes import Matrix
from panconv.met import MET
from panconv.met.by_length import transposed_sum
from panconv.met.plan import sum_of

_VALUES = 2**20  # that go through a product at a time: few enough for the caches


class Shares(NamedTuple):
    """A score as the bias and the sum of any one of `lengths`, `ends` and `features`."""

    bias: float
    lengths: Tensor  # by steps
    ends: Tensor  # (N,)
    features: Tensor  # (F,)


class Gated:
    """A trial at its gates.

    Args:
        net: the trial, on a graph.
        x: (N, F), the features as the model takes them.
        row: the node whose scores are asked for.
    """

    def __init__(self, net: Unrolled, x: Matrix, row: int) -> None:
        self.net, self.row, self._x = net, row, x
        bottom, start = net.layers[0], net.start
        self.heard: Tensor | None = None  # what of H₀ is made of a node's own features, (N, H)
        first: Tensor | None = None
        if start is not None:
            W, b, act = start
            made = times(x, W)
            self.opening = slopes(act, made + b)
            self.heard, first = self.opening * made, self.opening * (made + b)
        # What the first layer hears of each node: by every length its own, or by all the same.
        self.sent = self._into(bottom.maps, self.heard)  # (N, 1 or L+1, H)
        h, self.gates = first, []  # (N, H) of each layer
        told: list[Tensor] = []
        for i, layer in enumerate(net.layers):
            z = _convolved(layer, self.sent if h is None else self._into(layer.maps, h)) + layer.shift
            if layer.beside is not None:
                z = z + (times(x, layer.beside) if h is None else h @ layer.beside)
            if layer.first is not None:
                assert first is not None
                z = z + first @ layer.first
            self.gates.append(slopes(layer.act, z))
            h = self.gates[i] * z * layer.scale + layer.offset
            told.append(h[row])
        self.picks = _largest(told) if net.largest else [None] * len(told)
        adds = ((h if pick is None else h * pick, A) for h, pick, A in zip(told, self.picks, net.readout, strict=True))
        self.scores = net.shift + sum((h @ A for h, A in adds if A is not None), start=torch.zeros_like(net.shift))

    def parts(self, c: int) -> Shares:
        """Of the score of class c."""
        net, N = self.net, len(self.sent)
        steps = sum(len(layer.M.weights()) - 1 for layer in net.layers)
        bias, lengths = net.shift[c].clone(), torch.zeros(1 + steps, dtype=torch.float64)
        u = None if self.heard is None else torch.zeros_like(self.heard)  # the gradient with respect to H₀
        v = torch.zeros(N, 1, net.layers[-1].maps.size(-1), dtype=torch.float64)
        for i in reversed(range(len(net.layers))):
            layer, by_itself = net.layers[i], i == len(net.layers) - 1
            if (added := self.reads(i, c)) is not None:
                v[self.row, 0] += added
            bias += v.sum((0, 1)) @ layer.offset
            v = v * (self.gates[i] * layer.scale).unsqueeze(1)
            bias += v.sum((0, 1)) @ layer.shift
            if layer.first is not None and u is not None and self.heard is not None:
                u += v.sum(1) @ layer.first.T
                if i > 0:  # of the first layer it is among what is its own
                    lengths[: v.size(1)] += torch.einsum("jph,jh->p", v, self.heard @ layer.first)
            if i > 0:
                v = _back(layer, v, self.row if by_itself else None)
        self._add_lengths(lengths, v)
        readers = self._readers(v.sum(1), self.row if len(net.layers) == 1 else None)
        if u is not None and net.start is not None:
            for W, heard in readers:
                u += heard @ W.T
            u = self.opening * u
            bias += u.sum(0) @ net.start[1]
            readers = [(net.start[0], u)]
        ends, features = self._of_features(readers)
        return Shares(float(bias), lengths, ends, features)

    def reads(self, i: int, c: int) -> Tensor | None:
        """What the score of class c takes of what layer i says of the node, (H,)."""
        A, pick = self.net.readout[i], self.picks[i]
        return None if A is None else A[:, c] if pick is None else A[:, c] * pick

    def asked(self, i: int, c: int) -> np.ndarray:
        """What the score of class c takes of the z of layer i at the node, (H,)."""
        read = self.reads(i, c)
        assert read is not None
        return (read * self.net.layers[i].scale * self.gates[i][self.row]).numpy()

    def own(self) -> Tensor | None:
        """What the first layer takes of each node beside M, (N, H)."""
        bottom, found = self.net.layers[0], None
        if bottom.beside is not None:
            found = times(self._x, bottom.beside)
        if bottom.first is not None and self.heard is not None:
            found = self.heard @ bottom.first
        return found

    def kept(self, i: int, c: int) -> float:
        """What a later layer takes of H₀ at the node."""
        first = self.net.layers[i].first
        if first is None or self.heard is None:
            return 0.0
        return float((self.heard[self.row] @ first).numpy() @ self.asked(i, c))

    def _into(self, maps: Tensor, h: Tensor | None) -> Tensor:
        """h·Wₙ side by side, (N, 1 or L+1, H); of the features for None."""
        flat = maps.transpose(0, 1).flatten(1)
        return (times(self._x, flat) if h is None else h @ flat).unflatten(1, (len(maps), -1))

    def _add_lengths(self, lengths: Tensor, v: Tensor) -> None:
        """What the first layer adds by its own steps behind those before."""
        bottom, P = self.net.layers[0], v.size(1)
        terms = [term[:, min(n, term.size(1) - 1)] for n, term in enumerate(bottom.M.terms(self.sent))]
        for n, added in enumerate(torch.einsum("jph,jnh->np", v, torch.stack(terms, 1))):
            lengths[n : n + P] += added
        if (own := self.own()) is not None:
            lengths[:P] += torch.einsum("jph,jh->p", v, own)

    def _readers(self, v: Tensor, row: int | None) -> list[tuple[Tensor, Tensor]]:
        """Pairs of a matrix W (F, H) that the first layer's input h meets and of u (N, H): a node adds its (h·W) ⊙ u,
        summed over H and all pairs."""
        M, maps, beside = self.net.layers[0][:3]
        terms = M.T.terms(v) if row is None else (each.unsqueeze(1) * v[row] for each in _rows(M, row))
        found = [(maps[0], sum_of(terms))] if len(maps) == 1 else list(zip(maps, terms, strict=True))
        return found if beside is None else [*found, (beside, v)]

    def _of_features(self, readers: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
        W, u = (torch.cat(each, 1) for each in zip(*readers, strict=True))
        ends = torch.zeros(len(u), dtype=torch.float64)
        met = torch.zeros_like(W)
        for at, part in features_of(self._x, np.arange(len(u))):
            ends[at] = (torch.from_numpy(np.asarray(part @ W.numpy())) * u[at]).sum(1)
            met += torch.from_numpy(np.asarray(part.T @ u[at].numpy()))
        return ends, (met * W).sum(1)


def times(x: Matrix, W: Tensor) -> Tensor:
    """x·W in float64."""
    parts = [np.asarray(part @ W.numpy()) for _, part in features_of(x, np.arange(x.shape[0]))]
    return torch.from_numpy(np.concatenate(parts))


def slopes(act: Act, z: Tensor) -> Tensor:
    """What an activation multiplies each value by."""
    if act is None:
        return torch.ones_like(z)
    with torch.enable_grad():
        z = z.detach().requires_grad_()
        return torch.autograd.grad(act(z.clone()).sum(), z)[0]  # a copy, which it may change in place


def _convolved(layer: Layer, hW: Tensor) -> Tensor:
    """Σₙ Mₙ·h·Wₙ."""
    if hW.size(1) == 1:
        return layer.M.apply(hW[:, 0])
    return sum_of(term[:, n] for n, term in enumerate(layer.M.terms(hW)))


def _back(layer: Layer, v: Tensor, row: int | None) -> Tensor:
    """Through the convolution from v (N, P, H) to (N, P + L, F); with `row`, v is that of one node alone."""
    N, P, _ = v.shape
    L, maps = len(layer.M.weights()) - 1, layer.maps
    found = v.new_zeros(N, P + L, maps.size(1))
    if row is not None:
        for n, heard in enumerate(_rows(layer.M, row)):
            found[:, n : n + P] += heard[:, None, None] * (v[row] @ maps[min(n, len(maps) - 1)].T)
    else:
        step = max(1, _VALUES // (N * (P + L)))
        for at in range(0, maps.size(1), step):
            # Behind n steps of this layer, the p before them stand at p + n.
            terms = [v @ W[at : at + step].T for W in maps]
            shifted = [pad(terms[min(n, len(maps) - 1)], (0, 0, n, L - n)) for n in range(L + 1)]
            found[..., at : at + step] = transposed_sum(layer.M, shifted)
    if layer.beside is not None:
        found[:, :P] += v @ layer.beside.T
    return found


def _rows(M: MET, row: int) -> Tensor:
    return torch.from_numpy(rows_of(M, row))


def _largest(told: list[Tensor]) -> list[Tensor | None]:
    """For each layer 1 where its value is the largest of all, and 0 elsewhere."""
    values = torch.stack(told)
    return list(torch.zeros_like(values).scatter_(0, values.argmax(0, keepdim=True), 1.0))
