"""Mini-batches around seed nodes, without sampling: every row is that of the whole graph.

python examples/mini_batches.py
"""

import torch
import torch.nn.functional as F

from panconv import Adjacency, PANConv, load
from panconv.data import SeedLoader
from panconv.nn import num_hops


class Net(torch.nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv1 = PANConv(in_channels, 16, L=1, method=2)
        self.conv2 = PANConv(16, out_channels, L=2, method=7)

    def forward(self, x: torch.Tensor, adj: Adjacency) -> torch.Tensor:
        x = self.conv1(x, adj).relu()
        return self.conv2(F.dropout(x, training=self.training), adj)


def main(epochs: int = 10) -> tuple[float, float]:
    torch.manual_seed(0)
    data = load("cora")
    model = Net(data.num_features, int(data.y.max()) + 1)
    print(f"a node looks {num_hops(model)} hops far, {num_hops(model, stored=True)} where Z is that of the whole graph")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=1e-3)
    draw = torch.Generator().manual_seed(0)
    train = SeedLoader(data, model, data.train_mask, batch_size=35, shuffle=True, generator=draw)
    for _ in range(epochs):
        for batch in train:
            optimizer.zero_grad()
            out = model(batch.x, batch.adj)[: batch.batch_size]
            F.cross_entropy(out, batch.y[: batch.batch_size]).backward()
            optimizer.step()
    model.eval()
    test = SeedLoader(data, model, data.test_mask, batch_size=250)
    with torch.no_grad():
        out = torch.cat([model(batch.x, batch.adj)[: batch.batch_size] for batch in test])
        whole = model(data.x, data.edge_index)[data.test_mask]
    accuracy = float((out.argmax(1) == data.y[data.test_mask]).float().mean())
    apart = float((out - whole).abs().max())
    print(f"test accuracy after {epochs} epochs of {len(train)} batches: {100 * accuracy:.1f} %")
    print(f"rows of the batches and of the whole graph differ by {apart:.0e} at most")
    return accuracy, apart


if __name__ == "__main__":
    main()
