"""Which column is what: as it was named, or by a name so plain that it can be guessed."""

from __future__ import annotations

from collections.abc import Sequence

from panconv.data.cells import number_in
from panconv.data.remarks import Remarks, short
from panconv.data.tables import Table

# In the order in which they are looked for.
_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("sender", "receiver"), ("u", "v"), ("head", "tail"))
_IDS = ("id", "node", "node_id", "nodeid", "name")
_WEIGHTS = ("weight",)
_LABELS = ("label", "class")


def ends_of(table: Table, source: str | None, target: str | None, remarks: Remarks) -> tuple[str, str]:
    """The two columns of an edge."""
    if source is not None and target is not None:
        if source == target:
            raise ValueError(f"source and target are both {source!r}: name two columns of {table.name}")
        return table.check(source, "source"), table.check(target, "target")
    if source is not None or target is not None:
        given, missing = ("source", "target") if target is None else ("target", "source")
        raise ValueError(f"{given} is given and {missing} is not: name both columns of {table.name}")
    if (ends := _plain_ends(table)) is not None:
        remarks.guess(f"{table.name}: edges lead from {ends[0]!r} to {ends[1]!r}")
        return ends
    if len(table.columns) < 2:
        hint = "take lines of comments out, and name the columns in the first line: "
        hint = hint if table.columns and table.columns[0].startswith(("#", "%")) else ""
        raise ValueError(f"{table.name} has the columns {table.columns}: {hint}an edge needs a source and a target")
    _check_header(table)
    first, second = table.columns[:2]
    remarks.guess(f"{table.name}: edges lead from the first column, {first!r}, to the second, {second!r}")
    return first, second


def refuse_swapped(edges: Table, nodes: Table, source: str | None) -> None:
    """Refuses a table of nodes whose columns are plainly those of edges, beside a table of edges whose are not."""
    if source is None and _plain_ends(edges) is None and (ends := _plain_ends(nodes)) is not None:
        what = f"{nodes.name} has the columns {ends[0]!r} and {ends[1]!r}, as edges have, and {edges.name} has not"
        raise ValueError(f"{what}: hand over edges first and nodes second, or name source and target")


def note_unused(table: Table, used: Sequence[str | None], remarks: Remarks) -> None:
    """Says which columns of edges are not looked at; an amount among them may be meant for a weight."""
    left = [name for name in table.columns if name not in used]
    if left:
        names = f"{', '.join(map(short, left[:5]))}{', …' * (len(left) > 5)}"
        hint = "" if used[-1] else "; a weight is named with weight=…"
        remarks.guess(f"{table.name}: of its columns {names} {'is' if len(left) == 1 else 'are'} not used{hint}")


def _plain_ends(table: Table) -> tuple[str, str] | None:
    plain = {name.lower(): name for name in table.columns}
    return next(((plain[one], plain[other]) for one, other in _ENDS if one in plain and other in plain), None)


def id_of(table: Table, given: str | None, remarks: Remarks) -> str:
    """The column of ids."""
    if found := _plain(table, given, "id", _IDS, remarks):
        return found
    if not table.columns:
        raise ValueError(f"{table.name} has no columns: it needs one of ids")
    _check_header(table)
    remarks.guess(f"{table.name}: ids are in the first column, {table.columns[0]!r}")
    return table.columns[0]


def weight_of(table: Table, given: str | None, remarks: Remarks) -> str | None:
    """The column of weights; None where there is none."""
    return _plain(table, given, "weight", _WEIGHTS, remarks)


def label_of(table: Table, given: str | None, remarks: Remarks) -> str | None:
    """The column of labels; None where there is none."""
    return _plain(table, given, "label", _LABELS, remarks)


def _plain(table: Table, given: str | None, what: str, names: Sequence[str], remarks: Remarks) -> str | None:
    if given is not None:
        return table.check(given, what)
    plain = {name.lower(): name for name in table.columns}
    found = next((plain[name] for name in names if name in plain), None)
    if found is not None:
        remarks.guess(f"{table.name}: the {what} is in {found!r}")
    return found


def _check_header(table: Table) -> None:
    """Refuses a first line that is data."""
    if table.columns and all(number_in(name) == number_in(name) for name in table.columns):
        names = ", ".join(name[:40] for name in table.columns[:3])
        what = "looks like data; put the names of the columns there, such as source,target"
        raise ValueError(f"{table.name}, line 1: {names} {what}")
