"""Writes the tables of docs/zoo.md, docs/transforms.md and docs/lab/settings.md from the records in docs/results.

python tools/zoo_tables.py
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from panconv import load
from panconv.base.words import signed
from panconv.paper.published import GRAPHS
from panconv.paper.report import rank, standing, summary
from panconv.paper.tables import splits
from panconv.paper.tables.baselines import Baseline
from panconv.paper.zoo.menu import in_words
from panconv.paper.zoo.operator import dropped
from panconv.paper.zoo.outside import OUTSIDE
from panconv.records.record import Record, Results

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("zoo.md", "transforms.md", "lab/settings.md")
SIX = ("chebnet", "gcn", "sgc", "appnp", "gat", "ssgc")  # of transforms.md


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def figure(cell: summary.Cell) -> str:
    paper = "–" if cell.paper is None else f"{cell.paper:.1f}"
    mark = " ▼" if cell.below else " ▲" if cell.far_above else ""
    return f"**{cell.mean:.1f}** ± {cell.std:.1f} ({paper}){mark}"


def operators(records: list[Record]) -> dict[str, str]:
    """Six models on their usual operator and on M, and which M it is, with the share of |M| that its top-k drops."""
    rows = [summary.baseline(records, name) for name in SIX]
    head = [cell for name in GRAPHS for cell in (f"{summary.TITLES[name]}: usual", "M", "")]
    figures, chosen = [], []
    for row in rows:
        pairs = list(zip(row.cells, row.on_m or [], strict=True))
        figures.append([row.name, *(cell for pair in pairs for cell in usual_and_m(*pair))])
        mine = [Baseline(row.key, name).chosen(records) for name in GRAPHS]
        chosen.append([row.name, *(in_words_with_share(*each) for each in zip(GRAPHS, mine, strict=True))])
    titles = [summary.TITLES[name] for name in GRAPHS]
    return {"operators": table(["", *head], figures), "operators-chosen": table(["", *titles], chosen)}


def usual_and_m(cell: summary.Cell, m: summary.OnM | None) -> list[str]:
    own = "–" if cell.mean is None else f"{cell.mean:.1f} ± {cell.std:.1f}"
    return [own, *(("–", "–") if m is None else (f"{m.mean:.1f} ± {m.std:.1f}", signed(m.change)))]


@cache
def share(dataset: str, operator: str) -> float:
    return dropped(load(dataset), json.loads(operator))


def in_words_with_share(dataset: str, operator: dict[str, Any] | None) -> str:
    if operator is None:
        return "–"
    percent = 100 * share(dataset, json.dumps({**operator, "normalize": True}))
    return f"{in_words(operator)} ({percent:.0f} %)"


def tables() -> dict[str, str]:
    """All parts of the pages, by the name of their markers."""
    records = Results(DOCS / "results").read()
    rows = summary.table2(records)
    titles = [summary.TITLES[name] for name in GRAPHS]
    on_m = [(row.name, row.on_m or []) for row in standing.on_m_rows(rows)]
    parts = {
        "own": table(["method", *titles], [[row.name, *map(figure, row.cells)] for row in rows]),
        "own-words": "\n".join(f"- {line}." for line in (rank.count_words(rows), *rank.rank_words(rows))),
        "met": table(["method", *titles], [[name, *map(changed, those)] for name, those in on_m]),
        "met-words": standing.on_m_words(rows),
        "chosen": table(["method", *titles], [[name, *(m.operator if m else "–" for m in ms)] for name, ms in on_m]),
        "notes": "\n".join(f"- **{row.name}.** {row.note}" for row in rows if row.note),
    }
    parts["outside"] = table(["method", *titles], [outside(summary.baseline(records, name)) for name in OUTSIDE])
    for i, name in enumerate(GRAPHS):
        places = splits.standings(records, name, {row.key: row.cells[i].mean for row in rows})
        head = ["method", f"{titles[i]}, 20 random splits", "PAN ahead by", "on splits", "public split"]
        parts[f"splits-{name}"] = table(head, [place_on_splits(place) for place in places])
    return {**parts, **operators(records)}


def outside(row: summary.Row) -> list[str]:
    """A row that is not of the table: its own figures, and behind them those on M."""
    shown = [row.name]
    for own, m, _ in (usual_and_m(*pair) for pair in zip(row.cells, row.on_m or [None] * len(row.cells), strict=True)):
        shown.append(own if row.on_m is None else f"{own}; on M {m}")
    return shown


def changed(m: summary.OnM | None) -> str:
    return "–" if m is None else f"{m.mean:.1f} ± {m.std:.1f}, **{m.change:+.1f} ± {m.change_std:.1f}**"


def place_on_splits(row: splits.Standing) -> list[str]:
    ahead = ["", ""]
    if row.name != "PAN":
        ahead = [f"{row.behind:+.1f} ± {row.behind_std:.1f}", f"{row.wins} of {row.splits}"]
    return [row.name, f"{row.mean:.1f} ± {row.std:.1f}", *ahead, "–" if row.public is None else f"{row.public:.1f}"]


def main() -> None:
    parts = tables()
    for name in PAGES:
        path = DOCS / name
        path.write_text(filled(path.read_text(), parts))


def filled(page: str, parts: dict[str, str]) -> str:
    """A page with each part between its markers, where it has them."""
    for name, text in parts.items():
        page = re.sub(
            rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)",
            lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}",
            page,
            flags=re.DOTALL,
        )
    return page


if __name__ == "__main__":
    main()
