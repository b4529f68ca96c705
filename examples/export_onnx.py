"""A trained PAN as an ONNX file, on the graph it was trained on, run without torch by onnxruntime.

python examples/export_onnx.py
"""

import os
import tempfile

import onnxruntime
import torch
import torch.nn.functional as F

from panconv import PAN, Adjacency
from panconv.nn import to_onnx


def main(epochs: int = 60) -> float:
    torch.manual_seed(0)
    # Two groups of people who know each other mostly within their group; what they like tells a little more.
    group = torch.arange(60) % 2
    likely = torch.where(group[:, None] == group, 0.15, 0.02).triu(1)
    edges = torch.bernoulli(likely).nonzero().T
    adj = Adjacency.from_edge_index(torch.cat([edges, edges.flip(0)], 1), num_nodes=60)
    x = torch.randn(60, 8) + 0.3 * group[:, None]

    model = PAN(8, 16, 2, L=3, method=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(epochs):
        optimizer.zero_grad()
        F.cross_entropy(model(x, adj), group).backward()
        optimizer.step()
    model.eval()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pan.onnx")
        to_onnx(model, x, adj, path)
        print(f"the file has {os.path.getsize(path) / 1024:.0f} KiB")
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        new = torch.randn(60, 8)  # other features on the same graph
        (scores,) = session.run(None, {"x": new.numpy()})
    apart = float((torch.from_numpy(scores) - model(new, adj).detach()).abs().max())
    print(f"largest difference between torch and onnxruntime: {apart:.1e}")
    return apart


if __name__ == "__main__":
    main()
