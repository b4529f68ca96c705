"""Walks on a weighted graph by their effective length, the sum of 1/w along the walk (the paper's Section 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from panconv.graph import Adjacency
from panconv.paths.family import CountedTerms
from panconv.paths.levels import Levels
from panconv.paths.walks import Walks
from panconv.spmm import spmm
from panconv.validation import checked_length
from panconv.weights import Fixed, PathWeights, PowerLaw


class EffectiveWalks:
    """All walks of up to L steps, each weighted by exp(−l^α/T) of its effective length l = Σ 1/w along its edges.

    The law is given by `PowerLaw` weights. For α = 1 the factor of a walk is the product of its edges' exp(−1/(wT)), so
    these are walks on another graph: exact, matrix-free, with gradients to T and to the edge weights. For α > 1 the
    factor is no product, and walks are counted by length: exactly where the distinct lengths are few, else on a grid of
    lengths, each edge's rounded to a multiple of `width` (`error_bound` says what that costs). Then the gradient
    reaches T alone. Methods 1 and 2.

    Args:
        adj: the graph, with weights > 0; an unweighted one has w = 1 everywhere, and its lengths are the steps.
        L: the largest number of steps.
        width: of the grid of lengths for α > 1; None for the exact lengths.

    >>> edges, w = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([1.0, 1.0, 0.5, 0.5])
    >>> walks = EffectiveWalks(Adjacency.of(edges, w), L=2)
    >>> MET(walks, PowerLaw(2, alpha=2.0, trained=False), method=1).mean_path_length  # 1/w is 1 and 2
    tensor([0.2921, 0.3141, 0.0363])
    """

    weights = "power-law"
    methods = (1, 2)

    def __init__(self, adj: Adjacency, L: int, width: float | None = None) -> None:
        self.adj = Adjacency.of(adj)
        self.L = checked_length(L)
        if width is not None and not 0 < width < float("inf"):
            raise ValueError(f"width must be positive and finite, a step on the grid of lengths, got {width}")
        self.width = width
        self._check_weights()

    def on(self, base: str) -> EffectiveWalks:
        if base != "A":
            raise ValueError(f"an effective length is that of the graph's own edges: base must be A, got {base!r}")
        return self

    def ready(self, weights: PathWeights) -> tuple[CountedTerms, PathWeights]:
        """For α = 1 walks on exp(−1/(wT)), all weighted alike; for α > 1 the levels of length under the law."""
        law = self._law(weights)
        if law.alpha != 1:
            levels = self.levels()
            return levels, _AtLengths(law, levels.lengths)
        ones = torch.ones(self.L + 1, dtype=law.log_temperature.dtype, device=self.adj.device)
        return Walks(self._factors(law), self.L), Fixed(ones)

    def levels(self) -> Levels:
        """The walks by their effective length, built once per graph and width."""
        return self.adj.cached(("levels", self.L, self.width), lambda: Levels(self.adj, self.L, self.width))

    def mean_length(self, weights: PathWeights) -> Tensor:
        """⟨l⟩ᵢ, the mean effective length of the walks to i, (N,)."""
        law = self._law(weights)
        if law.alpha != 1:
            levels, at = self.ready(weights)
            log = at.log().double().unsqueeze(1) + levels.counts().log
            mean = torch.tensordot(self.levels().lengths, log.softmax(0), dims=1)
        else:
            mean = self._mean_length_of_walks(law)
        return mean.to(law.log_temperature.dtype)

    def mean_energy(self, weights: PathWeights) -> Tensor:
        """⟨l^α⟩ᵢ/T, (N,) float64."""
        law = self._law(weights)
        if law.alpha == 1:
            return self._mean_length_of_walks(law) / law.temperature.double()
        levels, at = self.ready(weights)
        log = at.log().double().unsqueeze(1)
        return -(log * (log + levels.counts().log).softmax(0)).sum(0)

    def error_bound(self, weights: PathWeights) -> Tensor:
        """δ, such that on the grid each walk's factor is right within e^±δ, and so each entry of M within e^±2δ.

        An edge is off by at most width/2, a walk by ε = L·width/2, and E(l) by at most (l + ε)^α − l^α, which is
        largest for the longest walk.
        """
        law = self._law(weights)
        if self.width is None or law.alpha == 1:
            return torch.zeros(())
        slack = self.L * self.width / 2
        longest = self.levels().lengths.max() + slack  # by its true length
        return (longest**law.alpha - (longest - slack).clamp(min=0) ** law.alpha) / law.temperature.detach()

    def _factors(self, law: PowerLaw) -> Adjacency:
        """The graph of exp(−1/(wT)), whose walks are weighted by exp(−l/T)."""
        return self.adj.with_values((-self._lengths(law.temperature.dtype) / law.temperature).exp())

    def _lengths(self, dtype: torch.dtype) -> Tensor:
        return edge_lengths(self.adj).to(torch.promote_types(dtype, torch.float32))

    def _mean_length_of_walks(self, law: PowerLaw) -> Tensor:
        """Σ over walks of l·exp(−l/T) by Z, from one recurrence for the sums of exp(−l/T) and of l·exp(−l/T)."""
        graph = self._factors(law)
        longer = graph.with_values(graph.operands(torch.float64)[0].value * edge_lengths(self.adj).double())
        factors, stretched = graph.operands(torch.float64), longer.operands(torch.float64)
        D = torch.ones(self.adj.num_nodes, dtype=torch.float64, device=self.adj.device)
        l_D = torch.zeros_like(D)
        Z, l_Z = D, l_D
        for _ in range(self.L):
            D, l_D = spmm(*factors, D), spmm(*factors, l_D) + spmm(*stretched, D)
            Z, l_Z = Z + D, l_Z + l_D
        return l_Z / Z

    def _law(self, weights: PathWeights) -> PowerLaw:
        if not isinstance(weights, PowerLaw):
            raise ValueError(
                f"effective lengths need a law for every length, PowerLaw (weights='power-law'), got "
                f"{type(weights).__name__} weights, which know whole numbers of steps alone"
            )
        if weights.log_temperature.dim():
            raise ValueError(
                "effective lengths take one temperature at a time, not one a trial: train the trials one after another"
            )
        return weights

    def _check_weights(self) -> None:
        value = self.adj.value
        if value is not None and bool((value.detach() <= 0).any()):
            worst = float(value.detach().min())
            raise ValueError(
                f"edge_weight must be positive where it stands for a length 1/w, got {worst:g}: an edge of weight 0 is "
                "infinitely long and is to be left out, and a negative length has no meaning"
            )


class _AtLengths(PathWeights):
    """A power law read at the levels of effective length in place of the whole numbers."""

    positive = True

    def __init__(self, law: PowerLaw, lengths: Tensor) -> None:
        super().__init__()
        self.law, self.lengths = law, lengths

    def forward(self) -> Tensor:
        return self.log().exp()

    def log(self) -> Tensor:
        return self.law.log_at(self.lengths)


def edge_lengths(adj: Adjacency) -> Tensor:
    """1/w of every stored edge, (nnz,)."""
    if adj.value is None:
        return torch.ones(adj.num_edges, device=adj.device)
    return 1 / adj.value
