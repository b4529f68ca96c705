"""The thermodynamics of a graph: partition function, and what follows from it at every node.

A path of length n to node i is in the state of energy E(n) = −T·log wₙ, of which there are D_n(i), so that it is taken
with probability wₙ/Zᵢ. All of it is computed from logarithms: counts may run to 10²³². Each is (N,), or (N, S) for the
weights of S trials.
"""

from __future__ import annotations

from torch import Tensor

from panconv.met.partition import Partition, match, partition
from panconv.paths.family import PathFamily
from panconv.weights import PathWeights


def partition_of(paths: PathFamily, weights: PathWeights) -> Partition:
    """Z, by mantissa and exponent."""
    terms, weighing = paths.summands(weights)
    return partition(weighing, terms.counts(), terms.adj)


def partition_function(paths: PathFamily, weights: PathWeights) -> Tensor:
    """Zᵢ = Σₙ wₙ D_n(i) (eq. 4)."""
    terms, weighing = paths.summands(weights)
    counts, w = terms.counts(), weighing.exact().unsqueeze(1)
    if counts.exponent is not None:
        return partition(weighing, counts, terms.adj).log().exp()
    D = counts.value if counts.ratio is None else counts.value * counts.ratio
    return (w * match(D, w.dim())).sum(0)


def shares(paths: PathFamily, weights: PathWeights) -> Tensor:
    """p(n; i) = wₙ D_n(i) / Zᵢ (eq. 2), (L+1, N[, S]), float64."""
    terms, weighing = paths.summands(weights)
    counts, Z = terms.counts(), partition(weighing, terms.counts(), terms.adj)
    share = Z.over * Z.inverse(1)
    share = share * match(counts.value, share.dim())
    return share if counts.ratio is None else share * match(counts.ratio, share.dim())


def path_entropy(paths: PathFamily, weights: PathWeights) -> Tensor:
    """Sᵢ = −Σ p log p over the single paths to i.

    A path whose base's entries multiply to v has p = wₙ v/Zᵢ, so S = log Zᵢ + ⟨E⟩ᵢ/T − ⟨log v⟩ᵢ.
    """
    _check_probabilities(paths, weights)
    share = shares(paths, weights)
    entropy = partition_of(paths, weights).log().double() + paths.mean_energy(weights, share)
    if paths.adj.value is None and paths.adj.left is None:  # every path weighs 1
        return entropy
    return entropy - paths.mean_log_product(share)


def free_energy(paths: PathFamily, weights: PathWeights) -> Tensor:
    """Fᵢ = −T log Zᵢ."""
    _check_probabilities(paths, weights)
    return -weights.T() * partition_of(paths, weights).log()


def _check_probabilities(paths: PathFamily, weights: PathWeights) -> None:
    if not weights.positive or paths.adj.is_signed:
        raise ValueError("entropy and free energy need path weights and edge weights that are not negative")
