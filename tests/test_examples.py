"""The examples run, and show what they say."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_node_classification(capsys):
    assert runpy.run_path(str(EXAMPLES / "node_classification.py"))["main"](epochs=40) > 0.75
    assert "k(n) of the first layer" in capsys.readouterr().out


def test_temperature():
    means = runpy.run_path(str(EXAMPLES / "temperature.py"))["main"]()
    assert means == sorted(means)
    assert means[0] < 0.01


def test_met_transform(capsys):
    usual, on_met = runpy.run_path(str(EXAMPLES / "met_transform.py"))["main"](epochs=20)
    assert min(usual, on_met) > 0.6
    assert "% of |M|" in capsys.readouterr().out


def test_spectrum(capsys):
    assert runpy.run_path(str(EXAMPLES / "spectrum.py"))["main"](epochs=30) > 0.6
    assert "the eigenvalue 1 occurs 78 times" in capsys.readouterr().out


def test_the_readme_runs():
    text = (EXAMPLES.parent / "README.md").read_text()
    names: dict[str, object] = {}
    for block in text.split("```python\n")[1:]:
        exec(block.split("```")[0], names)
    assert names["out"].shape == (2708, 7)
