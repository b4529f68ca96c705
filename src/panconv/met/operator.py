"""The maximal entropy transition (MET) matrix as an operator.

    φᵢ = 1/Zᵢ Σⱼ φⱼ Σ_{paths l from j to i} exp(−E[l]/T)                                            (eq. 1)
       = Σₙ k(n; i) Σⱼ g(i, j; n)/Σₛ g(i, s; n) φⱼ = 1/Zᵢ Σₙ exp(−E(n)/T) Σⱼ g(i, j; n) φⱼ            (eq. 3)

is M·φ with wₙ = exp(−E(n)/T) and G(n)ᵢⱼ = g(i, j; n), the number of paths of length n. All methods are of the form

    M = Z^a · Σₙ wₙ · D_n^b · G(n) · D_n^b' · Z^a'

Nothing of the size of Aⁿ is formed. Path counts may exceed 10²³² (`scalings.py`). Weights of S trials have S columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import checked_dtype, checked_operand
from panconv.graph.degrees import UnscalableError
from panconv.met import thermodynamics
from panconv.met.dispatch import make_plan, refusal
from panconv.met.methods import (
    METHODS,
    Method,
    check_compatible,
    check_paths,
    check_similar,
    checked_memory,
    checked_method,
    natural_weights,
)
from panconv.met.partition import empty_as_zero
from panconv.met.plan import Plan
from panconv.met.scalings import centre
from panconv.paths.family import PathFamily, align, checked_paths
from panconv.weights import PathWeights, weights_from


class _Parts(NamedTuple):
    """What an operator is made of."""

    given: PathFamily
    paths: PathFamily  # on the rule's base
    weights: PathWeights
    method: int
    rule: Method
    memory: str | None
    transposed: bool = False
    roots: Tensor | None = None  # (N,) float64: diag(roots) · M · diag(roots)⁻¹ in place of M

    @staticmethod
    def of(paths: PathFamily, weights: PathWeights, method: int, memory: str | None) -> _Parts:
        rule = METHODS[method]
        try:
            return _Parts(paths, paths.on(rule.base), weights, method, rule, memory)
        except UnscalableError as error:
            raise refusal(error, paths, weights, method) from None


class MET:
    """The MET operator of a family of paths (eqs. 6, 7 and the seven methods of the paper's appendix).

    Immutable. Gradients flow to what it is applied to, to the path weights (through Z too) and to edge weights that
    ask for them.

    Args:
        paths: which paths are counted, such as `Walks(adj, L)`; the method's base is put under them.
        weights: path weights, the name of a kind, or the fixed k(n) as numbers; None for the method's natural kind.
        method: 1 … 11, a row of `METHODS`.
        memory: ``"low"`` to compute again in the backward what would otherwise be held for it: L more products, and
            for methods 3 and 4 (1, 2, 7, 10 and 11 on a directed graph) L blocks of features less, for the others one.
            It changes nothing for method 6, formed paths, trained edge weights and `terms`.

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
        check_compatible(method, path_weights)
        self._parts = _Parts.of(paths, path_weights, method, checked_memory(memory))

    @staticmethod
    def of_checked(paths: PathFamily, weights: PathWeights, method: int, memory: str | None) -> MET:
        """An operator of what a layer checked when it was made."""
        return _of(_Parts.of(paths, weights, method, memory))

    @property
    def paths(self) -> PathFamily:
        """The family of paths, on the method's base."""
        return self._parts.paths

    @property
    def weights(self) -> PathWeights:
        return self._parts.weights

    @property
    def method(self) -> int:
        return self._parts.method

    @property
    def rule(self) -> Method:
        """The method's row of the table."""
        return self._parts.rule

    @property
    def memory(self) -> str | None:
        return self._parts.memory

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
        return _of(self._parts._replace(transposed=not self._parts.transposed))

    def with_weights(self, weights: PathWeights) -> MET:
        """The operator with other path weights, which must go with its method and its paths."""
        return _of(self._parts._replace(weights=weights))

    def __matmul__(self, x: Tensor) -> Tensor:
        """M·x for x (N,) or (N, …); with weights of S trials, for x (N, S, …)."""
        return self.apply(x)

    def apply(self, x: Tensor) -> Tensor:
        """M @ x under a name that torch.compile can trace."""
        dtype = self._checked_operand(x)
        if x.is_meta:  # a shape is all there is, and what it hangs on
            return x * self.weights().sum().to(x.dtype)
        plan = self._plan(dtype)
        product = plan.adjoint if self._parts.transposed else plan.apply
        return product(x.to(plan.dtype)).to(x.dtype)

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """The terms of M·x by length, for layers that do not just add them; of half precision they are float32.
        Those of M.T are transposed: of a unit vector they are a row of each length."""
        dtype = self._checked_operand(x)
        if x.is_meta:
            return (x * w.sum().to(dtype) for w in self.weights())
        plan = self._plan(dtype)
        terms = plan.adjoint_terms if self._parts.transposed else plan.terms
        return (term.to(dtype) for term in terms(x.to(plan.dtype)))

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
        return matrix.t().coalesce() if self._parts.transposed else matrix

    @property
    def is_symmetric(self) -> bool:
        """Whether M = Mᵀ by construction: an undirected graph, and no scaling of rows alone."""
        if self._parts.roots is not None:
            return True
        return self.paths.adj.is_symmetric and "row" not in (self.rule.per_length, self.rule.overall)

    def similar(self) -> tuple[MET, Tensor]:
        """A symmetric S and log Z with M = Z^−½ S Z^½, of methods 1, 7, 8, 10, 11; a symmetric M is its own S.

        Of method 8, S is that of method 9 and Z the degrees, and of method 11 Z has the degrees as a factor; of a
        symmetric M, log Z = 0. log Z (N,) is centred within each component, which leaves the product as it is; it is 0
        where no path arrives.
        """
        if not self._parts.given.adj.is_symmetric:
            raise ValueError(
                "M on this graph is similar to no symmetric matrix: take an undirected graph, whose edges weigh the "
                "same both ways and ask for no gradient"
            )
        check_similar(self.method)
        parts, counts = self._parts._replace(transposed=False), self.paths.summands(self.weights)[0].counts()
        log_Z, inverse = torch.zeros_like(counts.value[0]), self.paths.adj.left
        if self.rule.overall == "row":
            log_Z = self.log_partition
            log_Z = empty_as_zero(log_Z) - centre(log_Z, counts, self.paths.adj)[0]
            parts = parts._replace(rule=self.rule._replace(overall="sym"))
        if self.rule.base == "D⁻¹A" and inverse is not None and not self.is_symmetric:
            log_d = -inverse.where(inverse > 0, 1.0).log()  # 1/d is 0 where no edge arrives
            log_Z = log_Z + align(log_d, log_Z)
            if self.rule.overall:
                parts = parts._replace(roots=(0.5 * log_d).exp())
            else:  # G(n) on D⁻¹A is D^−½ G(n) D^½ of that on D^−½AD^−½, whatever the paths
                parts = parts._replace(method=9, rule=METHODS[9], paths=parts.given.on(METHODS[9].base))
        return _of(parts), -log_Z if self._parts.transposed else log_Z

    def __repr__(self) -> str:
        rule = ", ".join(f"{k}={v}" for k, v in self.rule._asdict().items() if k != "weights")
        parts = f"method={self.method} ({rule}), L={self.paths.L}, weights={self.weights}, {self.paths.adj}"
        return f"MET({parts})" + ".T" * self._parts.transposed

    # ------------------------------------------------------------------ its thermodynamics, each (N,) or (N, S)

    @property
    def log_partition(self) -> Tensor:
        """log Z: finite wherever Z > 0, however long the paths."""
        return thermodynamics.partition_of(self.paths, self.weights).log()

    @property
    def partition(self) -> Tensor:
        """Zᵢ = Σₙ wₙ D_n(i) (eq. 4)."""
        return thermodynamics.partition_function(self.paths, self.weights).to(self.dtype)

    def shares(self) -> Tensor:
        """p(n; i) = wₙ D_n(i) / Zᵢ (eq. 2), the probability that a path to i has length n, (L+1, N[, S]), float64."""
        return thermodynamics.shares(self.paths, self.weights)

    @property
    def mean_path_length(self) -> Tensor:
        """⟨n⟩ᵢ = Σₙ n p(n; i): how far node i looks. On a graph with effective lengths, the mean of those."""
        return self.paths.mean_length(self.weights, self.shares()).to(self.dtype)

    @property
    def path_entropy(self) -> Tensor:
        """Sᵢ = −Σ p log p over the single paths to i: it listens to as many as exp S."""
        return thermodynamics.path_entropy(self.paths, self.weights).to(self.dtype)

    @property
    def free_energy(self) -> Tensor:
        """Fᵢ = −T log Zᵢ = ⟨E⟩ᵢ − T·Sᵢ; T is 1 for weights that have no temperature."""
        return thermodynamics.free_energy(self.paths, self.weights).to(self.dtype)

    @property
    def path_weights(self) -> Tensor:
        """k(n; i), the share of length n in what node i receives (eq. 2), or k(n) for all nodes (eq. 10) where the
        method does not divide by Z, (L+1, N) or (L+1, N, S)."""
        if self.rule.overall is None:
            w = self.weights().unsqueeze(1)
            return w.expand(w.size(0), self.shape[0], *w.shape[2:])
        return self.shares().to(self.dtype)

    # ------------------------------------------------------------------ how it is done

    def _plan(self, dtype: torch.dtype) -> Plan:
        try:
            plan = make_plan(self.paths, self.weights, self.rule, dtype, self.memory == "low")
            return plan if self._parts.roots is None else plan.between(self._parts.roots)
        except UnscalableError as error:
            raise refusal(error, self._parts.given, self.weights, self.method) from None

    def _checked_operand(self, x: Tensor) -> torch.dtype:
        """The dtype to compute in: x's own, float32 for half precision."""
        checked_operand(x, self.shape[0], self.device)
        if (trials := self.trials) is not None and (x.dim() < 2 or x.size(1) != trials):
            raise ValueError(f"x must be (N, {trials}, …) for weights of {trials} trials, got shape {tuple(x.shape)}")
        return x.dtype if x.dtype == torch.float64 else torch.float32


def _of(parts: _Parts) -> MET:
    """An operator of parts that were checked when another was made of them."""
    M = object.__new__(MET)
    M._parts = parts
    return M
