"""The k largest entries of each row of M, by which some rows of M·x are found at the cost of these rows alone.

They stand in for M while a model trains on some of the nodes at a time; whoever evaluates takes M itself. Of path
weights that are trained, the entries are those of each length, and the nodes those of the largest entries where all
lengths weigh the same: they stay while the weights move.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor

from panconv.base.tracing import is_recorded, is_tracked, lasting, may_look, outside_a_trace
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.graph.seen import Seen, same
from panconv.met import MET
from panconv.paths import Walks
from panconv.weights import weights_from

_BLOCK = 2**21  # entries of rows that are looked through at a time: more would not stay in a cache
_KEPT = 2**28  # bytes of a graph's tables that are kept

Column = tuple[float, ...]
_TABLES: WeakKeyDictionary[Adjacency, dict[tuple[object, ...], tuple[Tensor, Tensor]]] = WeakKeyDictionary()


class Table(NamedTuple):
    """The nodes that each node hears most of, and how much of them."""

    node: Tensor  # (U, N, k), by different path weights
    value: Tensor  # (U, N, k): the entries of M, times a factor per row, so that their sizes add up to the whole row's
    which: Tensor  # (S,): the path weights of a trial
    weights: Tensor | None = None  # (L+1, S) that are trained: then `value` is (1, N, k, L+1), by length

    def times(self, x: Tensor, rows: Tensor, factor: Tensor | None = None, averaged: bool = False) -> Tensor:
        """Some rows of M·(factor ⊙ x), for dense x (N, F).

        Args:
            x: features that all trials share.
            rows: the nodes, (n, S), each trial's own.
            factor: what each node's features are multiplied by, (N, S), or None.
            averaged: whether to divide by the same rows of M·factor, where these are positive.

        Returns:
            (n, S, F).
        """
        if not rows.numel():
            return x.new_zeros(*rows.shape, x.size(1))
        node, value = (each[self.which, rows].flatten(0, 1) for each in (self.node, self.value))  # (n·S, k)
        if self.weights is not None:
            value = torch.einsum("rkl,rl->rk", value, self.weights.T.to(value.dtype).repeat(rows.size(0), 1))
        value = value.to(x.dtype)
        if factor is not None:
            trial = torch.arange(rows.size(1), device=rows.device).repeat(rows.size(0)).unsqueeze(1)
            value = value * factor[node, trial]
        if averaged:
            total = value.sum(1, keepdim=True)
            value = value / total.where(total > 0, 1)
        return _sums(node, value, x).unflatten(0, rows.shape)


class Nearest:
    """The tables of a layer's operators, found when they are first asked for.

    Args:
        k: entries per row.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self._last: tuple[weakref.ref[Adjacency], list[Column], Table] | None = None
        self._dense: dict[str, tuple[Seen | None, Tensor]] = {}

    def __call__(self, M: MET, dtype: torch.dtype = torch.float32) -> Table:
        """Those of M, in the dtype of the features."""
        if torch.compiler.is_compiling() and not torch.compiler.is_dynamo_compiling():
            raise ValueError("inputs nearest is for training: call model.eval() before torch.export")
        table = outside_a_trace(self._found, M, dtype)
        if table.value.dim() == 3:
            return table
        weights = M.weights()
        return table._replace(weights=weights if weights.dim() == 2 else weights.unsqueeze(1))

    def _found(self, M: MET, dtype: torch.dtype) -> Table:
        last, adj = self._last, M.paths.adj  # read once: another thread may replace it
        if adj.is_tracked:
            raise ValueError("inputs nearest goes with edge weights that nobody trains: detach them, or leave it out")
        here = last is not None and last[0]() is adj and last[2].value.dtype == dtype
        if last is not None and here and (is_recorded() or last[1] == _columns(M)):
            return last[2]  # what is replayed on a GPU has the weights that it had
        columns = _columns(M)
        with lasting(), torch.no_grad():
            table = self._table(M, columns, dtype)
        self._last = weakref.ref(adj), columns, table
        return table

    def _table(self, M: MET, columns: list[Column], dtype: torch.dtype) -> Table:
        different = list(dict.fromkeys(columns))
        kept = _TABLES.setdefault(M.paths.adj, {}) if type(M.paths) is Walks else {}
        names = {column: (M.method, self.k, dtype, _is_trained(M), _trimmed(column)) for column in different}
        found = {column: kept.get(names[column]) for column in different}  # once: another thread may drop some
        missing = [column for column in different if found[column] is None]
        find = _by_length if _is_trained(M) else _largest
        found |= zip(missing, find(M, missing, self.k, dtype) if missing else (), strict=True)
        kept |= {names[column]: table for column in missing if (table := found[column]) is not None}
        while len(kept) > 1 and sum(each.nbytes for table in list(kept.values()) for each in table) > _KEPT:
            kept.pop(next(iter(kept)), None)
        node, value = (torch.stack(each) for each in zip(*found.values(), strict=True))
        which = torch.tensor([different.index(column) for column in columns], device=node.device)
        return Table(node, value, which)

    def dense(self, x: Tensor | SparseRows) -> Tensor:
        """The features as `Table.times` takes them; of sparse ones that stay as they are, made once."""
        if isinstance(x, Tensor):
            return x
        value = x.value
        if value.device.type != "cpu" or value.is_inference() or not may_look() or is_tracked(value):
            return x.to_dense()
        kept = self._dense.get("last")
        if kept is not None and same(kept[0], value):
            return kept[1]

        def forget(_: Any, found: dict[str, tuple[Seen | None, Tensor]] = self._dense) -> None:
            found.pop("last", None)

        seen = Seen.of(value, forget)
        with lasting():
            found = x.to_dense()
        self._dense["last"] = seen, found
        return found

    def __reduce__(self) -> tuple[type[Nearest], tuple[int]]:
        return Nearest, (self.k,)  # copies find their own


def _sums(node: Tensor, value: Tensor, x: Tensor) -> Tensor:
    """Σₖ value·x[node] by row, (n, k) → (n, F)."""
    if x.device.type != "cpu" or not may_look():
        return F.embedding_bag(node, x, per_sample_weights=value, mode="sum")
    heard = value != 0  # the features of dropped nodes need not even be read
    end = heard.sum(1).cumsum(0)
    begin = torch.cat([end.new_zeros(1), end[:-1]])
    return F.embedding_bag(node[heard], x, begin, per_sample_weights=value[heard], mode="sum")


def _is_trained(M: MET) -> bool:
    return any(True for _ in M.weights.parameters())


def _columns(M: MET) -> list[Column]:
    """The path weights of each trial; of weights that are trained, those by which the nodes are found."""
    weights = M.weights().detach()
    weights = torch.ones_like(weights) if _is_trained(M) else weights
    return [tuple(column) for column in (weights if weights.dim() == 2 else weights.unsqueeze(1)).T.tolist()]


def _trimmed(column: Column) -> Column:
    """Without the zeros at the end, where trials of different lengths stand side by side."""
    return column[: max((n + 1 for n, weight in enumerate(column) if weight), default=0)]


def _largest(M: MET, columns: list[Column], k: int, dtype: torch.dtype) -> list[tuple[Tensor, Tensor]]:
    """Nodes and values, (N, k) each, by path weights."""
    N, parts = M.shape[0], []
    for unit in _units(N, M.device, dtype, len(columns)):
        rows = _rows(M, columns, unit)  # (U, N, b)
        size = rows.abs()
        kept, node = size.topk(min(k, N), dim=1)
        short, whole = kept.sum(1, keepdim=True), size.sum(1, keepdim=True)
        value = rows.gather(1, node) * torch.where(short == 0, 1, whole / short)
        parts.append((node.mT, value.mT))
    node, value = (torch.cat(each, dim=1) for each in zip(*parts, strict=True))
    return [(one.clone(), other.clone()) for one, other in zip(node, value, strict=True)]


def _by_length(M: MET, columns: list[Column], k: int, dtype: torch.dtype) -> list[tuple[Tensor, Tensor]]:
    """The same with the values of each length, (N, k, L+1), for the one column of equal weights."""
    assert len(columns) == 1
    N, parts = M.shape[0], []
    lengths = [tuple(row) for row in torch.eye(len(columns[0])).tolist()]
    for unit in _units(N, M.device, dtype, len(lengths)):
        rows = _rows(M, lengths, unit)  # (L+1, N, b)
        size = rows.sum(0).abs()
        kept, node = size.topk(min(k, N), dim=0)
        short, whole = kept.sum(0), size.sum(0)
        value = rows.gather(1, node.expand(len(lengths), -1, -1)) * torch.where(short == 0, 1, whole / short)
        parts.append((node.mT, value.permute(2, 1, 0)))
    node, value = (torch.cat(each) for each in zip(*parts, strict=True))
    return [(node, value.contiguous())]


def _units(N: int, device: torch.device, dtype: torch.dtype, copies: int) -> Iterator[Tensor]:
    """Unit vectors of some nodes at a time, (N, b), of which so many products are held."""
    for nodes in torch.arange(N, device=device).split(max(1, _BLOCK // max(1, N * copies))):
        unit = torch.zeros(N, nodes.numel(), dtype=dtype, device=device)
        unit[nodes, torch.arange(nodes.numel(), device=device)] = 1
        yield unit


def _rows(M: MET, columns: list[Column], unit: Tensor) -> Tensor:
    """Some rows of each M, (U, N, b), as columns of Mᵀ."""
    if M.rule.divides or not M.is_symmetric:
        return torch.stack([_weighed(M, column).T @ unit for column in columns])
    # M is its own transpose, and its terms are the same but for the weights: they are found once.
    weights, found = unit.new_tensor(columns), unit.new_zeros(len(columns), unit.numel())
    for n, term in enumerate(_weighed(M, (1.0,) * len(columns[0])).terms(unit)):
        found.addr_(weights[:, n], term.flatten())
    return found.unflatten(1, unit.shape)


def _weighed(M: MET, column: Column) -> MET:
    """M with the path weights of one trial."""
    return M.with_weights(weights_from(list(column), M.paths.L).to(M.device))
