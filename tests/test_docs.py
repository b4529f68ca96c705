"""The blocks of Python on the pages run, one after another, and their links lead somewhere."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from panconv.records.record import UNSAID

HOME = Path(__file__).parents[1]
PAGES = [*sorted(HOME.glob("*.md")), *sorted(HOME.glob("docs/**/*.md"))]
# Those whose blocks need nothing but one another.
RUN = ("best", "estimator", "explain", "folder", "graphs", "models", "point_patterns", "pool", "pyg", "read")


@pytest.mark.parametrize("name", RUN)
def test_the_blocks_of_a_page_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for i, block in enumerate(blocks(HOME / f"docs/{name}.md")):
        if "onnx" in block and find_spec("onnxruntime") is None:
            continue
        exec(compile(block, f"{name}.md, block {i + 1}", "exec"), names)


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(there.read_text()), f"{page.name} links to {target}"


def anchors(text):
    """Of the headings, as GitHub makes them."""
    heads = re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_every_setting_that_may_be_unsaid_is_on_the_page_of_records():
    rows = re.findall(
        r"^\| (`.*?) \| (.*?) \|", (HOME / "docs/results.md").read_text().split("may be unsaid\n")[1], re.M
    )
    said = {}
    for names, values in rows:
        said |= dict(zip(re.findall(r"`(\w+)`", names), values.split(", "), strict=True))
    assert {name: json.loads(value.strip("`")) for name, value in said.items()} == UNSAID
