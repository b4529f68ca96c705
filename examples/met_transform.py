"""M wherever an adjacency stands: PyG's own GCN, unchanged, on the graph as it is and on the MET matrix.

python examples/met_transform.py
"""

import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCN

from panconv import METTransform, load


def accuracy(data: Data, epochs: int) -> float:
    torch.manual_seed(0)
    model = GCN(data.num_features, 16, num_layers=2, out_channels=int(data.y.max()) + 1, dropout=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        out = model(data.x, data.edge_index, edge_weight=data.edge_weight)
        F.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        correct = model(data.x, data.edge_index, edge_weight=data.edge_weight).argmax(1) == data.y
    return float(correct[data.test_mask].float().mean())


def main(epochs: int = 100) -> tuple[float, float]:
    data = load("cora")
    transform = METTransform(L=2, method=7, sparsify=("top_k", 32))  # or T.Compose([…, METTransform(…)])
    met = transform(data)
    kept, dropped, share, largest = transform.dropped
    print(f"M: {kept} entries, {dropped} dropped, {100 * share:.1f} % of |M|, at most {100 * largest:.0f} % of a row")
    usual, on_met = accuracy(data, epochs), accuracy(met, epochs)
    print(f"test accuracy after {epochs} epochs: {100 * usual:.1f} % as it is, {100 * on_met:.1f} % on M")
    return usual, on_met


if __name__ == "__main__":
    main()
