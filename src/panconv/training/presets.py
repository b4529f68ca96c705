"""Presets: operators and settings that searches chose, each under a name. They are read from `presets.json`, which
`tools/presets.py` writes from the records of the searches."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from panconv.base.checks import shown
from panconv.base.near import meant
from panconv.training.recipe import Recipe

FILE = Path(__file__).with_suffix(".json")


@lru_cache(maxsize=1)
def entries() -> dict[str, dict[str, Any]]:
    """By the name of a preset: its operator, its settings, and what is known of how it was chosen."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def preset(name: str) -> Recipe:
    """The preset of that name: an operator, a model and a way of training.

    Args:
        name: one of `entries`.
    """
    known = entries()
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"a preset must be one of {', '.join(known)}, got {shown(name)}{meant(name, known)}")
    entry = json.loads(json.dumps(known[name]))  # a copy: what a user changes in it is the user's
    return Recipe(entry["operator"], entry["settings"])
