"""`SecondOrderWalk`: a walk that looks one step back, the one of node2vec.

On v, come from t, it goes on to x with a probability in proportion to α(t, x)·P(v, x), where α is 1/p back to t, 1 to
where t has an edge too, and 1/q elsewhere (Grover & Leskovec, node2vec, KDD 2016). P is any first-order walk.

With the edge it came by as its state, a walker needs no memory. So this is a first-order walk on N + E states, nodes
(where walks start) and edges, and the sampler of first-order walks serves. It holds Σ d² entries, as the tables of
node2vec do.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from panconv.base.checks import checked_positive, kind_of
from panconv.graph.csr import CSR, compress, narrow
from panconv.walkers.sampler import Sampler, checked_starts
from panconv.walkers.walk import RandomWalk, stochastic


class SecondOrderWalk:
    """A first-order walk, biased by where the walker came from.

    Args:
        walk: P; its generic kind gives node2vec's walk.
        p: large to avoid going straight back.
        q: large to stay around the node before, small to leave it behind.

    >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    >>> SecondOrderWalk(RandomWalk.generic(path), p=1e9).sample([0], steps=3)
    tensor([[0, 1, 2, 3]])
    """

    def __init__(self, walk: RandomWalk, p: float = 1.0, q: float = 1.0) -> None:
        if not isinstance(walk, RandomWalk):
            raise TypeError(f"walk must be a RandomWalk, such as RandomWalk.generic(adj), got {kind_of(walk)}")
        p, q = checked_positive(p, "p"), checked_positive(q, "q")
        N, stored = walk.num_nodes, walk.transition.operands(torch.float64)[0].value
        taken = stored > 0
        row, col, share = walk.transition.row[taken], walk.transition.col[taken].long(), stored[taken]
        E, first = row.numel(), compress(row, N)
        self._node = torch.cat([torch.arange(N, device=row.device), col])  # that of each state, (N + E,)
        fan = first.diff()[self._node]  # the edges that lead on from each state
        begin = torch.cat([fan.new_zeros(1), fan.cumsum(0)])
        state = torch.repeat_interleave(fan, output_size=int(begin[-1]))  # (Σ d² + E,)
        edge = first[self._node[state]] + torch.arange(state.numel(), device=row.device) - begin[state]
        came = torch.cat([self._node.new_full((N,), -1), row])[state]  # −1: it has just started
        alpha = torch.where(torch.isin(came * N + col[edge], row * N + col), 1.0, 1 / q)
        alpha = torch.where(came == col[edge], 1 / p, alpha).where(came >= 0, 1.0)
        bound = max(N + E, state.numel())
        pattern = CSR(narrow(begin, bound), narrow(N + edge, bound), share[edge])
        self.num_nodes = N
        self.transition = stochastic(pattern, pattern.value * alpha)
        self._sampler = Sampler(self.transition)

    def sample(self, starts: Tensor | Sequence[int], steps: int, seed: int = 0) -> Tensor:
        """Walks of so many steps, (B, steps + 1); see `RandomWalk.sample`, which it equals for p = q = 1."""
        starts = checked_starts(starts, self.num_nodes)  # larger numbers are states, but no nodes
        return self._node[self._sampler.sample(starts, steps, seed)]

    def __repr__(self) -> str:
        return f"SecondOrderWalk(num_nodes={self.num_nodes}, num_states={self._node.numel()})"
