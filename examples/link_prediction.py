"""Predicting links that were taken out of a graph, with both random walks.

python examples/link_prediction.py
"""

import torch

from panconv import Adjacency, load
from panconv.tasks import auc, link_scores, split_links


def main() -> dict[str, float]:
    split = split_links(load("cora"), fraction=0.1, seed=0)
    adj = Adjacency.from_edge_index(split.edge_index, num_nodes=split.num_nodes)
    pairs = torch.cat([split.positives, split.negatives], dim=1)
    truth = torch.arange(pairs.size(1)) < split.positives.size(1)
    print(f"Cora: {split.positives.size(1)} links taken out against as many pairs without one")
    found = {}
    for walk in ("generic", "maximal-entropy"):
        found[walk] = auc(link_scores(adj, pairs, walk=walk, steps=3), truth)
        print(f"  {walk:16} AUC {found[walk]:.3f}")
    return found


if __name__ == "__main__":
    main()
