"""How the claims are judged that rest on a study of operators, kept as JSON beside the records. Never imports torch."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from panconv.paper.claims.claim import Evidence, Judged, MissingRecords, apart, verdict
from panconv.paper.claims.judges import by_graph
from panconv.paper.published import GRAPHS

_NEAR = 1e-6
_WALKS = ("maximal-entropy", "generic")
_METHODS = (1, 2, 5)


def _read(evidence: Evidence, name: str) -> Any:
    path = evidence.folder / name
    if not path.is_file():
        raise MissingRecords(str(path))
    return json.loads(path.read_text())


def _filters(evidence: Evidence, method: int = 2) -> list[dict[str, Any]]:
    """What a method does to Cora's frequencies, from cold to hot."""
    found = _read(evidence, f"filters/cora-{method}.json")["filters"]
    return sorted(found, key=lambda each: float(each["temperature"]))


def passes_by_frequency(evidence: Evidence) -> Judged:
    """What passes when cold and when hot, by three methods."""
    words, right = [], []
    for method in _METHODS:
        ends = [_filters(evidence, method)[i] for i in (0, -1)]
        right += [each["kind"] == kind for each, kind in zip(ends, ("low-pass", "high-pass"), strict=True)]
        shown = ", ".join(f"T = {_shown(each)} {each['kind']}" for each in ends)
        words.append(f"method {method} {shown}")
    return Judged(f"Cora: {'; '.join(words)}", verdict(right))


def _shown(each: dict[str, Any]) -> str:
    return f"{float(each['temperature']):g}".replace("inf", "∞")


def passes_by_length(evidence: Evidence) -> Judged:
    """The shares of the path lengths at T = 0 and T = ∞."""
    cold, hot = _filters(evidence)[0]["shares"], _filters(evidence)[-1]["shares"]
    figure = f"Cora: T = 0 has k(0) = {cold[0]:.3f}, T = ∞ k({len(hot) - 1}) = {hot[-1]:.3f}"
    return Judged(figure, verdict([cold[0] == max(cold), hot[-1] == max(hot)]))


def shares_grow(evidence: Evidence) -> Judged:
    """Whether at T = ∞ a longer length has the larger share."""
    hot = _filters(evidence)[-1]["shares"]
    figure = f"Cora, T = ∞: {', '.join(f'k({n}) = {k:.3f}' for n, k in enumerate(hot))}"
    return Judged(figure, verdict([all(a < b for a, b in pairwise(hot))]))


def dilutes(formula: str, paths: str = "walks") -> Callable[[Evidence], Judged]:
    """A hub against ordinary nodes at the same receivers, at distance 1, on two small worlds: below 1 or not."""

    def judge(evidence: Evidence) -> Judged:
        found, words, right = _read(evidence, f"influence/{paths}.json"), [], []
        for graph in ("ring", "preferential attachment"):
            of = {each["formula"]: each for each in found["graphs"][graph]["operators"]}
            first = of[formula]["same"][0]
            less = apart({"mean": 1.0, "std": 0.0}, first, found["trials"])
            right.append(False if abs(less.mean) <= _NEAR else less.clear)
            words.append(f"{graph} {first['mean']:.3f} ± {first['std']:.3f}")
        return Judged(f"{formula}: {', '.join(words)} times an ordinary node's", verdict(right))

    return judge


def followers_change(formula: str, paths: str = "walks") -> Callable[[Evidence], Judged]:
    """What a node sends to those who heard it before, once it has 300 more neighbours, by distance: the same or not."""

    def judge(evidence: Evidence) -> Judged:
        operators = _read(evidence, f"influence/{paths}.json")["followers"]["operators"]
        found = {each["formula"]: each for each in operators}
        last = [by_count[-1] for by_count in found[formula]["relative"]]
        shown = " / ".join(format(each["mean"], ".3g") for each in last)
        same = [abs(each["mean"] - 1) <= _NEAR for each in last]
        return Judged(f"{formula}: {shown} times as much at distance 1 / 2 / 3", verdict(same))

    return judge


def predicts_links(evidence: Evidence) -> Judged:
    """The best AUC of superposed walks over the numbers of steps."""
    words, right = {}, []
    for name in GRAPHS:
        found = _read(evidence, f"merw/links-{name}.json")
        best = [max(found["auc"][f"{kind}, superposed"], key=lambda each: each["mean"]) for kind in _WALKS]
        right.append(apart(best[0], best[1], found["trials"]).clear)
        words[name] = " against ".join(f"{each['mean']:.3f} ± {each['std']:.3f}" for each in best)
    return Judged(by_graph(words), verdict(right))


def finds_communities(evidence: Evidence) -> Judged:
    """Modularity and agreement with the classes, each of the maximal entropy walk against the generic one."""
    words, right = {}, []
    for name in GRAPHS:
        found = _read(evidence, f"merw/communities-{name}.json")
        both = {of: [found[kind][of] for kind in _WALKS] for of in ("modularity", "nmi")}
        right += [apart(pair[0], pair[1], found["trials"]).clear for pair in both.values()]
        words[name] = ", ".join(f"{of} {a['mean']:.3f} against {b['mean']:.3f}" for of, (a, b) in both.items())
    return Judged(by_graph(words), verdict(right))
