"""The ledger holds together: its commands and tests are there, and so are the records of every line."""

import re
from pathlib import Path

import pytest

from panconv.cli import app
from panconv.paper.claims.claim import OPEN, Evidence
from panconv.paper.claims.ledger import LEDGER, judged
from panconv.paper.published import GRAPHS
from panconv.paper.tables import cells, further
from panconv.paper.tables.cells import EXPERIMENTS
from panconv.paper.tables.further import FURTHER
from panconv.paper.zoo.registry import METHODS

HOME = Path(__file__).parents[3]
PAPER = HOME / "docs/paper.md"


@pytest.fixture(scope="module")
def evidence():
    return Evidence.of(HOME / "docs/results")


@pytest.mark.parametrize("how", sorted({each for claim in LEDGER for each in claim.how.split("; ")}))
def test_what_a_line_names_is_there(how):
    if how.startswith("tests/"):
        path, name = how.split("::")
        assert re.search(rf"^def {name}\(", (HOME / path).read_text(), re.M)
    else:
        program, command, *rest = how.split()
        assert program == "panconv"
        assert command in {each.callback.__name__ for each in app.registered_commands}
        assert command != "reproduce" or rest[0] in (*EXPERIMENTS, *FURTHER)
        assert command != "zoo" or rest[0] in METHODS


def test_no_line_lacks_its_records(evidence):
    """A line that cannot be decided is one that says so itself, never one whose records are gone."""
    said = judged(LEDGER, evidence)
    assert [claim.words for claim, each in said if each.missing] == []
    assert all(each.figure and each.verdict for _, each in said)


@pytest.mark.parametrize("what", [*FURTHER, "table3", "figure2"])
def test_the_command_of_a_line_trains_what_decides_it(what, evidence):
    """Its records alone are enough."""
    source = further if what in FURTHER else cells
    tasks, later = source.wanted(what, evidence.records, GRAPHS, 10)
    keys = {task.key() for task in tasks}
    alone = Evidence([record for record in evidence.records if record.key() in keys], evidence.folder)
    asked = [claim for claim in LEDGER if claim.how == f"panconv reproduce {what}"]
    assert asked
    assert later == 0
    assert [claim.words for claim, said in judged(asked, alone) if said.missing] == []


def test_a_missing_record_shows():
    for claim, each in judged(LEDGER, Evidence([], HOME / "no/such/folder")):
        assert each.missing is not claim.held, claim.words
        assert claim.held or (each.verdict == OPEN and claim.how in each.figure)


def test_a_line_is_said_once_and_is_a_line():
    assert len({(claim.words, claim.how) for claim in LEDGER}) == len(LEDGER)
    for claim in LEDGER:
        for text in (claim.words, claim.rule, claim.how):
            assert text
            assert "\n" not in text
            assert "|" not in text
