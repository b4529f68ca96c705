"""Tables of what the suite measured, as plain text for the terminal and as Markdown for the docs.

    python benchmarks/tables.py benchmarks/results/*                     # Markdown on standard output
    python benchmarks/tables.py --write docs/lab/speed.md                # into the page, between its markers

Needs nothing but Python: the files can come from another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from goals import GROWTH

PICTURES = ("edges", "memory-edges", "width", "length", "memory", "roofline")
HERE = Path(__file__).parent
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
OURS = "panconv"
ORDER = ("product", "whole", "sweep", "memory", "growth", "training")
Record = Mapping[str, object]


class Table(NamedTuple):
    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]


class Result(NamedTuple):
    """One file of the suite."""

    benchmark: str
    machine: dict[str, object]
    records: list[dict[str, object]]
    error: str | None
    seconds: float


# ---------------------------------------------------------------------- reading and writing


def read(folder: Path) -> list[Result]:
    """The results of one machine, in order."""
    found = []
    for name in ORDER:
        path = folder / f"{name}.json"
        if path.exists():
            data = json.loads(path.read_text())
            found.append(Result(name, data["machine"], data["records"], data["error"], data["seconds"]))
    return found


def write(path: Path, text: str) -> None:
    """A file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


def machine_in_words(machine: Mapping[str, object]) -> str:
    first = machine.get("gpu") or f"{machine['cpu']}, {machine['threads']} threads"
    names = (("torch", "torch"), ("pyg", "PyG"), ("triton", "Triton"), ("cupy", "CuPy"), ("panconv", "panconv"))
    software = ", ".join(f"{word} {machine[key]}" for key, word in names if machine.get(key))
    copy = float(machine["copy_bytes_per_s"]) / 1e9
    cache = int(machine["cache_bytes"]) / 2**20
    return f"{first}; {software}; copies {copy:,.0f} GB/s, last cache {cache:.0f} MiB"


# ---------------------------------------------------------------------- the tables


def tables(result: Result) -> list[Table]:
    make = _MAKERS[result.benchmark]
    found = [table for table in make(result.records) if table.rows]
    if result.error:
        found.append(Table(f"{result.benchmark} stopped", [], [], [f"{result.benchmark} stopped: {result.error}"]))
    return found


def _product(records: list[dict[str, object]]) -> Iterator[Table]:
    columns = {"graph": "graph", "F": "F", "dtype": "dtype"}
    extra = {"of copy, per edge": "of_copy_per_edge", "per node": "of_copy_per_node"}
    yield _compared("One product Y = Â·X, ms (times as long as panconv)", records, columns, extra)


def _whole(records: list[dict[str, object]]) -> Iterator[Table]:
    title = "Σ k(n) Âⁿ x, trained k(n), L = 3, forward + backward, ms (times as long as panconv)"
    yield _compared(title, records, {"graph": "graph", "start": "from", "F": "F"})


def _sweep(records: list[dict[str, object]]) -> Iterator[Table]:
    for sweep in ("L", "F"):
        swept = [r for r in records if r["sweep"] == sweep]
        yield _compared(f"Forward + backward against {sweep}, ms", swept, {"graph": "graph", "L": "L", "F": "F"})


def _compared(
    title: str, records: list[dict[str, object]], columns: Mapping[str, str], extra: Mapping[str, str] | None = None
) -> Table:
    """A row per case, a column per peer: its ms, how many times ours that is, and the goal where there is one."""
    who = list(dict.fromkeys(str(r["who"]) for r in records))
    cases: dict[tuple[object, ...], dict[str, dict[str, object]]] = {}
    for record in records:
        cases.setdefault(tuple(record.get(key) for key in columns), {})[str(record["who"])] = record
    header = [*columns.values(), *who, *(extra or {})]
    rows = []
    for case, found in cases.items():
        row = [_short(value) for value in case]
        row += [_cell(found[name]) if name in found else "" for name in who]
        row += [_percent(found.get(OURS, {}).get(key)) for key in (extra or {}).values()]
        rows.append(row)
    return Table(title, header, rows, _errors(records) + _differences(records))


def _memory(records: list[dict[str, object]]) -> Iterator[Table]:
    header = ["who", "method", "terms", "L", "F", "peak / (N·F·4)", "peak", "graph", "goal"]
    rows = [
        [
            *(str(r[key]) for key in ("who", "method", "memory", "L", "F")),
            f"{r['units']:.2f}" if "units" in r else "—",
            _mib(r.get("peak_bytes")),
            _mib(r.get("graph_bytes")),
            f"< {r['goal']:g}: {'met' if r['met'] else 'missed'}" if "goal" in r else "",
        ]
        for r in records
    ]
    graph = f" ({records[0]['graph']})" if records else ""
    yield Table(f"Peak memory of forward + backward{graph}, inputs counted", header, rows, _errors(records))


def _growth(records: list[dict[str, object]]) -> Iterator[Table]:
    sizes: dict[object, dict[str, dict[str, object]]] = {}
    for r in records:
        sizes.setdefault(r["entries"], {})[str(r["what"])] = r
    header = ["stored edges", "nodes", "preparing ms", "product ms", "ns/edge", "operator ms", "ns/edge"]
    header += ["peak with graph", "bytes/edge", "past caches"]
    rows = []
    for entries, found in sizes.items():
        one = next(iter(found.values()))
        cells = [_number(found[what].get(key)) if what in found else "—" for what, key in _GROWTH_CELLS]
        whole = found.get("operator", {})
        total = whole["peak_bytes"] + whole["graph_bytes"] if "peak_bytes" in whole else None
        tail = [_mib(total), _number(whole.get("bytes_per_edge")), "yes" if one.get("past_caches") else "no"]
        rows.append([f"{entries:,}", f"{one['nodes']:,}", *cells, *tail])
    notes = _errors(records) + [
        f"{text}: {value:.2f}× (goal ≤ {goal:g}×: {_word(met)})" for text, value, goal, met in growth_goals(records)
    ]
    yield Table("Growth, average degree 20, F = 64, operator L = 3 forward + backward", header, rows, notes)


def _training(records: list[dict[str, object]]) -> Iterator[Table]:
    rows = []
    for r in records:
        ms = _cell(r) if "ratio" in r else _number(r["ms"])
        rows.append([str(r["what"]), str(r["graph"]), str(r["who"]), ms])
    yield Table("Training, ms (times as long as panconv)", ["what", "graph", "who", "ms"], rows, _errors(records))


_MAKERS = {"product": _product, "whole": _whole, "sweep": _sweep, "memory": _memory, "growth": _growth}
_MAKERS["training"] = _training
_GROWTH_CELLS = [("prepare", "ms"), ("product", "ms"), ("product", "ns_per_edge")]
_GROWTH_CELLS += [("operator", "ms"), ("operator", "ns_per_edge")]


def growth_goals(records: Iterable[Record]) -> Iterator[tuple[str, float, float, bool | None]]:
    """How far time and memory per edge spread once past the caches; None where fewer than two sizes are."""
    records = [r for r in records if not r.get("error")]
    for what, key, text in (
        ("product", "ns_per_edge", "time per edge of a product past the caches, largest over smallest"),
        ("operator", "ns_per_edge", "time per edge of the operator past the caches, largest over smallest"),
        ("operator", "bytes_per_edge", "bytes per edge, largest over smallest"),
    ):
        kept = [r for r in records if r["what"] == what and (r.get("past_caches") or key == "bytes_per_edge")]
        values = [float(r[key]) for r in kept]
        if values:
            spread = max(values) / min(values)
            yield text, spread, GROWTH, spread <= GROWTH if len(values) > 1 else None


def goals(result: Result) -> Iterator[tuple[str, str, bool | None]]:
    """Every goal that these records touch: what, how far, whether it is met (None: not measured)."""
    for r in result.records:
        if "goal" in r and result.benchmark == "memory":
            yield f"memory, method {r['method']}, {r['memory']}: under {r['goal']:g}", f"{r['units']:.2f}", r["met"]
        elif "goal" in r and result.benchmark == "training":
            if "ratio" in r:
                yield f"{r['what']}, {r['graph']}: ≥ {r['goal']:g}× {r['who']}", f"{r['ratio']:.1f}×", r["met"]
            else:
                yield f"{r['what']}: < {r['goal']:g} s", f"{r['ms'] / 1e3:.1f} s", r["met"]
        elif "goal" in r:
            where = [str(r["graph"]), f"F = {r['F']}", str(r["dtype"])]
            where += ["from the edge_index"] if r.get("start") == "edge_index" else []
            got = f"{r['ratio']:.2f}×" if r.get("ratio") else str(r["error"])
            yield f"{result.benchmark}, {', '.join(where)}: ≥ {r['goal']:g}× {r['who']}", got, r["met"]
    if result.benchmark == "growth":
        for text, value, goal, met in growth_goals(result.records):
            yield f"growth, {text}: ≤ {goal:g}×", f"{value:.2f}×", met


def goals_table(results: Iterable[Result]) -> Table:
    rows = [[what, got, _word(met)] for result in results for what, got, met in goals(result)]
    done = sum(row[2] == "met" for row in rows)
    return Table("Goals", ["goal", "measured", ""], rows, [f"{done} of {len(rows)} met"])


# ---------------------------------------------------------------------- cells


def _word(met: object) -> str:
    return {True: "met", False: "missed", None: "not measured"}[met]


def _cell(record: Record) -> str:
    if record["ms"] is None:
        return "—"
    ratio, goal = record.get("ratio"), record.get("goal")
    against = f" {'≥' if record['met'] else '<'} {goal:g}" if goal is not None else ""
    return _number(record["ms"]) + (f" ({_ratio(ratio)}{against})" if ratio is not None else "")


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def _number(value: object) -> str:
    return "—" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _mib(value: object) -> str:
    return "—" if value is None else f"{value / 2**20:,.1f} MiB"


def _percent(value: object) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _short(value: object) -> str:
    return {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}.get(str(value), str(value))


def _errors(records: list[dict[str, object]]) -> list[str]:
    """What did not run, and where, each reason once."""
    where: dict[tuple[str, str], list[str]] = {}
    for r in records:
        if r.get("error"):
            place = f"{r.get('graph', '')} F = {r['F']}" + (f" {_short(r['dtype'])}" if "dtype" in r else "")
            where.setdefault((str(r["who"]), str(r["error"])), []).append(place)
    return [f"{who}: {error} ({'; '.join(dict.fromkeys(places))})" for (who, error), places in where.items()]


def _differences(records: list[dict[str, object]]) -> list[str]:
    """How far the peers' results are from ours, relative to the largest value."""
    worst: dict[str, float] = {}
    for r in records:
        if "difference" in r:
            kind = _short(r["dtype"])
            worst[kind] = max(worst.get(kind, 0.0), float(r["difference"]))
    return [f"all results agree to {value:.1g} of the largest value in {kind}" for kind, value in worst.items()]


# ---------------------------------------------------------------------- printing


def text(table: Table) -> str:
    rows = [table.header, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    rule = ["-" * min(len(lines[0]), 120)] if table.header else []
    return "\n".join([table.title, *lines[:1], *rule, *lines[1:], *(f"  {note}" for note in table.notes)])


def markdown(table: Table) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (table.header, ["---"] * len(table.header), *table.rows)]
    notes = [f"- {note[0].upper()}{note[1:]}." for note in table.notes]
    return "\n".join([f"**{table.title}**", "", *(lines if table.header else []), "", *notes, *[""] * bool(notes)])


def page(folders: Iterable[Path], pictures: Path | None = None, beside: Path | None = None) -> str:
    """All machines, one after another, with the pictures that are there."""
    parts = []
    for folder in folders:
        results = read(folder)
        if not results:
            continue
        machine = results[0].machine
        parts += [f"### {machine.get('gpu') or machine['cpu']}", "", machine_in_words(machine) + ".", ""]
        parts += [markdown(goals_table(results)), ""] if goals_table(results).rows else []
        for result in results:
            parts += [markdown(table) for table in tables(result)]
        for picture in _pictures(pictures, folder.name):
            name = os.path.relpath(picture, beside.parent if beside else Path.cwd())
            parts += [f"![{picture.stem}]({name})", ""]
    return "\n".join(parts).strip() + "\n"


def _pictures(folder: Path | None, machine: str) -> list[Path]:
    """Those of a machine, and not those of another whose name begins the same."""
    named = [] if folder is None else sorted(folder.glob(f"{machine}-*.png"))
    return [picture for picture in named if picture.stem.removeprefix(f"{machine}-") in PICTURES]


def fill(path: Path, made: str) -> None:
    """Puts what was made between the markers of a page."""
    old = path.read_text()
    if BEGIN not in old or END not in old:
        sys.exit(f"{path} has no place for tables: put {BEGIN} and {END} in it, each on a line")
    before, after = old.split(BEGIN)[0], old.split(END)[1]
    write(path, f"{before}{BEGIN}\n\n{made}\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="results of a machine each; all that are there if none")
    parser.add_argument("--write", type=Path, help="a page to fill between its markers")
    parser.add_argument("--plots", type=Path, default=HERE.parent / "docs/images/speed")
    options = parser.parse_args()
    folders = options.folders or sorted(f for f in (HERE / "results").glob("*/") if not f.name.endswith("-quick"))
    made = page(folders, options.plots, options.write)
    if options.write is None:
        print(made, end="")
        return
    fill(options.write, made)


if __name__ == "__main__":
    main()
