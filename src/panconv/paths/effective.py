"""Walks on a weighted graph by their effective length, the sum of 1/w along the walk (the paper's Section 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.base.checks import checked_length, checked_positive
from panconv.graph import Adjacency
from panconv.paths.family import CountedTerms, PathFamily, Weighing
from panconv.paths.levels import Levels, edge_lengths
from panconv.paths.walks import Walks
from panconv.weights import Exponential, PathWeights, PowerLaw

_LEAST = torch.finfo(torch.float64).tiny  # below it float64 loses digits


class EffectiveWalks(PathFamily):
    """All walks of up to L steps, each weighted by exp(−l^α/T) of its effective length l = Σ 1/w along its edges.

    The law is given by `PowerLaw` weights. For α = 1 the factor of a walk is the product of its edges' exp(−1/(wT)), so
    these are walks on another graph: exact, matrix-free, with gradients to T and to the edge weights. For α > 1, or
    where α is trained, the factor is no product, and walks are counted by length: exactly where the distinct lengths
    are few, else on a grid of lengths, each edge's rounded to a multiple of `width` (`error_bound` says what that
    costs). Then the gradient reaches the law alone, and weights that ask for one are refused. Methods 1 and 2.

    Args:
        adj: the graph, with weights > 0; an unweighted one has w = 1 everywhere, and its lengths are the steps.
        L: the largest number of steps.
        width: of the grid of lengths where they are counted; None for the exact lengths.

    >>> edges, w = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([1.0, 1.0, 0.5, 0.5])
    >>> walks = EffectiveWalks(Adjacency.of(edges, w), L=2)
    >>> MET(walks, PowerLaw(2, alpha=2.0, trained=False), method=1).mean_path_length  # 1/w is 1 and 2
    tensor([0.2921, 0.3141, 0.0363], dtype=torch.float64)
    """

    methods, natural_weights, counts_steps = (1, 2), "power-law", False

    def __init__(self, adj: Adjacency, L: int, width: float | None = None) -> None:
        self.adj = Adjacency.of(adj)
        self.L = checked_length(L)
        self.width = None if width is None else checked_positive(width, "width")
        if not self.adj.is_positive:
            assert self.adj.value is not None
            worst = float(self.adj.value.detach().min())
            raise ValueError(
                f"edge_weight must be positive where it stands for a length 1/w, got {worst:g}: an edge of weight 0 is "
                "infinitely long and is to be left out, and a negative length has no meaning"
            )

    def on(self, base: str) -> EffectiveWalks:
        if base != "A":
            raise ValueError(f"an effective length is that of the graph's own edges: base must be A, got {base!r}")
        return self

    def summands(self, weights: PathWeights) -> tuple[CountedTerms, Weighing]:
        """For a fixed α = 1 walks on exp(−1/(wT)), all weighted alike; else the levels of length under the law."""
        law = _law(weights)
        if not law.is_additive:
            if self.adj.is_tracked:
                raise ValueError(
                    "edge weights that ask for a gradient have none where alpha > 1 or is trained, which sorts "
                    "walks by length: use alpha = 1, fixed, or detach the weights"
                )
            levels = self.levels()
            return levels, _AtLengths(law, levels.lengths)
        # The edges carry the weight of a walk: to the law it is as one of no length.
        return self._walks(law), _AtLengths(law, torch.zeros(self.L + 1, device=self.adj.device))

    def levels(self) -> Levels:
        """The walks by their effective length, built once per graph and width."""
        return self.adj.cached(("levels", self.L, self.width), lambda: Levels(self.adj, self.L, self.width))

    def mean_length(self, weights: PathWeights, share: Tensor) -> Tensor:
        """⟨l⟩ᵢ, the mean effective length of the walks to i, (N,) float64."""
        law = _law(weights)
        if law.is_additive:
            return self._walks(law).mean_along(share, edge_lengths(self.adj))
        return torch.tensordot(self.levels().lengths, share, dims=1)

    def mean_energy(self, weights: PathWeights, share: Tensor) -> Tensor:
        """⟨l^α⟩ᵢ/T, (N,) float64."""
        law = _law(weights)
        if law.is_additive:
            return self.mean_length(weights, share) / law.temperature.double()
        return -(law.log_at(self.levels().lengths).unsqueeze(1) * share).sum(0)

    def mean_log_product(self, share: Tensor) -> float:
        """0: the edge weights are lengths, and their products no weights of paths."""
        return 0.0

    @torch.no_grad()
    def error_bound(self, weights: PathWeights) -> Tensor:
        """δ, such that on the grid each walk's factor is right within e^±δ, and so each entry of M within e^±2δ.

        An edge is off by at most width/2, a walk by ε = L·width/2, and E(l) by at most (l + ε)^α − l^α, which is
        largest for the longest walk; where training took α below 1, for the shortest: ε^α.
        """
        law = _law(weights)
        if self.width is None or law.is_additive:
            return torch.zeros(())
        slack = self.L * self.width / 2
        longest = self.levels().lengths.max() + slack  # by its true length
        worst = longest if law.alpha >= 1 else longest.clamp(max=slack)
        apart = (worst**law.alpha - (worst - slack).clamp(min=0) ** law.alpha) / law.temperature
        return apart.nan_to_num(nan=torch.inf, posinf=torch.inf)  # a grid whose lengths float64 does not hold

    def _walks(self, law: PowerLaw) -> Walks:
        """The walks on the graph of exp(−1/(wT)), which weigh exp(−l/T)."""
        adj = self.adj
        value = law.log_at(edge_lengths(adj)).exp()
        value = value.where(value > _LEAST, 0)  # beside the path of length 0, which weighs 1, it is nothing
        return Walks(Adjacency(adj.pattern, value, mirrored=adj.is_symmetric), self.L)

    @staticmethod
    def check_weights(weights: PathWeights) -> None:
        _law(weights)


class _AtLengths(Exponential):
    """A power law read at the levels of effective length in place of the whole numbers."""

    def __init__(self, law: PowerLaw, lengths: Tensor) -> None:
        self._law, self._lengths = law, lengths

    def log(self) -> Tensor:
        return self._law.log_at(self._lengths)

    def log_over(self, reference: Tensor) -> Tensor:
        return self._law.log_over_at(self._lengths, reference)


def _law(weights: PathWeights) -> PowerLaw:
    """The law itself, if there is one for every length."""
    if not isinstance(weights, PowerLaw):
        raise ValueError(
            f"effective lengths need a law for every length, PowerLaw (weights='power-law'), got "
            f"{type(weights).__name__} weights, which know whole numbers of steps alone"
        )
    if weights.log_temperature.dim():
        raise ValueError(
            "effective lengths take one temperature at a time, not one per trial: train them one after another"
        )
    return weights
