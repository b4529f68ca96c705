"""`GraphBatches`: a set of graphs in batches, in a new order in each epoch, for trials that each have a fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from panconv.base.checks import checked_count, checked_flag, checked_seed, kind_of, shown
from panconv.base.random import keys, words
from panconv.data.graph_folds import GraphParts
from panconv.data.graph_set import GraphSet
from panconv.graph import BASES, Adjacency
from panconv.graph.picking import Picking
from panconv.paths import Walks

_PARTS = GraphParts._fields
_STREAM = 3  # of the random numbers that a seed gives


@dataclass(eq=False)
class GraphBatch:
    """Some graphs side by side as one, and what is to be learned of each.

    Args:
        x: features of the nodes, (n, F).
        adj: the graphs as one `Adjacency`, with what was prepared of the set.
        batch: the graph in the batch of each node, (n,).
        y: the targets, (b,).
        index: which graph of the set each is, (b,).
        train_mask, val_mask, test_mask: whether each counts in a part, (b,), or (b, S) where each trial has its own.
    """

    x: Tensor
    adj: Adjacency
    batch: Tensor
    y: Tensor
    index: Tensor
    train_mask: Tensor | None = None
    val_mask: Tensor | None = None
    test_mask: Tensor | None = None

    @property
    def num_graphs(self) -> int:
        return len(self.y)

    @property
    def num_nodes(self) -> int:
        return len(self.x)

    @cached_property
    def edge_index(self) -> Tensor:
        """For layers of PyG: (2, E), each edge once, by target."""
        return torch.stack([self.adj.col.long(), self.adj.row])

    @property
    def edge_weight(self) -> Tensor | None:
        """The weights of these edges, (E,), or None."""
        return self.adj.value

    def to(self, device: torch.device | str) -> GraphBatch:
        names = [name for name, value in self.__dict__.items() if value is not None and name in self.__annotations__]
        return replace(self, **{name: getattr(self, name).to(device) for name in names})


class GraphBatches:
    """A set of graphs in batches, as often as it is asked, on the set's device.

    A batch is picked out of the prepared set by index arithmetic, whatever its size. What a model computes of the first
    batch, such as a base with its values, is prepared for the whole set then, and comes with every batch after it.

    With `shuffle`, all graphs of the set are drawn into batches anew in every epoch, by (seed, epoch) alone. Those that
    are in no run's part are left out of the batches they were drawn into. So a run has the same batches alone and
    beside others, less the others' graphs, and what else draws random numbers changes nothing. An epoch counts once
    its last batch has been asked for; `set_epoch` says which comes next.

    Args:
        graphs: the set.
        parts: masks (G,), or (G, S) of S runs, as `graph_folds` and `graph_split` give them; None for all graphs.
        part: "train", "val" or "test": whose graphs are wanted. The masks of all three go with the batches.
        batch_size: graphs in a batch, less those that are left out.
        shuffle: False for the order of the set; None shuffles for training alone.
        seed: of the order.

    >>> edges = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])
    >>> graphs = GraphSet(torch.ones(5, 1), edges, torch.tensor([0, 2, 5]), torch.tensor([0, 1]))
    >>> for batch in GraphBatches(graphs, batch_size=2, shuffle=False):
    ...     print(batch.adj, batch.batch.tolist(), batch.y.tolist())
    Adjacency(num_nodes=5, num_edges=6, symmetric) [0, 0, 1, 1, 1] [0, 1]
    """

    def __init__(
        self,
        graphs: GraphSet,
        parts: GraphParts | None = None,
        part: str = "train",
        *,
        batch_size: int = 128,
        shuffle: bool | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(graphs, GraphSet):
            raise TypeError(
                f"graphs must be a GraphSet, got {kind_of(graphs)}: make one with GraphSet.of(…), or of point patterns "
                "with GraphSet(**patterns.tensors)"
            )
        if part not in _PARTS:
            raise ValueError(f"part must be one of {', '.join(_PARTS)}, got {shown(part)}")
        self.graphs, self.part, self.epoch = graphs, part, 0
        self.batch_size, self.seed = checked_count(batch_size, "batch_size"), checked_seed(seed)
        self.shuffle = part == "train" if shuffle is None else checked_flag(shuffle, "shuffle")
        found = {} if parts is None else _checked_parts(parts, len(graphs))
        self.masks = {f"{name}_mask": mask.to(graphs.device) for name, mask in found.items()}
        self.kept = torch.ones(len(graphs), dtype=torch.bool)
        if found:
            self.kept = found[part].reshape(len(graphs), -1).any(1).cpu()
        if not bool(self.kept.any()):
            raise ValueError(f"parts has no graph to {part} on: give each run at least one")

    @staticmethod
    def for_fit(
        graphs: GraphSet, parts: GraphParts, *, batch_size: int = 128, seed: int = 0
    ) -> dict[str, GraphBatches]:
        """The loaders of the three parts, as in ``panconv.fit(model, **GraphBatches.for_fit(graphs, parts))``."""
        names = dict(zip(_PARTS, ("data", "val", "test"), strict=True))
        return {
            name: GraphBatches(graphs, parts, part, batch_size=batch_size, seed=seed) for part, name in names.items()
        }

    def __len__(self) -> int:
        """Batches in an epoch, or a few more than there are: some may be without a graph that is wanted."""
        return -(-(len(self.graphs) if self.shuffle else int(self.kept.sum())) // self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Which epoch comes next, from 0."""
        self.epoch = checked_count(epoch, "epoch", 0)

    def __iter__(self) -> Iterator[GraphBatch]:
        return self._batches(self.epoch)

    def _batches(self, epoch: int) -> Iterator[GraphBatch]:
        adj = self.graphs.adjacency
        for which in self._drawn(epoch):
            batch = self._batch(adj, which)
            yield batch
            _prepare_alike(adj, batch.adj)
        self.epoch = epoch + 1

    def _drawn(self, epoch: int) -> Iterator[Tensor]:
        """The numbers of the graphs of each batch, (b,) on the host: a GPU does not have to be asked."""
        if not self.shuffle:  # which graphs share a batch is of no account then
            yield from self.kept.nonzero().squeeze(1).split(self.batch_size)
            return
        key = keys(torch.tensor(self.seed), _STREAM, epoch)
        order = words(key, (len(self.graphs),)).argsort(stable=True)
        for drawn in order.split(self.batch_size):
            which = drawn[self.kept[drawn]]
            if len(which):
                yield which

    def _batch(self, adj: Adjacency, which: Tensor) -> GraphBatch:
        picking = Picking(adj, which)
        index = which.to(adj.device, non_blocking=True)
        masks = {name: mask.index_select(0, index) for name, mask in self.masks.items()}
        x, y = self.graphs.x.index_select(0, picking.nodes.places), self.graphs.y.index_select(0, index)
        return GraphBatch(x, picking.take(adj), picking.nodes.graph, y, index, **masks)


def _prepare_alike(whole: Adjacency, used: Adjacency) -> None:
    """Prepares of a set of graphs what was computed of some of them."""
    known = whole.prepared_parts()
    for key, kept in used.prepared_parts().items():
        if isinstance(key, str) and key in BASES:
            _prepare_alike(whole.base(key), kept)
        elif key in known:
            continue
        elif isinstance(key, torch.dtype):
            whole.operand(key, False)
        elif isinstance(key, tuple) and key[0] == "transposed":
            whole.operands(key[1])
        elif isinstance(key, tuple) and key[0] == "walks":
            Walks(whole, key[1]).counts()


def _checked_parts(parts: Any, G: int) -> dict[str, Tensor]:
    """The masks by their names, of one shape, (G,) or (G, S), which share no graph in any run."""
    if not isinstance(parts, GraphParts):
        raise TypeError(f"parts must be GraphParts(train, val, test), as graph_folds gives them, got {kind_of(parts)}")
    found = parts._asdict()
    for name, mask in found.items():
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.dim() not in (1, 2) or len(mask) != G:
            raise ValueError(f"parts.{name} must be boolean, ({G},) or ({G}, S), a row per graph, got {shown(mask)}")
        if mask.shape != parts.train.shape:
            raise ValueError(
                f"parts.{name} must have the shape of parts.train, {tuple(parts.train.shape)}, got {tuple(mask.shape)}"
            )
    for (first, a), (second, b) in combinations(found.items(), 2):
        shared = (a & b).reshape(G, -1).any(1).nonzero()
        if len(shared):
            raise ValueError(
                f"parts.{first} and parts.{second} share {len(shared)} graphs, such as {int(shared[0])}: a graph is in "
                "one part of a run"
            )
    return found
