"""Tables as all commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table


def table(columns: Sequence[str], heading: str | None = None, **style: Any) -> Table:
    """An empty table: the first column says what a row is and stands left, figures stand right."""
    made = Table(box=box.SIMPLE_HEAD, title=heading, title_justify="left", **style)
    for place, column in enumerate(columns):
        made.add_column(column, justify="right" if place else "left", no_wrap=True)
    return made
