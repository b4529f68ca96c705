"""DGI: no labels; an encoder whose node vectors tell the graph from a corrupted one, then logistic regression on them.

H = PReLU(Â·X·W), s = σ(mean of H), and σ(hᵢᵀ·B·s) is to be 1 for the graph and 0 with the rows of X shuffled.
Veličković, Fedus, Hamilton, Liò, Bengio & Hjelm, Deep graph infomax, ICLR 2019.
"""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn.inits import glorot

from panconv.base.random import keys, words
from panconv.compute.features import SparseRows
from panconv.compute.spmm import spmm
from panconv.graph.csr import CSR
from panconv.paper.zoo.logistic import classified
from panconv.paper.zoo.operator import graph
from panconv.paper.zoo.stack import How, Seeds, Tell, silent
from panconv.training.epoch import descend


class Infomax(nn.Module):
    """The encoder and the bilinear discriminator.

    Args:
        inputs: features of a node.
        width: of its vector.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.weight, self.discriminator = (nn.Parameter(torch.empty(n, width)) for n in (inputs, width))
        self.slope = nn.Parameter(torch.tensor(0.25))
        self.bias = nn.Parameter(torch.zeros(width))
        glorot(self.weight)
        glorot(self.discriminator)

    def encoded(self, transformed: Tensor, a: tuple[CSR, CSR]) -> Tensor:
        """The vectors of nodes, (N, width), from X·W."""
        return F.prelu(spmm(*a, transformed) + self.bias, self.slope)

    def loss(self, x: SparseRows, a: tuple[CSR, CSR], order: Tensor) -> Tensor:
        """Cross entropy of telling the graph from the one whose nodes have the features of others, x[order]."""
        transformed = x @ self.weight
        true = self.encoded(transformed, a)
        false = self.encoded(transformed[order], a)  # shuffled rows of X are shuffled rows of X·W
        summary = self.discriminator @ torch.sigmoid(true.mean(0))
        return (F.softplus(-(true @ summary)).mean() + F.softplus(false @ summary).mean()) / 2


def train(data: Data, how: How, seeds: Seeds, device: str = "cpu", tell: Tell = silent) -> Tensor:
    a = graph(data, device).base("Â").operands(torch.float32)
    x = SparseRows.of(data.x.float().to_sparse_csr()).to(device)
    vectors = []
    for done, seed in enumerate(seeds, 1):
        model = trained(x, a, how, seed)
        with torch.no_grad():
            vectors.append(model.encoded(x @ model.weight, a))
        tell(done / len(seeds))
    return classified(torch.stack(vectors), data.y, data.train_mask, data.val_mask)


def trained(x: SparseRows, a: tuple[CSR, CSR], how: How, seed: int) -> Infomax:
    """The encoder of the lowest loss."""
    device = a[0].value.device
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Infomax(x.shape[1], how["width"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=how["lr"], fused=True)
    start = torch.tensor(seed, device=device)
    least, waited, best = float("inf"), 0, copy.deepcopy(model.state_dict())
    for epoch in range(how["epochs"]):
        order = words(keys(start, epoch), (x.shape[0],)).argsort()
        loss = model.loss(x, a, order)
        if (now := float(loss.detach())) < least:
            least, waited, best = now, 0, copy.deepcopy(model.state_dict())
        else:
            waited += 1
            if waited == how["patience"]:
                break
        descend(optimizer, loss)
    model.load_state_dict(best)
    return model
