"""One row per baseline: its citation, its settings by graph, and what of it can be put on M. No torch here.

Table 2's 24 stand in its order; the rows after them (`panconv.paper.zoo.outside`) are neither counted nor ranked.

The method itself is the file of the row's name: `train(data, how, seeds, device, tell)` in `panconv.paper.zoo.<name>`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from panconv.base.near import meant
from panconv.paper.zoo.method import LINEAR, LINEAR_BY_GRAPH, Method, stack, walks
from panconv.paper.zoo.outside import OUTSIDE

_INDUCTIVE = {"variant": "I", "dimension": 50, "path": 10, "window": 3}  # Planetoid's, better on two of the graphs

METHODS: dict[str, Method] = {
    "lp": Method(
        "LP",
        # The paper cites Zhu, Ghahramani & Lafferty, ICML 2003, which is the row `harmonic`.
        "Zhu & Ghahramani, Learning from labeled and unlabeled data with label propagation, 2002, damped as in Zhou et "
        "al., Learning with local and global consistency, NIPS 2003",
        {"normalize": True, "steps": 20, "alpha": 0.95},
        {"citeseer": {"steps": 100, "alpha": 0.99}, "pubmed": {"steps": 100, "alpha": 0.99}},
        met="operator",
        one_split=True,
    ),
    "ica": Method(
        "ICA",
        "Lu & Getoor, Link-based classification, ICML 2003",
        # Counts are far larger than features whose rows sum to 1: the scale makes the one C right for both.
        {"C": 10.0, "link": "count", "scale": 0.03, "passes": 10, "parts": 20},
        one_split=True,
    ),
    "manireg": Method(
        "ManiReg",
        "Belkin, Niyogi & Sindhwani, Manifold regularization, JMLR 2006",
        {"ridge": 1e-3, "smooth": 0.3},
        {"citeseer": {"ridge": 0.01, "smooth": 1.0}, "pubmed": {"ridge": 0.1, "smooth": 1e-3}},
        one_split=True,
    ),
    "semiemb": Method(
        "SemiEmb",
        "Weston, Ratle, Mobahi & Collobert, Deep learning via semi-supervised embedding, 2012",
        # Validation wants the embedding to weigh far more than the labels.
        {"hidden": 50, "lr": 0.01, "weight_decay": 5e-4, "steps": 300, "pairs": 200, "embedding": 30.0, "margin": 1.0},
        {"pubmed": {"embedding": 100.0}},
        one_split=True,
    ),
    "deepwalk": Method(
        "DeepWalk",
        "Perozzi, Al-Rfou & Skiena, DeepWalk: online learning of social representations, KDD 2014",
        walks("hierarchical"),
        met="walk",
        one_split=True,
    ),
    "chebnet": Method(
        "ChebNet",
        "Defferrard, Bresson & Vandergheynst, Convolutional neural networks on graphs with fast localized spectral "
        "filtering, NIPS 2016",
        stack(K=3),  # matrices Θₖ: a polynomial of degree 2, on each graph the better of Kipf & Welling's two
        met="operator",
    ),
    "dcnn": Method(
        "DCNN",
        "Atwood & Towsley, Diffusion-convolutional neural networks, NIPS 2016",
        # by Adam on the cross entropy, as all that goes through `fit`; its paper has Adagrad on a hinge loss
        stack(hidden=None, decay="", hops=3),
        met="operator",
        one_split=True,
    ),
    "node2vec": Method(
        "node2vec",
        "Grover & Leskovec, node2vec: scalable feature learning for networks, KDD 2016",
        # A wider window than the paper's 10, its p and q, and the number of negatives: by validation.
        walks("negative", window=20, lr=0.02, negatives=1, p=2.0, q=0.5),
        {"citeseer": {"scale": "standard"}, "pubmed": {"negatives": 5, "p": 1.0}},
        met="walk",
        one_split=True,
    ),
    "planetoid": Method(
        "Planetoid",
        "Yang, Cohen & Salakhutdinov, Revisiting semi-supervised learning with graph embeddings, ICML 2016",
        # Adam and few, large steps in place of many small ones by SGD. On Cora a table did better in validation with
        # wider windows than the paper's 3 on a path of 10; on Citeseer the variant "I" did best with the paper's.
        {
            "variant": "T",
            "dimension": 128,
            "hidden": 50,
            "path": 40,
            "window": 20,
            "walks": 10,
            "negatives": 5,
            "batch": 300,
            "label_pairs": 1000,
            "pretrain": 100,
            "rounds": 100,
            "label_steps": 1,
            "context_steps": 1,
            "lr": 0.01,
            "context_lr": 0.01,
            "embed_lr": 0.001,
            "weight_decay": 5e-4,
        },
        {
            "citeseer": {**_INDUCTIVE, "pretrain": 300, "batch": 2000},
            "pubmed": {**_INDUCTIVE, "pretrain": 1000, "batch": 1000},
        },
        one_split=True,
    ),
    "monet": Method(
        "MoNet",
        "Monti et al., Geometric deep learning on graphs and manifolds using mixture model CNNs, CVPR 2017",
        stack(kernels=3, mean=True),
        {"pubmed": {"weight_decay": 5e-3}},
        met="graph",
    ),
    "mlp": Method(
        "MLP",
        "as in Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017",
        stack(normalize=None),
    ),
    "gcn": Method(
        "GCN",
        "Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017",
        stack(),
        met="operator",
    ),
    "graph_cnn": Method(
        "Graph-CNN",
        "Such et al., Robust spatial filtering with graph convolutional neural networks, IEEE JSTSP 2017",
        # two layers and no batch normalisation: what keeps A's sums in bounds here is its division by the degrees
        stack(base="D⁻¹A"),
        met="operator",
    ),
    "dynamic_filter": Method(
        "DynamicFilter",
        "Verma, Boyer & Verbeek, FeaStNet: feature-steered graph convolutions for 3D shape analysis, CVPR 2018",
        stack(normalize=None, heads=8),
    ),
    "fastgcn": Method(
        "FastGCN",
        "Chen, Ma & Xiao, FastGCN: fast learning with graph convolutional networks via importance sampling, ICLR 2018",
        # its sampled steps are noisy: more of them, and a dropout that its code has none of
        stack(epochs=400, patience=100, samples=400, batch=256),
        {"pubmed": {"samples": 3000}},
        met="graph",
        own_epochs=True,
    ),
    "gln": Method(
        "GLN",
        "Thekumparampil, Wang, Oh & Li, Attention-based graph neural network for semi-supervised learning, 2018",
        stack(),
        met="operator",
    ),
    "agnn": Method(
        "AGNN",
        "Thekumparampil, Wang, Oh & Li, Attention-based graph neural network for semi-supervised learning, 2018",
        stack(normalize=None, layers=2, fixed=0, epochs=1000, patience=100),
        {"cora": {"fixed": 1}, "pubmed": {"layers": 4}},
    ),
    "gat": Method(
        "GAT",
        "Veličković et al., Graph attention networks, ICLR 2018",
        stack(
            8,
            0.005,
            decay="",
            dropout=0.6,
            normalize=None,
            epochs=1000,
            patience=100,
            heads=8,
            out_heads=1,
            keep="both",
        ),
        # On Citeseer its authors stop by accuracy alone (https://github.com/PetarV-/GAT/issues/14).
        {"citeseer": {"keep": "accuracy"}, "pubmed": {"lr": 0.01, "weight_decay": 1e-3, "out_heads": 8}},
        met="graph",  # of which it takes the pattern alone: its attention weighs it
    ),
    "bootstrap": Method(
        "Bootstrap",
        "Buchnik & Cohen, Bootstrapped graph diffusions: exposing the power of nonlinearity, SIGMETRICS 2018",
        # The settings behind its figures are not known to us: these are the best of a random search, by validation.
        {
            "base": "D^−½AD^−½",
            "alpha": 0.9,
            "steps": 7,
            "rounds": 60,
            "growth": 0.1,
            "trust": 1.0,
            "quota": "found",
            "lead": "score",
            "hold": False,
            "balance": False,
        },
        {
            "citeseer": {"steps": 50, "lead": "share"},
            "pubmed": {
                "alpha": 0.95,
                "steps": 10,
                "growth": 0.005,
                "trust": 0.5,
                "quota": "equal",
                "lead": "share",
                "hold": True,
                "balance": True,
            },
        },
        one_split=True,
    ),
    "dgi": Method(
        "DGI",
        "Veličković et al., Deep graph infomax, ICLR 2019",
        {
            "width": 512,
            "lr": 1e-3,
            "epochs": 2000,
            "patience": 20,
        },
        one_split=True,
    ),
    "lnet": Method(
        "LNet",
        "Liao, Zhao, Urtasun & Zemel, LanczosNet: multi-scale deep graph convolutional networks, ICLR 2019",
        stack(hidden=64, weight_decay=2e-3, short=(1, 2, 5, 7), long=(10, 20, 30), steps=20, filter=128),
        {"citeseer": {"weight_decay": 5e-4}},
        met="operator",
        symmetric=True,
    ),
    "adalnet": Method(
        "AdaLNet",
        "Liao, Zhao, Urtasun & Zemel, LanczosNet: multi-scale deep graph convolutional networks, ICLR 2019",
        # The learned kernel needs decay of all its matrices, and a stronger one: chosen on validation nodes.
        stack(64, 0.01, 5e-3, decay="", short=(1, 2, 5, 7), long=(10, 20, 30), steps=20, filter=128),
        {"cora": {"weight_decay": 2e-3}, "pubmed": {"dropout": 0.6}},
        met="operator",
        symmetric=True,
    ),
    "sgc": Method(
        "SGC",
        "Wu et al., Simplifying graph convolutional networks, ICML 2019",
        {**LINEAR, "K": 2},
        LINEAR_BY_GRAPH,
        met="operator",
    ),
    "gwnn": Method(
        "GWNN",
        "Xu, Shen, Cao, Qiu & Cheng, Graph wavelet neural network, ICLR 2019",
        # 32 in place of 16, rows as they are, not scaled to sum 1, more decay, on Pubmed s = 1: by validation.
        stack(32, 0.01, 5e-3, epochs=1000, patience=100, s=1.0, threshold=1e-4, order=12, rows=False),
        {
            "citeseer": {"weight_decay": 0.01, "s": 0.7, "threshold": 1e-5},
            "pubmed": {"weight_decay": 1e-3, "threshold": 1e-7},
        },
        met="operator",
        # M of Pubmed has neighbours enough for its wavelets to fill the whole matrix at 1e-7.
        on_m={"pubmed": {"threshold": 1e-4}},
        symmetric=True,
    ),
    **OUTSIDE,
}


def trainer(name: str) -> Callable[..., Any]:
    """The function that trains a method and predicts: see `panconv.paper.zoo.stack` for what goes in and comes out."""
    return import_module(f"panconv.paper.zoo.{checked(name)}").train


def checked(name: str) -> str:
    """A method's name, from how a user may write it: `Graph-CNN`, `graph_cnn`."""
    if not isinstance(name, str):
        raise TypeError(f"name must be that of a method, such as 'gcn', got {type(name).__name__}")
    known = {_plain(each): key for key, method in METHODS.items() for each in (key, method.title)}
    if _plain(name) not in known:
        raise ValueError(f"{name!r} is no method of the zoo: it has {', '.join(METHODS)}{meant(name, METHODS)}")
    return known[_plain(name)]


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "")
