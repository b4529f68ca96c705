"""What a shell completes, and names that are known without an import of torch."""

import os
import subprocess
import sys

import pytest
from typer.main import get_command

from panconv.cli import app, options
from panconv.data import DATASETS
from panconv.data.heterophilous import METRIC_OF
from panconv.training.spaces import SPACES
from panconv.walkers.walk import KINDS


def test_names_are_those_that_there_are():
    assert (*DATASETS, *METRIC_OF) == options.BUILT_IN
    assert tuple(KINDS) == options.WALKS
    assert tuple(SPACES) == options.SPACES


def test_what_commands_share_is_shared():
    """As docs/commands.md says: --strict by those that take tables, --device by those that train, and spectrum."""
    commands = {name: {each.name for each in one.params} for name, one in get_command(app).commands.items()}
    tables = {name for name, has in commands.items() if "columns" in has}
    assert tables == {name for name, has in commands.items() if "strict" in has} >= {"fit", "predict", "explain"}
    train = {name for name, has in commands.items() if has & {"epochs", "budget"}}
    assert {name for name, has in commands.items() if "device" in has} >= train | {"spectrum"}


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
