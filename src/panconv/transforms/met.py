"""`METTransform`: M written into a PyG graph as edges and weights, where other models look for an adjacency.

M has about as many entries as A^L, so it may be thinned out; the transform then reports how much was dropped.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from panconv.base.checks import as_number, checked_count, checked_length, free_bytes, kind_of, shown
from panconv.graph import Adjacency
from panconv.graph.reading import checked_edges
from panconv.met import MET
from panconv.met.entries import at_most
from panconv.met.methods import check_one_trial, check_paths, checked_method, natural_weights
from panconv.paths import PathFamily, family_of, paths_from
from panconv.weights import PathWeights, weights_from

_ENTRIES = 50_000_000  # of M, bounded from above: more than these are not formed at once where some are to be dropped
_BYTES_PER_ENTRY = 64  # indices and value in float64, twice while terms are added up
_BLOCK = 2**23  # values of a block of rows


class Dropped(NamedTuple):
    """What sparsification took from M."""

    kept: int  # entries
    dropped: int
    share: float  # of Σᵢⱼ |Mᵢⱼ|
    largest_row_share: float  # of Σⱼ |Mᵢⱼ|, at the receiver i that lost most


class METTransform(BaseTransform):  # type: ignore[misc]  # PyG is untyped here
    r"""Replaces a graph's edges by the MET matrix M, so that other PyG models run on M unchanged.

    .. math:: \text{edge_index} = \{(j, i) : M_{ij} \neq 0\}, \qquad \text{edge_weight}_{(j, i)} = M_{ij}

    With j the source and i the target, the plain weighted sum of messages is M x. The new edges are sorted by target,
    then source. An ``edge_weight`` that the graph has is read as A's; other attributes that hold a value per edge
    (``edge_attr``, ``edge_type``) would be left without their edges, and are refused.

    Args:
        L: the longest path length. M has about as many entries as A^L: on Pubmed 1.2 million for L = 2, 7.8 million
            for L = 3. Where they may be more than 50 million and some are to be dropped, M is formed and thinned a
            block of rows at a time, which is slower and takes little memory.
        method: the operator's method (see `panconv.METHODS`).
        weights: the weight of each path length, as `MET` takes it; trained ones are taken as they are now, without
            their gradient. None weights every length alike, 1/(L+1).
        sparsify: ``("threshold", eps)`` drops the entries with \|Mᵢⱼ\| < eps; ``("top_k", k)`` keeps the k largest
            \|Mᵢⱼ\| of each receiver i, and of equal ones those with the smaller j; None keeps all.
        laplacian: write I − M instead, M after sparsification, for a model that takes its operator as it stands.
        paths: which paths are counted, as in `PANConv`: a name, or a function of an `Adjacency` and L. With effective
            lengths, weights left out are exp(−l).

    Attributes:
        dropped: what sparsification took from the last graph (`Dropped`), None before the first; `repr` shows it. It
            is of the transform and not of the data, so that graphs still collate into batches; a batch counts as one
            graph.

    >>> from torch_geometric.data import Data
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> METTransform(L=1, method=1)(path).edge_weight
    tensor([0.5000, 0.5000, 0.3333, 0.3333, 0.3333, 0.5000, 0.5000])
    >>> transform = METTransform(L=1, method=1, sparsify=("top_k", 2))
    >>> transform(path).edge_index
    tensor([[0, 1, 0, 1, 1, 2],
            [0, 0, 1, 1, 2, 2]])
    >>> kept, dropped, share, largest_row_share = transform.dropped
    >>> kept, dropped, round(share, 3), round(largest_row_share, 3)
    (6, 1, 0.111, 0.333)
    """

    def __init__(
        self,
        L: int = 2,
        method: int = 2,
        weights: object = None,
        sparsify: tuple[str, float] | None = None,
        laplacian: bool = False,
        paths: str | Callable[[Adjacency, int], PathFamily] = "walks",
    ) -> None:
        self.L, self.method, self.paths = checked_length(L), checked_method(method), paths
        check_paths(self.method, family_of(paths))
        self.weights = _own_weights(weights, self.L, natural_weights(self.method, family_of(paths)))
        self.sparsify = _checked_sparsify(sparsify)
        self.laplacian = laplacian
        self.dropped: Dropped | None = None

    @torch.no_grad()
    def forward(self, data: Data) -> Data:
        _check(data)
        N, dtype = data.num_nodes, _dtype_of(data)
        if not {"num_nodes", "x", "pos", "batch"} & set(data.keys()):
            data.num_nodes = N  # with other edges it could no longer be told from them
        row, col, value = self.matrix(Adjacency.of(data.edge_index, data.get("edge_weight"), N))
        data.edge_index, data.edge_weight = torch.stack([col, row]), value.to(dtype)
        if getattr(data, "_slice_dict", None) is not None:
            _slice(data, row)
        return data

    def matrix(self, adj: Adjacency) -> tuple[Tensor, Tensor, Tensor]:
        """Receivers, senders and float64 values of what is written for a graph, sorted by receiver, then sender."""
        # In float64, so that entries which are equal on paper rank as equal below, on every device.
        M, N = MET(paths_from(self.paths)(adj, self.L), self.weights.to(adj.device), self.method), adj.num_nodes
        entries = at_most(adj, self.L)
        needed, free = entries * _BYTES_PER_ENTRY, free_bytes(adj.device)
        if self.sparsify is None and needed > free:
            raise ValueError(
                f"M of L = {self.L} on {N:,} nodes may have up to {entries:.3g} entries, {needed / 2**30:.0f} GiB, of "
                f"which {free / 2**30:.0f} GiB are free: use a smaller L, or sparsify=('top_k', 32)"
            )
        whole = self.sparsify is None or entries <= _ENTRIES
        total = lost = torch.zeros(N, dtype=torch.float64, device=adj.device)  # Σⱼ |Mᵢⱼ|, and of what is dropped
        kept, seen = [], 0
        for row, col, value in [_entries(M.to_sparse(torch.float64))] if whole else _blocks(M):
            keep, size = self._keep(row, value, N), value.abs()
            total, lost = total.index_add(0, row, size), lost.index_add(0, row, size * ~keep)
            kept.append((row[keep], col[keep], value[keep]))
            seen += row.numel()
        row, col, value = (torch.cat(parts) for parts in zip(*kept, strict=True))
        largest = float((lost / total.where(total > 0, 1)).amax()) if N else 0.0
        share = float(lost.sum() / total.sum()) if bool(total.any()) else 0.0
        self.dropped = Dropped(row.numel(), seen - row.numel(), share, largest)
        return _identity_minus(row, col, value, N) if self.laplacian else (row, col, value)

    def _keep(self, row: Tensor, value: Tensor, N: int) -> Tensor:
        if self.sparsify is None:
            return torch.ones_like(row, dtype=torch.bool)
        rule, bound = self.sparsify
        return value.abs() >= bound if rule == "threshold" else _largest(row, value, int(bound), N)

    def __repr__(self) -> str:
        words = f"L={self.L}, method={self.method}, weights={self.weights}, sparsify={self.sparsify}, "
        words += f"laplacian={self.laplacian}, paths={self.paths!r}"
        if self.dropped is not None:
            words += f", dropped={100 * self.dropped.share:.2f} % of |M|"
        return f"METTransform({words})"


def _largest(row: Tensor, value: Tensor, k: int, N: int) -> Tensor:
    """Whether an entry is one of the k largest of its row; entries come sorted by row, then column."""
    # Rounded to float32: what differs by the order of a sum alone is a tie, which the stable sorts leave by column.
    order = value.abs().float().argsort(descending=True, stable=True)
    order = order[row[order].argsort(stable=True)]
    begin = torch.searchsorted(row, torch.arange(N, device=row.device))
    rank = torch.arange(row.numel(), device=row.device) - begin[row]  # row[order] is row: sorted rows stay
    keep = torch.empty_like(row, dtype=torch.bool)
    keep[order] = rank < k
    return keep


def _entries(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, columns and values of a sparse matrix, without the zeros in it."""
    (row, col), value = matrix.indices(), matrix.values()
    stored = value != 0
    return row[stored], col[stored], value[stored]


def _blocks(M: MET) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The entries of M, some rows at a time: as columns of Mᵀ, which takes no more memory than a block of rows."""
    N, device = M.shape[0], M.paths.adj.device
    for nodes in torch.arange(N, device=device).split(max(1, _BLOCK // N)):
        unit = torch.zeros(N, nodes.numel(), dtype=torch.float64, device=device)
        unit[nodes, torch.arange(nodes.numel(), device=device)] = 1
        rows = (M.T @ unit).mT
        row, col = rows.nonzero(as_tuple=True)
        yield nodes[row], col, rows[row, col]


def _identity_minus(row: Tensor, col: Tensor, value: Tensor, N: int) -> tuple[Tensor, Tensor, Tensor]:
    nodes = torch.arange(N, device=row.device)
    index = torch.cat([torch.stack([row, col]), nodes.expand(2, N)], dim=1)
    return _entries(torch.sparse_coo_tensor(index, torch.cat([-value, value.new_ones(N)]), (N, N)).coalesce())


def _slice(batch: Any, row: Tensor) -> None:
    """Tells a batch where each graph's new edges are, so that `to_data_list` finds them."""
    begin = torch.searchsorted(row, batch.ptr).cpu()
    none = torch.zeros(begin.numel() - 1, dtype=torch.long)
    batch._slice_dict = {**batch._slice_dict, "edge_index": begin, "edge_weight": begin}
    batch._inc_dict = {**batch._inc_dict, "edge_weight": none}


def _own_weights(weights: object, L: int, natural: str) -> PathWeights:
    """Path weights of our own, that nobody trains."""
    if weights is None:
        weights = natural if natural == "power-law" else [1 / (L + 1)] * (L + 1)
    own = copy.deepcopy(weights_from(weights, L)).requires_grad_(False)
    check_one_trial(own)
    return own


def _checked_sparsify(sparsify: Any) -> tuple[str, float] | None:
    if sparsify is None:
        return None
    if not isinstance(sparsify, (tuple, list)) or len(sparsify) != 2 or sparsify[0] not in ("threshold", "top_k"):
        raise ValueError(f"sparsify must be None, ('threshold', eps) or ('top_k', k), got {shown(sparsify)}")
    rule, bound = sparsify
    if rule == "top_k":
        return rule, checked_count(bound, "sparsify=('top_k', k): k")
    eps = as_number(bound)
    if eps is None or not 0 <= eps < math.inf:
        raise ValueError(f"sparsify=('threshold', eps): eps must be a finite number of at least 0, got {shown(bound)}")
    return rule, eps


def _check(data: Any) -> None:
    if not isinstance(data, Data):
        raise TypeError(f"data must be a PyG Data with one kind of node and edge, got {kind_of(data)}")
    if data.edge_index is None:
        raise ValueError("data.edge_index is missing: METTransform reads the graph from it (and from edge_weight)")
    checked_edges(data.edge_index)
    for key in data.keys():  # noqa: SIM118 (a Data iterates over pairs)
        if "edge" in key and key not in ("edge_index", "edge_weight") and data.is_edge_attr(key):
            raise ValueError(
                f"data.{key} has a value for each edge of A, but M has other edges: put weights into data.edge_weight, "
                f"and take the rest out (del data.{key})"
            )


def _dtype_of(data: Data) -> torch.dtype:
    """The features' dtype, so that messages keep it; without features, the weights', or the default."""
    for value in (data.get("x"), data.get("edge_weight")):
        if isinstance(value, Tensor) and value.is_floating_point():
            return value.dtype
    return torch.get_default_dtype()
