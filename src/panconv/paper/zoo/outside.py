"""The rows that stand in no table of the paper: what it names beside its tables, and what stands beside that. No torch
here.

They are neither counted nor ranked.
"""

from __future__ import annotations

from panconv.paper.zoo.method import LINEAR, LINEAR_BY_GRAPH, Method, stack

_TUNED = (
    "in the form of Luo, Shi & Wu, Classic GNNs are strong baselines: reassessing GNNs for node classification, "
    "NeurIPS 2024"
)
# Of a stack for graphs where neighbours differ, which a search turns: width, depth, norm, residual and the rest.
_RESIDUAL = stack(
    64, 0.01, 0.0, decay="", dropout=0.2, normalize=None, epochs=1000, patience=200, layers=4, residual=True
) | {"norm": None, "keep": "metric", "metric": "accuracy"}

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
    "gcnii": Method(
        "GCNII",
        "Chen, Wei, Huang, Ding & Li, Simple and deep graph convolutional networks, ICML 2020",
        # its own settings, by graph as in its paper's table
        stack(
            64,
            0.01,
            0.01,
            decay="convs.",
            decay_others=5e-4,
            dropout=0.6,
            normalize=None,
            epochs=1500,
            patience=100,
            layers=64,
            share=0.1,
            identity=0.5,
        ),
        {
            "citeseer": {"hidden": 256, "layers": 32, "identity": 0.6, "dropout": 0.7},
            "pubmed": {"hidden": 256, "layers": 16, "identity": 0.4, "dropout": 0.5, "weight_decay": 5e-4},
        },
    ),
    "deep_gcn": Method(
        "Deep GCN",
        "Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017, appendix B",
        stack(64, normalize=None, layers=8),
    ),
    "res_gcn": Method(
        "GCN, tuned",
        f"Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017, {_TUNED}",
        _RESIDUAL,
    ),
    "res_sage": Method(
        "GraphSAGE, tuned",
        f"Hamilton, Ying & Leskovec, Inductive representation learning on large graphs, NIPS 2017, {_TUNED}",
        _RESIDUAL,
    ),
    "res_gat": Method(
        "GAT, tuned",
        f"Veličković et al., Graph attention networks, ICLR 2018, {_TUNED}",
        {**_RESIDUAL, "heads": 4},
    ),
    "gprgnn": Method(
        "GPR-GNN",
        "Chien, Peng, Li & Milenkovic, Adaptive universal generalized PageRank graph neural network, ICLR 2021",
        stack(64, decay="layers.", dropout_scores=0.5, normalize=None, epochs=1000, patience=200, K=10, alpha=0.1)
        | {"keep": "metric", "metric": "accuracy"},
    ),
}
