"""Every spec of path weights that a record may hold has words, and no braces."""

import subprocess
import sys

import pytest

from panconv.base.words import in_words, signed
from panconv.weights import Boltzmann, Fixed, Free, PowerLaw


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (None, "the method's own"),
        ("free", "trained"),
        ("boltzmann", "Boltzmann, trained"),
        ("power-law", "exp(-n/T), T trained"),
        ([0.0, 0.5, 2.0], "0 0.5 2"),
        ({"kind": "layers", "of": [[0.0, 1.0], [1.0, 2.0]]}, "0 1 | 1 2"),
        (Boltzmann([2.0, 0.0, 0.0]).spec(), "Boltzmann, trained from E = 2 0 0"),
        (Boltzmann([2.0, 0.0], 3.0).spec(), "Boltzmann, trained from E = 2 0, T = 3"),
        (Free([0.25, 0.75]).spec(), "trained from 0.25 0.75"),
        (Fixed([0.0, 1.0]).spec(), "0 1"),
        (PowerLaw(2, 1.5, 0.5, trained=False).spec(), "exp(-n^1.5/0.5)"),
        (PowerLaw(2, 1.5, 0.5).spec(), "exp(-n^1.5/0.5), T trained from it"),
        (PowerLaw(2, 1.5, 0.5, trained="alpha").spec(), "exp(-n^1.5/0.5), alpha trained from it"),
        (
            {"kind": "power-law", "alpha": [1.0, 2.0], "temperature": 4.0, "trained": "both", "normalized": True},
            "exp(-n^(1 2)/4), normalised, T and alpha trained from it",
        ),
        (Free([[0.5, 1.0], [2.0, 3.0]]).spec(), "trained from (0.5 1) (2 3)"),
    ],
)
def test_words(spec, words):
    assert in_words(spec) == words


def test_what_rounds_to_nothing_has_no_minus():
    assert [signed(value) for value in (-0.04, 0.04, -0.06, 1.25)] == ["+0.0", "+0.0", "-0.1", "+1.2"]


def test_a_page_can_say_them_without_torch():
    code = "import sys; from panconv.base.words import in_words; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
