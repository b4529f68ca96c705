"""The rules of the house: imports go one way, the core runs without the command line, the surface stays small."""

import ast
import subprocess
import sys
from pathlib import Path

import panconv

PACKAGE = Path(panconv.__file__).parent
# Each module may import those above it, and its own folder.
ORDER = [
    ["autodiff"],
    ["csr", "cuda_graph", "random", "validation", "files"],
    ["degrees", "jsonl", "edges"],
    ["graph", "kernels"],
    ["spmm", "series"],
    ["features", "weights", "saving", "data", "results"],
    ["paths", "methods"],
    ["partition"],
    ["plan", "scalings", "thermodynamics", "ranking"],
    ["met"],
    ["spectral"],
    ["nn", "testing", "transforms"],
    ["models"],
    ["epoch"],
    ["train"],
    ["search", "walkers"],
    ["tasks"],
    ["zoo"],
    ["experiments"],
    ["report"],
    ["cli"],
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
PUBLIC = [
    *("Adjacency", "Boltzmann", "Fixed", "Free", "MET", "METHODS", "PAN", "PANConv", "PowerLaw", "Walks"),
    *("EffectiveWalks", "METTransform", "SelfAvoidingPaths", "ShortestPaths", "eigs", "fit", "grid_search"),
    *("lanczos", "load"),
]
# Tested through what uses them: checks by every "bad input" test, `plan` by all of test_met, the parts of
# path families by those of the families.
SMALL = (
    "validation.py",
    "csr.py",
    "prepared.py",
    "plan.py",
    "load.py",
    "ranking.py",
    "jsonl.py",
    "figures.py",
)
SMALL += (
    "partition.py",
    "scalings.py",
    "degrees.py",
    "kinds.py",
    "naming.py",
    "autodiff.py",
    "methods.py",
    "undirected.py",
    "family.py",
    "levels.py",
    "shortest.py",
    "self_avoiding.py",
)
SMALL += ("plain.py", "schedule.py", "blocks.py", "launch.py", "dots.py")
FOLDERS = ("experiments", "report", "cli")  # each has a test file, or a few, for all that it holds


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                [f"panconv.{alias.name}" for alias in node.names] if node.module == "panconv" else [node.module]
            )


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_imports_go_one_way():
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if module == "__init__":
            continue
        for name in imported(path):
            if name.startswith("panconv.") and (other := name.split(".")[1]) != module:
                assert RANK[other] < RANK[module], f"{path.relative_to(PACKAGE)} imports {name}"


def test_the_core_imports_no_terminal_library():
    # With typer made unimportable, everything but the command line is there.
    run("import sys; sys.modules['typer'] = None; import panconv; [getattr(panconv, n) for n in dir(panconv)]")
    for path in PACKAGE.rglob("*.py"):
        if "cli" not in path.parts:
            assert not {name.split(".")[0] for name in imported(path)} & {"typer", "rich", "click"}, path


def test_report_and_help_never_import_torch():
    for module in ("panconv.report", "panconv.cli", "panconv.results", "panconv"):
        assert run(f"import sys, {module}; print('torch' in sys.modules)") == "False", module


def test_public_surface():
    assert dir(panconv) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(panconv, name) is not None
    assert not hasattr(panconv, "PANPool")


def test_a_file_is_a_screenful_or_a_few():
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 330, path


def test_a_test_file_for_every_module():
    here = Path(__file__).parent
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE)
        if path.name not in ("__init__.py", *SMALL) and name.parts[0] not in FOLDERS:
            assert (here / name.parent / f"test_{name.name}").exists(), f"no test for {name}"
    for folder in FOLDERS:
        assert list((here / folder).glob("test_*.py")), folder
