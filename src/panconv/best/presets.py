"""Which settings become presets: those that a search chose on a graph, or in the mean over several."""

from __future__ import annotations

from panconv.best.across import Across
from panconv.best.search import Search
from panconv.data.heterophilous import METRIC_OF
from panconv.paper.published import GRAPHS

# The three published settings and the same warmed, eight of each kind that the space has, and 24 near the best of all.
# The last kind, where W comes first, is left out on Pubmed, which wants batch norm behind M.
_BEST = {
    graph: Search(graph, settings=22 if graph == "pubmed" else 30, near=24, finalists=4, reruns=6) for graph in GRAPHS
}
_DEEP = tuple(Search(graph, space="deep", settings=16, finalists=3, reruns=5) for graph in GRAPHS)
DIFFERING = {
    graph: Search(graph, space="heterophilous", settings=32, seeds=2, finalists=5, reruns=10) for graph in METRIC_OF
}


def _without(left_out: str) -> Across:
    return Across(tuple(each for graph, each in _BEST.items() if graph != left_out), left_out=left_out)


# By the name of a preset. The choices without a graph say what the general one is worth on a graph that it never saw.
CHOICES: dict[str, Search | Across] = {
    **_BEST,
    **{f"{graph}-warm": Search(graph, space="warm", settings=16, finalists=5, reruns=6) for graph in GRAPHS},
    "general": Across(tuple(_BEST.values())),
    **{f"general-without-{graph}": _without(graph) for graph in GRAPHS},
    "deep": Across(_DEEP),
    **DIFFERING,
    "heterophilous": Across(tuple(DIFFERING.values())),
}
