"""How the claims are judged that rest on a study of operators, kept as JSON beside the records. Never imports torch."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from panconv.paper.claims.claim import CAME_OUT, IN_PART, NOT, Evidence, Judged, MissingRecords, verdict
from panconv.paper.claims.judges import by_graph
from panconv.paper.published import GRAPHS

_NEAR = 1e-6


def _read(evidence: Evidence, name: str) -> Any:
    path = evidence.folder / name
    if not path.is_file():
        raise MissingRecords(str(path))
    return json.loads(path.read_text())


def _filters(evidence: Evidence) -> list[dict[str, Any]]:
    return sorted(_read(evidence, "filters/cora.json")["filters"], key=lambda each: float(each["temperature"]))


def passes_by_frequency(evidence: Evidence) -> Judged:
    """What passes at each temperature, from 0 to ∞."""
    found = _filters(evidence)
    words = ", ".join(f"T = {each['temperature']:g} {each['kind']}" for each in map(_numbered, found))
    cold, hot = found[0]["kind"], found[-1]["kind"]
    return Judged(f"Cora, method 2, L = 2: {words}", verdict([cold == "low-pass", hot == "high-pass"]))


def _numbered(each: dict[str, Any]) -> dict[str, Any]:
    return {**each, "temperature": float(each["temperature"])}


def passes_by_length(evidence: Evidence) -> Judged:
    """The shares of the path lengths at T = 0 and T = ∞."""
    cold, hot = _filters(evidence)[0]["shares"], _filters(evidence)[-1]["shares"]
    figure = f"Cora, method 2, L = 2: T = 0 has k(0) = {cold[0]:.3f}, T = ∞ k(2) = {hot[-1]:.3f}"
    return Judged(figure, verdict([cold[0] == max(cold), hot[-1] == max(hot)]))


def _operators(evidence: Evidence, graph: str) -> dict[str, dict[str, Any]]:
    found = _read(evidence, "influence/shortest.json")["graphs"][graph]["operators"]
    return {each["formula"]: each for each in found}


def generic_walk_dilutes(formula: str) -> Callable[[Evidence], Judged]:
    """A hub against ordinary nodes at the same receivers, at distance 1, on two small worlds."""

    def judge(evidence: Evidence) -> Judged:
        words, right = [], []
        for graph in ("ring", "preferential attachment"):
            first = _operators(evidence, graph)[formula]["same"][0]
            right.append(first["mean"] < 1 - max(first["std"], _NEAR))
            words.append(f"{graph} {first['mean']:.3f} ± {first['std']:.3f}")
        return Judged(f"{formula}: {', '.join(words)}", verdict(right))

    return judge


def followers_change(formula: str) -> Callable[[Evidence], Judged]:
    """What a node sends to those who heard it before, once it has 300 more neighbours: by distance 1, 2, 3."""

    def judge(evidence: Evidence) -> Judged:
        found = {each["formula"]: each for each in _read(evidence, "influence/shortest.json")["followers"]["operators"]}
        last = [by_count[-1] for by_count in found[formula]["relative"]]
        same = [abs(each["mean"] - 1) <= _NEAR for each in last]
        shown = " / ".join(format(each["mean"], ".3f") for each in last)
        figure = f"{formula}: {shown} times as much"
        return Judged(f"{figure} at distance 1 / 2 / 3", CAME_OUT if all(same) else IN_PART if any(same) else NOT)

    return judge


def predicts_links(evidence: Evidence) -> Judged:
    """The best AUC of superposed walks over the numbers of steps."""
    words, right = {}, []
    for name in GRAPHS:
        auc = _read(evidence, f"merw/links-{name}.json")["auc"]
        best = [
            max(auc[f"{kind}, superposed"], key=lambda each: each["mean"]) for kind in ("maximal-entropy", "generic")
        ]
        right.append(best[0]["mean"] >= best[1]["mean"])
        words[name] = " against ".join(f"{each['mean']:.3f} ± {each['std']:.3f}" for each in best)
    return Judged(by_graph(words), verdict(right))


def finds_communities(evidence: Evidence) -> Judged:
    """Modularity and agreement with the classes, each of the maximal entropy walk against the generic one."""
    words, right = {}, []
    for name in GRAPHS:
        found = _read(evidence, f"merw/communities-{name}.json")
        maximal, generic = (found[kind] for kind in ("maximal-entropy", "generic"))
        right += [maximal[of]["mean"] >= generic[of]["mean"] for of in ("modularity", "nmi")]
        words[name] = ", ".join(
            f"{of} {maximal[of]['mean']:.3f} against {generic[of]['mean']:.3f}" for of in ("modularity", "nmi")
        )
    return Judged(by_graph(words), verdict(right))
