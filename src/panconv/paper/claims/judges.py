"""How the claims that rest on trainings of PAN are judged. Never imports torch."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise, product

from panconv.paper.claims.claim import (
    CAME_OUT,
    IN_PART,
    NOT,
    OPEN,
    Evidence,
    Judged,
    Mean,
    MissingRecords,
    accuracy,
    change_by_seed,
    interval,
    mean,
    of_validation,
    tested,
    verdict,
)
from panconv.paper.published import GRAPHS, GRID_SEARCH, TABLE3
from panconv.paper.report.summary import TITLES, convergence
from panconv.paper.settings import UNDER_Z
from panconv.paper.tables import cells, further
from panconv.paper.tables.baselines import REPRODUCED
from panconv.records.ranking import Point, std
from panconv.records.record import PAN, Record


def by_graph(words: dict[str, str]) -> str:
    return "; ".join(f"{TITLES[name]} {each}" for name, each in words.items())


def of_method(evidence: Evidence, name: str, method: int) -> list[Record]:
    return evidence.trials(cells.method_tasks(name, method, 1))


def _pan(evidence: Evidence, name: str) -> list[Record]:
    return evidence.trials(cells.pan_tasks(name, 1))


def grid_winner(evidence: Evidence, name: str) -> list[Record]:
    return evidence.trials(cells.winner_tasks(name, _points(evidence, name)[0], 1))


def _points(evidence: Evidence, name: str) -> list[Point]:
    points = cells.grid_points(evidence.records, name)
    if not points:
        raise MissingRecords(f"the grid of Table 3 on {name}")
    return points


# ---------------------------------------------------------------------- Table 3


def table3(evidence: Evidence) -> Judged:
    """Ours, with the decay and the start of methods 1, 2, 7 that are not the paper's."""
    of = {(m, g): of_method(evidence, g, m) for m in TABLE3 for g in GRAPHS}
    gaps = {key: mean(runs) - TABLE3[key[0]][key[1]] for key, runs in of.items()}
    gaps |= {(0, g): mean(grid_winner(evidence, g)) - GRID_SEARCH[g] for g in GRAPHS}
    return _gaps(list(gaps.values()))


def stated(evidence: Evidence) -> Judged:
    """The same by the letter of the paper, in each version of what it leaves unsaid; the nearest one counts."""
    found = {}
    for version in further.STATED:
        gaps = []
        for method in (*TABLE3, None):
            paper = GRID_SEARCH if method is None else TABLE3[method]
            runs = {g: evidence.trials(further.stated_tasks(g, method, version, 1)) for g in GRAPHS}
            gaps += [mean(runs[g]) - paper[g] for g in GRAPHS]
        found[version] = gaps
    nearest = min(found.values(), key=lambda gaps: statistics.fmean(map(abs, gaps)))
    words = [f"{version}: {_within(gaps)} (mean |gap| {_mean_gap(gaps):.1f})" for version, gaps in found.items()]
    return Judged(f"cells within ±{REPRODUCED}: {'; '.join(words)}", _gaps(nearest).verdict)


def _within(gaps: list[float]) -> str:
    return f"{sum(map(_is_near, gaps))} of {len(gaps)}"


def _mean_gap(gaps: list[float]) -> float:
    return statistics.fmean(map(abs, gaps))


def _gaps(gaps: list[float]) -> Judged:
    near, short = (sum(map(holds, gaps)) for holds in (_is_near, _is_short))
    figure = f"within ±{REPRODUCED} in {_within(gaps)} cells, below in {short}; mean |gap| {_mean_gap(gaps):.1f}, "
    figure += f"worst {min(gaps):+.1f}"
    return Judged(figure, CAME_OUT if near == len(gaps) else IN_PART if 2 * near > len(gaps) else NOT)


def _is_near(gap: float) -> bool:
    return abs(round(gap, 9)) <= REPRODUCED


def _is_short(gap: float) -> bool:
    return round(gap, 9) < -REPRODUCED


def method2_is_strong(evidence: Evidence) -> Judged:
    """At best as many places down as methods are clearly better, at worst as many as are not clearly worse."""
    words, right = {}, []
    for name in GRAPHS:
        ours = of_method(evidence, name, 2)
        gaps = [change_by_seed(of_method(evidence, name, m), ours).clear for m in TABLE3 if m != 2]
        best, worst = 1 + gaps.count(True), 1 + gaps.count(True) + gaps.count(None)
        right.append(True if worst <= 3 else False if best > 3 else None)
        words[name] = f"{best} to {worst} of {len(TABLE3)}"
    return Judged(by_graph(words), verdict(right))


def optimum_of_k(evidence: Evidence) -> Judged:
    """The best point of the form k(0) = 0, k(1) = k(2) against the best of all 27, by validation, seed by seed."""
    words, right = {}, []
    for name in GRAPHS:
        points, runs = _points(evidence, name), cells.searched(evidence.records, name)
        place, gap = _best_of_form(points, runs)
        ours = 1 + [point.weights for point in points].index(cells.BEST_K)
        right.append(None if gap.clear is None and place > 1 else place == 1)
        words[name] = f"the best of that form is {place} of {len(points)}, behind by {-gap.mean:.1f} ± {gap.half:.1f}; "
        words[name] += f"(0, 1, 1) is {ours}, tests {mean(_pan(evidence, name)):.1f} (winner "
        words[name] += f"{mean(grid_winner(evidence, name)):.1f})"
    return Judged(by_graph(words), verdict(right))


def optimum_per_layer(evidence: Evidence) -> Judged:
    """The same with a k(n) for each layer."""
    words, right = {}, []
    for name in GRAPHS:
        points = further.per_layer_points(evidence.records, name)
        if not points:
            raise MissingRecords(f"the grid per layer on {name}")
        runs = [run for run in evidence.records if run.dataset == name and not run.tested and run.model == PAN]
        place, gap = _best_of_form(points, runs)
        right.append(None if gap.clear is None and place > 1 else place == 1)
        words[name] = f"the best of that form is {place} of {len(points)}, behind by {-gap.mean:.1f} ± {gap.half:.1f}; "
        words[name] += f"the winner tests {accuracy(evidence.trials(cells.winner_tasks(name, points[0], 1)))}"
    return Judged(by_graph(words), verdict(right))


def _best_of_form(points: Sequence[Point], runs: Sequence[Record]) -> tuple[int, Mean]:
    """The place of the best point of the paper's form, and its validation accuracy less that of the winner."""
    layers = [point.weights["of"] if isinstance(point.weights, dict) else [point.weights] for point in points]
    place = [all(k[0] == 0 and k[1] == k[2] for k in each) for each in layers].index(True)
    both = ([run for run in runs if run.weights == points[i].weights] for i in (place, 0))
    best, winner = (sorted(of, key=lambda run: run.seed) for of in both)
    return place + 1, change_by_seed(best, winner, of_validation)


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
        runs = of_method(evidence, name, 5)
        layers = zip(*(run.path_weights for run in runs), strict=True)
        means = [[statistics.fmean(k or 0.0 for k in each) for each in zip(*layer, strict=True)] for layer in layers]
        right.append(all(a > b for layer in means for a, b in pairwise(layer)))
        words[name] = " | ".join(" ".join(f"{k:.2f}" for k in layer) for layer in means)
    return Judged("k(n) by layer: " + by_graph(words), verdict(right))


def z_is_harder(evidence: Evidence) -> Judged:
    """Under one set of settings, the paper's, with features either way: methods that divide by Z against the others."""
    words, right = [], []
    for version, name in product(("as stated", "features as they are"), GRAPHS):
        of = {m: evidence.trials(further.stated_tasks(name, m, version, 1)) for m in TABLE3}
        groups = [[of[m] for m in TABLE3 if (m in UNDER_Z) is z] for z in (True, False)]
        means = [statistics.fmean(mean(runs) for runs in group) for group in groups]
        spreads = [statistics.fmean(std([*map(tested, runs)]) for runs in group) for group in groups]
        right.append(means[1] > means[0] and spreads[1] < spreads[0])
        with_z, without = (f"{m:.1f} ± {s:.1f}" for m, s in zip(means, spreads, strict=True))
        words.append(f"{TITLES[name]}, {version}: {with_z} with Z, {without} without")
    return Judged("; ".join(words), verdict(right))


# ---------------------------------------------------------------------- Figure 2


def converges_faster(evidence: Evidence) -> Judged:
    pan, gcn = _pan(evidence, "cora"), evidence.trials(cells.gcn_tasks(1))
    sooner = interval([convergence([g]) - convergence([p]) for p, g in zip(pan, gcn, strict=True)])
    figure = f"95 % of its final validation accuracy after {convergence(pan):.1f} epochs, GCN {convergence(gcn):.1f}: "
    figure += f"sooner by {sooner.mean:.1f} ± {sooner.half:.1f}"
    return Judged(figure, verdict([sooner.clear]))


def faster_at_equal_scale(evidence: Evidence) -> Judged:
    """Scale × decay: what is left of the head start when both operators have the same size and decay."""
    words, right = [], []
    for scale in further.SCALES:
        for decay in further.DECAYS:
            pan, gcn = (evidence.trials(further.scale_tasks(m, scale, decay, 1)) for m in ("PAN", "GCN"))
            sooner = interval([convergence([g]) - convergence([p]) for p, g in zip(pan, gcn, strict=True)])
            right.append(sooner.clear)
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
    return Judged(figure, verdict([ends.clear, test.clear]))


def ahead_at_equal_scale(evidence: Evidence) -> Judged:
    """PAN's test accuracy less GCN's, where both have the same scale and decay."""
    words, right = [], []
    for scale, decay in product(further.SCALES, further.DECAYS):
        pan, gcn = (evidence.trials(further.scale_tasks(m, scale, decay, 1)) for m in ("PAN", "GCN"))
        change = change_by_seed(pan, gcn)
        right.append(change.clear)
        words.append(f"Σk = {scale:g}, {decay} decay: {change}")
    return Judged("; ".join(words), verdict(right))
