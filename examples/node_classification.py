"""PANConv in a plain PyTorch Geometric model and training loop.

python examples/node_classification.py
"""

import torch
import torch.nn.functional as F

from panconv import PANConv, load


class Net(torch.nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv1 = PANConv(in_channels, 16, L=2)
        self.conv2 = PANConv(16, out_channels, L=2)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        x = F.dropout(x, training=self.training)
        x = self.conv1(x, edge_index).relu()
        return self.conv2(F.dropout(x, training=self.training), edge_index)


def main(epochs: int = 100) -> float:
    torch.manual_seed(0)
    data = load("cora")
    model = Net(data.num_features, int(data.y.max()) + 1)
    groups = [{"params": [model.conv1.lin.weight], "weight_decay": 5e-3}]
    groups += [{"params": [p for p in model.parameters() if p is not model.conv1.lin.weight]}]
    optimizer = torch.optim.Adam(groups, lr=0.01)
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        out = model(data.x, data.edge_index)
        F.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        correct = model(data.x, data.edge_index).argmax(1) == data.y
    accuracy = float(correct[data.test_mask].float().mean())
    print(f"test accuracy after {epochs} epochs: {100 * accuracy:.1f} %")
    for name, conv in (("first", model.conv1), ("second", model.conv2)):
        print(f"k(n) of the {name} layer:", [round(k, 2) for k in conv.weights().tolist()])
    return accuracy


if __name__ == "__main__":
    main()
