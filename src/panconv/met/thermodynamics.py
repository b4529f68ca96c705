"""The thermodynamics of a graph: partition function, and what follows from it at every node.

A path of length n to node i is in the state of energy E(n) = −T·log wₙ, of which there are D_n(i), so that it is taken
with probability wₙ/Zᵢ. All of it is computed from logarithms: counts may run to 10²³².
"""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.met.partition import Partition, match, partition
from panconv.paths.family import CountedTerms, PathFamily, Weighing
from panconv.paths.walks import Walks
from panconv.weights import PathWeights


class Thermodynamics:
    """The node quantities of `MET`: each (N,), or (N, S) for the weights of S trials."""

    paths: PathFamily
    weights: PathWeights

    @property
    def log_partition(self) -> Tensor:
        """log Z: finite wherever Z > 0, however long the paths."""
        return self._partition().log()

    @property
    def partition(self) -> Tensor:
        """Zᵢ = Σₙ wₙ D_n(i) (eq. 4)."""
        terms, weights = self._ready()
        counts, w = terms.counts(), weights.exact().unsqueeze(1)
        if counts.exponent is not None:
            return self.log_partition.exp().to(self.weights().dtype)
        D = counts.value if counts.ratio is None else counts.value * counts.ratio
        return (w * match(D, w.dim())).sum(0).to(self.weights().dtype)

    def shares(self) -> Tensor:
        """p(n; i) = wₙ D_n(i) / Zᵢ (eq. 2), the probability that a path to i has length n, (L+1, N[, S]), float64."""
        terms, weights = self._ready()
        counts, Z = terms.counts(), partition(weights, terms.counts(), terms.adj)
        share = Z.over * Z.inverse(1)
        share = share * match(counts.value, share.dim())
        return share if counts.ratio is None else share * match(counts.ratio, share.dim())

    @property
    def mean_path_length(self) -> Tensor:
        """⟨n⟩ᵢ = Σₙ n p(n; i): how far node i looks. On a graph with effective lengths, the mean of those."""
        mean = getattr(self.paths, "mean_length", None)
        if mean is not None:
            return mean(self.weights)
        p = self.shares()
        n = torch.arange(p.size(0), dtype=p.dtype, device=p.device)
        return torch.tensordot(n, p, dims=1).to(self.weights().dtype)

    @property
    def path_entropy(self) -> Tensor:
        """Sᵢ = −Σ p log p over the single paths to i: it listens to as many as exp S.

        A path whose base's entries multiply to v has p = wₙ v/Zᵢ, so S = log Zᵢ + ⟨E⟩ᵢ/T − ⟨log v⟩ᵢ.
        """
        self._check_probabilities()
        return (self.log_partition.double() + self._energy() - self._log_weight()).to(self.weights().dtype)

    @property
    def free_energy(self) -> Tensor:
        """Fᵢ = −T log Zᵢ = ⟨E⟩ᵢ − T·Sᵢ; T is 1 for weights that have no temperature."""
        self._check_probabilities()
        return (-self.weights.T() * self.log_partition).to(self.weights().dtype)

    def _energy(self) -> Tensor:
        """⟨E⟩ᵢ/T, float64."""
        law = getattr(self.paths, "mean_energy", None)
        if law is not None:
            return law(self.weights)
        p = self.shares()
        energy = -self.weights.log().double().unsqueeze(1)
        # A length with w = 0 is never taken: 0 · ∞ is 0 here.
        return (p * energy.masked_fill(energy == torch.inf, 0)).sum(0)

    def _log_weight(self) -> Tensor | float:
        """⟨log v⟩ᵢ, float64: 0 where every path weighs 1, or where the weights are lengths."""
        adj = self.paths.adj
        if (adj.value is None and adj.left is None) or hasattr(self.paths, "mean_energy"):
            return 0.0
        if not isinstance(self.paths, Walks):
            raise ValueError(
                "the entropy of shortest or self-avoiding paths is that of paths that weigh alike: use an unweighted "
                "graph and a method on A (1, 2, 3 or 6), or walks"
            )
        value = adj.operands(torch.float64)[0].value
        return self.paths.mean_along(self.shares(), value.where(value > 0, 1.0).log())

    def _partition(self) -> Partition:
        terms, weights = self._ready()
        return partition(weights, terms.counts(), terms.adj)

    def _ready(self) -> tuple[CountedTerms, Weighing]:
        return self.paths.ready(self.weights)

    def _check_probabilities(self) -> None:
        if not self.weights.positive or self.paths.adj.is_signed:
            raise ValueError("entropy and free energy need path weights and edge weights that are not negative")
