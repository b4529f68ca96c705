"""The batches of a set of graphs, all of one size, made on the device by what graphs are in them alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from panconv.data.graph_batches import GraphBatch, GraphBatches
from panconv.graph.filled import Filled, Room


class FilledBatches:
    """Batches that have a graph more, behind the others, to which all nodes belong that fill them up.

    That graph is in no part, and its number is that of the graphs in the set, as is that of each graph that a smaller
    batch lacks.

    Args:
        loader: whose batches they are; all that is asked of them was prepared of the set before.
    """

    def __init__(self, loader: GraphBatches) -> None:
        self.loader, self.size, self.none = loader, loader.batch_size, len(loader.graphs)
        self.room = Room(loader.graphs.adjacency, self.size)
        self.masks = {name: torch.cat([mask, torch.zeros_like(mask[:1])]) for name, mask in loader.masks.items()}
        self.wanted = wanted(loader)
        nothing = torch.full((self.size,), self.none, device=loader.graphs.device)
        Filled(self.room, nothing).take(loader.graphs.adjacency)  # by which the room knows of what there is

    def drawn(self) -> list[Tensor]:
        """The graphs of each batch of the next epoch, on the host."""
        loader = self.loader
        found = list(loader._drawn(loader.epoch))
        loader.set_epoch(loader.epoch + 1)
        return found

    def mixed(self) -> list[Tensor]:
        """The same graphs, in an order that does not change: where it is of no account, since graphs of one size may
        stand together."""
        kept = self.loader.kept.nonzero().squeeze(1)
        order = torch.randperm(len(kept), generator=torch.Generator().manual_seed(0))
        return list(kept[order].split(self.size))

    def numbers(self, drawn: Sequence[Tensor]) -> Tensor:
        """The same as one tensor, (batches, b) on the host, of as many batches as there are at most."""
        made = torch.full((len(self.loader), self.size), self.none)
        for row, which in zip(made, drawn, strict=False):
            row[: len(which)] = which
        return made

    def fits(self, which: Tensor) -> bool:
        """Whether graphs have room."""
        return self.room.fits(which.numpy())

    def absent(self, which: Tensor) -> Tensor:
        """The runs that have none of these graphs, (S,), on the host."""
        return ~self.wanted[which].any(0)

    def batch(self, which: Tensor) -> GraphBatch:
        """Of the numbers of b graphs on the device."""
        graphs, filled = self.loader.graphs, Filled(self.room, which)
        index = pad(which, (0, 1), value=self.none)
        masks = {name: mask.index_select(0, index) for name, mask in self.masks.items()}
        y = graphs.y.index_select(0, index.clamp(max=self.none - 1))
        return GraphBatch(
            filled.nodes.of(graphs.x), filled.take(graphs.adjacency), filled.nodes.graph, y, index, **masks
        )

    def plain(self, which: Tensor) -> GraphBatch:
        """Of graphs that do not fit: as large as they are."""
        return self.loader._batch(self.loader.graphs.adjacency, which)


def wanted(loader: GraphBatches) -> Tensor:
    """Which graphs are in each run's part, (G, 1) or (G, S), on the host."""
    kept = loader.kept.reshape(-1, 1)
    return loader.masks[f"{loader.part}_mask"].reshape(len(kept), -1).cpu() & kept if loader.masks else kept
