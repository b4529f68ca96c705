"""Which settings become presets: those that a search chose on a graph, or in the mean over several."""

from __future__ import annotations

from dataclasses import replace

from panconv.best.across import Across
from panconv.best.search import Either, Search
from panconv.paper.published import GRAPHS
from panconv.training.space import Choice, Range

# The settings that were published for the three graphs and the same warmed, some of each kind of the space, and some
# near the best of all. On Cora and Citeseer W comes first, which is cheap: all nodes take part in each step. Pubmed
# wants batch norm behind M: some nodes at a time; and there is a second search there, of averages over what is left.
_W_FIRST = {"propagate": False, "nearest": None, "nodes": None, "norm_input": None}
_BEST: dict[str, Search | Either] = {
    "cora": Search("cora", settings=70, near=64, finalists=10, reruns=40, values=_W_FIRST),
    "citeseer": Search("citeseer", settings=70, near=32, finalists=10, reruns=12, values=_W_FIRST),
    "pubmed": Either(
        (
            Search("pubmed", settings=22, near=24, finalists=4, reruns=40),
            Search("pubmed", space="averaged-propagation", settings=50, near=30, finalists=10, reruns=40),
        )
    ),
}
# The same settings on all three graphs, at fewer nodes per step, so that wide features can be propagated too.
_SHARED = {graph: Search(graph, settings=22, finalists=1, reruns=1, values={"nodes": 100}) for graph in GRAPHS}
# At 16 layers, a quarter of what the study of depth goes to. A training on Pubmed takes ten times as long.
_DEEP = {
    graph: Search(graph, space="deep", settings=settings, finalists=finalists, reruns=reruns, values={"layers": 16})
    for graph, settings, finalists, reruns in (("cora", 16, 3, 5), ("citeseer", 16, 3, 5), ("pubmed", 8, 2, 3))
}
# Where neighbours differ, for PAN and its peers alike. Chameleon, the smallest, can afford more finalists, and a second
# search of wider layers.
_FIRST = {
    graph: Search(graph, space="heterophilous", settings=16, finalists=finalists, reruns=10)
    for graph, finalists in (("squirrel_filtered", 2), ("chameleon_filtered", 5))
}
_WIDE = {"hidden": Choice((128, 256)), "epochs": 500}
# What Luo et al. (2024) publish for Minesweeper, and around it: it is learned late, in many layers, by large steps.
_GRID = {
    **{"hidden": 64, "layers": Choice((12, 15)), "norm": "batch", "dropout": Range(0.1, 0.3)},
    **{"lr": Range(0.005, 0.015, log=True), "weight_decay": Range(1e-7, 1e-5, log=True)},
    **{"epochs": 1500, "patience": 300},
}
# Ten features per node, none of which the peers drop: nor does PAN here.
_CROWD = {"hidden": Choice((128, 256)), "layers": Choice((3, 4, 5)), "epochs": 500, "dropout_input": 0.0}
DIFFERING: dict[str, Search | Either] = {
    "minesweeper": Search(
        "minesweeper", space="heterophilous", settings=8, finalists=2, reruns=10, values=_GRID, group=4
    ),
    "tolokers": Search("tolokers", space="heterophilous", settings=8, finalists=2, reruns=10, values=_CROWD),
    **_FIRST,
    "chameleon_filtered": Either(
        (
            _FIRST["chameleon_filtered"],
            replace(_FIRST["chameleon_filtered"], settings=24, near=12, finalists=8, values=_WIDE, group=4),
        )
    ),
}


def _without(left_out: str) -> Across:
    return Across(tuple(each for graph, each in _SHARED.items() if graph != left_out), 3, 4, left_out)


# By the name of a preset. The choices without a graph say what the general one is worth on a graph that it never saw.
CHOICES: dict[str, Search | Either | Across] = {
    **_BEST,
    **{f"{graph}-warm": Search(graph, space="warm", settings=16, finalists=5, reruns=6) for graph in GRAPHS},
    "general": Across(tuple(_SHARED.values()), 3, 4),
    **{f"general-without-{graph}": _without(graph) for graph in GRAPHS},
    **{f"{graph}-deep": each for graph, each in _DEEP.items()},
    "deep": Across((_DEEP["cora"], _DEEP["citeseer"]), 3, 5),
    **DIFFERING,
    "heterophilous": Across((_FIRST["chameleon_filtered"], _FIRST["squirrel_filtered"]), 3, 10),
}
