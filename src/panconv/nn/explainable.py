"""How PyG's tools see a layer: as message passing of as many hops as it looks far, whose edges can be masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from panconv.graph import Adjacency
from panconv.graph.masked import cover

WHOLE_GRAPH = 100  # hops, as PyG is to count them, of a layer that looks at all of the graph


class Explainable(MessagePassing):  # type: ignore[misc]  # PyG is untyped
    """Base of the layers: PyG's `MessagePassing` by type, and none of its machinery.

    PyG's explainers set masks on every `MessagePassing` module of a model, and count these modules to know how far it
    looks; `to_hetero` makes a copy of each per edge type. Of what that class is made of, inspection, templates, hooks
    of messages, a layer here needs nothing, and starts none of it.

    A layer of several hops shows up as several modules in `modules`, itself and a mark per further hop, since PyG
    counts one hop for each. The marks are no children: they hold nothing, and appear in no state and no repr.
    """

    aggr, aggr_module, flow, node_dim, fuse = "sum", None, "source_to_target", -2, False
    _decomposed_layers = 1
    _explain: bool | None = None
    _edge_mask: Tensor | None = None
    _loop_mask: Tensor | None = None
    _apply_sigmoid: bool = True

    explains_edges = True  # whether a mask on the edges has a meaning for what the layer does

    def __init__(self) -> None:
        nn.Module.__init__(self)

    __repr__ = nn.Module.__repr__
    __setstate__ = nn.Module.__setstate__

    @property
    def hops(self) -> int:
        """How many steps a node's features may come from, which is how far a mask on edges reaches."""
        return 1

    # ------------------------------------------------------------------ what explainers set

    @property
    def explain(self) -> bool | None:
        """True while an explainer has its mask here; False to leave the layer out of all explanations."""
        return self._explain

    @explain.setter
    def explain(self, explain: bool | None) -> None:
        self._explain = explain

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_edge_mask":  # the explainer's, which may be a parameter but is none of ours
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    @property
    def edge_mask(self) -> Tensor | None:
        """What an explainer multiplies the edges by, (E,), if there is one."""
        if self._edge_mask is None or self._explain is False:
            return None
        return self._edge_mask.sigmoid() if self._apply_sigmoid else self._edge_mask

    def shown(self, adj: Adjacency, edge_index: Any, edge_weight: Tensor | None) -> Adjacency:
        """The graph as an explainer lets the layer see it."""
        mask = self.edge_mask
        if mask is None:
            return adj
        if not self.explains_edges:
            raise ValueError(
                f"{type(self).__name__} looks at all of the graph by its eigenvectors, which no mask on edges passes "
                "through: explain the features alone (edge_mask_type=None), or use PANConv"
            )
        return cover(adj, mask, edge_index, edge_weight)

    # ------------------------------------------------------------------ what explainers count

    def named_modules(
        self, memo: set[nn.Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, nn.Module]]:
        known = memo is not None and self in memo
        yield from super().named_modules(memo, prefix, remove_duplicate)
        if not (known and remove_duplicate):
            for n in range(2, self.hops + 1):
                yield f"{prefix}.hop{n}" if prefix else f"hop{n}", _HOP

    # ------------------------------------------------------------------ what a layer on paths has not

    def _no_messages(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} sums over paths and sends no messages that could be looked at or replaced: use "
            "GNNExplainer, PGExplainer or CaptumExplainer to explain it"
        )

    propagate = edge_updater = _no_messages


for _name in dir(MessagePassing):
    if _name.startswith("register_") and not hasattr(nn.Module, _name):
        setattr(Explainable, _name, Explainable._no_messages)


class Hop(Explainable):
    """A mark that stands for one hop more of the layer before it."""

    _explain = False  # it takes no mask: the layer has it


_HOP = Hop()


def is_explained(layers: Iterable[nn.Module]) -> bool:
    """Whether an explainer has masked the edges of one of the layers."""
    return any(isinstance(layer, Explainable) and layer._edge_mask is not None for layer in layers)
