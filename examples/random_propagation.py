"""Random propagation in a model of PyG's own layers: nodes are dropped, and several draws of the dropping are to agree.

python examples/random_propagation.py
"""

import statistics

import torch
from torch_geometric.nn import GCN

from panconv import fit, load
from panconv.nn import DropNodes, Dropout
from panconv.training.consistency import Consistency


class Net(torch.nn.Module):
    """PyG's GCN behind two lines: whole nodes lose their features, and single features are dropped."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.drop_nodes, self.dropout = DropNodes(0.5), Dropout(0.5)
        self.gcn = GCN(in_channels, 32, num_layers=2, out_channels=out_channels)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.gcn(self.dropout(self.drop_nodes(x)), edge_index)


def main(epochs: int = 50, seeds: int = 1) -> dict[str, float]:
    data = load("cora")
    classes = int(data.y.max()) + 1
    found = {}
    # The same model both times: what differs is the loss that a step goes down.
    for name, regularizer in {"one draw": None, "three draws that agree": Consistency(draws=3)}.items():
        model = Net(data.num_features, classes)
        result = fit(model, data, seeds=range(seeds), lr=0.03, epochs=epochs, regularizer=regularizer)
        found[name] = statistics.fmean(result.val_accuracy)
        print(f"{name}: validation accuracy {100 * found[name]:.1f} %")
    return found


if __name__ == "__main__":
    main()
