"""The maximal entropy transition (MET) matrix as an operator.

    M = Z^a · Σₙ wₙ · D_n^b · G(n) · D_n^b' · Z^a'

Nothing of the size of Aⁿ is formed. All scalings are held as logarithms, so that path counts may run to 10²³² and
beyond; with S trials side by side the weights, and so Z, have S columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from panconv.cuda_graph import may_look
from panconv.methods import (
    METHODS,
    check_compatible,
    check_paths,
    check_similar,
    checked_memory,
    checked_method,
    natural_weights,
)
from panconv.paths.family import Counts, PathFamily, Weighing
from panconv.paths.walks import Walks
from panconv.plan import Plan
from panconv.thermodynamics import Thermodynamics, divided, finite, log_partition, match
from panconv.validation import checked_dtype, checked_operand, checked_paths
from panconv.weights import weights_from


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
    tensor([4., 5., 4.])
    """

    def __init__(self, paths: PathFamily, weights: object = None, method: int = 5, memory: str | None = None) -> None:
        self.method = checked_method(method)
        self.memory = checked_memory(memory)
        self.rule = METHODS[self.method]
        check_paths(self.method, checked_paths(paths))
        self._given, self.paths = paths, paths.on(self.rule.base)
        self.weights = weights_from(natural_weights(self.method, paths) if weights is None else weights, paths.L)
        if self.weights is not weights:  # made here: where the graph is
            self.weights.to(paths.adj.device)
        check_compatible(self.method, self.weights)
        self._transposed = False

    # ------------------------------------------------------------------ applying it

    @property
    def shape(self) -> tuple[int, int]:
        return self.paths.adj.num_nodes, self.paths.adj.num_nodes

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
        dtype = self._checked_operand(x)
        plan = self._plan(dtype)
        y = plan.applied(x.to(dtype)) if not self._transposed else plan.adjoint(x.to(dtype))
        return y.to(x.dtype)

    def terms(self, x: Tensor) -> Iterator[Tensor]:
        """The terms of M·x by length, for layers that do not just add them; of half precision they are float32."""
        dtype = self._checked_operand(x)
        if self._transposed:
            raise ValueError("terms are those of M: take them of M, not of M.T")
        return self._plan(dtype).terms(x.to(dtype))

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """M as a matrix (N, N), or (S, N, N) for S trials."""
        N = self.shape[0]
        eye = torch.eye(N, dtype=checked_dtype(dtype), device=self.paths.adj.device)
        trials = self._trials()
        if trials is None:
            return self @ eye
        return (self @ eye.unsqueeze(1).expand(N, trials, N)).transpose(0, 1)

    def to_sparse(self, dtype: torch.dtype | None = None) -> Tensor:
        """M as a sparse COO matrix (N, N), whose size is that of A^L: asked for, never formed otherwise."""
        if self._trials() is not None:
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
            return other, torch.zeros_like(self._ready()[0].counts().log[0])
        other.rule = self.rule._replace(overall="sym")
        log_Z = finite(self.log_partition)
        log_Z = log_Z - self._centre(log_Z, torch.float64)
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

    def _trials(self) -> int | None:
        w = self.weights()
        return w.size(1) if w.dim() == 2 else None

    def _plan(self, dtype: torch.dtype) -> Plan:
        """The operator as Σₙ leftₙ · terms · right, in the dtype it is to be applied in."""
        rule, fit = self.rule, True
        terms, weights = self._ready()
        left: Tensor = weights().unsqueeze(1)  # (L+1, 1[, S])
        own: Tensor | None = None
        outer: Tensor | None = None
        right: Tensor | None = None
        if rule.per_length or rule.overall:
            counts = terms.counts()
            self._check_lengths(counts)
            fit = counts.fit
            exact = dtype if fit else torch.float64  # logarithms in the hundreds need more digits than float32 has
            counts = counts._replace(log=counts.log.to(exact))
            log_D = match(counts.log, left.dim())
            # The twin's terms carry a D_n⁻¹ of their own, which goes back on here.
            on_length = {None: 0.0, "row": -1.0, "sym": -0.5}[rule.per_length] + (not fit)
            share = {None: 0.0, "row": 1.0, "sym": 0.5}[rule.overall]
            if rule.overall and fit and self._reaches_alike():
                left, own, outer = _over_partition(weights, counts, share)
                right = outer if rule.overall == "sym" else None
            elif rule.overall:
                log_Z = log_partition(weights, counts)
                left_log = divided(_powered(log_D, on_length) + weights.log().to(exact).unsqueeze(1), log_Z, share)
                if rule.overall == "sym":
                    right, left_log = _halved(log_Z, left_log, None if fit else self._centre(log_Z, dtype))
                left = left_log.exp() if weights.positive else left_log.exp() * left.detach().sign()
            else:
                left_log = _powered(log_D, on_length)
                if rule.per_length == "sym":
                    centre = None if fit else torch.stack([self._centre(log, dtype) for log in log_D])
                    right, left_log = _halved(log_D, left_log, centre)
                left = left * left_log.exp()
        return Plan(
            terms if fit else terms.scaled(),
            left.to(dtype),
            None if own is None else own.to(dtype),
            None if outer is None else outer.to(dtype),
            None if right is None else right.to(dtype),
            right_varies=rule.per_length == "sym",
            low_memory=self.memory == "low",
        )

    def _reaches_alike(self) -> bool:
        """Whether each node is reached by walks of every length, or by the one of length 0 alone.

        Then Z is never much smaller than the largest wₙ, but at nodes that nothing reaches, and M is
        Z^−1 · Σ wₙ Aⁿ with a number for each length. On other graphs a path weight may be negligible at one node and
        all there is at another, so each node takes its own.
        """
        adj = self.paths.adj
        return adj.is_symmetric and not adj.is_signed and isinstance(self.paths, Walks)

    def _centre(self, log: Tensor, dtype: torch.dtype) -> Tensor:
        """The middle of a node quantity's range within each connected component, (N, …).

        Paths join nodes of one component only, so what is taken from one side of the product may go on the other.
        """
        log = finite(log)
        component = self.paths.adj.components
        index = component.reshape(-1, *[1] * (log.dim() - 1)).expand_as(log)
        ends = [
            torch.zeros_like(log).scatter_reduce(0, index, log.detach(), how, include_self=False)[component]
            for how in ("amax", "amin")
        ]
        # On a directed graph one component can span more than the dtype holds, and so can M itself.
        if may_look() and log.numel():
            half = float((ends[0] - ends[1]).max()) / 2
            if half > 0.9 * math.log(torch.finfo(dtype).max):
                raise ValueError(
                    f"L = {self.paths.L} is too long for method {self.method} on this graph in {dtype}: the roots that "
                    f"it scales by span a factor of 10^{half / math.log(10):.0f} either way; use a smaller L, "
                    "float64, or a method that scales rows alone (1, 3, 4, 7)"
                )
        return (ends[0] + ends[1]) / 2

    def _check_lengths(self, counts: Counts) -> None:
        """D_n is divided by, or its root taken: it must not be negative."""
        if self.rule.per_length is None or counts.sign is None or not may_look():
            return
        if bool((counts.sign < 0).any()):
            n, node = (int(i) for i in (counts.sign < 0).nonzero()[0])
            raise ValueError(
                f"the paths of length {n} to node {node} have a negative sum, which method {self.method} divides by: "
                "negative edge weights need a method without D_n (1, 2, 5, 7 … 9), or positive weights"
            )

    def _checked_operand(self, x: Tensor) -> torch.dtype:
        """The dtype to compute in: x's own, float32 for half precision."""
        checked_operand(x, self.shape[0], self.paths.adj.device)
        trials = self._trials()
        if trials is not None and (x.dim() < 2 or x.size(1) != trials):
            raise ValueError(f"x must be (N, {trials}, …) for weights of {trials} trials, got shape {tuple(x.shape)}")
        return x.dtype if x.dtype == torch.float64 else torch.float32


def _powered(log_D: Tensor, power: float) -> Tensor:
    """log D_n^power; −∞ where no path of that length arrives: its term is 0, whatever multiplies it."""
    dead = log_D == -torch.inf
    return (power * log_D.masked_fill(dead, 0)).masked_fill(dead, -torch.inf)


def _over_partition(weights: Weighing, counts: Counts, share: float) -> tuple[Tensor, Tensor, Tensor]:
    """wₙ over the largest of them, (L+1, 1[, S]), k(0; i) of eq. 2, (N[, S]), and Z^−share of the quotients."""
    log_w = weights.log().to(counts.log.dtype)
    largest = finite(log_w.detach().amax(0))  # a common factor cancels in wₙ/Z
    w, log_Z = (log_w - largest).exp(), log_partition(weights, counts)
    own = divided(log_w[0], log_Z, 1.0).exp()
    outer = divided(share * largest, log_Z, share).exp().clamp(max=1e30)  # beyond, there is nothing to multiply
    if not weights.positive:
        sign = weights().detach().sign()
        w, own = w * sign, own * sign[0]
    return w.unsqueeze(1), own, outer


def _halved(log: Tensor, left_log: Tensor, centre: Tensor | None) -> tuple[Tensor, Tensor]:
    """The right factor exp(−½ log), 0 where log is −∞, and the left exponent, with the centre moved to the left."""
    dead, log = log == -torch.inf, finite(log)
    if centre is not None:
        log, left_log = log - centre, left_log - 0.5 * centre
    return (-0.5 * log).exp().masked_fill(dead, 0), left_log
