"""The other fuzzers, each a file of `tests/fuzzers`, with a `main(cases, seed)` of its own."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "fuzzers"
FUZZERS = (
    "fuzz_pickles.py",
    "fuzz_models.py",
    "fuzz_model_folders.py",
    "fuzz_records.py",
    "fuzz_commands.py",
    "fuzz_threads.py",
)
SHARE = 20  # a case of theirs takes as long as so many of the campaign's


def main(argv: list[str] | None = None) -> int:
    """Runs each in a process of its own (some limit their memory); 1 if one found something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    cases = max(1, given.cases // SHARE)
    if given.only:
        return failed(given.only, cases, given.seed)
    broken = 0
    for name in FUZZERS:
        print(f"{name}: {cases:,} cases", flush=True)
        command = [sys.executable, "-m", "campaign.others", "--only", name, "--cases", str(given.cases)]
        broken += bool(subprocess.run([*command, "--seed", str(given.seed)]).returncode)
    return min(broken, 1)


def failed(name: str, cases: int, seed: int) -> int:
    """Whether a fuzzer's main reports a failure: a number or a line of them, or a count of those that failed."""
    path = FOLDER / name
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    found = module.main(cases, seed)
    print(f"{name}: {found}", flush=True)
    return int(bool(found.get("failed") if isinstance(found, dict) else found))


if __name__ == "__main__":
    sys.exit(main())
