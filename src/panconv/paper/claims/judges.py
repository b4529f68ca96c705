"""How the claims that rest on trainings of PAN are judged. Never imports torch."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import pairwise

from panconv.paper.claims.claim import (
    CAME_OUT,
    IN_PART,
    NOT,
    OPEN,
    Evidence,
    Judged,
    MissingRecords,
    accuracy,
    change_by_seed,
    interval,
    mean,
    tested,
    validated,
    verdict,
)
from panconv.paper.published import GRAPHS, GRID_SEARCH, TABLE3
from panconv.paper.report.summary import TITLES, convergence
from panconv.paper.settings import UNDER_Z
from panconv.paper.tables import cells, further
from panconv.paper.tables.baselines import REPRODUCED, Baseline
from panconv.records.ranking import Point, std
from panconv.records.record import Record

MODERATE = (1, 2, 3)  # "a moderate order of one to three"


def by_graph(words: dict[str, str]) -> str:
    return "; ".join(f"{TITLES[name]} {each}" for name, each in words.items())


def _method(evidence: Evidence, name: str, method: int) -> list[Record]:
    return evidence.trials(cells.method_tasks(name, method, 1))


def _pan(evidence: Evidence, name: str) -> list[Record]:
    return evidence.trials(cells.pan_tasks(name, 1))


def _winner(evidence: Evidence, name: str) -> list[Record]:
    return evidence.trials(cells.winner_tasks(name, _points(evidence, name)[0], 1))


def _points(evidence: Evidence, name: str) -> list[Point]:
    points = cells.grid_points(evidence.records, name)
    if not points:
        raise MissingRecords(f"the grid of Table 3 on {name}")
    return points


# ---------------------------------------------------------------------- Table 3


def table3(evidence: Evidence) -> Judged:
    """Ours, with the decay and the start of methods 1, 2, 7 that are not the paper's."""
    of = {(m, g): _method(evidence, g, m) for m in TABLE3 for g in GRAPHS}
    gaps = {key: mean(runs) - TABLE3[key[0]][key[1]] for key, runs in of.items()}
    gaps |= {(0, g): mean(_winner(evidence, g)) - GRID_SEARCH[g] for g in GRAPHS}
    return _gaps(list(gaps.values()))


def stated(version: str) -> Callable[[Evidence], Judged]:
    """The same by the letter of the paper, in one version of what it leaves unsaid."""

    def judge(evidence: Evidence) -> Judged:
        gaps = []
        for method in (*TABLE3, None):
            paper = GRID_SEARCH if method is None else TABLE3[method]
            runs = {g: evidence.trials(further.stated_tasks(g, method, version, 1)) for g in GRAPHS}
            gaps += [mean(runs[g]) - paper[g] for g in GRAPHS]
        return _gaps(gaps)

    return judge


def _gaps(gaps: list[float]) -> Judged:
    within, short = (sum(holds(round(gap, 9)) for gap in gaps) for holds in (_is_near, _is_short))
    figure = f"within ±{REPRODUCED} in {within} of {len(gaps)} cells, below in {short}; mean |gap| "
    figure += f"{statistics.fmean(map(abs, gaps)):.1f}, worst {min(gaps):+.1f}"
    return Judged(figure, CAME_OUT if within == len(gaps) else IN_PART if within else NOT)


def _is_near(gap: float) -> bool:
    return abs(gap) <= REPRODUCED


def _is_short(gap: float) -> bool:
    return gap < -REPRODUCED


def method2_is_strong(evidence: Evidence) -> Judged:
    places = {}
    for name in GRAPHS:
        order = sorted(TABLE3, key=lambda m: -mean(_method(evidence, name, m)))
        places[name] = 1 + order.index(2)
    words = by_graph({name: f"{place} of 7" for name, place in places.items()})
    return Judged(words, verdict([place <= 3 for place in places.values()]))


def optimum_of_k(evidence: Evidence) -> Judged:
    """k(0) = 0, k(1) = k(2) among the 27 points, by validation; and on the test nodes, winner against (0, 1, 1)."""
    words, right = {}, []
    for name in GRAPHS:
        points = _points(evidence, name)
        place = 1 + [point.weights for point in points].index(cells.BEST_K)
        first, best = points[0].weights, mean(_winner(evidence, name))
        right.append(first[0] == 0 and first[1] == first[2])
        words[name] = f"{place} of {len(points)}, tests {mean(_pan(evidence, name)):.1f} (winner {best:.1f})"
    return Judged("(0, 1, 1) is " + by_graph(words), verdict(right))


def optimum_per_layer(evidence: Evidence) -> Judged:
    words, right = {}, []
    for name in GRAPHS:
        points = further.per_layer_points(evidence.records, name)
        if not points:
            raise MissingRecords(f"the grid per layer on {name}")
        of_kind = [all(k[0] == 0 and k[1] == k[2] for k in point.weights["of"]) for point in points]
        right.append(of_kind[0])
        runs = evidence.trials(cells.winner_tasks(name, points[0], 1))
        words[name] = f"best of that form is {1 + of_kind.index(True)} of {len(points)}; winner tests {accuracy(runs)}"
    return Judged(by_graph(words), verdict(right))


def scale_of_k(evidence: Evidence) -> Judged:
    """What the operator's scale does: three points of the grid, three trials each."""
    words = {}
    for name in GRAPHS:
        runs = cells.searched(evidence.records, name)
        by_k = {s: [run for run in runs if run.weights == [0.0, s, s]] for s in (0.5, 1.0, 2.0)}
        if not all(by_k.values()):
            raise MissingRecords(f"the grid of Table 3 on {name}")
        words[name] = " / ".join(f"{mean(of):.1f}" for of in by_k.values())
    return Judged("(0, ½, ½) / (0, 1, 1) / (0, 2, 2): " + by_graph(words), OPEN)


def weights_decay(evidence: Evidence) -> Judged:
    """Whether trained k(n), which start alike, end in decreasing order."""
    words, right = {}, []
    for name in GRAPHS:
        runs = _method(evidence, name, 5)
        layers = zip(*(run.path_weights for run in runs), strict=True)
        means = [[statistics.fmean(k or 0.0 for k in each) for each in zip(*layer, strict=True)] for layer in layers]
        right.append(all(a > b for layer in means for a, b in pairwise(layer)))
        words[name] = " | ".join(" ".join(f"{k:.2f}" for k in layer) for layer in means)
    return Judged("k(n) by layer: " + by_graph(words), verdict(right))


def z_is_harder(evidence: Evidence) -> Judged:
    """Under one set of settings, the paper's: methods that divide by Z against those that do not."""
    words, right = {}, []
    for name in GRAPHS:
        of = {m: evidence.trials(further.stated_tasks(name, m, "as stated", 1)) for m in TABLE3}
        with_z = [tested(run) for m in TABLE3 if m in UNDER_Z for run in of[m]]
        without = [tested(run) for m in TABLE3 if m not in UNDER_Z for run in of[m]]
        right.append(statistics.fmean(without) > statistics.fmean(with_z) and std(without) < std(with_z))
        words[name] = f"{statistics.fmean(with_z):.1f} ± {std(with_z):.1f} with Z, "
        words[name] += f"{statistics.fmean(without):.1f} ± {std(without):.1f} without"
    return Judged(by_graph(words), verdict(right))


# ---------------------------------------------------------------------- Figure 2


def converges_faster(evidence: Evidence) -> Judged:
    pan, gcn = _pan(evidence, "cora"), evidence.trials(cells.gcn_tasks(1))
    sooner = interval([convergence([g]) - convergence([p]) for p, g in zip(pan, gcn, strict=True)])
    figure = f"95 % of its final validation accuracy after {convergence(pan):.1f} epochs, GCN {convergence(gcn):.1f}: "
    figure += f"sooner by {sooner.mean:.1f} ± {sooner.half:.1f}"
    return Judged(figure, CAME_OUT if sooner.above else NOT)


def faster_at_equal_scale(evidence: Evidence) -> Judged:
    """Scale × decay: what is left of the head start when both operators have the same size and decay."""
    words, right = [], []
    for scale in further.SCALES:
        for decay in further.DECAYS:
            pan, gcn = (evidence.trials(further.scale_tasks(m, scale, decay, 1)) for m in ("PAN", "GCN"))
            sooner = interval([convergence([g]) - convergence([p]) for p, g in zip(pan, gcn, strict=True)])
            right.append(sooner.above)
            words.append(
                f"Σk = {scale:g}, {decay} decay: {convergence(pan):.1f} against {convergence(gcn):.1f} "
                f"({sooner.mean:+.1f} ± {sooner.half:.1f})"
            )
    return Judged("; ".join(words), verdict(right))


def reaches_higher(evidence: Evidence) -> Judged:
    pan, gcn = _pan(evidence, "cora"), evidence.trials(cells.gcn_tasks(1))
    ends = interval([100 * (p.accuracy_curve[-1] - g.accuracy_curve[-1]) for p, g in zip(pan, gcn, strict=True)])
    test = change_by_seed(pan, gcn)
    figure = f"validation {ends}, test {test} ({accuracy(pan)} against {accuracy(gcn)})"
    return Judged(figure, verdict([ends.above, test.above]))


# ---------------------------------------------------------------------- what is learned, and how far it looks


def grid_is_more_reliable(evidence: Evidence) -> Judged:
    words, right = {}, []
    for name in GRAPHS:
        grid, trained = _winner(evidence, name), _method(evidence, name, 5)
        spread = [std([tested(run) for run in runs]) for runs in (grid, trained)]
        right.append(spread[0] < spread[1] and mean(grid) >= mean(trained))
        words[name] = f"{accuracy(grid)} against {accuracy(trained)}"
    return Judged(by_graph(words), verdict(right))


def law_generalises(evidence: Evidence) -> Judged:
    """T alone against every E(n), seed by seed, at each length; α is that of the best validation accuracy."""
    words, right = {}, []
    for name in GRAPHS:
        changes = []
        for L in further.LAW_LENGTHS:
            free = evidence.trials(further.law_tasks(name, L, None, 1))
            laws = {a: evidence.trials(further.law_tasks(name, L, a, 1)) for a in further.ALPHAS}
            change = change_by_seed(max(laws.values(), key=validated), free)
            changes.append(f"L = {L}: {change}")
            right.append(change.above)
        words[name] = ", ".join(changes)
    return Judged(by_graph(words), verdict(right))


def _lengths(evidence: Evidence, name: str) -> dict[int, list[Record]]:
    return {L: evidence.trials(further.length_tasks(name, L, 1)) for L in further.LENGTHS}


def beats_both_extremes(evidence: Evidence) -> Judged:
    """The length of 1 … 3 that validation chooses, against M = I and against the prototype of the hot limit."""
    words, right = {}, []
    for name in GRAPHS:
        of = _lengths(evidence, name)
        best = max(MODERATE, key=lambda L: validated(of[L]))
        hot = evidence.trials(Baseline("high_temperature", name).own(1))
        right += [change_by_seed(of[best], other).above for other in (of[0], hot)]
        words[name] = f"L = {best} {accuracy(of[best])}, L = 0 {accuracy(of[0])}, I + ψ₁ψ₁ᵀ {accuracy(hot)}"
    return Judged(by_graph(words), verdict(right))


def moderate_length(evidence: Evidence) -> Judged:
    """The length of the best validation accuracy, and what the longest has."""
    words, right = {}, []
    for name in GRAPHS:
        of = _lengths(evidence, name)
        best, longest = max(of, key=lambda L: validated(of[L])), max(of)
        right.append(best in MODERATE)
        words[name] = f"L = {best}, test {mean(of[best]):.1f} (L = {longest} {mean(of[longest]):.1f})"
    return Judged(by_graph(words), verdict(right))


def length_depends_on_the_graph(evidence: Evidence) -> Judged:
    best = {}
    for name in GRAPHS:
        of = {L: validated(evidence.trials(further.length_tasks(name, L, 1))) for L in further.LENGTHS}
        best[name] = max(of, key=lambda L: of[L])
    words = by_graph({name: f"L = {L}" for name, L in best.items()})
    return Judged(words, CAME_OUT if len(set(best.values())) > 1 else NOT)


def efficiency(evidence: Evidence) -> Judged:
    """How long ten trials took, one beside the other."""
    seconds = {name: sum(run.seconds for run in _pan(evidence, name)) for name in GRAPHS}
    devices = {run.device for name in GRAPHS for run in _pan(evidence, name)}
    words = by_graph({name: f"{each:.1f} s" for name, each in seconds.items()})
    return Judged(f"ten trials of PAN: {words} ({', '.join(sorted(devices))})", OPEN)
