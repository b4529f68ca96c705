"""Our explanations beside PyG's, by what explanations are judged by.

    python benchmarks/explanations.py [--graphs 3] [--nodes 30] [--json FILE] [--quick]

PyG's `InfectionDataset`: a few nodes of a generated graph are infected, and a node is to know how many steps away the
nearest of them is. So the edges that matter are known: those of the node's shortest paths to the nearest infected ones.
Of each graph one model is trained, and all explainers explain that model, at nodes that it is right about. Cora has no
true edges, and is judged by what the model says without the best edges and with these alone.

Ours are exact: `paths` sums the 100 best single paths over each edge, `edges` all there are. Everything runs in one
process, explainers in turn at each node, so that a ratio of times is one of the same moment.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from explainers import EdgesOfPaths, Explain, peers
from explanation_tables import table
from judging import Judge, best_edges, recall, true_edges
from measure import cpu_name, machine
from torch import Tensor, nn
from torch_geometric import seed_everything
from torch_geometric.data import Data
from torch_geometric.datasets import InfectionDataset
from torch_geometric.datasets.graph_generator import BAGraph, ERGraph, GraphGenerator

from panconv import PAN, PANClassifier, fit, load
from panconv.estimator.explaining import explain_model
from panconv.estimator.explaining.edges import edge_parts
from panconv.estimator.explaining.layer import layer_of
from panconv.nn.linear import Linear

FAR = 3  # steps from which an infection is felt, and the length of the linear head's paths
TOP = 100  # single paths
KEPT = (3, 6, 12)  # edges that are taken of each explanation


class Trained(NamedTuple):
    """A model, as PyG's explainers see it, and our explanations of it."""

    model: nn.Module  # scores (N, C) of x and edge_index
    x: Tensor
    hops: int  # that it looks
    accuracy: float  # on nodes that it did not learn from
    ours: dict[str, Explain]


def infection(generator: GraphGenerator, seed: int) -> Data:
    """A graph on which an infection spreads; x is healthy or infected, y the steps to the nearest infected node."""
    seed_everything(seed)
    drawn = InfectionDataset(generator, generator.num_nodes // 10, FAR)[0]
    return Data(x=drawn.x, edge_index=drawn.edge_index, y=drawn.y, infected=drawn.x[:, 1] > 0)


def cora() -> Data:
    """Cora, which is the same graph for every seed, with other labels known."""
    data = load("cora")
    return Data(x=data.x, edge_index=data.edge_index, y=data.y)


def known_part(y: Tensor, seed: int) -> Tensor:
    """Which labels are learned from: 60 %."""
    return torch.from_numpy(np.random.default_rng(seed).random(len(y)) < 0.6)


def lighter(model: Any, x: Tensor, edge_index: Tensor) -> tuple[nn.Module, Tensor]:
    """The same scores with the first matrix behind us, which edges know nothing of: wide features are slow."""
    made = copy.deepcopy(model).eval()
    conv = made.convs[0] if isinstance(made, PAN) else made
    with torch.no_grad():
        passed = x @ conv.lin.weight
        conv.lin = Linear(passed.size(1), passed.size(1))
        conv.lin.weight.copy_(torch.eye(passed.size(1)))
        before = model.eval()(x, edge_index)
        torch.testing.assert_close(made(passed, edge_index), before, rtol=0, atol=1e-5 * float(before.abs().max()))
    return made, passed


def linear(data: Data, seed: int) -> Trained:
    """The linear head of a classifier, and its own explanations."""
    known = known_part(data.y, seed)
    y = torch.where(known, data.y, -1).numpy()
    clf = PANClassifier("linear", L=FAR).fit(data.x.numpy(), y, graph=data.edge_index)
    model, x = lighter(layer_of(clf._model.head, clf._model.paths), data.x, data.edge_index)
    with torch.no_grad():
        scores = model(x, data.edge_index).numpy()
    here = clf._model.decision(clf._fitted_on).numpy()  # PyG's explainers see the same
    np.testing.assert_allclose(scores, here, atol=1e-5 * np.abs(here).max())
    of_paths = EdgesOfPaths(data.edge_index)

    def paths(node: int, c: int) -> Tensor:
        return of_paths(clf.explain(node, label=clf.classes_[c], top=TOP).paths)

    ours = {"panconv, paths": paths, "panconv, edges": partial(edge_parts, model, x, data.edge_index)}
    return Trained(model, x, FAR, float((clf.predict() == data.y.numpy())[~known].mean()), ours)


def deep(data: Data, seed: int, epochs: int = 1000) -> Trained:
    """Two layers of PAN."""
    known = known_part(data.y, seed)
    stop = known & known_part(data.y, seed + 1000).logical_not()  # by these
    C = int(data.y.max()) + 1
    graph = Data(x=data.x, edge_index=data.edge_index, y=data.y)
    graph.train_mask, graph.val_mask, graph.test_mask = known & ~stop, stop, ~known
    model = PAN(data.x.size(1), 32, C, num_layers=2, L=2, method=3, dropout=0.2)
    found = fit(model, graph, seeds=[seed], weight_decay=1e-5, epochs=epochs, patience=200)
    of_paths = EdgesOfPaths(data.edge_index)
    model, x = lighter(found.model, data.x, data.edge_index)

    def paths(node: int, c: int) -> Tensor:
        return of_paths(explain_model(model, x, data.edge_index, node, c, TOP).paths)

    ours = {"panconv, paths": paths, "panconv, edges": partial(edge_parts, model, x, data.edge_index)}
    return Trained(model, x, model.num_hops, found.test_accuracy[0], ours)


CASES: dict[str, Callable[[int, bool], Data]] = {
    "infection, random graph": lambda seed, quick: infection(ERGraph(*((60, 0.03) if quick else (500, 0.004))), seed),
    "infection, tree": lambda seed, quick: infection(BAGraph(60 if quick else 500, 1), seed),
    "cora": lambda seed, quick: cora(),
}
MODELS: dict[str, Callable[[Data, int, bool], Trained]] = {
    "linear": lambda data, seed, quick: linear(data, seed),
    "deep": lambda data, seed, quick: deep(data, seed, 100 if quick else 1000),
}


def judged(data: Data, trained: Trained, count: int, seed: int, epochs: int) -> Iterator[dict[str, Any]]:
    """A record of each explainer at each of some nodes that the model is right about, and that edges matter to."""
    seed_everything(seed)  # GNNExplainer begins at random
    edges, ill = data.edge_index, data.get("infected")
    judge = Judge(trained.model, trained.x, edges)
    able = judge.scores.argmax(1) == data.y
    if ill is not None:
        able &= (data.y >= 1) & (data.y <= FAR)
    nodes = np.random.default_rng(seed).permutation(able.nonzero().flatten().numpy())[:count]
    explainers = {**trained.ours, **peers(trained.model, trained.x, edges, trained.hops, epochs)}
    for node in nodes.tolist():
        truth = None if ill is None else true_edges(edges, node, ill, FAR)
        for who, explain in explainers.items():
            began = time.perf_counter()
            scores = explain(node, int(data.y[node]))
            seconds = time.perf_counter() - began
            right = None if truth is None else recall(scores, truth)
            kept = {k: judge.fidelity(node, best_edges(scores, k)) for k in KEPT}
            found = {f"{name} {k}": value for k, one in kept.items() for name, value in one._asdict().items()}
            yield {"who": who, "node": node, "seconds": seconds, "recall": right, **found}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--graphs", type=int, default=3, help="of each kind, each with a model of its own")
    parser.add_argument("--nodes", type=int, default=20, help="that are explained of each graph")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all of it runs")
    asked = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", module="captum")  # that it was given what needs no gradient
    torch.set_num_threads(1)
    graphs, nodes, epochs = (1, 1, 3) if asked.quick else (asked.graphs, asked.nodes, 100)
    found: list[dict[str, Any]] = []
    for case in asked.cases or [name for name in CASES if name != "cora" or not asked.quick]:
        for model in asked.models:
            here: list[dict[str, Any]] = []
            accuracies = []
            for seed in range(asked.first, asked.first + graphs):
                data = CASES[case](seed, asked.quick)
                trained = MODELS[model](data, seed, asked.quick)
                accuracies.append(trained.accuracy)
                common = {"case": case, "model": model, "graph": seed, "accuracy": trained.accuracy}
                here += [{**common, **one} for one in judged(data, trained, nodes, seed, epochs)]
            mean = statistics.fmean(accuracies)
            print(f"\n{case}, {model} model, {graphs} graphs, {nodes} nodes of each, accuracy {mean:.1%}")
            print("\n".join(table(here, KEPT, KEPT[1])), flush=True)
            found += here
    if asked.json:
        asked.json.write_text(json.dumps({"machine": f"{cpu_name()}, {machine()}", "records": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
