import json

import pytest
from in_process import call
from run_records import make

from panconv.paper.claims.ledger import LEDGER
from panconv.records.record import Results


@pytest.fixture
def place(tmp_path):
    Results(tmp_path / "results").add([make(seed) for seed in range(2)])
    return tmp_path


def test_every_claim_with_its_verdict(place):
    done = call("claims", "--json", "claims.json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert f"{len(LEDGER)} claims: " in done.stdout
    assert "Section 2: the model" in done.stdout
    lines = json.loads((place / "claims.json").read_text())
    assert [line["words"] for line in lines] == [claim.words for claim in LEDGER]
    waiting = [line for line in lines if line["figure"].startswith("no records yet: panconv ")]
    assert waiting
    assert {line["verdict"] for line in waiting} == {"cannot be decided"}


def test_some_of_them(place):
    done = call("claims", "--containing", "grid SEARCH of k(n)", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "1 claim: 1 cannot be decided" in done.stdout
    assert "panconv reproduce table3" not in done.stdout.split("ours")[0]
    done = call("claims", "--containing", "grid SEARCH of k(n)", "--rules", cwd=place)
    assert "by Levene's test" in " ".join(done.stdout.split())
    done = call("claims", "--containing", "no such words", cwd=place)
    assert done.returncode == 2
    assert "--containing names 'no such words', which is in no claim of the paper: use fewer words" in done.stderr
