"""What a shell completes, and names that are known without an import of torch."""

import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from panconv.cli import app, options
from panconv.data import DATASETS
from panconv.data.heterophilous import METRIC_OF
from panconv.training.spaces import SPACES
from panconv.walkers.walk import KINDS

DOCS = Path(__file__).parents[2] / "docs"


def test_names_are_those_that_there_are():
    assert (*DATASETS, *METRIC_OF) == options.BUILT_IN
    assert tuple(KINDS) == options.WALKS
    assert tuple(SPACES) == options.SPACES


@pytest.mark.parametrize("option", ["device", "strict"])
def test_the_page_of_options_says_which_commands_have_them(option):
    row = next(line for line in (DOCS / "commands.md").read_text().splitlines() if line.startswith(f"| `--{option}"))
    have = {each.callback.__name__ for each in app.registered_commands if option in signature(each.callback).parameters}
    assert set(re.findall(r"`(\w+)`", re.split(r"(?<!\\)\|", row)[2])) == have


def test_completing():
    complete = options.completing(["cora", "citeseer", "pubmed"])
    assert complete("c") == ["cora", "citeseer"]
    assert complete("Pub") == ["pubmed"]
    assert complete("edg") == []  # so that the shell completes a file


@pytest.mark.parametrize(("typed", "completed"), [("co", ["cora"]), ("edg", []), ("--la", ["--label"])])
def test_a_shell_is_told(typed, completed):
    words = {"COMP_WORDS": f"panconv describe {typed}", "COMP_CWORD": "2", "_PANCONV_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-m", "panconv"], env=os.environ | words, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == completed


@pytest.mark.parametrize("module", ["panconv", "panconv.cli"])
def test_the_program_is_called_panconv_however_it_is_started(module):
    done = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True)
    assert "Usage: panconv [OPTIONS]" in done.stdout
    assert "--install-completion" in done.stdout
    assert "--show-completion" in done.stdout
