"""Writes the tables of docs/best.md, and its pictures, from the records in docs/results/best and from the presets.

python tools/best_tables.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zoo_tables import DOCS, filled, table

from panconv.best.contests import standing
from panconv.best.depth import looks, looks_table
from panconv.best.pictures import draw_depths, draw_ladder
from panconv.best.studies import STUDIES
from panconv.best.study import Line, lines, names_of
from panconv.paper.claims.claim import Evidence
from panconv.records.ranking import Point
from panconv.records.record import Results
from panconv.training.presets import entries

PAGE, RECORDS = DOCS / "best.md", DOCS / "results/best"
CPU = RECORDS / "cpu"  # trainings of the same rows and seeds as in RECORDS, where those are a GPU's
_TITLES = {"squirrel_filtered": "Squirrel, filtered", "chameleon_filtered": "Chameleon, filtered"}
_NOT_YET = "*Not trained yet: there are no records of it in `docs/results/best`.*"
_SHOWN = (
    *("hidden", "layers", "concat", "residual", "share", "identity", "norm", "propagate", "averaged", "norm_input"),
    *("nearest", "nodes", "drop_nodes", "draws", "consistency", "ramp", "sharpening", "confidence", "labelled"),
    *("dropout_input", "dropout", "lr", "weight_decay", "decay_others", "clip", "keep"),
)


def tables() -> dict[str, str]:
    """All parts of the page, by the name of their markers."""
    evidence, on_a_cpu = _evidence(RECORDS), _evidence(CPU)
    parts = {name: _study(name, evidence) or _NOT_YET for name in STUDIES}
    parts["cpu"] = _study("best", on_a_cpu) or _NOT_YET
    if seen := _looks():
        parts["depth"] += f"\n\n{seen}"
    return {"presets": _presets() or _NOT_YET, **parts}


def _evidence(folder: Path) -> Evidence:
    return Evidence(Results(folder).read(), folder)


def _study(name: str, evidence: Evidence) -> str:
    """A row per name, two columns per graph: the figure, and how it changes over the row that it is compared with."""
    study, found = STUDIES[name], _found(name, evidence)
    if not found:
        return ""
    head = [
        cell for graph, those in found.items() for cell in (_head(graph, those), "change", f"s ({those[0].device})")
    ]
    rows = []
    known = {line.name for those in found.values() for line in those}
    for each in names_of(study.rows_of(graph, evidence.records) for graph in found):
        if each not in known:
            continue
        row, over = [each], _over(found.values(), each)
        for those in found.values():
            line = next((line for line in those if line.name == each), None)
            row += ["–", "", ""] if line is None else [line.figure, _change(line, over), _time(line, those[0].device)]
        rows.append([*row, over])
    words = [standing(those) for graph, those in found.items() if study.searches(graph)]
    said = [f"- {_title(graph)}: {word}" for graph, word in zip(found, words, strict=False) if word]
    return "\n".join([table(["", *head, "change over"], rows), *([""] if said else []), *said])


def _time(line: Line, device: str) -> str:
    """Its seconds, and on what, where that is not the device at the head of the column."""
    return line.time if line.device == device else f"{line.time} ({line.device})"


def _change(line: Line, over: str) -> str:
    """Its change, and over what, where that is not the row at the end of the line."""
    return line.difference if line.against in ("", over) else f"{line.difference} (over {line.against})"


def _found(name: str, evidence: Evidence) -> dict[str, list[Line]]:
    """The rows of a study that have records, by graph."""
    study = STUDIES[name]
    found = {graph: lines(study.rows_of(graph, evidence.records), evidence, study.seed) for graph in study.graphs}
    return {graph: those for graph, those in found.items() if those}


def _over(found: Sequence[list[Line]], name: str) -> str:
    """The row that a row is compared with."""
    return next((line.against for those in found for line in those if line.name == name and line.against), "")


def _head(graph: str, those: Sequence[Line]) -> str:
    counts = sorted({line.trials for line in those})
    trials = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    return f"{_title(graph)} ({trials} trials)"


def _title(graph: str) -> str:
    return _TITLES.get(graph, graph.capitalize())


def _looks() -> str:
    """The models of 64 layers."""
    found = {graph: looks_table(RECORDS, graph) for graph in STUDIES["depth"].graphs}
    head = next(iter(found.values()))[0]
    rows = [[f"{graph.capitalize()}, {name}", *row] for graph, (_, those) in found.items() for name, *row in those]
    return table(head, rows) if rows else ""


def _presets() -> str:
    rows = []
    for name, entry in entries().items():
        point, chosen = Point(entry["operator"], 0.0, 0.0, 0.0, entry["settings"]), entry["chosen"]
        flat = point.flat()
        said = [each for each in _SHOWN if flat.get(each) not in (None, False, 0.0)]
        if flat.get("jk") is None and flat.get("layers") == 1:
            said.remove("hidden")  # of which there is none
        operator = f"method {flat['method']}, L = {flat['L']}, {flat['weights']}"
        validation = f"{chosen['validation']:.1f} ± {chosen['std']:.1f} ({chosen['reruns']})"
        rows.append([f"`{name}`", operator, point.words(said), f"{chosen['settings']}", validation])
    return table(["preset", "operator", "settings", "tried", "validation (reruns)"], rows) if rows else ""


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text(), tables()))
    evidence = _evidence(RECORDS)
    draw_ladder(_found("best", evidence), DOCS / "images/ladder.png")
    for graph, those in _found("depth", evidence).items():
        draw_depths(those, [*looks(RECORDS, graph)], DOCS / f"images/depth-{graph}.png")


if __name__ == "__main__":
    main()
