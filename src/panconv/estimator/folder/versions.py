"""Versions of the format: an older one is brought up to date as it is read, a newer one refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from panconv.base.checks import as_integer, shown

FORMAT, VERSION = "panconv model folder", 1

# What makes a content of version v one of version v + 1, by v. It may change the dict it is given.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def up_to_date(content: Any) -> dict[str, Any]:
    """What a model.json says, as one of this version."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'it does not say "format": "{FORMAT}"')
    version = as_integer(content.get("version"))
    if version is None or version < 1:
        raise ValueError(f"its version must be a whole number of at least 1, got {shown(content.get('version'))}")
    if version > VERSION:
        by = f", panconv {content['panconv']:.20}" if isinstance(content.get("panconv"), str) else ""
        raise ValueError(
            f"it is of format version {version}, newer than {VERSION}, which is what this panconv reads; it was "
            f"written by a newer one{by}: update panconv"
        )
    for each in range(version, VERSION):
        content = MIGRATIONS[each](content)
    return {**content, "version": VERSION}
