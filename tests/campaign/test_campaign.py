"""A sample of the campaign (`make fuzz` runs the whole), and that it can see."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import connected_components

from campaign import again, check, laws, mutants, oracle, run, shrink, tally
from campaign.cases import LD, Case, case
from campaign.levels import FACTORS, LEGAL, MUST_REFUSE, SIGNED, draw
from panconv.met.reference.problem import Problem

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


def test_a_case_is_what_its_levels_say():
    for index in range(1500):
        made = case(4, index)
        levels, p = made.levels, made.problem
        joined = np.zeros((p.num_nodes, p.num_nodes), bool)
        joined[p.edges[1], p.edges[0]] = True
        mirrored = np.array_equal(joined, joined.T)
        assert mirrored == (levels["direction"] == "symmetric") or _told_apart(p)
        if levels["direction"] == "one-way":
            assert not (joined & joined.T & ~np.eye(len(joined), dtype=bool)).any()
        if levels["graph"] == "disconnected":
            assert connected_components(joined, directed=False)[0] > 1
        if levels["graph"] == "isolated nodes":
            assert (~joined.any(0) & ~joined.any(1)).any()
        if levels["edge weights"] in SIGNED:
            assert (p.edge_weight < 0).any()
        if levels["edge weights"] == "zeros":
            assert (p.edge_weight == 0).any()
        assert made.given == levels["given as"]
        assert made.refused is None or oracle.predicted(p).outcome == "refused"


def _told_apart(p):
    """Whether an edge weighs another than its way back."""
    weight = np.zeros((p.num_nodes, p.num_nodes))
    np.add.at(weight, (p.edges[1], p.edges[0]), p.edge_weight)
    return not np.array_equal(weight, weight.T)


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
    refusal = check.Refusal(ValueError("trained weights that may change sign"), clear=True)
    free = replace(made.problem, method=1, kind="free")
    assert check.judged(made.problem, refusal).outcome == check.REFUSED_WRONGLY
    assert check.judged(free, refusal).outcome == check.REFUSED
    assert check.judged(free, refusal._replace(error=ValueError("too long"))).outcome == check.OTHERWISE
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
    page.write_text(f"before\n{tally.START}\nthe last run\n{tally.END}\nafter\n")
    tally.main(["--write", str(page), *map(str, files)])
    text = page.read_text()
    assert "12 cases" in text
    assert "the last run" not in text
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert sum(len(names) for names in FACTORS.values()) <= text.count("\n| ")


def test_too_many_ill_conditioned_cases_are_a_complaint():
    found = tally.Tally()
    found.cases = 5000
    found.unsigned.update({check.RIGHT: 4900, check.ILL: 100})
    assert "ill-conditioned" in found.complaints()[0]


def test_a_run_that_shows_nothing_is_a_complaint():
    assert tally.Tally().complaints() == ["no case was run"]
    found = tally.Tally()
    found.cases, found.seen, found.asked = 20_000, 20_000, 1_000_000
    assert any("20,000 of 1,000,000" in line for line in found.complaints())
    assert any(f"fewer than {tally.ENOUGH}" in line for line in found.complaints())
    for name in laws.NAMES[1:]:
        found.add_law(case(0, 0), name, held=True)
    assert f"the law {laws.NAMES[0]!r} was never met" in found.complaints()


def test_a_broken_law_is_a_failure_of_its_levels():
    found, made = tally.Tally(), case(0, 0)
    found.add(made, check.RIGHT)
    found.add_law(made, laws.NAMES[0], held=False)
    assert found.failed == 1
    assert "| 1 | 1 | 0 | 1 | — |" in found.markdown()


def test_failures_are_run_again_after_a_mend():
    index = next(
        i for i in range(100) if case(1, i).refused is None and check.verdict(case(1, i)).outcome == check.RIGHT
    )
    found, made = tally.Tally(), case(1, index)
    found.add(made, check.WRONG)
    found.add_law(made, "shares and Z", held=False)
    found.failures += [f"wrong: {made.replay}  off", f"shares and Z: {made.replay}  off"]
    found = again.again(tally.Tally.from_json(json.loads(json.dumps(found.to_json()))))
    assert (found.mended, found.failures, found.failed, found.outcomes[check.RIGHT]) == (2, [], 0, 1)
    assert found.rarest(found.right) == found.rarest()
    assert f"run again, and are counted as they came out: {found.mended}" in found.markdown()


def test_a_law_that_can_say_nothing_is_not_counted(monkeypatch):
    made = _plain()
    value = check.computed(made)
    assert laws.agrees(made.problem, value, value) is True
    assert isinstance(laws.agrees(made.problem, value, 1.1 * value), str)
    monkeypatch.setattr(check, "is_ill", lambda *_: True)
    assert laws.agrees(made.problem, value, value) is None


def test_a_gradient_that_is_nan_beside_the_direction_is_seen(monkeypatch):
    made = _plain().with_problem(quantity="dedge", g=np.ones((3, 1), LD), directions=(("edge", np.eye(4)[0]),))
    assert check.verdict(made).outcome == check.RIGHT
    gradient = check.subject._gradient
    beside = torch.tensor([1.0, torch.nan, 1.0, 1.0])
    monkeypatch.setattr(check.subject, "_gradient", lambda *args: gradient(*args) * beside)
    assert check.verdict(made).outcome == check.NAN


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
    assert len(mutants.MUTANTS) == 31
    assert mutants.main([]) == 0
