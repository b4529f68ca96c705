"""Writes src/panconv/paper/report/recorded.json, the cells of Tables 1, 2 and 3, from the records in docs/results.

    python tools/recorded.py

The report and `panconv reproduce` set these figures of our full run beside what a user has run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from panconv.base.files import replacing
from panconv.paper.report import summary
from panconv.paper.report.recorded import plain
from panconv.records.record import Record, Results

HOME = Path(__file__).parents[1]
FILE = HOME / "src/panconv/paper/report/recorded.json"


def content(records: list[Record]) -> dict[str, Any]:
    return {name: plain(getattr(summary, name)(records)) for name in ("table1", "table2", "table3")}


def text(records: list[Record]) -> str:
    """A row of a table to the line."""
    tables = []
    for name, rows in content(records).items():
        lines = (f"    {json.dumps(row, ensure_ascii=False)}: {json.dumps(cells)}" for row, cells in rows.items())
        tables.append(f'  "{name}": {{\n' + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(tables) + "\n}\n"


def main() -> None:
    with replacing(FILE) as path:
        path.write_text(text(Results(HOME / "docs/results").read()), encoding="utf-8")


if __name__ == "__main__":
    main()
