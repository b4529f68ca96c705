"""A stack of convolutions as tuned GNNs have it: each layer a convolution, maybe plus a linear map of its input, a
normalisation, ReLU and dropout; a linear map gives the scores.

Luo, Shi & Wu, Classic GNNs are strong baselines: reassessing GNNs for node classification, NeurIPS 2024.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from panconv.graph import Adjacency
from panconv.nn import Dropout
from panconv.nn.between import norm_from
from panconv.paper.zoo.stack import How

_OPTIONS = {"layer": {"mode": "node"}}  # a node by itself, as torch's own has it


class Stack(nn.Module):
    """Layers of one width.

    Args:
        how: hidden, layers, dropout, norm ("batch", "layer" or None), and residual: whether each layer adds a trained
            linear map of its input.
        inputs, classes: the numbers of features and classes.
        conv: makes a convolution, with a bias or without, which is called with the features alone.
    """

    def __init__(self, how: How, inputs: int, classes: int, conv: Callable[..., nn.Module]) -> None:
        super().__init__()
        width, layers, norm = how["hidden"], how["layers"], how["norm"]
        widths = [inputs, *[width] * (layers - 1)]
        # A batch norm takes a bias out again: its gradient is rounding alone, and Adam would make full steps of that.
        bias = norm != "batch"
        self.convs = nn.ModuleList(conv(each, width, bias=bias) for each in widths)
        lins = (nn.Linear(each, width, bias) if how["residual"] else nn.Identity() for each in widths)
        self.lins = nn.ModuleList(lins)
        norms = (norm_from(norm, width, _OPTIONS.get(norm)) for _ in widths)
        self.norms = nn.ModuleList(nn.Identity() if each is None else each for each in norms)
        self.drops = nn.ModuleList(Dropout(how["dropout"]) for _ in widths)
        self.last, self.residual = nn.Linear(width, classes), how["residual"]

    def forward(self, x: Tensor, adj: Adjacency) -> Tensor:
        for conv, lin, norm, drop in zip(self.convs, self.lins, self.norms, self.drops, strict=True):
            made = conv(x) + lin(x) if self.residual else conv(x)
            x = drop(norm(made).relu())
        return self.last(x)
