"""Writes the tables of docs/zoo.md and docs/lab/settings.md from the records in docs/results.

python tools/zoo_tables.py
"""

from __future__ import annotations

import re
from pathlib import Path

from panconv.paper.published import GRAPHS
from panconv.paper.report import summary
from panconv.paper.tables import splits
from panconv.records.record import Results

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("zoo.md", "lab/settings.md")


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def figure(cell: summary.Cell) -> str:
    paper = "–" if cell.paper is None else f"{cell.paper:.1f}"
    mark = " ▼" if cell.below else " ▲" if cell.far_above else ""
    return f"**{cell.mean:.1f}** ± {cell.std:.1f} ({paper}){mark}"


def main() -> None:
    records = Results(DOCS / "results").read()
    rows = summary.table2(records)
    titles = [summary.TITLES[name] for name in GRAPHS]
    parts = {
        "own": table(["method", *titles], [[row.name, *map(figure, row.cells)] for row in rows]),
        "met": table(
            ["method", *titles],
            [
                [row.name, *(f"{m.mean:.1f} ± {m.std:.1f}, **{m.change:+.1f} ± {m.change_std:.1f}**" for m in row.on_m)]
                for row in rows
                if row.on_m
            ],
        ),
        "chosen": table(["method", *titles], [[row.name, *(m.operator for m in row.on_m)] for row in rows if row.on_m]),
        "notes": "\n".join(f"- **{row.name}.** {row.note}" for row in rows if row.note),
    }
    for i, name in enumerate(GRAPHS):
        standing = splits.standings(records, name, {row.key: row.cells[i].mean for row in rows})
        parts[f"splits-{name}"] = table(
            ["method", f"{titles[i]}, 20 random splits", "PAN ahead by", "on splits", "public split"],
            [
                [
                    row.name,
                    f"{row.mean:.1f} ± {row.std:.1f}",
                    "" if row.name == "PAN" else f"{row.behind:+.1f} ± {row.behind_std:.1f}",
                    "" if row.name == "PAN" else f"{row.wins} of {row.splits}",
                    "–" if row.public is None else f"{row.public:.1f}",
                ]
                for row in standing
            ],
        )
    for name in PAGES:
        fill(DOCS / name, parts)


def fill(path: Path, parts: dict[str, str]) -> None:
    """Puts each part between its markers, where the page has them."""
    page = path.read_text()
    for name, text in parts.items():
        page = re.sub(
            rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)",
            lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}",
            page,
            flags=re.DOTALL,
        )
    path.write_text(page)


if __name__ == "__main__":
    main()
