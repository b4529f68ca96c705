"""One version, said in one place."""

import re
import subprocess
import sys
from pathlib import Path

import panconv

ROOT = Path(__file__).parents[1]


def test_the_version_is_there_without_installation_and_without_torch():
    code = "import sys, panconv; print(panconv.__version__, 'torch' in sys.modules, panconv.__file__)"
    path = str(Path(panconv.__file__).parents[1])
    run = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({path!r}); {code}"],
                         capture_output=True, text=True, check=True)  # fmt: skip
    assert run.stdout.split()[:2] == [panconv.__version__, "False"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", panconv.__version__)


def test_what_else_names_the_version_agrees():
    assert f"\nversion: {panconv.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project
    assert 'path = "src/panconv/__init__.py"' in project
