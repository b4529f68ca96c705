"""One row a baseline of Table 2: its citation, its settings by graph, and what of it can be put on M. No torch here.

The method itself is the file of the row's name: `train(data, how, seeds, device, tell)` in `panconv.zoo.<name>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Method:
    """A baseline: what is known of it before it is trained."""

    title: str  # as Table 2 has it
    citation: str
    settings: dict[str, Any]
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)  # by graph
    met: str | None = None  # what M can be for it: its "operator", its "graph", its "walk"
    symmetric: bool = False  # whether its operator has to be symmetric
    splits_side_by_side: bool = False  # whether each trial may have a split of its own, masks (N, S)
    note: str = ""  # what a reader of its row should know

    def on(self, dataset: str) -> dict[str, Any]:
        """Its settings on a graph; on a graph of the user's own, those it has everywhere."""
        return {**self.settings, **self.changes.get(dataset, {})}


def stack(hidden: int = 16, lr: float = 0.01, weight_decay: float = 5e-4, **others: Any) -> dict[str, Any]:
    """The settings of what goes through `fit`; Kipf & Welling's where nothing else is said, with more patience."""
    plain = {
        "hidden": hidden,
        "lr": lr,
        "weight_decay": weight_decay,
        "decay": "first.",
        "dropout": 0.5,
        "normalize": True,
    }
    return {**plain, "epochs": 200, "patience": 50, **others}


METHODS: dict[str, Method] = {
    "lp": Method(
        "LP",
        "Zhu, Ghahramani & Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML 2003",
        {"normalize": True},
        met="operator",
    ),
    "ica": Method(
        "ICA",
        "Lu & Getoor, Link-based classification, ICML 2003",
        {},
    ),
    "manireg": Method(
        "ManiReg",
        "Belkin, Niyogi & Sindhwani, Manifold regularization, JMLR 2006",
        {},
    ),
    "semiemb": Method(
        "SemiEmb",
        "Weston, Ratle, Mobahi & Collobert, Deep learning via semi-supervised embedding, 2012",
        {},
    ),
    "deepwalk": Method(
        "DeepWalk",
        "Perozzi, Al-Rfou & Skiena, DeepWalk: online learning of social representations, KDD 2014",
        {"walk": "generic"},
        met="walk",
    ),
    "chebnet": Method(
        "ChebNet",
        "Defferrard, Bresson & Vandergheynst, Convolutional neural networks on graphs with fast localized spectral "
        "filtering, NIPS 2016",
        stack(),
        met="operator",
        splits_side_by_side=True,
    ),
    "dcnn": Method(
        "DCNN",
        "Atwood & Towsley, Diffusion-convolutional neural networks, NIPS 2016",
        {"normalize": True},
        met="operator",
    ),
    "node2vec": Method(
        "node2vec",
        "Grover & Leskovec, node2vec: scalable feature learning for networks, KDD 2016",
        {"walk": "generic"},
        met="walk",
    ),
    "planetoid": Method(
        "Planetoid",
        "Yang, Cohen & Salakhutdinov, Revisiting semi-supervised learning with graph embeddings, ICML 2016",
        {"variant": "T"},
        {"citeseer": {"variant": "I"}, "pubmed": {"variant": "I"}},
    ),
    "monet": Method(
        "MoNet",
        "Monti et al., Geometric deep learning on graphs and manifolds using mixture model CNNs, CVPR 2017",
        stack(),
        met="graph",
        splits_side_by_side=True,
    ),
    "mlp": Method(
        "MLP",
        "as in Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017",
        stack(),
        splits_side_by_side=True,
    ),
    "gcn": Method(
        "GCN",
        "Kipf & Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017",
        stack(),
        met="operator",
        splits_side_by_side=True,
    ),
    "graph_cnn": Method(
        "Graph-CNN",
        "Such et al., Robust spatial filtering with graph convolutional neural networks, IEEE JSTSP 2017",
        stack(),
        met="operator",
        splits_side_by_side=True,
        note="its own figure is of ten-fold cross-validation on Cora, not of the public split",
    ),
    "dynamic_filter": Method(
        "DynamicFilter",
        "Verma, Boyer & Verbeek, FeaStNet: feature-steered graph convolutions for 3D shape analysis, CVPR 2018",
        stack(),
        splits_side_by_side=True,
    ),
    "fastgcn": Method(
        "FastGCN",
        "Chen, Ma & Xiao, FastGCN: fast learning with graph convolutional networks via importance sampling, ICLR 2018",
        {"normalize": True},
        met="graph",
    ),
    "gln": Method(
        "GLN",
        "Thekumparampil, Wang, Oh & Li, Attention-based graph neural network for semi-supervised learning, 2018",
        stack(),
        met="operator",
        splits_side_by_side=True,
    ),
    "agnn": Method(
        "AGNN",
        "Thekumparampil, Wang, Oh & Li, Attention-based graph neural network for semi-supervised learning, 2018",
        stack(),
        splits_side_by_side=True,
    ),
    "gat": Method(
        "GAT",
        "Veličković et al., Graph attention networks, ICLR 2018",
        stack(hidden=8, lr=0.005, dropout=0.6, decay="", epochs=1000, patience=100, heads=8, out_heads=1),
        {"pubmed": {"lr": 0.01, "weight_decay": 1e-3, "out_heads": 8}},
        splits_side_by_side=True,
    ),
    "bootstrap": Method(
        "Bootstrap",
        "Buchnik & Cohen, Bootstrapped graph diffusions: exposing the power of nonlinearity, SIGMETRICS 2018",
        {},
    ),
    "dgi": Method(
        "DGI",
        "Veličković et al., Deep graph infomax, ICLR 2019",
        {
            "width": 512,
            "lr": 1e-3,
            "epochs": 2000,
            "patience": 20,
            "decays": (0.0, 1e-4, 1e-3, 5e-3, 2e-2),  # of the logistic regression: the best on validation nodes
            "steps": 300,
        },
    ),
    "lnet": Method(
        "LNet",
        "Liao, Zhao, Urtasun & Zemel, LanczosNet: multi-scale deep graph convolutional networks, ICLR 2019",
        stack(hidden=64, short=(1, 2, 5, 7), long=(10, 20, 30), steps=20, filter=128),
        met="operator",
        symmetric=True,
        splits_side_by_side=True,
    ),
    "adalnet": Method(
        "AdaLNet",
        "Liao, Zhao, Urtasun & Zemel, LanczosNet: multi-scale deep graph convolutional networks, ICLR 2019",
        # The learned kernel needs decay of all its matrices, and a stronger one: chosen on validation nodes.
        stack(64, 0.01, 5e-3, decay="", short=(1, 2, 5, 7), long=(10, 20, 30), steps=20, filter=128),
        met="operator",
        symmetric=True,
        splits_side_by_side=True,
    ),
    "sgc": Method(
        "SGC",
        "Wu et al., Simplifying graph convolutional networks, ICML 2019",
        stack(hidden=0, lr=0.2, weight_decay=1.3e-5, decay="", dropout=0.0, epochs=100, patience=100, K=2),
        {"citeseer": {"weight_decay": 2.35e-5, "epochs": 150}, "pubmed": {"weight_decay": 7.4e-5}},
        met="operator",
        splits_side_by_side=True,
    ),
    "gwnn": Method(
        "GWNN",
        "Xu, Shen, Cao, Qiu & Cheng, Graph wavelet neural network, ICLR 2019",
        # 32 in place of 16, and rows as they are, not scaled to sum 1: better on validation nodes.
        stack(hidden=32, epochs=1000, patience=100, s=1.0, threshold=1e-4, order=12, rows=False),
        {"citeseer": {"s": 0.7, "threshold": 1e-5}, "pubmed": {"s": 0.5, "threshold": 1e-7}},
        met="operator",
        symmetric=True,
        splits_side_by_side=True,
    ),
}


def trainer(name: str) -> Callable[..., Any]:
    """The function that trains a method and predicts: see `panconv.zoo.stack` for what goes in and comes out."""
    return import_module(f"panconv.zoo.{checked(name)}").train


def checked(name: str) -> str:
    """A method's name, from how a user may write it: `Graph-CNN`, `graph_cnn`."""
    plain = name.strip().lower().replace("-", "_")
    plain = plain if plain in METHODS else plain.replace("_", "")
    if plain not in METHODS:
        raise ValueError(f"{name!r} is no method of the zoo: it has {', '.join(METHODS)}")
    return plain


def merged(settings: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with some changed; a name they do not have is refused."""
    if odd := [name for name in given if name not in settings]:
        raise ValueError(f"{odd[0]!r} is no setting of this method: it has {', '.join(settings)}")
    return {**settings, **given}
