"""Graphs as former versions pickled them."""

from __future__ import annotations

from typing import Any

from panconv.graph.pattern import Pattern


def from_former(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a graph that was pickled when it held its transpose itself."""
    transposed, symmetric = state.pop("_transposed"), state.pop("is_symmetric")
    loops = state.pop("num_self_loops", state.pop("_num_self_loops", None))
    pattern = Pattern(state["crow"], state["col"], symmetric or None, loops)
    if transposed is not None:
        pattern._found["transposed"] = transposed
    known = {"pattern": pattern, "_mirrored": symmetric, "_growth": state.pop("growth")}
    return {**state, **known, "_undirected": state.pop("is_undirected", None)}
