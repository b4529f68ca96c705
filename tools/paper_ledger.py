"""Writes the tables and the ledger of docs/paper.md from the records in docs/results.

python tools/paper_ledger.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product

from zoo_tables import DOCS, filled, table

from panconv.paper.claims.claim import Evidence, accuracy, change_by_seed, mean, validated
from panconv.paper.claims.ledger import LEDGER, judged
from panconv.paper.published import GRAPHS, GRID_SEARCH, TABLE3
from panconv.paper.report.summary import TITLES, Cell, convergence, table3
from panconv.paper.tables import further

PAGE = DOCS / "paper.md"


def tables(evidence: Evidence) -> dict[str, str]:
    """All parts of the page, by the name of their markers."""
    parts = {
        "table3": _table3(evidence),
        "stated": _stated(evidence),
        "scale": _scale(evidence),
        "lengths": _lengths(evidence),
        "law": _law(evidence),
    }
    said = judged(LEDGER, evidence)
    counts = Counter(each.verdict for _, each in said)
    parts["ledger-count"] = f"{len(said)} lines: {', '.join(f'{n} {verdict}' for verdict, n in counts.most_common())}."
    sections = []
    for section in dict.fromkeys(claim.section for claim in LEDGER):
        rows = [
            [claim.words, claim.rule, _how(claim.how), each.figure, f"**{each.verdict}**"]
            for claim, each in said
            if claim.section == section
        ]
        head = ["the paper says", "judged by", "command or test", "figure", "verdict"]
        sections.append(f"### {section}\n\n{table(head, _escaped(rows))}")
    parts["ledger"] = "\n\n".join(sections)
    return parts


def _how(how: str) -> str:
    """Commands as they are, tests by their names."""
    return ", ".join(f"`{each.split('::')[-1]}`" for each in how.split("; "))


def _escaped(rows: list[list[str]]) -> list[list[str]]:
    """A bar within a cell would end it."""
    return [[cell.replace("|", "\\|") for cell in row] for row in rows]


def _table3(evidence: Evidence) -> str:
    head = ["", *(cell for name in GRAPHS for cell in (TITLES[name], "paper"))]
    rows = table3(evidence.records)
    return table(head, [[row.name, *(text for cell in row.cells for text in _beside(cell))] for row in rows])


def _beside(cell: Cell) -> tuple[str, str]:
    return f"{cell.mean:.1f} ± {cell.std:.1f}", f"{cell.paper:.1f}"


def _stated(evidence: Evidence) -> str:
    """A row per method, a column per version, each Cora / Citeseer / Pubmed."""
    rows = []
    for method in (*TABLE3, None):
        paper = GRID_SEARCH if method is None else TABLE3[method]
        cells = [[evidence.trials(further.stated_tasks(g, method, v, 1)) for g in GRAPHS] for v in further.STATED]
        name = "Method 5, k = (0, 1, 1)" if method is None else f"Method {method}"
        rows.append([name, _slashes(paper[g] for g in GRAPHS), *(_slashes(map(mean, each)) for each in cells)])
    return table(["", "paper", *further.STATED], rows)


def _scale(evidence: Evidence) -> str:
    rows = []
    for scale, (whose, decay) in product(further.SCALES, further.DECAYS.items()):
        of = {model: evidence.trials(further.scale_tasks(model, scale, whose, 1)) for model in ("PAN", "GCN")}
        row = [f"Σk = {scale:g}, weight decay {decay:g} ({whose})"]
        row += [f"{convergence(of[model]):.1f}" for model in of] + [accuracy(of[model]) for model in of]
        rows.append(row)
    return table(["", "PAN: epochs to 95 %", "GCN", "PAN: test", "GCN"], rows)


def _lengths(evidence: Evidence) -> str:
    rows = []
    for name in GRAPHS:
        of = {L: evidence.trials(further.length_tasks(name, L, 1)) for L in further.LENGTHS}
        best = max(of, key=lambda L: validated(of[L]))
        shown = [f"{accuracy(of[L])} ({validated(of[L]):.1f})" for L in of]
        rows.append([TITLES[name], *(f"**{text}**" if best == L else text for L, text in zip(of, shown, strict=True))])
    return table(["", *(f"L = {L}" for L in further.LENGTHS)], rows)


def _law(evidence: Evidence) -> str:
    rows = []
    for name, L in product(GRAPHS, further.LAW_LENGTHS):
        free = evidence.trials(further.law_tasks(name, L, None, 1))
        laws = [evidence.trials(further.law_tasks(name, L, alpha, 1)) for alpha in further.ALPHAS]
        best = max(laws, key=validated)
        rows.append([TITLES[name], f"{L}", accuracy(free), *map(accuracy, laws), str(change_by_seed(best, free))])
    return table(["", "L", "every E(n)", *(f"α = {a:g}" for a in further.ALPHAS), "best by validation less free"], rows)


def _slashes(values: Iterable[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text(), tables(Evidence.of(DOCS / "results"))))


if __name__ == "__main__":
    main()
