"""The rules of the house: imports go one way, the core runs without the command line, the surface stays small."""

import ast
import subprocess
import sys
from pathlib import Path

import panconv

PACKAGE = Path(panconv.__file__).parent
# Each module may import those to its left, and its own folder.
ORDER = [
    ["csr", "random", "validation"],
    ["graph"],
    ["spmm"],
    ["features", "paths", "weights", "saving", "data"],
    ["plan"],
    ["met"],
    ["nn", "testing"],
    ["models"],
    ["train"],
    ["experiments"],
    ["cli"],
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
PUBLIC = [
    "Adjacency",
    "Boltzmann",
    "Fixed",
    "Free",
    "MET",
    "METHODS",
    "PAN",
    "PANConv",
    "PowerLaw",
    "Walks",
    "fit",
    "load",
]


# Tested through what uses them: checks by every "bad input" test, `plan` by all of test_met, tables by their commands.
SMALL = ("validation.py", "csr.py", "prepared.py", "plan.py", "load.py", "settings.py", "paper.py", "curves.py")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                [f"panconv.{alias.name}" for alias in node.names] if node.module == "panconv" else [node.module]
            )


def test_imports_go_one_way():
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if module == "__init__":
            continue
        for name in imported(path):
            if name.startswith("panconv.") and (other := name.split(".")[1]) != module:
                assert RANK[other] < RANK[module], f"{path.relative_to(PACKAGE)} imports {name}"


def test_the_core_imports_no_terminal_library():
    code = "import sys, panconv; print([m for m in ('typer', 'rich', 'click') if m in sys.modules])"
    # Other libraries may bring rich along; ours must not need it.
    code = "import sys; sys.modules['typer'] = None\n" + code.replace("'rich', ", "")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).returncode == 0
    for path in PACKAGE.rglob("*.py"):
        if path.name != "cli.py":
            assert not {name.split(".")[0] for name in imported(path)} & {"typer", "rich", "click"}, path


def test_public_surface():
    assert sorted(name for name in vars(panconv) if not name.startswith("_") and name not in RANK) == sorted(PUBLIC)


def test_a_file_is_a_screenful_or_a_few():
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 350, path


def test_a_test_file_for_every_module():
    here = Path(__file__).parent
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE)
        if path.name not in ("__init__.py", *SMALL):
            assert (here / name.parent / f"test_{name.name}").exists(), f"no test for {name}"
