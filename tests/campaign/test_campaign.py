"""A sample of the campaign (`make fuzz` runs the whole), and that it can see."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from campaign import check, laws, mutants, run, shrink, tally
from campaign.cases import LD, Case, case
from campaign.levels import FACTORS, LEGAL, MUST_REFUSE, draw
from campaign.problem import Problem

SAMPLE, PARTS, SEED = 3000, 6, 20261


@pytest.mark.parametrize("part", range(PARTS))
def test_a_sample_shows_no_failure(part):
    found, seen = tally.Tally(), []
    for index in range(part, SAMPLE, PARTS):
        made = case(SEED, index)
        if made.problem.L > 120 or (made.problem.L == 120 and made.problem.method == 6):
            continue  # seconds each: the full run has them
        seen += [f"{kind}: {made.replay}  {detail}" for kind, detail in run.one(made, found, "cpu", False)]
    assert not seen, "\n".join(seen[:5])
    assert found.outcomes[check.RIGHT] > found.cases / 2


def test_a_case_is_a_pure_function_of_seed_and_index():
    a, b = case(3, 17), case(3, 17)
    assert a.levels == b.levels
    assert shrink.described(a) == shrink.described(b)
    assert shrink.described(a) != shrink.described(case(3, 18))


def test_levels_are_drawn_in_legal_pairs_alone():
    uniform = random.Random(0).random
    legal = set(LEGAL)
    for _ in range(500):
        levels, refused = draw(uniform)
        items = list(levels.items())
        pairs = {(*a, *b) for i, a in enumerate(items) for b in items[i + 1 :]}
        assert refused in MUST_REFUSE or pairs <= legal


def test_every_pair_comes_often_enough_in_a_full_run():
    """A hundredth of the full run: the rarest pair within three deviations of its share."""
    cases = 10_000
    found = run.dry(cases, seed=5)
    due = tally.ENOUGH * cases / tally.FULL
    assert found.rarest()[0] > due - 3 * due**0.5
    assert found.rarest_refusal()[0] > due - 3 * due**0.5


def test_a_wrong_value_is_seen_and_shrunk(monkeypatch):
    made, evaluate = _plain(), check.subject.evaluate
    monkeypatch.setattr(check.subject, "evaluate", lambda *args: evaluate(*args) * 1.5)
    small = run.smallest(made, check.WRONG, "cpu")
    assert check.verdict(small).outcome == check.WRONG
    assert small.problem.L == 0
    assert small.problem.edges.shape[1] == 0


def _plain():
    """A case that a value is due for."""
    edges, weight = np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), np.array([1.0, 1.0, 0.5, 0.5])
    problem = Problem(
        edges, weight, "float64", 3, "add", "walks", None, 2, 5, "fixed", np.ones(3, LD), x=np.ones((3, 1), LD)
    )
    return Case(0, 0, case(0, 0).levels, None, problem, "edge_index", "float64", None)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (ValueError("no"), check.UNCLEAR),  # not raised by panconv
        (RuntimeError("no"), check.UNCLEAR),
        (np.nan, check.NAN),
        (1.01, check.WRONG),
        (1.0, check.RIGHT),
    ],
)
def test_outcomes(monkeypatch, given, outcome):
    made, evaluate = _plain(), check.subject.evaluate

    def instead(*args):
        if isinstance(given, Exception):
            raise given
        return evaluate(*args) * given

    monkeypatch.setattr(check.subject, "evaluate", instead)
    assert check.verdict(made).outcome == outcome


def test_refusals_are_outcomes():
    made = _plain()
    found = check.computed(made)
    refusal = check.Refusal(ValueError("refused"), clear=True)
    free = replace(made.problem, method=1, kind="free")
    assert check.judged(made.problem, refusal).outcome == check.REFUSED_WRONGLY
    assert check.judged(free, refusal).outcome == check.REFUSED
    assert check.judged(free, found).outcome == check.NOT_REFUSED


def test_tallies_add_up_and_are_written(tmp_path):
    parts = []
    for first in (0, 1):
        options = {"seed": 1, "first": first, "end": 12, "step": 2, "device": "cpu", "compiled": False}
        parts.append(run.shard({**options, "shrink": False, "seconds": 60, "shortest": 0, "longest": 1000}))
    files = [tmp_path / f"{i}.json" for i in range(2)]
    for file, part in zip(files, parts, strict=True):
        file.write_text(json.dumps(part))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tally.START}\nold\n{tally.END}\nafter\n")
    tally.main(["--write", str(page), *map(str, files)])
    text = page.read_text()
    assert "12 cases" in text
    assert "old" not in text
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert sum(len(names) for names in FACTORS.values()) <= text.count("\n| ")


def test_too_many_ill_conditioned_cases_are_a_complaint():
    found = tally.Tally()
    found.cases = 5000
    found.unsigned.update({check.RIGHT: 4900, check.ILL: 100})
    assert "ill-conditioned" in found.complaints()[0]


def test_every_law_is_met():
    met = set()
    for index in range(400):
        made = case(9, index)
        if made.problem.L <= 7 and check.verdict(made).outcome == check.RIGHT:
            met |= {name for name in laws.NAMES if name not in met and laws.broken(made, name) is True}
        if len(met) == len(laws.NAMES):
            return
    raise AssertionError(f"no case for {set(laws.NAMES) - met}")


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_the_text_that_a_mutant_changes_is_there(mutant):
    assert mutant.old in mutants.text_of(mutant), f"{mutant.file} has changed: plant the mutant anew"


@pytest.mark.slow
def test_all_mutants_are_caught():
    assert len(mutants.MUTANTS) == 30
    assert mutants.main([]) == 0
