"""A case against the oracle: what came of it."""

from __future__ import annotations

import math
import re
import traceback
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import panconv
from campaign import oracle, subject
from campaign.cases import Case
from panconv.met import reference
from panconv.met.reference.problem import Array, Problem

RIGHT, REFUSED = "right", "refused as predicted"
ILL, RANGE = "ill-conditioned", "out of range"
WRONG, NAN, UNCLEAR = "wrong", "NaN", "unclear exception"
REFUSED_WRONGLY, NOT_REFUSED, OTHERWISE = "refused wrongly", "not refused", "refused for another reason"
PASSED, FAILED = (RIGHT, REFUSED, ILL, RANGE), (WRONG, NAN, UNCLEAR, REFUSED_WRONGLY, NOT_REFUSED, OTHERWISE)
WORST_KAPPA = {"float64": 1e6, "float32": 1e3, "float16": 1e3, "bfloat16": 1e3}
PACKAGE = str(Path(panconv.__file__).parent)


class Verdict(NamedTuple):
    outcome: str
    detail: str = ""
    ratio: float = math.nan  # the error over the bound, where a value was compared
    either: bool = False  # whether the oracle allows both a value and a refusal


class Refusal(NamedTuple):
    """An exception in place of a value."""

    error: Exception
    clear: bool  # whether it is a ValueError or TypeError that panconv itself raised


def computed(case: Case, device: str = "cpu", compiled: bool = False) -> Array | Refusal:
    """What panconv gives."""
    try:
        return subject.evaluate(case, device, compiled)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return Refusal(error, isinstance(error, (ValueError, TypeError)) and frame.filename.startswith(PACKAGE))


def verdict(case: Case, device: str = "cpu", compiled: bool = False) -> Verdict:
    """What came of a case."""
    return judged(case.problem, computed(case, device, compiled))


def judged(problem: Problem, found: Array | Refusal) -> Verdict:
    prediction = oracle.predicted(problem)
    if isinstance(found, Refusal):
        verdict = _of_refusal(problem, found, prediction)
    elif prediction.outcome == "refused":
        verdict = Verdict(NOT_REFUSED, f"a refusal was due: {prediction.reason}")
    else:
        verdict = compared(problem, found, reference.answer(problem))
    return verdict._replace(either=prediction.outcome == "either")


def _of_refusal(problem: Problem, found: Refusal, prediction: oracle.Prediction) -> Verdict:
    said = f"{type(found.error).__name__}: {found.error}".split("\n")[0][:300]
    if not found.clear:
        return Verdict(UNCLEAR, said)
    if prediction.outcome == "value":
        return Verdict(REFUSED_WRONGLY, said)
    reasons = oracle.may_refuse_for(problem)
    if not any(re.search(oracle.SPEAKS_OF[reason], said) for reason in reasons):
        return Verdict(OTHERWISE, f"{said} (for {', '.join(reasons)})")
    return Verdict(REFUSED, said)


def compared(problem: Problem, found: Array, answer: reference.Answer) -> Verdict:
    """A value against the oracle's."""
    if found.shape != answer.value.shape:
        return Verdict(WRONG, f"shape {found.shape}, not {answer.value.shape}")
    if problem.directions and found == subject.BESIDE:
        name, along = problem.directions[-1]
        everywhere = replace(problem, directions=(*problem.directions[:-1], (name, np.ones_like(along))))
        beyond = bool(reference.answer(everywhere).magnitude > oracle.LARGEST_OF["float64"])
        return Verdict(RANGE if beyond else NAN, "an entry of the gradient beside the direction is NaN")
    if np.isnan(found).any():
        # Of sums that float64 does not hold the difference is that of two infinities.
        beyond = not (answer.magnitude[np.isnan(found)] <= oracle.LARGEST_OF["float64"]).any()
        return Verdict(RANGE if beyond else NAN, f"{int(np.isnan(found).sum())} of {found.size} entries are NaN")
    bound = bound_of(problem, answer)
    if problem.directions and np.isinf(found).all() and _may_overflow(problem, answer):
        return Verdict(RANGE, "an entry of the gradient is infinite in float32")
    in_range = np.isfinite(bound)
    with np.errstate(all="ignore"):
        error = np.where(in_range, abs(found - answer.value), 0)
        ratio = np.where(in_range & (error > 0), error / bound, 0)
    worst = float(ratio.max(initial=0)) if not np.isnan(ratio).any() else math.inf
    if is_ill(problem, answer):
        return Verdict(ILL, f"κ = {answer.kappa:.1e}", worst)
    if worst > 1:
        at = np.unravel_index(int(np.nan_to_num(ratio, nan=np.inf).argmax()), ratio.shape)
        said = f"{float(found[at]):.10g} for {float(answer.value[at]):.10g} ± {float(bound[at]):.1e}"
        return Verdict(WRONG, f"at {tuple(int(i) for i in at)}: {said}, {worst:.3g} times the bound", worst)
    return Verdict(RIGHT if in_range.all() else RANGE, "", worst)


def is_ill(problem: Problem, answer: reference.Answer) -> bool:
    """Whether so much cancels that nothing can be asked of the result."""
    return not answer.kappa <= WORST_KAPPA[_coarsest(problem)]


def _may_overflow(problem: Problem, answer: reference.Answer) -> bool:
    """Whether an entry of the gradient, of which a sum along a direction is compared, may be beyond float32."""
    along = abs(problem.directions[-1][1])
    entry = answer.magnitude / along[along > 0].min(initial=np.inf)
    return _coarsest(problem) == "float32" and bool((entry > 0.01 * np.finfo(np.float32).max).all())


def bound_of(problem: Problem, answer: reference.Answer) -> Array:
    """The oracle's bound, with the eps of the edge weights where their gradient is rounded to them."""
    bound = oracle.tolerance(problem, answer)
    if _coarsest(problem) != oracle.computes_in(problem):
        ratio = oracle.EPS_OF["float32"] / oracle.EPS_OF["float64"]
        bound = np.asarray(bound * ratio + oracle.TINY_OF["float32"])
        beyond = abs(answer.value) > 0.01 * np.finfo(np.float32).max
        bound = np.where(beyond, np.inf, bound)
    return bound


def _coarsest(problem: Problem) -> str:
    """What the result is computed in, or the dtype that an edge weight's gradient is rounded to."""
    edge = "edge" in [name for name, _ in problem.directions]
    return "float32" if edge and problem.edge_dtype == "float32" else oracle.computes_in(problem)
