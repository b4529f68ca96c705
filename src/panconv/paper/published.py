"""The figures that the paper reports, in percent, with which ours are compared. Never imports torch."""

from __future__ import annotations

from collections.abc import Sequence

from panconv.paper.zoo.figures import TABLE2 as TABLE2

GRAPHS = ("cora", "citeseer", "pubmed")
# Table 3, trained by back-propagation, L = 2: method → graph → accuracy.
TABLE3: dict[int, dict[str, float]] = {
    1: {"cora": 80.7, "citeseer": 69.2, "pubmed": 77.7},
    2: {"cora": 81.3, "citeseer": 70.1, "pubmed": 77.7},
    3: {"cora": 80.8, "citeseer": 69.2, "pubmed": 78.8},
    4: {"cora": 80.9, "citeseer": 68.9, "pubmed": 78.8},
    5: {"cora": 79.8, "citeseer": 66.6, "pubmed": 75.3},
    6: {"cora": 80.1, "citeseer": 68.5, "pubmed": 75.8},
    7: {"cora": 80.8, "citeseer": 69.6, "pubmed": 78.4},
}
# Table 3's last row and the PAN row of Tables 1 and 2: method 5 by grid search, which chose k(0) = 0, k(1) = k(2).
GRID_SEARCH: dict[str, float] = {"cora": 82.0, "citeseer": 71.2, "pubmed": 79.2}

TABLE1 = (
    *("node2vec", "Planetoid", "DeepWalk", "ChebNet", "GCN", "AGNN"),
    *("GAT", "Bootstrap", "DGI", "AdaLNet", "SGC", "GWNN"),
)


def reported(dataset: str, method: int, weights: str, k: Sequence[float] | None, L: int) -> float | None:
    """The paper's figure for a training, where it has one."""
    if L != 2:
        return None
    if method == 5 and k is not None and k[0] == 0 and k[1] == k[2] > 0:
        return GRID_SEARCH.get(dataset)
    by_backpropagation = weights == ("boltzmann" if method in (1, 2, 7) else "free")
    return TABLE3.get(method, {}).get(dataset) if by_backpropagation else None
