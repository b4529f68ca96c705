"""What the methods that are stacks of layers share: one function that trains S trials side by side through `fit`.

Every method of the zoo, a stack or not, is a function of this form:

    train(data, how, seeds, device="cpu", tell=silent) → scores (S, N, C), or classes (S, N) where it has no scores

`data` has x (N, F) dense with rows of sum 1, edge_index, maybe edge_weight (an operator to use in place of A), y, where
the labels of the test nodes are −1, train_mask and val_mask. A network that `fit` trains gets x as `SparseRows` where
almost all of it is zero. `how` holds the settings of the registry; with ``how["normalize"]`` False the edge weights are
the operator as they stand. Of a method that `fit` trains, lr, weight_decay, decay_others and the dropouts may be lists
of S numbers, one for each trial. Trial s depends on seeds[s], and on its own numbers, alone. `tell` is called with the
share that is done, 0 … 1. Beside the settings `how` may hold `cut`, as `fit` takes it, and `report`, which is called
with what `fit` gives.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from panconv.graph import Adjacency
from panconv.nn import Dropout, Stacked
from panconv.training.fit import FitResult, fit
from panconv.training.inputs import Reader

How = Mapping[str, Any]
Seeds = Sequence[int]
Tell = Callable[[float], None]
Make = Callable[[int, int], nn.Module]  # a module or a layer, from the widths of what goes in and of what comes out
# Settings that go to `fit` as they are, where a method has them.
_OPTIONS = ("lr", "weight_decay", "decay_others", "epochs", "patience", "keep", "metric", "cut")
_NODES = 1024  # so many are classified at a time, once a model is trained that needs no edges


def silent(done: float) -> None:
    """A `Tell` for who asked for none."""


class Layers(nn.Module):
    """Dropout, a layer, an activation, dropout, a layer, as most of them are.

    Args:
        first, second: called with x; what they need of the graph they have.
        p: of the dropout, a number, or one for each trial.
        activation: between them.
    """

    def __init__(
        self, first: nn.Module, second: nn.Module, p: float, activation: Callable[[Tensor], Tensor] = F.relu
    ) -> None:
        super().__init__()
        self.first, self.second, self.activation = first, second, activation
        self.drop_input, self.drop_hidden = Dropout(p), Dropout(p)

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        x = self.activation(self.first(self.drop_input(x)))
        return self.second(self.drop_hidden(x))


def two_layers(
    how: How, inputs: int, classes: int, layer: Make, activation: Callable[[Tensor], Tensor] = F.relu
) -> nn.Module:
    """`Layers` of one kind, with the width between them and the dropout of the settings."""
    first, second = layer(inputs, how["hidden"]), layer(how["hidden"], classes)
    return Layers(first, second, how["dropout"], activation)


def trained_by_fit(
    network: Callable[..., nn.Module],
    prepared: Callable[[Data, How, str], tuple[Any, ...]] = lambda data, how, device: (),
    shown: Callable[[Data, How], Data] = lambda data, how: data,
) -> Callable[..., Tensor]:
    """The `train` of a method that is one network.

    Args:
        network: the module of one trial, from the settings, the numbers of features and classes, and what is prepared;
            called with x and an `Adjacency`.
        prepared: what its layers need of the graph, made once on the device, by the settings.
        shown: what is done to the graph that it is called with, by the settings.
    """

    def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
        given = prepared(data, how, device)
        return fitted(lambda *widths: network(how, *widths, *given), shown(data, how), how, seeds, device, tell)

    return train


def trained_in_two_layers(layer: Callable[[Data, How, str], Make]) -> Callable[..., Tensor]:
    """The `train` of a method of two layers of one kind, which the graph, the settings and the device tell."""
    return trained_by_fit(two_layers, lambda *given: (layer(*given),))


def fitted(make: Make, data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    """Trains S copies of a module side by side, and returns the scores of each node by trial, (S, N, C).

    Args:
        make: the module of one trial, from the number of features and of classes; called with x and an `Adjacency`.
        data, how, seeds, device, tell: as every method of the zoo has them.
    """
    model = _fit(make, data, how, seeds, device, tell).model
    inputs = Reader.of(model, True, torch.device(device))(data)
    with torch.no_grad():
        return model(*inputs.args, **inputs.named).transpose(0, 1).cpu()


def fitted_alone(
    make: Make, z: Tensor, data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent
) -> Tensor:
    """The same for a module that needs no edges: it learns on the nodes with a label, and meets the others at the end.

    Args:
        make: the module of one trial; it is called with features and an `Adjacency` that has no edges, or None.
        z: what the graph has made of the features, (N, F), on the device.
        data, how, seeds, device, tell: as every method of the zoo has them.
    """
    known = (data.train_mask | data.val_mask).reshape(len(z), -1).any(1).nonzero().squeeze(1)
    train, val = data.train_mask[known], data.val_mask[known]
    edgeless = torch.empty(2, 0, dtype=torch.long)
    part = Data(z[known.to(z.device)], edgeless, y=data.y[known], train_mask=train, val_mask=val)
    model = _fit(make, part, how, seeds, device, tell).model
    with torch.no_grad():
        return torch.cat([model(nodes, None) for nodes in z.split(_NODES)]).transpose(0, 1).cpu()


def _fit(make: Make, data: Data, how: How, seeds: Seeds, device: str, tell: Tell) -> FitResult[Stacked]:
    shown = copy.copy(data)  # shallow: a method has no test nodes to look at
    shown.test_mask, shown.x = None, _compact(data.x, how)
    inputs, classes = data.x.size(1), int(data.y.max()) + 1
    model = Stacked(lambda: make(inputs, classes), inputs, classes, trials=len(seeds), decay=how["decay"])
    options = {name: how[name] for name in _OPTIONS if name in how}
    options["callback"] = lambda progress: tell(progress.epoch / progress.epochs)
    result = fit(model, shown, seeds=seeds, device=device, **options)
    if "report" in how:
        how["report"](result)
    return result


def _compact(x: Tensor, how: How) -> Tensor:
    """Features (N, F) as they are, or sparse where almost all are zero and the first layer maps them to fewer."""
    few = x.layout == torch.strided and 10 * int(x.count_nonzero()) < x.numel()
    return x.to_sparse_csr() if few and how.get("hidden", x.size(1)) < x.size(1) else x


def edges(adj: Adjacency) -> tuple[Tensor, Tensor | None]:
    """A graph as PyG's layers take it: edge_index (2, E) from sender to receiver, and the weights, if it has any."""
    return adj.cached("edges", lambda: torch.stack([adj.col.long(), adj.row.long()])), adj.value
