"""Writes src/panconv/training/presets.json from the records of the searches in docs/results/best.

    python tools/presets.py [FOLDER ...]

Each FOLDER holds more of such records. A preset whose search is not complete there is left out, and named.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from panconv.base.files import replacing
from panconv.best.across import Across
from panconv.best.presets import CHOICES
from panconv.best.search import Either, Missing, Search
from panconv.records.ranking import Point
from panconv.records.record import Record, Results
from panconv.training.presets import FILE

RECORDS = Path(__file__).parents[1] / "docs/results/best"


def content(records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    """The presets that the records decide."""
    found = {}
    for name, choice in CHOICES.items():
        try:
            point = choice.choice(records)
        except Missing:
            continue
        searches = choice.searches
        found[name] = {
            "operator": point.operator,
            "settings": point.settings,
            "chosen": {
                "on": list(dict.fromkeys(each.graph for each in searches)),
                "space": _space(choice, point, records),
                "settings": choice.tried,
                "validation": round(100 * point.val_accuracy, 2),
                "std": round(100 * point.std, 2),
                "reruns": point.trials,
            },
        }
    return found


def _space(choice: Search | Either | Across, point: Point, records: Sequence[Record]) -> str:
    """The space that a choice was drawn from, of several searches that of the one whose choice it is."""
    if isinstance(choice, Either):
        return next(each.space for each in choice.searches if each.choice(records) == point)
    return choice.searches[0].space


def text(presets: dict[str, dict[str, Any]]) -> str:
    """A preset to the line."""
    lines = (f"  {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in presets.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(folders: Sequence[Path] = ()) -> None:
    presets = content([record for folder in (RECORDS, *folders) for record in Results(folder).read()])
    for name in (name for name in CHOICES if name not in presets):
        print(f"{name}: its search is not complete")
    with replacing(FILE) as path:
        path.write_text(text(presets), encoding="utf-8")


if __name__ == "__main__":
    main([*map(Path, sys.argv[1:])])
