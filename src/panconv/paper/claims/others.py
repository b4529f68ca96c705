"""How the claims about other models are judged: beside PAN in Table 2, and on M. Never imports torch."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

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
    tested,
    verdict,
)
from panconv.paper.claims.judges import by_graph
from panconv.paper.published import GRAPHS, GRID_SEARCH
from panconv.paper.report import rank
from panconv.paper.report.summary import TITLES, baseline, table2
from panconv.paper.tables import baselines, cells
from panconv.paper.tables.baselines import Baseline
from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Record

# Models that the paper names as ones that M may serve.
LAPLACIAN = ("ngcn", "dcnn", "chebnet", "gcn", "monet", "graph_cnn", "gwnn")
ADAPTED = tuple(name for name, method in METHODS.items() if method.met and method.in_table2)


# ---------------------------------------------------------------------- other models on M


def runs_on_m(names: Sequence[str]) -> Callable[[Evidence], Judged]:
    """Models that the paper names: whether each has been trained on M, ten times, and what became of it."""

    def judge(evidence: Evidence) -> Judged:
        rows = [baseline(evidence.records, name) for name in names]
        of = {row.name: [cell for cell in row.on_m or () if cell is not None and cell.trials >= 10] for row in rows}
        if short := [name for name, found in of.items() if len(found) < len(GRAPHS)]:
            raise MissingRecords(f"{short[0]} on M")
        changes = [f"{name} {' / '.join(f'{cell.change:+.1f}' for cell in found)}" for name, found in of.items()]
        figure = f"all {len(names)} run; change on {' / '.join(TITLES.values())}: {', '.join(changes)}"
        return Judged(figure, CAME_OUT)

    return judge


def runs_on_the_walk(evidence: Evidence) -> Judged:
    """Embeddings by walks, on the maximal entropy walk in place of the generic one: LINE draws its flow."""
    words = []
    for name, there in (("deepwalk", None), ("line", {"walk": "maximal-entropy"}), ("node2vec", None)):
        changes = []
        for graph in GRAPHS:
            own = evidence.trials(Baseline(name, graph).own(1))
            if there is None:
                operator = Baseline(name, graph).chosen(evidence.records) or {}
                other = evidence.trials(Baseline(name, graph).on_m(operator, 1))
            else:
                other = evidence.trials(Baseline(name, graph, given=there).own(1))
            changes.append(f"{change_by_seed(other, own).mean:+.1f}")
        words.append(f"{METHODS[name].title} {' / '.join(changes)}")
    return Judged(f"all run; change on {' / '.join(TITLES.values())}: {', '.join(words)}", CAME_OUT)


def depends_on_the_graph(evidence: Evidence) -> Judged:
    """Every model on its own operator and on M: clear gains and clear losses, by graph."""
    rows = [baseline(evidence.records, name) for name, method in METHODS.items() if method.met]
    if not any(cell for row in rows for cell in row.on_m or ()):
        raise MissingRecords("any model on M")
    words, better = {}, []
    for i, name in enumerate(GRAPHS):
        of = [row.on_m[i] for row in rows if row.on_m]
        clear = [cell for cell in of if cell is not None and cell.clear]
        gains = sum(cell.change > 0 for cell in clear)
        better.append(2 * gains > len(clear))
        words[name] = f"{gains} gain and {len(clear) - gains} lose of {len(of)}"
    return Judged("by M, clearly: " + by_graph(words), CAME_OUT if any(better) and not all(better) else NOT)


# ---------------------------------------------------------------------- Table 2


def _against_pan(evidence: Evidence, graphs: Sequence[str]) -> dict[str, Mean]:
    """By how much each of the 24 is ahead of PAN, the mean over some graphs, seed by seed."""
    pan = [evidence.trials(cells.pan_tasks(graph, 1)) for graph in graphs]
    found = {}
    for name in baselines.NAMES["table2"]:
        other = [evidence.trials(Baseline(name, graph).own(1)) for graph in graphs]
        found[METHODS[name].title] = interval([a - b for a, b in zip(_by_seed(other), _by_seed(pan), strict=True)])
    return found


def _by_seed(runs: Sequence[Sequence[Record]]) -> list[float]:
    """The mean over the graphs of what each seed has."""
    return [statistics.fmean(map(tested, those)) for those in zip(*runs, strict=True)]


def _listed(found: dict[str, Mean]) -> str:
    """Those clearly ahead of PAN, those level with it, and how many are behind."""
    ahead, level = ([name for name, gap in found.items() if gap.clear is kind] for kind in (True, None))
    behind = len(found) - len(ahead) - len(level)
    return f"clearly ahead {', '.join(ahead) or 'none'}; level {', '.join(level) or 'none'}; clearly behind {behind}"


def ahead_of_pan(graph: str, named: Sequence[str]) -> Callable[[Evidence], Judged]:
    """Whether the models that the paper names are ahead on a graph, and all others behind; one may be otherwise."""

    def judge(evidence: Evidence) -> Judged:
        found = _against_pan(evidence, [graph])
        right = [gap.clear if gap.clear is None else gap.clear == (name in named) for name, gap in found.items()]
        wrong = right.count(False)
        said = verdict(right) if not wrong else IN_PART if wrong == 1 else NOT
        return Judged(_listed(found), said)

    return judge


def outperforms_most(evidence: Evidence) -> Judged:
    """On each graph more of the 24 clearly behind than not."""
    words, right = {}, []
    for graph in GRAPHS:
        gaps = [gap.clear for gap in _against_pan(evidence, [graph]).values()]
        behind = gaps.count(False)
        right.append(2 * behind > len(gaps))
        words[graph] = f"{behind} of {len(gaps)} clearly behind, {gaps.count(True)} clearly ahead"
    return Judged(by_graph(words), verdict(right))


def top_five(evidence: Evidence) -> Judged:
    """At best as many places down as models are clearly ahead, at worst as many as are not clearly behind."""
    found = _against_pan(evidence, GRAPHS)
    gaps = [gap.clear for gap in found.values()]
    best, worst = 1 + gaps.count(True), 1 + gaps.count(True) + gaps.count(None)
    figure = f"{best} to {worst} of {len(gaps) + 1} by the mean over the graphs; {_listed(found)}"
    return Judged(figure, verdict([True if worst <= rank.TOP else False if best > rank.TOP else None]))


def state_of_the_art(evidence: Evidence) -> Judged:
    found = _against_pan(evidence, GRAPHS)
    gaps = [gap.clear for gap in found.values()]
    return Judged(_listed(found), NOT if True in gaps else OPEN if None in gaps else CAME_OUT)


def pans_own_row(evidence: Evidence) -> Judged:
    words, right = {}, []
    for graph in GRAPHS:
        runs = evidence.trials(cells.pan_tasks(graph, 1))
        gap = statistics.fmean(map(tested, runs)) - GRID_SEARCH[graph]
        right.append(abs(round(gap, 9)) <= baselines.REPRODUCED)
        words[graph] = f"{accuracy(runs)} ({GRID_SEARCH[graph]:.1f})"
    return Judged(by_graph(words), verdict(right))


def baselines_came_out(evidence: Evidence) -> Judged:
    _against_pan(evidence, GRAPHS)  # all are there
    rows = [row for row in table2(evidence.records) if not row.ours]
    one_sided, both = sum(bool(row.reproduced) for row in rows), sum(bool(row.within) for row in rows)
    figure = f"{one_sided} of {len(rows)} at most {baselines.REPRODUCED} below on every graph; {both} within either way"
    return Judged(figure, CAME_OUT if both == len(rows) else IN_PART if 2 * one_sided > len(rows) else NOT)
