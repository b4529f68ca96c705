"""The layers of a model and all that stands around them: how features pass through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor, nn

from panconv.base.checks import checked_flag
from panconv.compute.features import SparseRows
from panconv.met.methods import METHODS
from panconv.nn.between import surroundings, takes_batch
from panconv.nn.dropout import Dropout
from panconv.nn.entrance import EnteringConv, Entrance
from panconv.nn.layout import from_input, widths
from panconv.nn.linear import Affine, Linear
from panconv.nn.norms import BatchNorm, LayerNorm
from panconv.nn.pan_conv import PANConv
from panconv.nn.residual import InputConv
from panconv.paths import family_of
from panconv.weights import layer_specs


class Around(NamedTuple):
    """What stands around the features in a call."""

    graph: tuple[Any, ...]  # as a layer takes it
    graphs: tuple[Any, ...]  # which graph each node is in, as a normalisation that asks for it does
    rows: Tensor | None = None  # the nodes whose scores are asked for, where no others are needed; None for all


class Layers(nn.Module):
    """Base of `panconv.PAN`: the convolutions, with dropout before each, and what `surroundings` makes."""

    convs: nn.ModuleList
    dropouts: nn.ModuleList  # before each matrix, in the order that features meet them
    act: Callable[[Tensor], Tensor] | None
    norms: nn.ModuleList
    jk: nn.Module | None
    lin: Affine | None
    entrance: Entrance
    start: Affine | None
    residuals: nn.ModuleList

    def build(self, config: dict[str, Any]) -> None:
        """Makes all of it, from settings that are `resolved`."""
        self.convs = nn.ModuleList(_convolutions(config))
        inputs, behind = config["inputs"], config["jk"] is not None
        ps = [config["dropout"]] * (config["num_layers"] + from_input(config) + behind)
        ps[0] = ps[0] if inputs.dropout is None else inputs.dropout
        self.dropouts = nn.ModuleList(map(Dropout, ps))
        self.surround(config, surroundings(config))
        self._fix_idle_biases()
        self._check_entrance()

    def surround(self, config: dict[str, Any], made: dict[str, Any]) -> None:
        """Takes up what stands between the convolutions, before, beside and behind them."""
        for name, module in made.items():
            setattr(self, name, module)
        self.jk_mode, self.act_first = config["jk"], checked_flag(config["act_first"], "act_first")
        self.propagates = config["inputs"].propagate
        self.norms_by_graph, self.entrance_by_graph = takes_batch(self.norms[0]), takes_batch(self.entrance.norm)
        self.supports_norm_batch = self.norms_by_graph or self.entrance_by_graph

    def _fix_idle_biases(self) -> None:
        """Biases that a batch norm takes out again stay 0: their gradient is rounding alone, of which Adam would make
        full steps."""
        for conv, norm in zip(self.layers(), self.norms, strict=True):
            directly = not self.act_first or self.act is None
            if directly and isinstance(norm, BatchNorm) and conv.bias is not None:
                conv.bias.requires_grad_(False)  # and is kept, so that saved models have the tensors they always had

    def _check_entrance(self) -> None:
        """What is averaged is divided by a partition function. The largest entries are found once, of M or of the sum
        over each length that trained weights weigh."""
        first = self.layers()[0]
        if self.entrance.averaged and METHODS[first.method].overall != "row":
            means = ", ".join(str(number) for number, rule in METHODS.items() if rule.overall == "row")
            raise ValueError(
                "inputs averaged goes with methods whose partition function divides each row, got method "
                f"{first.method}: choose one of {means}, or leave it out"
            )
        if self.entrance.nearest is None:
            return
        if not family_of(first.paths).counts_steps:
            raise ValueError(
                f"inputs nearest goes with paths whose steps are counted, such as walks, got {first.paths!r}: leave it "
                "out"
            )
        if METHODS[first.method].divides and list(first.weights.parameters()):
            raise ValueError(
                f"inputs nearest goes with fixed path weights where something is divided by, got method {first.method} "
                f"with {first.weights}: fix them, choose method 5, 8 or 9, or leave it out"
            )

    @property
    def takes_rows(self) -> bool:
        """Whether scores of some nodes alone cost no more than these: nothing but the entrance looks at others."""
        by_node = all(map(_looks_at_no_other, (*self.norms, self.entrance.norm)))
        return self.propagates and self.num_layers == 1 and not self.residuals and by_node

    def layers(self) -> list[PANConv]:
        """The convolutions, first to last."""
        return list(self.convs)  # type: ignore[arg-type]

    @property
    def num_layers(self) -> int:
        return len(self.convs)

    def first(self) -> Linear:
        """The map that the features meet first."""
        return self.layers()[0].lin if self.start is None else self.start

    def outputs(self, x: Tensor | SparseRows, around: Around, every: bool) -> list[Tensor]:
        """What comes out of the last layer, or of every one."""
        if not self.propagates:
            x = self.entrance.drop_nodes(x)
        first = None if self.start is None else self._act(self.start(self.dropouts[0](x)))
        x = x if first is None else first
        found: list[Tensor] = []
        for i in range(self.num_layers):
            out = self._layer(i, x, first, around)
            found, x = [*found, out] if every else [out], out
        return found

    def _layer(self, i: int, x: Tensor | SparseRows, first: Tensor | None, around: Around) -> Tensor:
        """Layer i and what it keeps of before, then, unless it gives the scores, normalisation and activation."""
        out = self._convolved(i, x, around) if first is None else self._deep(i, x, first, around)
        if i == self.num_layers - 1 and self.jk_mode is None:
            return out
        norm, graphs = self.norms[i], around.graphs if self.norms_by_graph else ()
        return norm(self._act(out), *graphs) if self.act_first else self._act(norm(out, *graphs))

    def _deep(self, i: int, x: Tensor | SparseRows, first: Tensor, around: Around) -> Tensor:
        """Dropout and a convolution that has H₀ in it."""
        return self.convs[i](self.dropouts[i + 1](x), first, *around.graph)

    def _convolved(self, i: int, x: Tensor | SparseRows, around: Around) -> Tensor:
        """Dropout and convolution, in the first layer perhaps in the other order, and x·R beside it."""
        conv, dropout = self.convs[i], self.dropouts[i]
        if i == 0 and self.propagates:
            graphs = around.graphs if self.entrance_by_graph else ()
            enter = partial(self.entrance, rows=around.rows)
            out = conv(x, *around.graph, enter=lambda *given: dropout(enter(*given, *graphs)))
            x = dropout(self.entrance.drop_nodes(x)) if self.residuals else x
        else:
            x = dropout(x)
            out = conv(x, *around.graph)
        return out + self.residuals[i](x) if self.residuals else out

    def _act(self, x: Tensor) -> Tensor:
        return x if self.act is None else self.act(x)


def _looks_at_no_other(norm: nn.Module) -> bool:
    """Whether a normalisation, as it evaluates, takes each node by itself."""
    return isinstance(norm, (nn.Identity, BatchNorm)) or (isinstance(norm, LayerNorm) and norm.mode == "node")


def _convolutions(config: dict[str, Any]) -> Iterator[PANConv]:
    options = {name: config[name] for name in ("L", "method", "paths", "trials", "memory", "loops", "repeats")}
    kept, specs = config["residual"], layer_specs(config["weights"], config["num_layers"])
    for i, ((a, b), weights) in enumerate(zip(widths(config), specs, strict=True)):
        if from_input(config):
            yield InputConv(a, kept.share, kept.beta(i), weights=weights, **options)
        else:
            kind = EnteringConv if i == 0 and config["inputs"].propagate else PANConv
            yield kind(a, b, weights=weights, bias=config["bias"], concat=config["concat"], **options)
