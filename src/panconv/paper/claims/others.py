"""How the claims about other models are judged: beside PAN in Table 2, and on M. Never imports torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from panconv.paper.claims.claim import CAME_OUT, IN_PART, NOT, Evidence, Judged, MissingRecords
from panconv.paper.claims.judges import by_graph
from panconv.paper.published import GRAPHS, TABLE2
from panconv.paper.report import rank
from panconv.paper.report.summary import TITLES, baseline, table2
from panconv.paper.zoo.registry import METHODS

# Models that the paper names as ones that M may serve, by their place in it.
LAPLACIAN = ("ngcn", "dcnn", "chebnet", "gcn", "monet", "graph_cnn", "gwnn")
WALKS = ("deepwalk", "line", "node2vec")
ADAPTED = tuple(name for name, method in METHODS.items() if method.met and method.in_table2)


# ---------------------------------------------------------------------- other models on M


def runs_on_m(names: Sequence[str]) -> Callable[[Evidence], Judged]:
    """Models that the paper names: whether each has been trained on M, and what became of it."""

    def judge(evidence: Evidence) -> Judged:
        rows = [baseline(evidence.records, name) for name in names]
        of = {row.name: [cell for cell in row.on_m or () if cell is not None] for row in rows}
        if short := [name for name, found in of.items() if len(found) < len(GRAPHS)]:
            raise MissingRecords(f"{short[0]} on M")
        changes = [f"{name} {' / '.join(f'{cell.change:+.1f}' for cell in found)}" for name, found in of.items()]
        return Judged(f"all run; change on {' / '.join(TITLES.values())}: {', '.join(changes)}", CAME_OUT)

    return judge


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
        words[name] = f"better in {gains}, worse in {len(clear) - gains} of {len(of)}"
    return Judged("M is clearly " + by_graph(words), CAME_OUT if any(better) and not all(better) else NOT)


# ---------------------------------------------------------------------- Table 2


def ahead_of_pan(graph: str, named: Sequence[str]) -> Callable[[Evidence], Judged]:
    """Which models have a higher figure on a graph, by ours, against those that the paper names."""

    def judge(evidence: Evidence) -> Judged:
        place = _place(evidence, [graph])
        return Judged(f"ours: {place}", CAME_OUT if set(place.ahead) == set(named) else _subset(place.ahead, named))

    return judge


def _subset(ahead: Sequence[str], named: Sequence[str]) -> str:
    """PAN may do better than the paper says, and the sentence still stand in part."""
    return IN_PART if set(ahead) <= set(named) else NOT


def top_five(evidence: Evidence) -> Judged:
    place = _place(evidence, GRAPHS)
    return Judged(f"ours: {place}", CAME_OUT if place.place <= rank.TOP else NOT)


def state_of_the_art(evidence: Evidence) -> Judged:
    place = _place(evidence, GRAPHS)
    return Judged(f"ours: {place}", NOT if place.ahead else CAME_OUT)


def baselines_came_out(evidence: Evidence) -> Judged:
    rows = table2(evidence.records)
    _place(evidence, GRAPHS)
    return Judged(rank.count_words(rows), IN_PART)


def _place(evidence: Evidence, graphs: Sequence[str]) -> rank.Rank:
    """PAN's place among all 25 by our figures."""
    found = rank.rank(table2(evidence.records), rank.ours, graphs)
    if found is None or found.among != len(TABLE2) + 1:
        raise MissingRecords(f"Table 2 on {', '.join(graphs)}")
    return found
