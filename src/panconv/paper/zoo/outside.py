"""The rows that stand in no table of the paper: what it names beside its tables, and what stands beside that. No torch
here.

They are neither counted nor ranked.
"""

from __future__ import annotations

from panconv.paper.zoo.method import LINEAR, LINEAR_BY_GRAPH, Method, stack

OUTSIDE: dict[str, Method] = {
    "appnp": Method(
        "APPNP",
        "Klicpera, Bojchevski & Günnemann, Predict then propagate: graph neural networks meet personalized PageRank, "
        "ICLR 2019",
        # without its dropout on the adjacency, which in K steps would drop K times over
        stack(64, 0.01, 5e-3, epochs=500, patience=100, K=10, alpha=0.1),
        met="operator",
    ),
    "ssgc": Method(
        "S²GC",
        "Zhu & Koniusz, Simple spectral graph convolution, ICLR 2021",
        {**LINEAR, "K": 16, "alpha": 0.05},
        LINEAR_BY_GRAPH,
        met="operator",
    ),
    "ngcn": Method(
        "N-GCN",
        "Abu-El-Haija, Kapoor, Perozzi & Lee, N-GCN: multi-scale graph convolution for semi-supervised node "
        "classification, UAI 2019",
        # Ten hidden channels per instance and four instances of each power, by validation; the rest is GCN's.
        stack(10, K=6, r=4),
        met="operator",
    ),
    "line": Method(
        "LINE",
        "Tang, Qu, Wang, Zhang, Yan & Mei, LINE: large-scale information network embedding, WWW 2015",
        # Half of 128 dimensions for each order; Adam and large steps in place of many small ones by SGD.
        {
            "walk": "generic",
            "dimension": 64,
            "negatives": 5,
            "steps": 1000,
            "batch": 4096,
            "lr": 0.003,
            "scale": "unit",
        },
        met="graph",
        one_split=True,
    ),
    "high_temperature": Method(
        "High temperature",
        "Ma, Li & Wang, PAN: path integral based convolution for deep graph neural networks, 2019, Section 3",
        stack(normalize=None),
    ),
    "harmonic": Method(
        "Harmonic function",
        "Zhu, Ghahramani & Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML 2003",
        {"cmn": True},
        met="operator",
        symmetric=True,
        one_split=True,
    ),
}
