"""The maximal entropy transition (MET) matrix as an operator.

    M = Z^a · Σₙ wₙ · D_n^b · G(n) · D_n^b' · Z^a'

Nothing of the size of Aⁿ is formed. Path counts may run to 10²³² and beyond (`scalings.py`); with S trials side by side
the weights, and so Z, have S columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from panconv.base.checks import checked_dtype, checked_operand, checked_paths
from panconv.base.tracing import may_look
from panconv.graph.degrees import UnscalableError
from panconv.met.methods import (
    METHODS,
    check_compatible,
    check_paths,
    check_similar,
    checked_memory,
    checked_method,
    natural_weights,
)
from panconv.met.partition import finite
from panconv.met.plan import Plan
from panconv.met.scalings import (
    Factors,
    by_length,
    by_length_roots,
    by_partition,
    by_partition_alike,
    by_partition_roots,
    centre,
    outnumbered,
    unscaled,
    unscaled_apart,
)
from panconv.met.thermodynamics import Thermodynamics
from panconv.paths.family import WIDEST, Counts, PathFamily, Weighing
from panconv.paths.walks import Walks
from panconv.weights import PathWeights, weights_from


class MET(Thermodynamics):
    """The MET operator of a family of paths (eqs. 6, 7 and the seven methods of the paper's appendix).

    Immutable. Gradients flow to what it is applied to, to the path weights (through Z too) and to edge weights that
    ask for them.

    Args:
        paths: which paths are counted, such as `Walks(adj, L)`; the method's base is put under them.
        weights: path weights, the name of a kind, or the fixed k(n) as numbers; None for the method's natural kind.
        method: 1 … 9, a row of `METHODS`.
        memory: ``"low"`` to compute again in the backward what would otherwise be held for it: L more products, and
            for methods 3 and 4 (1, 2 and 7 on a directed graph) L blocks of features less, for the others one. It
            changes nothing for method 6, formed paths, trained edge weights and `terms`.

    >>> walks = Walks(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), L=2)
    >>> M = MET(walks, [1.0, 1.0, 1.0], method=1)
    >>> M.to_dense()
    tensor([[0.5000, 0.2500, 0.2500],
            [0.2000, 0.6000, 0.2000],
            [0.2500, 0.2500, 0.5000]])
    >>> M.partition
    tensor([4., 5., 4.], dtype=torch.float64)
    """

    def __init__(self, paths: PathFamily, weights: object = None, method: int = 5, memory: str | None = None) -> None:
        method = checked_method(method)
        check_paths(method, checked_paths(paths))
        path_weights = weights_from(natural_weights(method, paths) if weights is None else weights, paths.L)
        if path_weights is not weights:  # made here: where the graph is
            path_weights.to(paths.adj.device)
        try:
            self._set(paths, path_weights, method, checked_memory(memory))
        except UnscalableError as error:
            raise refused(error, paths, path_weights, method) from None

    def _set(self, paths: PathFamily, weights: PathWeights, method: int, memory: str | None) -> None:
        check_compatible(method, weights)
        self.method, self.memory, self.rule, self.weights = method, memory, METHODS[method], weights
        self._given, self.paths, self._transposed = paths, paths.on(self.rule.base), False

    # ------------------------------------------------------------------ applying it

    @property
    def shape(self) -> tuple[int, int]:
        return self.paths.adj.num_nodes, self.paths.adj.num_nodes

    @property
    def device(self) -> torch.device:
        return self.paths.adj.device

    @property
    def dtype(self) -> torch.dtype:
        """Of the path weights: M takes features of any other."""
        return self.weights().dtype

    @property
    def components(self) -> Tensor:
        """The component of each node, (N,): M never leaves it."""
        return self.paths.adj.components

    @property
    def trials(self) -> int | None:
        """S, where the path weights are those of S trials side by side."""
        w = self.weights()
        return w.size(1) if w.dim() == 2 else None

    @property
    def T(self) -> MET:
        """The transposed operator."""
        other = object.__new__(MET)
        other.__dict__.update(self.__dict__, _transposed=not self._transposed)
        return other

    def __matmul__(self, x: Tensor) -> Tensor:
        """M·x for x (N,) or (N, …); with weights of S trials, for x (N, S, …)."""
        return self.apply(x)

    def apply(self, x: Tensor) -> Tensor:
        """M @ x under a name that torch.compile can trace."""
        plan = self._plan(self._checked_operand(x))
        inside = x.to(plan.left.dtype)
        y = plan.applied(inside) if not self._transposed else plan.adjoint(inside)
        return y.to(x.dtype)

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """The terms of M·x by length, for layers that do not just add them; of half precision they are float32."""
        dtype = self._checked_operand(x)
        if self._transposed:
            raise ValueError("terms are those of M: take them of M, not of M.T")
        plan = self._plan(dtype)
        return (term.to(dtype) for term in plan.terms(x.to(plan.left.dtype)))

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """M as a matrix (N, N), or (S, N, N) for S trials."""
        N = self.shape[0]
        eye = torch.eye(N, dtype=checked_dtype(dtype), device=self.device)
        trials = self.trials
        if trials is None:
            return self @ eye
        return (self @ eye.unsqueeze(1).expand(N, trials, N)).transpose(0, 1)

    def to_sparse(self, dtype: torch.dtype | None = None) -> Tensor:
        """M as a sparse COO matrix (N, N), whose size is that of A^L: asked for, never formed otherwise."""
        if self.trials is not None:
            raise ValueError("to_sparse takes the weights of one trial, (L+1,), not (L+1, S): use to_dense")
        dtype = checked_dtype(dtype)
        matrix = self._plan(torch.promote_types(dtype, torch.float32)).matrix().to(dtype)
        return matrix.t().coalesce() if self._transposed else matrix

    # ------------------------------------------------------------------ its symmetry

    @property
    def is_symmetric(self) -> bool:
        """Whether M = Mᵀ by construction: an undirected graph, and no scaling of rows alone."""
        return self.paths.adj.is_symmetric and "row" not in (self.rule.per_length, self.rule.overall)

    def similar(self) -> tuple[MET, Tensor]:
        """A symmetric S and log Z with M = Z^−½ S Z^½, of methods 1, 7, 8; a symmetric M is its own S, with log Z = 0.

        Of method 8, S is that of method 9 and Z the degrees. log Z (N,) is centred within each component, which leaves
        the product as it is; it is 0 where no path arrives.
        """
        if not self._given.adj.is_symmetric:
            raise ValueError(
                "M on this graph is similar to no symmetric matrix: take an undirected graph, whose edges weigh the "
                "same both ways and ask for no gradient"
            )
        check_similar(self.method)
        if self.rule.base == "D⁻¹A":
            inverse = self.paths.adj.left  # 1/d, 0 where no edge arrives
            assert inverse is not None
            log_d = -inverse.where(inverse > 0, 1.0).log()
            return MET(self._given, self.weights, 9, self.memory), -log_d if self._transposed else log_d
        other = object.__new__(MET)
        other.__dict__.update(self.__dict__, _transposed=False)
        if self.is_symmetric:
            return other, torch.zeros_like(self._ready()[0].counts().value[0])
        other.rule = self.rule._replace(overall="sym")
        log_Z = self.log_partition
        log_Z = finite(log_Z) - centre(log_Z, self._ready()[0].counts(), self.paths.adj)[0]
        return other, -log_Z if self._transposed else log_Z

    @property
    def path_weights(self) -> Tensor:
        """k(n; i), the share of length n in what node i receives (eq. 2), (L+1, N) or (L+1, N, S).

        Where the method does not divide by Z, it is the k(n) that the simplified layer (eq. 10) takes for all nodes.
        """
        if self.rule.overall is None:
            w = self.weights().unsqueeze(1)
            return w.expand(w.size(0), self.shape[0], *w.shape[2:])
        return self.shares().to(self.weights().dtype)

    def __repr__(self) -> str:
        rule = ", ".join(f"{k}={v}" for k, v in self.rule._asdict().items() if k != "weights")
        name = f"MET(method={self.method} ({rule}), L={self.paths.L}, weights={self.weights}, {self.paths.adj})"
        return name + ".T" * self._transposed

    # ------------------------------------------------------------------ how it is done

    def _plan(self, dtype: torch.dtype) -> Plan:
        try:
            return self._planned(dtype)
        except UnscalableError as error:
            raise refused(error, self._given, self.weights, self.method) from None

    def _planned(self, dtype: torch.dtype) -> Plan:
        """The operator as it is applied to features of a dtype, in a wider one where that one does not hold it."""
        terms, weights = self._ready()
        counts = terms.counts() if self._divides() or self._grows() else None
        if counts is not None and self._divides() and outnumbered(weights, counts, self.rule.per_length is not None):
            counts = counts.apart()
        factors = self._factors(weights, counts, dtype)
        if factors.wide or (counts is not None and not counts.fit(dtype)) or self._edges_need_more(factors):
            dtype = torch.float64
        alone, outer, right = (
            None if f is None else f.to(dtype) for f in (factors.alone, factors.outer, factors.right)
        )
        return Plan(
            terms.scaled() if counts is not None and counts.exponent is not None else terms,
            factors.left.to(dtype),
            alone,
            outer,
            right,
            right_varies=self.rule.per_length == "sym",
            low_memory=self.memory == "low",
        )

    def _factors(self, weights: Weighing, counts: Counts | None, dtype: torch.dtype) -> Factors:
        """What stands before and behind each G(n): a row of the table of methods."""
        rule, adj = self.rule, self.paths.adj
        if adj.is_symmetric and not adj.is_signed and (weights.positive or rule.per_length):
            dtype = torch.float64  # to judge the roots by: no entry of what they scale is beyond 1
        if not self._divides() and counts is not None and counts.exponent is not None:
            return unscaled_apart(weights, counts, adj)
        if not self._divides() or counts is None:
            return unscaled(weights)
        if rule.per_length:
            if rule.per_length == "row":
                return by_length(weights, counts)
            return by_length_roots(weights, counts, adj, dtype)
        if weights.positive and counts.exponent is None and self._reaches_alike():
            return by_partition_alike(weights, counts, {"row": 1.0, "sym": 0.5}[rule.overall or "row"])
        if rule.overall == "row":
            return by_partition(weights, counts, adj)
        return by_partition_roots(weights, counts, adj, dtype)

    def _divides(self) -> bool:
        """Whether something is divided by: D_n or Z."""
        return self.rule.per_length is not None or self.rule.overall is not None

    def _grows(self) -> bool:
        """Whether Gⁿ may leave float32, as that of a normalised base does where weights are negative or one-way."""
        return self.paths.L * math.log(max(self.paths.adj.growth, 1.0)) > math.log(WIDEST[torch.float32])

    def _edges_need_more(self, factors: Factors) -> bool:
        """Whether a path weighs so little that its share in the edges' gradient may be lost in float32.

        That gradient is divided by edge weights, which may be small too.
        """
        return self.paths.adj.is_tracked and may_look() and factors.least() < 1 / WIDEST[torch.float32]

    def _reaches_alike(self) -> bool:
        """Whether each node is reached by walks of every length, or by the one of length 0 alone.

        On other graphs a path weight may be negligible at one node and all there is at another, so each node takes its
        own.
        """
        adj = self.paths.adj
        return adj.is_symmetric and not adj.is_signed and isinstance(self.paths, Walks)

    def _checked_operand(self, x: Tensor) -> torch.dtype:
        """The dtype to compute in: x's own, float32 for half precision."""
        checked_operand(x, self.shape[0], self.device)
        trials = self.trials
        if trials is not None and (x.dim() < 2 or x.size(1) != trials):
            raise ValueError(f"x must be (N, {trials}, …) for weights of {trials} trials, got shape {tuple(x.shape)}")
        return x.dtype if x.dtype == torch.float64 else torch.float32


def refused(error: UnscalableError, paths: PathFamily, weights: PathWeights, method: int) -> ValueError:
    """What to say where a method refuses a graph: why, and which methods take it, tried one by one."""
    taking = []
    for other in METHODS:
        try:
            check_paths(other, paths)
            M = MET.__new__(MET)
            M._set(paths, weights, other, None)
            M._planned(torch.float32)
        except ValueError:
            continue
        taking.append(str(other))
    remedy = "use positive edge weights and path weights; no method takes it as it is"
    if taking:
        remedy = f"use positive weights, or a method that takes it as it is ({', '.join(taking)})"
    return ValueError(f"method {method} does not take this graph: {error}; {remedy}")
