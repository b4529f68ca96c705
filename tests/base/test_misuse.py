"""Whatever is handed in wrongly is refused by us, in one line that names the argument and the value; never by accident.

A row of the table is a public callable with arguments that are right, and for some of them values that are wrong: each
is put in the place of the right one, and has to be refused with a ValueError or TypeError from a frame of ours.
"""

import functools
import re
import traceback
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

import panconv
from panconv import (
    MET,
    PAN,
    Adjacency,
    Boltzmann,
    EffectiveWalks,
    Fixed,
    Free,
    METTransform,
    PANConv,
    PowerLaw,
    SelfAvoidingPaths,
    ShortestPaths,
    Walks,
    eigs,
    fit,
    grid_search,
    lanczos,
    load,
)
from panconv.nn import (
    DropNodes,
    Dropout,
    HighTemperatureConv,
    LanczosConv,
    Linear,
    PANAttention,
    PANEdgeAttention,
    SpectralConv,
    Stacked,
)
from panconv.paper.zoo import trainer
from panconv.spectral import HighTemperature, Laplacian, basis, density, dirichlet_energy, perron, ritz
from panconv.tasks import auc, communities, link_scores, modularity, nmi, split_links
from panconv.testing import assert_operator
from panconv.training.grid import grid_points, power_law_points
from panconv.training.search import search
from panconv.training.space import Choice, Range
from panconv.walkers import RandomWalk, SecondOrderWalk

PACKAGE = str(Path(panconv.__file__).parent)
NAN, INF = float("nan"), float("inf")
EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
ADJ = Adjacency.of(EDGES)
DIRECTED = torch.tensor([[0, 1], [1, 2]])
ONES = torch.ones(4)
X = torch.ones(3, 4)
M = MET(Walks(ADJ, 2), [1.0, 1.0, 1.0], method=2)
TRIALS = MET(Walks(ADJ, 1), torch.ones(2, 5), method=2)
WALK = RandomWalk.generic(ADJ)
MASK = torch.tensor([True, False, False])
META = torch.device("meta")


class Odd:
    """Nothing that anybody takes."""


# What is wrong wherever such a thing is asked for.
NO_INTEGER = ["2", 2.5, NAN, [2], 2j, True, Odd(), torch.ones(2), torch.tensor(1.5)]
COUNT = [*NO_INTEGER, 0, -1, 10**30, torch.tensor(0)]
WIDTH = [*(each for each in COUNT if each is not COUNT[10]), None]  # −1 is legal
LENGTH = [*NO_INTEGER, None, -1, 10**13]
SEED = [*NO_INTEGER, None, -1, 2**63]
SHARE = ["1", 1.0, -0.1, NAN, None, [], [0.5, 1.0], [[0.5]], ["a", 0.1], 1j, np.array([0.5, NAN]), Odd()]
POSITIVE = ["1", None, NAN, INF, 0, -1.0, 1j, [1.0, 2.0], Odd()]
METHOD = ["2", 2.5, None, 0, 12, -1, [2], True, Odd()]
WEIGHTS = [
    *("fre", Odd(), 3.0, {"kind": "fre"}, {}, [1.0], [1.0] * 9, ["a", "b", "c"], [1.0, NAN, 1.0], [1.0, INF, 1.0]),
    *([1j, 1j, 1j], [[1.0], [2.0, 3.0], [1.0]], torch.ones(3, 1, 1), torch.ones(3, dtype=torch.complex64)),
    *(np.ones(3, complex), [10**400] * 3, torch.ones(3, device=META)),
]
PATHS = ["walk", None, 3, ADJ, Walks(ADJ, 2), {"kind": "walks", "width": 1}, {"width": 1}, ["walks"], Odd()]
GRAPH = [
    *(None, 3, "cora", Odd(), [[0, 1], [1, 0]], EDGES.float(), EDGES.double(), EDGES.bool(), EDGES.to(torch.complex64)),
    *(EDGES[0], EDGES.T, EDGES[:, None], torch.zeros(3, 4, dtype=torch.long), EDGES - 1, EDGES.to(META)),
    *(EDGES.numpy().astype(float), EDGES.numpy().astype(object), np.array([["a"], ["b"]]), 10**13 + EDGES),
    *(torch.ones(2, 3).to_sparse(), torch.ones(3, 3, dtype=torch.complex64).to_sparse(), torch.ones(3, 3)),
    *(sp.coo_matrix((2, 3)), sp.coo_matrix(np.ones((3, 3), complex)), sp.coo_array(np.ones(3))),
    sp.coo_matrix(np.ones((3, 3), np.longdouble)),
]
ON_THREE = [torch.tensor([[0, 3], [3, 0]]), Adjacency.of(EDGES, num_nodes=5), sp.eye(4)]
EDGE_WEIGHT = [
    *(3.0, "1", Odd(), ONES[:3], torch.ones(4, 1), ONES.to(torch.complex64), ONES * NAN, ONES / 0, ONES.to(META)),
    *(ONES.to_sparse(), [1.0, 2.0], ["a"] * 4, [[1.0], [2.0, 3.0], [1.0], [1.0]], np.ones(4, complex), [1j] * 4),
    *(np.ones(3), np.ones(4, np.longdouble), np.array([1.0, NAN, 1.0, 1.0]), [None] * 4, {"a": 1}),
    *([1e-310] * 4, [1.0, 1.0, 1e301, 1.0]),
]
FEATURES = [
    *(None, 3, "x", Odd(), [[1.0] * 4] * 3, X.numpy(), X[0, 0], X.long(), X.bool(), X.to(torch.complex64), X.to(META)),
]
TO_LAYER = [*FEATURES, X[0], X[:, :3], X.double(), X.half(), X.double().to_sparse(), X[:2]]
OPERAND = [*FEATURES, X[:2], torch.ones(4, 3), X.to_sparse()]
DTYPE = [torch.int64, torch.bool, torch.complex64, "float32", float, 3, torch.float8_e5m2, np.float32]
OPERATOR = [None, 3, "M", Odd(), np.eye(3), sp.eye(3), torch.ones(2, 3), torch.ones(3)]
MATRIX = [torch.eye(3, dtype=torch.complex64), torch.eye(3) * NAN, torch.eye(3) / 0, torch.eye(3, device=META)]
WALK_NAME = ["generc", None, 3, ["generic"], Odd()]
PAIRS = [None, 3, [[0], [1]], EDGES[0], EDGES.float(), EDGES.bool(), EDGES + 1, EDGES - 1, EDGES.to(META), EDGES.T]
LABELS = [None, 3, [0, 1, 2], torch.ones(3), torch.ones(3, 1).long(), torch.ones(3, dtype=torch.complex64)]
STARTS = [None, "0", [[0]], [0.5], [3], [-1], [True], Odd(), [10**30], torch.tensor([0], device=META)]
LAYER = {"in_channels": WIDTH, "out_channels": [*COUNT, None], "L": LENGTH, "paths": PATHS}


def small(**changed):
    masks = dict(zip(("train_mask", "val_mask", "test_mask"), torch.eye(3).bool(), strict=True))
    return Data(**{"x": X, "edge_index": EDGES, "y": torch.tensor([0, 1, 1]), **masks, **changed})


def on_graph(layer):
    return lambda x=X, edge_index=EDGES, edge_weight=None: layer(x, edge_index, edge_weight)


def conv(**options):
    return on_graph(PANConv(4, 2, **options))


# name → (callable, right arguments, {argument: wrong values})
DEEP = PAN(4, 3, 2, residual="input")
TABLE = {
    "Adjacency.of": (Adjacency.of, {"source": EDGES}, {"edge_weight": EDGE_WEIGHT, "num_nodes": [*NO_INTEGER, -1, 2]}),
    "Adjacency.of a graph": (
        lambda edge_index: Adjacency.of(edge_index),
        {},
        {"edge_index": [each for each in GRAPH if not sp.issparse(each) and True]},
    ),
    "from_edge_index": (
        Adjacency.from_edge_index,
        {"edge_index": EDGES},
        {"edge_index": [*GRAPH[:19], X.to_sparse()], "num_nodes": [*NO_INTEGER, -1, 2, 10**13, 2**62]},
    ),
    "reweight": (Adjacency.of(EDGES, ONES).reweight, {"edge_weight": ONES}, {"edge_weight": EDGE_WEIGHT}),
    "Adjacency.to_dense": (ADJ.to_dense, {}, {"dtype": DTYPE}),
    "Adjacency.base": (ADJ.base, {}, {"name": ["B", "", "a"]}),
    "MET": (
        MET,
        {"paths": Walks(ADJ, 2), "method": 5},
        {
            "paths": [ADJ, EDGES, None, "walks", Walks, 3, Odd()],
            "weights": WEIGHTS,
            "method": METHOD,
            "memory": ["high", 3, [], Odd()],
        },
    ),
    "apply": (M.apply, {"x": X}, {"x": OPERAND}),
    "terms": (M.terms, {"x": X}, {"x": OPERAND}),
    "apply in trials": (TRIALS.apply, {}, {"x": [torch.ones(3, 4), torch.ones(3), torch.ones(3, 4, 5), *OPERAND]}),
    "to_dense": (M.to_dense, {}, {"dtype": DTYPE}),
    "Adjacency.with_values": (
        ADJ.with_values,
        {},
        {"value": [torch.ones(9), torch.ones(4, 1), [1.0] * 4, torch.ones(4).long()]},
    ),
    "Adjacency.to": (ADJ.to, {}, {"device": ["nosuch", 3.5]}),
    "to_sparse": (M.to_sparse, {}, {"dtype": DTYPE}),
    "Walks": (Walks, {"adj": ADJ, "L": 2}, {"L": LENGTH}),
    "ShortestPaths": (ShortestPaths, {"adj": ADJ, "L": 2}, {"L": LENGTH[:6], "memory_limit": COUNT[:9]}),
    "SelfAvoidingPaths": (SelfAvoidingPaths, {"adj": ADJ, "L": 2}, {"L": LENGTH[:6], "memory_limit": COUNT[:9]}),
    "EffectiveWalks": (
        EffectiveWalks,
        {"adj": ADJ, "L": 2},
        {"L": LENGTH[:6], "width": [*POSITIVE[2:], True, 10**400]},
    ),
    "Free": (Free, {}, {"k": WEIGHTS[7:]}),
    "Fixed": (Fixed, {}, {"k": [None, *WEIGHTS[7:]]}),
    "Boltzmann": (Boltzmann, {"energies": [0.0]}, {"energies": [None, *WEIGHTS[7:]], "temperature": POSITIVE}),
    "PowerLaw": (
        PowerLaw,
        {"L": 2},
        {
            "L": LENGTH,
            "trained": ["no", 1, None],
            "alpha": [*POSITIVE, 0.5],
            "temperature": [*POSITIVE[:-2], Odd(), [1.0, -1.0], torch.ones(2, 2), torch.ones((), device=META)],
        },
    ),
    "PANConv": (
        PANConv,
        {"in_channels": 4, "out_channels": 2},
        {
            **LAYER,
            **{"method": METHOD, "weights": WEIGHTS, "trials": COUNT, "memory": ["high"]},
            **{"bias": ["x", 1], "concat": ["x", 1]},
        },
    ),
    "PANConv()": (conv(), {}, {"x": TO_LAYER, "edge_index": [*GRAPH, *ON_THREE], "edge_weight": EDGE_WEIGHT}),
    "PANConv() wide first": (on_graph(PANConv(4, 9)), {}, {"x": TO_LAYER}),
    "PANConv() of trials": (conv(trials=3), {}, {"x": [torch.ones(3, 2, 4), torch.ones(3, 1, 3, 4), *TO_LAYER]}),
    "PANConv() lazy": (lambda x: PANConv(-1, 2)(x, EDGES), {}, {"x": TO_LAYER[:12]}),
    "PAN": (
        PAN,
        {"in_channels": 4, "hidden_channels": 3, "out_channels": 2},
        {
            **LAYER,
            "hidden_channels": COUNT,
            "num_layers": COUNT,
            "method": METHOD,
            "weights": WEIGHTS,
            "dropout": SHARE,
            "out_channels": COUNT,
            "act": ["x", 3, [], torch.nn.ReLU, Odd()],
            "act_first": ["x", 1, None],
            "act_kwargs": ["x", {"x": 1}, {1: 1}, [1]],
            "norm": ["x", 3, [], torch.nn.BatchNorm1d, Odd()],
            "norm_kwargs": ["x", {"x": 1}, [1]],
            "jk": ["x", 3, ["cat"], True],
            "concat": ["x", 1, None],
            "residual": ["x", 3, [], {}, {"kind": "x"}, {"kind": "input", "share": 2}, Odd()],
            "inputs": ["x", 3, [], {"x": 1}, {"drop_nodes": 1}, {"propagate": 1}, {"norm": "batch"}, Odd()],
        },
    ),
    "PAN()": (on_graph(PAN(4, 3, 2)), {}, {"x": TO_LAYER, "edge_index": GRAPH[:10], "edge_weight": EDGE_WEIGHT[:4]}),
    "PAN.seed": (PAN(4, 3, 2).seed, {}, {"seeds": [3, [0.5], ["a"], [1, 2], [], [-1], [2**63], None, Odd()]}),
    "PAN.trial": (PAN(4, 3, 2, trials=2).trial, {}, {"s": [2, -1, "0", 0.5, None]}),
    "PAN.narrowed": (PAN(4, 3, 2, trials=2).narrowed, {}, {"rows": [[], [2], [-1], ["0"], 3, None]}),
    "PAN.repeated": (PAN(4, 3, 2).repeated, {}, {"k": COUNT}),
    "PAN.without_layers": (DEEP.without_layers, {}, {"numbers": [[0], [1, 2], ["1"], 3, None]}),
    "PAN.key": (PAN(4, 3, 2).key, {"seeds": [0], "epoch": 1}, {"draws": COUNT}),
    "PAN.hidden": (PAN(4, 3, 2).hidden, {"x": X, "edge_index": EDGES}, {"x": TO_LAYER}),
    "dirichlet_energy": (dirichlet_energy, {"adj": ADJ, "x": X}, {"x": [torch.ones(3), None], "relative": ["x", 1]}),
    "Linear": (Linear, {"in_channels": 4, "out_channels": 2}, {"in_channels": WIDTH, "trials": COUNT}),
    "Dropout": (Dropout, {}, {"p": SHARE}),
    "DropNodes": (DropNodes, {}, {"p": SHARE}),
    "DropNodes()": (DropNodes(), {}, {"x": [None, 3, X.numpy(), X.long(), "x"]}),
    "Dropout()": (Dropout(), {}, {"x": [None, 3, X.numpy(), X.long(), "x"]}),
    "PANAttention": (
        PANAttention,
        {"in_channels": 4, "out_channels": 2},
        {**LAYER, "method": [*METHOD, 1, 2, 7], "heads": [*COUNT, 3], "paths": ["walk", None], "rank": LENGTH},
    ),
    "PANAttention()": (on_graph(PANAttention(4, 2)), {}, {"x": [*TO_LAYER, torch.ones(3, 2, 4)]}),
    "PANEdgeAttention": (
        PANEdgeAttention,
        {"in_channels": 4, "out_channels": 2},
        {
            **{"in_channels": WIDTH, "out_channels": [*COUNT, None], "L": LENGTH, "heads": [*COUNT, 3]},
            **{"weights": [*WEIGHTS, torch.ones(3, 2)], "bias": ["yes", None, 1, Odd()]},
        },
    ),
    "PANEdgeAttention()": (
        on_graph(PANEdgeAttention(4, 2)),
        {},
        {"x": [*TO_LAYER, torch.ones(3, 2, 4)], "edge_index": GRAPH},
    ),
    "PANAttention.pair_weights": (
        PANAttention(4, 2).pair_weights,
        {"x": X},
        {"edge_index": [None, 3, EDGES[0], EDGES.float(), EDGES + 1, EDGES - 1, EDGES.T]},
    ),
    "HighTemperatureConv": (
        HighTemperatureConv,
        {"in_channels": 4, "out_channels": 2},
        {"in_channels": WIDTH, "out_channels": COUNT},
    ),
    "HighTemperatureConv()": (on_graph(HighTemperatureConv(4, 2)), {}, {"x": TO_LAYER, "edge_index": GRAPH}),
    "SpectralConv": (
        SpectralConv,
        {"in_channels": 4, "out_channels": 2},
        {**LAYER, "k": COUNT, "method": [*METHOD, 3], "degree": COUNT, "filter": ["low", None, 3, ["free"]]},
    ),
    "SpectralConv()": (on_graph(SpectralConv(4, 2, k=2)), {}, {"x": TO_LAYER, "edge_index": GRAPH[:5]}),
    "LanczosConv": (
        LanczosConv,
        {"in_channels": 4, "out_channels": 2},
        {
            **LAYER,
            "method": [*METHOD, 3],
            "steps": COUNT,
            "seed": SEED,
            "short": ["1", 1, [0.5], [-1], [1, 1], None],
            "long": ["1", 1, [0.5], [0], [1, 1], None],
            "hidden": COUNT,
        },
    ),
    "LanczosConv()": (on_graph(LanczosConv(4, 2, steps=2)), {}, {"x": TO_LAYER, "edge_index": GRAPH[:5]}),
    "Stacked": (
        Stacked,
        {"make": lambda: torch.nn.Linear(4, 2), "in_channels": 4, "out_channels": 2, "trials": 2},
        {
            "make": [None, 3, torch.nn.Linear(4, 2).weight, int],
            "trials": COUNT,
            "in_channels": COUNT,
            "decay": [None, 3],
        },
    ),
    "eigs": (eigs, {"M": M, "k": 2}, {"M": [*OPERATOR, *MATRIX, TRIALS], "k": [*COUNT, None, 4]}),
    "lanczos": (
        lanczos,
        {"M": M, "x": torch.ones(3), "steps": 2},
        {
            "M": [*OPERATOR, *MATRIX],
            "x": [
                None,
                [1.0] * 3,
                np.ones(3),
                torch.ones(3).long(),
                torch.ones(2),
                torch.ones(3).half(),
            ],
            "steps": [*COUNT, None, 4],
        },
    ),
    "ritz": (ritz, {"M": torch.eye(3), "x": torch.ones(3), "steps": 2}, {"M": OPERATOR, "steps": [0, 4, "1", None]}),
    "basis": (basis, {"M": M, "k": 2}, {"M": [*OPERATOR, torch.eye(3)], "k": COUNT}),
    "density": (
        density,
        {"M": M},
        {"M": [*OPERATOR, *MATRIX], "steps": COUNT, "starts": COUNT, "seed": SEED, "callback": [3, "print"]},
    ),
    "Laplacian": (lambda edge_index: Laplacian(edge_index), {}, {"edge_index": GRAPH[:10]}),
    "perron": (lambda edge_index: perron(edge_index), {}, {"edge_index": GRAPH[:10]}),
    "Laplacian @": (Laplacian(ADJ).__matmul__, {}, {"x": OPERAND}),
    "Laplacian.to_dense": (Laplacian(ADJ).to_dense, {}, {"dtype": DTYPE}),
    "HighTemperature @": (HighTemperature(ADJ).apply, {"x": X}, {"x": OPERAND}),
    "RandomWalk": (RandomWalk, {"transition": ADJ, "stationary": None}, {"transition": [None, 3, EDGES, Odd()]}),
    "RandomWalk.generic": (lambda edge_index: RandomWalk.generic(edge_index), {}, {"edge_index": GRAPH[:10]}),
    "sample": (
        WALK.sample,
        {"starts": [0], "steps": 2},
        {"starts": STARTS, "steps": [*NO_INTEGER, None, -1, 10**30], "seed": SEED},
    ),
    "sample so many": (WALK.sample, {"starts": torch.zeros(2**20).long()}, {"steps": [2**31 - 2]}),
    "SecondOrderWalk": (
        SecondOrderWalk,
        {"walk": WALK},
        {"walk": [None, ADJ, "generic", Odd()], "p": POSITIVE, "q": POSITIVE},
    ),
    "second-order sample": (
        SecondOrderWalk(WALK).sample,
        {"starts": [0], "steps": 2},
        {"starts": STARTS, "seed": SEED},
    ),
    "communities": (
        communities,
        {"adj": ADJ, "k": 2},
        {"k": [*COUNT, 4], "walk": WALK_NAME, "steps": [*NO_INTEGER, None, -1], "seed": SEED, "restarts": COUNT},
    ),
    "modularity": (functools.partial(modularity, ADJ), {}, {"labels": [*LABELS, torch.zeros(2).long()]}),
    "nmi": (nmi, {"a": torch.tensor([0, 1, 1]), "b": torch.tensor([0, 1, 1])}, {"a": LABELS, "b": LABELS}),
    "link_scores": (
        link_scores,
        {"adj": ADJ, "pairs": EDGES},
        {"pairs": PAIRS, "walk": WALK_NAME, "steps": [*COUNT, None]},
    ),
    "auc": (
        auc,
        {"scores": torch.arange(3.0), "positives": MASK},
        {
            "scores": [None, [1.0, 2.0, 3.0], torch.ones(2), torch.ones(3, 1), torch.ones(3) * NAN],
            "positives": [None, [True, False, True], MASK.long(), MASK[:2], MASK & False],
        },
    ),
    "split_links": (
        split_links,
        {"graph": torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])},
        {"fraction": [*POSITIVE, 1, 1.5], "seed": SEED, "num_nodes": [*NO_INTEGER, -1, 2, 10**13]},
    ),
    "METTransform": (
        METTransform,
        {},
        {
            "L": LENGTH,
            "method": METHOD,
            "weights": [*WEIGHTS, torch.ones(3, 2)],
            "paths": PATHS,
            "sparsify": [
                "top_k",
                ("top", 3),
                ("top_k",),
                3,
                ("top_k", 0),
                ("top_k", 1.5),
                ("threshold", -1),
                ("threshold", "1"),
                ("threshold", NAN),
            ],
        },
    ),
    "METTransform()": (METTransform(), {}, {"data": [None, 3, EDGES, ADJ, HeteroData(), Data(x=X)]}),
    "grid_points": (
        grid_points,
        {"values": [0.0, 1.0], "L": 1},
        {"values": [[], "01", 3, [NAN], ["a"], None], "L": LENGTH, "tie": [3, "0", [0.5], [4]], "layers": COUNT},
    ),
    "power_law_points": (
        power_law_points,
        {"temperatures": [1.0], "alphas": [1.0]},
        {"temperatures": [3, "1", ["a"], [NAN], None], "alphas": [3, "1", ["a"], [NAN], None]},
    ),
    "grid_search": (
        grid_search,
        {"data": small(), "points": [[1.0, 1.0, 1.0]]},
        {
            "data": [None, 3, EDGES, Odd()],
            "points": [[], None, "free", 3],
            "settings": [3, "lr", {"learning_rate": 0.1}, {"hidden": 0}, {"epochs": "9"}],
            "method": METHOD,
            "L": LENGTH,
            "trials": COUNT,
            "seed": SEED,
            "device": ["tpu9", 3.5, None, "meta", "cuda:99"],
        },
    ),
    "search": (
        search,
        {"data": small(), "space": {"method": 5, "L": 1, "hidden": 2, "layers": 1, "epochs": 1, "patience": 1}},
        {
            "data": [None, 3, EDGES, Odd()],
            "space": [None, 3, "cold", [1]],
            "model": ["gcn", 3, None],
            "settings": COUNT,
            "seeds": COUNT,
            "finalists": COUNT,
            "reruns": COUNT,
            "fresh": [-1, 1.5, "1", None, NAN],
            "budget": [0, -1, "1m", NAN, float("inf")],
            "seed": SEED,
            "split": ["mine", 3],
            "halving": [0.5, "a", None, (2.0,), [0.0]],
            "device": ["tpu9", 3.5, None, "meta", "cuda:99"],
        },
    ),
    "Choice": (Choice, {"values": [1]}, {"values": [[], (), "ab", 3, None]}),
    "Range": (Range, {"low": 1, "high": 2}, {"low": [3, "a", NAN, None], "high": [0, "a", NAN, None]}),
    "fit": (
        fit,
        {"model": PAN(4, 3, 2), "data": small()},
        {
            "model": [None, 3, torch.nn.Linear(4, 2), PAN],
            "data": [None, 3, X, Data(x=X)],
            "seeds": [3, [0.5], ["a"], [1, 2], [], [-1], [2**32], None, "0"],
            "lr": POSITIVE,
            "weight_decay": ["1", None, NAN, INF, -1.0, 1j, [1.0, 1.0], [], [-1.0]],
            "decay_others": ["1", None, NAN, INF, -1.0, 1j, [1.0, 1.0], [], [-1.0]],
            "regularizer": ["x", 3, [1]],
            "cut": ["x", 3, [1]],
            "callback": ["x", 3, [1]],
            "epochs": [*COUNT, None],
            "patience": [*COUNT, None],
            "keep": ["first", None, 3, ["loss"]],
            "metric": ["f1", 3, ["accuracy"], "mae"],
            "val": [3, "graph", X],
            "device": ["tpu9", 3.5, None, "meta", "cuda:99"],
        },
    ),
    "assert_operator": (assert_operator, {}, {"M": [None, 3, "M", X, Odd()]}),
    "load": (load, {}, {"source": [None, 3, Odd(), "no such graph"]}),
    "trainer": (trainer, {}, {"name": [None, 3, "gnc", ["gcn"]]}),
}
# What else a message may say of a value, and call an argument.
TOLD = {MET: ["several trials"], Adjacency: ["has 5 nodes"], float: ["got ()"]}
TOLD |= {Data: ["missing"], type(None): ["missing"]}
ALSO = {"p": "dropout|drop_nodes", "edge_index": "sparse matrix|the graph", "s": "trial", "name": "base|method"}


def forms(value):
    """How a message may show a value."""
    yield from (repr(value), str(value), " ".join(repr(value).split())[:70], getattr(value, "__name__", "no name"))
    yield type(value).__name__
    array = np.asarray(value) if isinstance(value, (list, tuple)) and len(value) != 3 else value
    shape = tuple(getattr(array, "shape", ()))
    yield "shape ()" if isinstance(value, torch.Tensor) else repr(value)
    if shape:
        yield from (str(shape), f"got {shape[0]}", f"only {shape[0]} nodes", f"has {shape[0]} nodes")
    yield from (str(getattr(value, name)) for name in ("dtype", "layout", "device") if hasattr(value, name))
    if isinstance(value, (list, tuple)):
        yield from map(repr, value) if value else ["empty"]
        yield "complex" if any(isinstance(each, complex) for each in value) else repr(value)
    if isinstance(value, dict):
        yield from (repr(each) for each in (*value, *value.values(), value.get("kind")))
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_meta:
        yield from map(str, value.unique().tolist())
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        yield "nan"
    yield from TOLD.get(type(value), [])


def refusal(call):
    """The message of a refusal of ours."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    error, message = caught.value, str(caught.value)
    assert type(error) in (TypeError, ValueError), f"{type(error)}: {message}"
    assert traceback.extract_tb(error.__traceback__)[-1].filename.startswith(PACKAGE), message
    assert "\n" not in message
    assert 10 < len(message) < 400, message
    return message


def complaints(call, right, argument, values):
    """What is not as it should be about the refusals of some values."""
    for value in values:
        try:
            message = refusal(lambda value=value: call(**{**right, argument: value}))
        except Exception as error:
            yield f"{argument}={value!r}: {type(error).__name__}: {error}"
            continue
        if not re.search(rf"\b({argument}|{ALSO.get(argument, argument)})\b", message):
            yield f"{argument}={value!r} is not named: {message}"
        if not any(form in message for form in forms(value)):
            yield f"{argument}={value!r} is not shown: {message}"


@pytest.mark.parametrize("name", TABLE)
def test_what_is_wrong_is_refused_in_a_line(name):
    call, right, wrong = TABLE[name]
    found = [each for argument, values in wrong.items() for each in complaints(call, right, argument, values)]
    assert not found, "\n".join(found)


def test_the_table_is_large():
    assert sum(len(values) for _, _, wrong in TABLE.values() for values in wrong.values()) > 1500


FIELDS = {
    "x": [None, X.numpy(), X[0], X.to(torch.complex64), X.to(META), X.unsqueeze(1)],
    "edge_index": [None, [[0], [1]], EDGES.float(), EDGES - 1, EDGES + 1, EDGES[0]],
    "edge_weight": [each for each in EDGE_WEIGHT if not isinstance(each, (float, str, dict, Odd))],
    "y": [None, [0, 1, 1], np.zeros(3), torch.zeros(3), torch.zeros(3, 2).long(), torch.tensor([0, 1, 2]), MASK],
    "train_mask": [None, [0], MASK.long(), MASK[:2], MASK & False, MASK.to(META), torch.eye(3).bool()],
    "test_mask": [[True] * 3, MASK.float(), MASK[None], MASK & False],
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_graph_to_train_on(field):
    def trained(**changed):
        return fit(PAN(4, 3, 2), small(**changed), epochs=1)

    found = list(complaints(trained, {}, field, FIELDS[field]))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("field", ["edge_index", "edge_weight"])
def test_a_graph_to_transform(field):
    found = list(complaints(lambda **changed: METTransform()(small(**changed)), {}, field, FIELDS[field]))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lanczos(DIRECTED.new_tensor([[0, 1], [0, 0]]).float(), torch.ones(2), 1), "M is not symmetric"),
        (lambda: lanczos(M, torch.zeros(3), 1), "x must be finite and not 0"),
        (lambda: perron(DIRECTED), "adj is directed"),
        (lambda: RandomWalk.maximal_entropy(DIRECTED), "undirected"),
        (lambda: RandomWalk.generic(Adjacency.of(EDGES, -ONES)), "edge_weight must be at least 0 .* got -1"),
        (lambda: RandomWalk(ADJ, torch.ones(2)), r"stationary must be a tensor \(3,\), got .*\(2,\)"),
        (lambda: ADJ.reweight(ONES), "made without edge weights"),
        (lambda: Adjacency.of(ADJ, ONES), "edge_weight goes with an edge_index"),
        (lambda: Adjacency.of(EDGES, num_nodes=10**10), r"num_nodes is 10000000000: so many nodes take 298 GiB"),
        (lambda: Adjacency.of(EDGES + 10**13), "edge_index names node 10000000000002: so many nodes take"),
        (lambda: PAN(4, 3, 2).trial(0), "made without trials"),
        (lambda: PANConv(4, 2, paths=lambda adj, L: adj)(X, EDGES), "paths must be a family of paths, got Adjacency"),
    ],
)
def test_what_does_not_go_together(call, message):
    assert re.search(message, refusal(call))


NUMPY = EDGES.numpy()
READ_ONLY = NUMPY.copy()
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "edges",
    [
        *(NUMPY.astype(kind) for kind in ("int16", "uint8", "uint16", "uint32", "uint64", ">i8", ">u4")),
        *(NUMPY[:, ::-1], np.asfortranarray(NUMPY), READ_ONLY, EDGES.int(), EDGES.to(torch.uint16)),
        *(
            EDGES[:, [0, 0, 1, 2, 3, 3]],
            ADJ.to_dense().to_sparse(),
            ADJ.to_dense().to_sparse_csc(),
            sp.coo_matrix(ADJ.to_dense()),
        ),
    ],
    ids=lambda edges: f"{type(edges).__name__} {edges.dtype}",
)
def test_a_graph_in_any_form(edges):
    assert torch.equal(Adjacency.of(edges).to_dense(), ADJ.to_dense())
    assert Adjacency.of(edges).value is None


@pytest.mark.parametrize(
    "weight",
    [
        *([1, 2, 3, 4], (1.0, 2.0, 3.0, 4.0), np.arange(1, 5), np.arange(1, 5, dtype=">f4"), np.arange(4, 0, -1)[::-1]),
        *(torch.arange(1, 5), torch.arange(1.0, 5).half(), torch.arange(1.0, 5).double()),
    ],
    ids=lambda weight: f"{type(weight).__name__} {getattr(weight, 'dtype', '')}",
)
def test_edge_weights_in_any_form(weight):
    expected = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 4.0], [0.0, 3.0, 0.0]])
    assert torch.equal(Adjacency.of(EDGES, weight).to_dense(), expected)
    layer = PANConv(4, 2)
    assert torch.equal(layer(X, EDGES, weight), layer(X, EDGES, torch.arange(1.0, 5)))
    assert torch.equal(layer(X, EDGES, weight), layer(X, Adjacency.of(EDGES, weight)))


def test_what_is_legal_though_odd():
    assert bool(torch.isnan(M @ torch.full((3,), NAN)).all())
    assert PANConv(4, 2)(torch.ones(3, 5, 4), EDGES).shape == (3, 5, 2)
    assert PANConv(np.int64(4), 2, L=np.int64(1), method=np.int8(2), weights=np.ones(2))(X, EDGES).shape == (3, 2)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert M.to_sparse(dtype).dtype == M.to_dense(dtype).dtype == M.T.to_sparse(dtype).dtype == dtype
        torch.testing.assert_close(M.to_sparse(dtype).to_dense(), M.to_dense(dtype))
    assert len(eigs(M, np.int64(3)).values) == 3
    assert Adjacency.of(torch.empty(2, 0, dtype=torch.long)).num_nodes == 0
    with torch.autocast("cpu", torch.bfloat16):
        assert PANConv(4, 2)(X.bfloat16(), EDGES).dtype == torch.bfloat16
