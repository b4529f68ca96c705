"""How the claims are judged about how far PAN looks, and by what law. Never imports torch."""

from __future__ import annotations

from scipy.stats import levene

from panconv.paper.claims.claim import (
    Evidence,
    Judged,
    accuracy,
    change_by_seed,
    of_validation,
    tested,
    validated,
    verdict,
)
from panconv.paper.claims.judges import by_graph, grid_winner, of_method
from panconv.paper.published import GRAPHS
from panconv.paper.tables import further
from panconv.paper.tables.baselines import Baseline
from panconv.records.ranking import std
from panconv.records.record import Record

MODERATE = (1, 2, 3)  # "a moderate order of one to three"


def grid_is_more_reliable(evidence: Evidence) -> Judged:
    """Smaller spread by Levene's test (p < 0.05), and no clearly lower mean (by Welch's interval, unpaired seeds)."""
    words, right = {}, []
    for name in GRAPHS:
        grid, trained = ([*map(tested, runs)] for runs in (grid_winner(evidence, name), of_method(evidence, name, 5)))
        p = float(levene(grid, trained).pvalue)
        smaller = std(grid) < std(trained)
        right.append(smaller if p < 0.05 else None)
        means = f"{accuracy(grid_winner(evidence, name))} against {accuracy(of_method(evidence, name, 5))}"
        words[name] = f"{means} (p = {p:.2f})"
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
            right.append(change.clear)
        words[name] = ", ".join(changes)
    return Judged(by_graph(words), verdict(right))


def _lengths(evidence: Evidence, name: str) -> dict[int, list[Record]]:
    return {L: evidence.trials(further.length_tasks(name, L, 1)) for L in further.LENGTHS}


def _not_clearly_worse(of: dict[int, list[Record]]) -> list[int]:
    """The lengths whose validation accuracy is not clearly below that of the best, seed by seed."""
    best = max(of.values(), key=validated)
    return [L for L, runs in of.items() if not change_by_seed(best, runs, of_validation).above]


def beats_both_extremes(evidence: Evidence) -> Judged:
    """The length of 1 … 3 that validation chooses, against M = I and against the prototype of the hot limit."""
    words, right = {}, []
    for name in GRAPHS:
        of = _lengths(evidence, name)
        best = max(MODERATE, key=lambda L: validated(of[L]))
        hot = evidence.trials(Baseline("high_temperature", name).own(1))
        right += [change_by_seed(of[best], other).clear for other in (of[0], hot)]
        words[name] = f"L = {best} {accuracy(of[best])}, L = 0 {accuracy(of[0])}, I + ψ₁ψ₁ᵀ {accuracy(hot)}"
    return Judged(by_graph(words), verdict(right))


def moderate_length(evidence: Evidence) -> Judged:
    """Whether all lengths that may be the best, by validation, are one to three."""
    words, right = {}, []
    for name in GRAPHS:
        may_be = _not_clearly_worse(_lengths(evidence, name))
        right.append(True if set(may_be) <= set(MODERATE) else None if set(may_be) & set(MODERATE) else False)
        words[name] = ", ".join(map(str, may_be))
    return Judged("L that may be the best: " + by_graph(words), verdict(right))


def length_depends_on_the_graph(evidence: Evidence) -> Judged:
    """Whether no length may be the best on all graphs."""
    may_be = {name: _not_clearly_worse(_lengths(evidence, name)) for name in GRAPHS}
    words = by_graph({name: ", ".join(map(str, lengths)) for name, lengths in may_be.items()})
    common = set.intersection(*map(set, may_be.values()))
    return Judged(f"L that may be the best: {words}", verdict([None if common else True]))
