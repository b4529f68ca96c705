"""`SeedLoader`: mini-batches around seed nodes, whose rows are those of the whole graph."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torch_geometric.data import Data

from panconv.base.checks import as_integer, checked_count, checked_flag, kind_of, shown
from panconv.data.blocks import Need, cut, needs_of
from panconv.data.edge_source import AdjacencySource, EdgeSource
from panconv.graph import Adjacency
from panconv.graph.csr import CSR, compress
from panconv.graph.reading import from_array
from panconv.nn import num_hops as hops_of
from panconv.nn.hops import layers_of, reading_of
from panconv.paths.formed import extend


class SeedLoader(DataLoader[Data]):
    """Mini-batches of seed nodes, each with all of the graph that the model looks at from them.

    Nothing is sampled. The model's rows at the seeds are those that it gives on the whole graph, and the gradients of
    all batches add up to those of the whole graph: degrees and path counts D_n are stored from it, once, and Z follows
    from them and the path weights, trained or not. So a block reaches as far as features travel, L × layers.

    A batch is a PyG `Data`. Its `adj` goes where an edge_index would, ``model(batch.x, batch.adj)``; the first
    `batch_size` rows are the seeds, in order, each once, and `seeds` has the row of each, also of one that is named
    twice; `n_id` tells which node each row is; `x`, `y`, and whatever else the data has a row per node of, are taken
    along. The other rows of the model's output are of no use: edges are missing there.

    Args:
        data: a PyG `Data` with `x`, `edge_index` and possibly `edge_weight`, or an `Adjacency` as its `adj`; the
            `Adjacency` itself; or an `EdgeSource`.
        model: whose layers say how far it looks, and what is to be stored. It is not kept.
        seeds: numbers of nodes, in any order, or a mask (N,); None for all nodes.
        batch_size: seeds in a batch.
        shuffle: whether they are drawn in a new order in each epoch; seed it by ``generator``.
        num_hops: how far the blocks reach, where that is more than is seen in the layers, as with one that `forward`
            calls twice.
        kwargs: of torch's `DataLoader`, such as ``num_workers`` and ``generator``.

    >>> data = load("cora")
    >>> model = PAN(data.num_features, 16, 7).eval()
    >>> batch = next(iter(SeedLoader(data, model, seeds=data.test_mask, batch_size=10)))
    >>> out = model(batch.x, batch.adj)[: batch.batch_size]
    >>> torch.allclose(out, model(data.x, data.edge_index)[data.test_mask][:10], atol=1e-6)
    True
    """

    def __init__(
        self,
        data: Data | Adjacency | EdgeSource,
        model: nn.Module,
        seeds: Any = None,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        num_hops: int | None = None,
        **kwargs: Any,
    ) -> None:
        source = _source_of(data, model)
        self.num_hops = _checked_hops(model, num_hops)
        needs = needs_of(model, source.facts)
        for base, L, counted in sorted(needs):
            source.prepare(base, L if counted else None)
        rows = _rows_of(data, source.num_nodes) if isinstance(data, Data) else {}
        nodes = _checked_seeds(seeds, source.num_nodes).to(source.device)
        checked_count(batch_size, "batch_size")
        collate = _Blocks(source, nodes, self.num_hops, sorted(needs), rows)
        shuffle = checked_flag(shuffle, "shuffle") and len(nodes) > 0  # torch draws from nothing only in order
        super().__init__(range(len(nodes)), batch_size, shuffle, collate_fn=collate, **kwargs)  # type: ignore[arg-type]


class _Blocks:
    """Makes a batch of some seeds; it goes to the workers."""

    def __init__(
        self, source: EdgeSource, seeds: Tensor, hops: int, needs: list[Need], rows: dict[str, Tensor]
    ) -> None:
        self.source, self.seeds, self.hops, self.needs, self.rows = source, seeds, hops, needs, rows

    def __call__(self, picked: list[int]) -> Data:
        seeds = self.seeds[torch.tensor(picked, device=self.seeds.device)]
        once, place = _in_order(seeds)
        adj, nodes = cut(self.source, once, self.hops, self.needs)
        batch = Data(**{name: _take(value, nodes) for name, value in self.rows.items()})
        batch.adj, batch.n_id, batch.num_nodes = adj, nodes, len(nodes)
        batch.seeds, batch.batch_size = place, len(once)
        return batch


def _in_order(seeds: Tensor) -> tuple[Tensor, Tensor]:
    """The seeds without those that come again, in their order; and the place of each seed among them."""
    nodes, which = seeds.unique(return_inverse=True)
    first = torch.full_like(nodes, len(seeds)).scatter_reduce(0, which, torch.arange(len(seeds)).to(seeds), "amin")
    order = first.argsort()
    return nodes[order], order.argsort()[which]


def _source_of(data: Any, model: nn.Module) -> EdgeSource:
    if isinstance(data, Adjacency):
        return AdjacencySource(data)
    if isinstance(data, Data):
        graph = data.adj if isinstance(data.get("adj"), Adjacency) else data.edge_index
        if graph is None:
            raise ValueError("data has no edge_index, and no Adjacency as its adj: it needs one of them")
        if isinstance(graph, Adjacency):
            return AdjacencySource(graph)
        reading = reading_of(model)._asdict()
        return AdjacencySource(Adjacency.of(graph, data.get("edge_weight"), data.num_nodes, **reading))
    if isinstance(data, EdgeSource):
        return data
    raise TypeError(f"data must be a PyG Data, an Adjacency or an EdgeSource, got {kind_of(data)}")


def _checked_hops(model: nn.Module, num_hops: int | None) -> int:
    """How far the blocks have to reach, or as far beyond it as was asked for."""
    needed, found = hops_of(model, stored=True), bool(list(layers_of(model)))
    if needed == math.inf:
        raise ValueError(
            f"model {type(model).__name__} has a layer that depends on the whole graph, such as PANPool, "
            "SpectralConv, LanczosConv or HighTemperatureConv: train it on the whole graph"
        )
    if num_hops is None:
        if not found:
            raise ValueError(
                f"model {type(model).__name__} has no layer whose hops can be counted: say how far it looks by num_hops"
            )
        return int(needed)
    hops = as_integer(num_hops)
    if hops is None or hops < needed:
        raise ValueError(f"num_hops must be an integer of at least {needed}, how far the layers look, got {num_hops!r}")
    return hops


def _checked_seeds(seeds: Any, num_nodes: int) -> Tensor:
    """The numbers of the seeds, (B,) int64; of a mask those where it is true."""
    if seeds is None:
        return torch.arange(num_nodes)
    nodes = seeds if isinstance(seeds, Tensor) else from_array(seeds, "seeds")
    if nodes.dtype == torch.bool:
        if nodes.shape != (num_nodes,):
            raise ValueError(f"seeds as a mask must have shape ({num_nodes},), one per node, got {tuple(nodes.shape)}")
        return nodes.nonzero().squeeze(1)
    if nodes.dim() != 1 or (nodes.numel() and (nodes.is_floating_point() or nodes.is_complex())):
        raise ValueError(f"seeds must be numbers of nodes, (B,), or a mask ({num_nodes},), got {shown(seeds)}")
    nodes = nodes.long()
    outside = nodes[(nodes < 0) | (nodes >= num_nodes)]
    if outside.numel():
        raise ValueError(f"seeds must be nodes of the graph, 0 … {num_nodes - 1}, got {int(outside[0])}")
    return nodes


def _rows_of(data: Data, num_nodes: int) -> dict[str, Tensor]:
    """What the data has a row per node of."""
    given = data.to_dict().items()
    found = {name: value for name, value in given if isinstance(value, Tensor) and data.is_node_attr(name)}
    for name, value in found.items():
        if value.size(0) != num_nodes:
            raise ValueError(f"data.{name} has {value.size(0)} rows, but the graph has {num_nodes} nodes")
    return {name: value if value.layout == torch.strided else value.to_sparse_csr() for name, value in found.items()}


def _take(value: Tensor, nodes: Tensor) -> Tensor:
    """The rows of some nodes, of a dense tensor or of a sparse one in CSR."""
    nodes = nodes.to(value.device)
    if value.layout == torch.strided:
        return value[nodes]
    rows = CSR(value.crow_indices(), value.col_indices(), value.values())
    row, entry = extend(rows, nodes)
    crow, size = compress(row, len(nodes)), (len(nodes), value.size(1))
    return torch.sparse_csr_tensor(crow, rows.col[entry], rows.value[entry], size, check_invariants=False)
