"""Which settings become presets: those that a search chose on a graph, or in the mean over several."""

from __future__ import annotations

from panconv.best.across import Across
from panconv.best.search import Either, Search
from panconv.data.heterophilous import METRIC_OF
from panconv.paper.published import GRAPHS

# The settings that were published for the three graphs and the same warmed, some of each kind of the space, and some
# near the best of all. On Cora there are two searches, of which the better counts: one as the space has its kinds, and
# one where W comes first in all of them, so that all nodes take part in each step. Citeseer, whose 3,703 features take
# long to propagate, has the second alone, and Pubmed, which wants batch norm behind M, the first.
_W_FIRST = {"propagate": False, "nearest": None, "nodes": None, "norm_input": None}
_BEST: dict[str, Search | Either] = {
    "cora": Either(
        (
            Search("cora", settings=30, near=24, finalists=4),
            Search("cora", settings=22, near=16, finalists=4, values=_W_FIRST),
        )
    ),
    "citeseer": Search("citeseer", settings=22, near=6, finalists=3, reruns=6, values=_W_FIRST),
    "pubmed": Search("pubmed", settings=22, near=24, finalists=4, reruns=6),
}
# The same settings on all three graphs, at fewer nodes per step, so that wide features can be propagated too.
_SHARED = {graph: Search(graph, settings=22, finalists=1, reruns=1, values={"nodes": 100}) for graph in GRAPHS}
# At 16 layers on the smallest graph, where a training takes half a minute and not half an hour; the study of depth has
# 64 too, and all three graphs.
_DEEP = (Search("cora", space="deep", settings=8, finalists=1, reruns=1, values={"layers": 16}),)
# The small graph can afford more finalists.
DIFFERING = {
    graph: Search(graph, space="heterophilous", settings=16, seeds=2, finalists=finalists, reruns=10)
    for graph, finalists in {**dict.fromkeys(METRIC_OF, 2), "chameleon_filtered": 5}.items()
}


def _without(left_out: str) -> Across:
    return Across(tuple(each for graph, each in _SHARED.items() if graph != left_out), 3, 4, left_out)


# By the name of a preset. The choices without a graph say what the general one is worth on a graph that it never saw.
CHOICES: dict[str, Search | Either | Across] = {
    **_BEST,
    **{f"{graph}-warm": Search(graph, space="warm", settings=16, finalists=5, reruns=6) for graph in GRAPHS},
    "general": Across(tuple(_SHARED.values()), 3, 4),
    **{f"general-without-{graph}": _without(graph) for graph in GRAPHS},
    "deep": Across(_DEEP, 2, 4),
    **DIFFERING,
    "heterophilous": Across((DIFFERING["chameleon_filtered"], DIFFERING["squirrel_filtered"]), 3, 10),
}
