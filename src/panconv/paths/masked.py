"""Walks along edges that an explainer has masked, scaled by what the walks without the mask come to."""

from __future__ import annotations

from panconv.base.checks import kind_of
from panconv.graph import Adjacency
from panconv.graph.masked import MaskedGraph
from panconv.paths.family import Counts, PathFamily
from panconv.paths.walks import Walks
from panconv.weights import PathWeights


class MaskedWalks(PathFamily):
    """All walks up to length L, each weighted by the product of its edges' masks too; D_n and Z know of no mask.

    Args:
        graph: the masked graph.
        L: the longest length.
        base: the base whose walks are taken.
    """

    has_every_length = True

    def __init__(self, graph: MaskedGraph, L: int, base: str = "A") -> None:
        self.graph, self.L, self.base = graph, L, base
        self.adj = graph.base(base)

    def on(self, base: str) -> MaskedWalks:
        return MaskedWalks(self.graph, self.L, base)

    def summands(self, weights: PathWeights) -> tuple[_Covered, PathWeights]:
        return _Covered(self.graph.covered(self.base), self.L, Walks(self.adj, self.L)), weights


class _Covered(Walks):
    """The walks on a masked base, with the counts of the walks on the base itself."""

    def __init__(self, adj: Adjacency, L: int, open_walks: Walks) -> None:
        super().__init__(adj, L)
        self._open = open_walks

    def counts(self) -> Counts:
        return self._open.counts()


def covered(paths: PathFamily, graph: MaskedGraph) -> MaskedWalks:
    """A family of paths on the graph, with its edges masked."""
    if type(paths) is not Walks:
        raise ValueError(
            f"paths must be 'walks' for an explainer's edge mask, got {kind_of(paths)}, whose paths are no products of "
            "a matrix: mask the features alone (edge_mask_type=None), or set explain = False on the layer"
        )
    return MaskedWalks(graph, paths.L)
