"""`PANPool`: of each graph the nodes are kept that most paths run through, as a pooling layer of PyTorch Geometric."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from panconv.base.checks import as_number, check_device, check_values, checked_count, checked_word, kind_of, shown
from panconv.base.tracing import check_not_jit, outside_a_trace
from panconv.graph import Adjacency
from panconv.graph.groups import check_apart, checked_groups
from panconv.graph.repeated import checked_reading
from panconv.met import MET
from panconv.met.entries import graph_of
from panconv.met.methods import check_one_trial
from panconv.met.reach import WHOLE, Reach
from panconv.nn.between import act_from
from panconv.nn.handed import Handed, Left
from panconv.nn.linear import check_alike
from panconv.nn.on_paths import OnPaths
from panconv.nn.refusals import refuse_words
from panconv.nn.top_nodes import top_nodes
from panconv.paths import PathFamily
from panconv.spectral.diagonal import HOW, diagonal

CENTRALITIES = ("rows", "columns", "diagonal", "none")
EDGES = ("induced", "paths")
_TWICE = "met is given, but the pool has an M of its own: make it with PANPool(…, L=None), or call it without met"
_NOWHERE = (
    "met must be given, since the pool was made with L=None: take it from a layer, as in h, M = conv(x, edge_index, "
    "return_met=True), or make the pool with an L"
)


class _Found(NamedTuple):
    """What the nodes are chosen by."""

    graph: Handed
    M: MET | None
    batch: Tensor  # (N,)
    group: Tensor | None  # the batch, where it was given
    total: Tensor  # (N,): what is under the nonlinearity
    score: Tensor  # (N,)


class PANPool(OnPaths):
    r"""The pooling of "Path Integral Based Convolution and Pooling for Graph Neural Networks" (2020): each graph keeps
    its nodes of the highest score, in which their features count and how central they are among all paths

    .. math:: \mathbf{s} = \tanh\big(\beta_1 \mathbf{X} \mathbf{p} + \beta_2 \mathbf{c}\big), \qquad
        \mathbf{X}' = (\mathbf{s} \odot \mathbf{X})_{\mathrm{top}\, \lceil r N \rceil}

    p and β are trained, and c is what the MET matrix M says of a node: its row sum (what arrives there), its column
    sum (what it sends), or its diagonal entry (what comes back, the subgraph centrality). M itself is never formed.

    It stands where PyG's `TopKPooling` or `SAGPooling` would, and returns what they return. Of nodes with equal scores
    those of smaller numbers are kept.

    Args:
        channels: features of a node.
        ratio: the share of its nodes that a graph keeps, rounded up.
        centrality: c, ``"rows"``, ``"columns"`` or ``"diagonal"``; ``"none"`` to choose by the features alone. Rows of
            methods 1, 7, 10 and 11 sum to 1, and of 3, 4 and 8 to one number wherever paths of every length arrive:
            these sums tell little.
        number: how many nodes a graph keeps, in place of a share; one that has fewer keeps all.
        edges: what is left between the nodes: ``"induced"``, the graph's own edges, or ``"paths"``, an edge from j to i
            that weighs Mᵢⱼ wherever paths lead from j to i, through nodes that have gone as well, if memory holds all.
        L, method, weights, paths, memory, loops, repeats: M, as `PANConv` takes it; left out, Z^−½ Σₙ exp(−E(n)) Aⁿ
            Z^−½, as in the paper. L = None where M comes with each call, as ``met``.
        nonlinearity: in place of tanh: an activation by its name, a function, or None for none.
        multiplier: a number that the kept features are multiplied by.
        diagonal: how the diagonal is found: ``"auto"``, ``"exact"`` or ``"hutchinson"``, as by
            `panconv.spectral.diagonal`.

    Shapes:
        x (N, F), edge_index (2, E), edge_weight (E,), batch (N,) → x (K, F), edge_index (2, E'), edge_weight (E',) or
        None, batch (K,), perm (K,), which are the nodes that were kept, and score (K,). Where the graph is an
        `Adjacency`, or anything else than an edge_index, so is the second, with its weights, and the third is None.
        An edge between two graphs of a batch is refused, as PyG's pools do not: to look takes 1 to 4 % of a call.

    >>> pool = PANPool(16, ratio=0.5)
    >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    >>> x, edge_index, edge_weight, batch, perm, score = pool(torch.zeros(4, 16), path)
    >>> perm, edge_index
    (tensor([1, 2]), tensor([[0, 1],
            [1, 0]]))

    On the M of a layer that has just run:

    >>> conv, pool = PANConv(16, 16), PANPool(16, L=None, edges="paths")
    >>> h, M = conv(torch.randn(4, 16), path, return_met=True)
    >>> x, edge_index, edge_weight, *_ = pool(h, path, met=M)
    """

    def __init__(
        self,
        channels: int,
        ratio: float = 0.5,
        *,
        centrality: str = "rows",
        number: int | None = None,
        edges: str = "induced",
        L: int | None = 2,
        method: int = 2,
        weights: object = None,
        paths: str | dict[str, Any] | Callable[[Adjacency, int], PathFamily] = "walks",
        nonlinearity: str | Callable[[Tensor], Tensor] | None = "tanh",
        multiplier: float = 1.0,
        diagonal: str = "auto",
        memory: str | None = None,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        super().__init__()
        self.channels, self.ratio = checked_count(channels, "channels"), _checked_ratio(ratio)
        self.number = None if number is None else checked_count(number, "number")
        self.centrality, self.edges = (
            checked_word(centrality, CENTRALITIES, "centrality"),
            checked_word(edges, EDGES, "edges"),
        )
        self.multiplier, self.diagonal = _finite(multiplier), checked_word(diagonal, HOW, "diagonal")
        self.L, self.reading = L, checked_reading(loops, repeats)  # type: ignore[assignment]
        if L is not None:
            self.specify(L, method, weights, paths, memory, loops=loops, repeats=repeats)
            check_one_trial(self.weights)
        self.has_met = L is not None and self.needs_met
        if not self.has_met:
            self.weights = None  # type: ignore[assignment]  # there is nothing that they would weigh
        self.act = act_from(nonlinearity, name="nonlinearity")
        self.p, self.beta = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.full((2,), 0.5))

    @property
    def needs_met(self) -> bool:
        """Whether anything is asked of M."""
        return self.centrality != "none" or self.edges == "paths"

    def reset_parameters(self) -> None:
        """Back to the start, p = 1 and β = (½, ½)."""
        nn.init.ones_(self.p)
        nn.init.constant_(self.beta, 0.5)
        for each in (self.weights, self.act):
            getattr(each, "reset_parameters", lambda: None)()

    def reach(self, stored: bool = False) -> Reach:
        """Which nodes are kept hangs on all of the graph."""
        return WHOLE

    def forward(  # type: ignore[override]  # it has a batch
        self,
        x: Tensor,
        edge_index: Any = None,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        *,
        met: MET | None = None,
        **others: Any,
    ) -> Any:
        """What is left, as PyG's pools return it: x, edge_index, edge_weight, batch, perm and score.

        Args:
            met: M, for a pool with L = None. Where there is no edge_index, the graph is its own, an `Adjacency`.
        """
        _refuse(self, others)
        if torch.compiler.is_compiling() and not torch.compiler.is_dynamo_compiling():
            raise ValueError(
                "PANPool keeps nodes by their scores, which torch.export cannot follow: export what is around"
            )
        return outside_a_trace(self._pooled, x, edge_index, edge_weight, batch, met)

    def _pooled(self, x: Any, edge_index: Any, edge_weight: Any, batch: Any, met: Any) -> Any:
        found = self._look(x, edge_index, edge_weight, batch, met)
        perm = top_nodes(found.score, found.total, found.batch, self.ratio, self.number)
        score = found.score[perm].to(x.dtype)
        kept = x[perm] * score.unsqueeze(1)
        kept = kept if self.multiplier == 1 else self.multiplier * kept
        edges, weight = self._left(found, perm, x.dtype)
        return kept, edges, weight, found.batch[perm], perm, score

    def scores(
        self,
        x: Tensor,
        edge_index: Any = None,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        *,
        met: MET | None = None,
    ) -> Tensor:
        """The scores of all nodes, (N,), float32 or wider."""
        return self._look(x, edge_index, edge_weight, batch, met).score

    def _look(self, x: Any, edge_index: Any, edge_weight: Tensor | None, batch: Any, met: Any) -> _Found:
        self._check(x)
        graph, M = self._graph(x, edge_index, edge_weight, met)
        number = checked_groups(batch, len(x), x.device)
        group = None if batch is None else number
        if group is not None:
            check_apart(graph.edges, group)
            if met is not None and graph_of(met) is not graph.edges:
                check_apart(graph_of(met), group)
        dtype = torch.promote_types(x.dtype, torch.float32)
        total = self.beta[0] * (x * self.p).sum(-1, dtype=dtype)
        if M is not None and self.centrality != "none":
            # Taken in float64 and rounded: nodes that are alike tie, in whatever order their edges come.
            total = (total + self.beta[1] * self._central(M, group)).to(dtype)
        score = total if self.act is None else self.act(total)
        if score.shape != total.shape:
            raise ValueError(f"nonlinearity must give a number per node, ({len(x)},), got shape {tuple(score.shape)}")
        return _Found(graph, M, number, group, total, score)

    def _graph(self, x: Tensor, edge_index: Any, edge_weight: Any, met: Any) -> tuple[Handed, MET | None]:
        """The graph as it goes back, and M where it is asked for."""
        N = len(x)
        if met is not None:
            _check_met(met, x)
        if self.needs_met and self.has_met == (met is not None):
            raise ValueError(_TWICE if self.has_met else _NOWHERE)
        if edge_index is None:
            if met is None:
                raise ValueError("edge_index must be given where there is no met, whose graph could stand for it")
            if edge_weight is not None:
                raise ValueError(
                    "edge_weight goes with an edge_index, but none was given: the graph of met has its own"
                )
            return Handed(graph_of(met)), met
        plain = Handed.is_edge_index(edge_index)
        adj = self.seen(edge_index, edge_weight, N) if self.has_met or not plain else None
        M = self.met(adj) if self.has_met and adj is not None else met
        if adj is None or plain:
            return Handed.of_edges(edge_index, edge_weight, N), M
        return Handed(adj), M

    def _central(self, M: MET, group: Tensor | None) -> Tensor:
        """c, (N,) float64."""
        if self.centrality == "diagonal":
            return diagonal(M, self.diagonal, groups=group).value
        ones = torch.ones(M.shape[0], 1, dtype=torch.float64, device=M.device)
        return ((M if self.centrality == "rows" else M.T) @ ones).squeeze(1)

    def _left(self, found: _Found, perm: Tensor, dtype: torch.dtype) -> Left:
        """The edges between the nodes that are kept, and what they weigh."""
        if self.edges == "induced":
            return found.graph.induced(perm, len(found.score))
        assert found.M is not None
        group = found.M.components if found.group is None else found.group
        return found.graph.paths(found.M, perm, group, dtype)

    def _check(self, x: Any) -> None:
        check_not_jit()
        if not isinstance(x, Tensor) or x.layout != torch.strided:
            kind = x.layout if isinstance(x, Tensor) else kind_of(x)
            raise TypeError(f"x must be a dense tensor (N, {self.channels}), got {kind}")
        if x.dim() != 2 or x.size(1) != self.channels:
            raise ValueError(f"x must be (N, {self.channels}), a row per node, got shape {tuple(x.shape)}")
        check_alike(x, self.p)
        check_values(x, "x", "PANPool looks at scores, so call it on a device that has some, such as 'cpu'")

    def extra_repr(self) -> str:
        words = f"{self.channels}, " + (f"ratio={self.ratio}" if self.number is None else f"number={self.number}")
        words += f", centrality={self.centrality!r}, edges={self.edges!r}"
        if self.needs_met:
            words += f", L={self.L}" + (f", method={self.method}, paths={self.paths!r}" if self.has_met else "")
        words += self.reading.words() + (f", memory={self.memory!r}" if self.memory else "")
        return words + (f", multiplier={self.multiplier}" if self.multiplier != 1 else "")


def _check_met(met: Any, x: Tensor) -> None:
    if not isinstance(met, MET):
        raise TypeError(f"met must be a MET, as PANConv returns it with return_met=True, got {kind_of(met)}")
    if met.trials is not None:
        raise ValueError(f"met must be that of one trial, got {met.trials} of them, each with an M of its own")
    if met.shape[0] != len(x):
        raise ValueError(f"met is on {met.shape[0]} nodes, but x has {len(x)} rows: pool what M was made on")
    check_device(x.device, met.device, "met is")


def _refuse(pool: PANPool, others: dict[str, Any]) -> None:
    if "edge_attr" in others:
        raise TypeError(
            "edge_attr is nothing that PANPool carries along: keep that of the edges that are left by "
            "torch_geometric.utils.subgraph(perm, edge_index, edge_attr, relabel_nodes=True)"
        )
    refuse_words(pool, others)


def _checked_ratio(ratio: Any) -> float:
    share = as_number(ratio)
    if share is None or not 0 < share <= 1:
        raise ValueError(f"ratio must be above 0 and at most 1, got {shown(ratio)}: a number of nodes goes by number=")
    return share


def _finite(multiplier: Any) -> float:
    factor = as_number(multiplier)
    if factor is None or not math.isfinite(factor):
        raise ValueError(f"multiplier must be a finite number, got {shown(multiplier)}")
    return factor
