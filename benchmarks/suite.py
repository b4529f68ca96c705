"""Everything this machine can measure: products, whole operators, memory, growth; tables, JSON and plots.

    python benchmarks/suite.py [--device cuda] [--only product,whole] [--out benchmarks/results] [--quick]

Finds by itself what there is: a GPU, CuPy, Matplotlib. A peer that cannot run is named in the table and the rest goes
on. The clock is the median of many samples, all functions in turn, in one process.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import torch
from measure import describe, forget, in_a_line, slug
from records import Record, Setup
from tables import ORDER, Result, goals_table, machine_in_words, tables, text, write

HERE = Path(__file__).parent
SCHEMA = 1


def measured(name: str, setup: Setup, machine: dict[str, object], path: Path) -> Result:
    """One benchmark, as far as it gets; its file is there from the first record on, should it be cut short."""
    began, error = time.perf_counter(), None
    records: list[Record] = []

    def result(error: str | None) -> Result:
        found = Result(name, machine, records, error, time.perf_counter() - began)
        write(path, as_json(found, setup.quick))
        return found

    try:
        for record in import_module(name).measure(setup):
            records.append(record)
            result("not finished")
            _show(name, record)
    except Exception as failure:
        traceback.print_exc(file=sys.stdout)
        error = in_a_line(failure)
    forget(setup.device)
    return result(error)


def _show(name: str, record: Record) -> None:
    """A line that follows the records, where somebody looks on."""
    if sys.stderr.isatty():
        case = ", ".join(str(record[key]) for key in ("graph", "F", "who") if key in record)
        print(f"\r{name}: {case:<90.90}", end="\r", file=sys.stderr, flush=True)


def as_json(result: Result, quick: bool) -> str:
    known = {"schema": SCHEMA, "quick": quick, **result._asdict()}
    return json.dumps({key: known[key] for key in sorted(known)}, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--only", default=",".join(ORDER), help=f"some of {','.join(ORDER)}")
    parser.add_argument("--out", type=Path, help="benchmarks/results, or with --quick a temporary folder")
    parser.add_argument("--plots", type=Path, help="docs/images/speed, or with --quick the same folder")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all of it runs")
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := set(names) - set(ORDER):
        parser.error(f"--only takes some of {','.join(ORDER)}, got {','.join(sorted(unknown))}")

    if options.out is None:
        options.out = Path(tempfile.mkdtemp()) if options.quick else HERE / "results"
    if options.plots is None:
        options.plots = options.out if options.quick else HERE.parent / "docs/images/speed"
    if options.device != "cpu" and not (options.device.startswith("cuda") and torch.cuda.is_available()):
        parser.error(f"--device must be cpu, or cuda where there is one, got {options.device}")
    device = torch.device(options.device)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out {options.out} cannot be written: {error.strerror}")
    machine = describe(device)
    folder = options.out / (slug(machine) + "-quick" * options.quick)
    setup = Setup(device, machine["copy_bytes_per_s"], machine["cache_bytes"], options.quick)
    print(machine_in_words(machine), flush=True)
    if device.type == "cpu" and machine["load"] > 0.3 * machine["cores"]:
        print(f"the machine is busy (load {machine['load']} before the start): its times are not to be relied on")
    results = []
    for name in names:
        result = measured(name, setup, machine, folder / f"{name}.json")
        results.append(result)
        print(*("\n" + text(table) for table in tables(result)), f"  ({result.seconds:.0f} s)", sep="\n", flush=True)
    print("\n" + text(goals_table(results)))
    print(f"\nwritten to {folder}")
    if find_spec("matplotlib"):
        drawn = import_module("plots").draw(folder, options.plots)
        print(f"drawn in {options.plots}: {', '.join(path.name for path in drawn)}")
    return int(any(result.error for result in results))


if __name__ == "__main__":
    sys.exit(main())
