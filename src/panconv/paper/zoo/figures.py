"""The figures of Table 2, in percent, by graph, with which ours are compared. No torch here."""

from __future__ import annotations

# Table 2, the baselines: what their own papers report, as the paper copies it. None is its "-".
TABLE2: dict[str, tuple[float | None, float | None, float | None]] = {
    "LP": (68.0, 45.3, 45.3),
    "ICA": (75.1, 69.1, 73.9),
    "ManiReg": (59.5, 60.1, 70.7),
    "SemiEmb": (59.0, 59.6, 71.7),
    "DeepWalk": (67.2, 43.2, 65.3),
    "ChebNet": (81.2, 69.8, 74.4),
    "DCNN": (76.8, None, 73.0),
    "node2vec": (74.9, 54.7, 75.3),
    "Planetoid": (75.7, 64.7, 77.2),
    "MoNet": (81.7, None, 78.8),
    "MLP": (55.1, 46.5, 71.4),
    "GCN": (81.5, 70.3, 79.0),
    "Graph-CNN": (76.3, None, None),
    "DynamicFilter": (81.6, None, 79.0),
    "FastGCN": (81.8, None, 77.6),
    "GLN": (81.2, 70.9, 78.9),
    "AGNN": (83.1, 71.1, 79.9),
    "GAT": (83.0, 72.5, 79.0),
    "Bootstrap": (78.4, 53.6, 78.8),
    "DGI": (82.3, 71.8, 76.8),
    "LNet": (79.5, 66.2, 78.3),
    "AdaLNet": (80.4, 68.7, 78.1),
    "SGC": (81.0, 71.9, 78.9),
    "GWNN": (82.8, 71.7, 79.1),
}
