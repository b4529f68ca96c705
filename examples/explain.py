"""Which edges a `PANConv` listened to, by PyG's GNNExplainer, on a graph where the answer is known.

A crowd of people, each of one of two opinions. A few of them ask a friend who asks an expert, and end up with the
expert's opinion, two steps away; everybody else whom they know is noise. The explainer is to find the two edges.

python examples/explain.py
"""

import torch
import torch.nn.functional as F
from torch_geometric.explain import Explainer, GNNExplainer

from panconv import PANConv

ASKING, CROWD = 60, 3


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        # A matrix per length: what is said one step away may count differently from what is said two steps away.
        self.conv = PANConv(3, 8, L=2, method=3, concat=True)
        self.lin = torch.nn.Linear(8, 2)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.lin(self.conv(x, edge_index).relu())


def town() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features, edges and opinions: those who ask come first, then their friends, the experts and the crowd."""
    asking, friend, expert, *crowd = torch.arange((3 + CROWD) * ASKING).view(-1, ASKING)
    pairs = [(friend, asking), (expert, friend), *((other, asking) for other in crowd)]
    edge_index = torch.cat([torch.stack(pair) for pair in pairs], 1)
    x, y = 0.5 * torch.randn((3 + CROWD) * ASKING, 3), torch.randint(2, (ASKING,))
    x[:, 0] = 0
    x[expert, 0] = 4.0 * y - 2
    return x, edge_index, y


def main(epochs: int = 60, explained: int = 3) -> float:
    torch.manual_seed(0)
    x, edge_index, y = town()
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=1e-3)
    for _ in range(epochs):
        optimizer.zero_grad()
        F.cross_entropy(model(x, edge_index)[:ASKING], y).backward()
        optimizer.step()
    explainer = Explainer(
        model.eval(),
        algorithm=GNNExplainer(epochs=epochs, lr=0.1, edge_size=0.1, edge_ent=0.0),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    found = 0
    for node in range(explained):
        mask = explainer(x, edge_index, index=node).edge_mask
        best = mask.topk(2).indices
        found += len({node, ASKING + node} & set(best.tolist()))
        words = (f"{edge_index[0, e]} → {edge_index[1, e]} ({mask[e]:.2f})" for e in best.tolist())
        print(f"node {node}: {', '.join(words)}, of {int((mask > 0).sum())} edges within two steps")
    print(f"{found} of {2 * explained} edges on the way from the expert are among the two that matter most")
    return found / (2 * explained)


if __name__ == "__main__":
    main()
