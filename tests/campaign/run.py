"""Runs cases, alone or in shards, and says what came of them.

python -m campaign --cases 20000 --shards 2
python -m campaign --replay 1:4711
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch

from campaign import check, laws, oracle, shrink
from campaign.cases import Case, case, levels_of
from campaign.levels import draw
from campaign.tally import PLACES, Tally
from panconv.met.reference.problem import Problem

MOST = 1000  # failures that a shard lists
SHOWN = 3  # failures of one kind that a shard shrinks and prints
MOST_SUMS = 200  # levels of length that are compiled
COMPILED = ("M", "M.T", "dx", "dw", "dedge")  # there is no second derivative of compiled code


def one(made: Case, tally: Tally, device: str, compiled: bool) -> list[tuple[str, str]]:
    """Runs a case and one law on it; what failed, and how."""
    verdict = check.verdict(made, device, compiled)
    tally.add(made, verdict.outcome, verdict.either)
    failed = [(verdict.outcome, verdict.detail)] if verdict.outcome in check.FAILED else []
    if verdict.outcome == check.RIGHT and not compiled and made.index % 5 == 0:
        name = laws.NAMES[made.index // 5 % len(laws.NAMES)]
        found = laws.broken(made, name, device)
        if found is not None:
            tally.add_law(made, name, found is True)
        if isinstance(found, str):
            failed.append((name, found))
    return failed


def compiles(made: Case) -> bool:
    """Whether a case can be compiled.

    Tracing long paths or many levels of length takes minutes, makes a refusal an error of its own, and cannot form
    paths, as those over edges that are trained are each time.
    """
    problem = made.problem
    if problem.quantity == "dedge" and problem.family in ("shortest", "self_avoiding"):
        return False
    if problem.family == "effective" and problem.alpha != 1 and sums(problem) > MOST_SUMS:
        return False
    return problem.quantity in COMPILED and problem.L <= 7 and oracle.predicted(problem).outcome == "value"


def sums(problem: Problem) -> int:
    """How many lengths L edges can add up to."""
    lengths = oracle.edge_lengths(problem)
    return math.comb(len(np.unique(lengths[np.isfinite(lengths)])) + problem.L, problem.L)


def shard(options: dict[str, Any]) -> dict[str, Any]:
    """The cases first, first + step … below an end; its tally as JSON."""
    torch.set_num_threads(1)
    device, compiled = options["device"], options["compiled"]
    tally, shown, start = Tally(), Counter[str](), time.perf_counter()
    indices = range(options["first"], options["end"], options["step"])
    tally.asked = len(indices)
    for index in indices:
        if time.perf_counter() - start > options["seconds"]:
            break
        tally.seen += 1
        if not options["shortest"] <= int(levels_of(options["seed"], index)["L"]) <= options["longest"]:
            continue
        made = case(options["seed"], index)
        if compiled:
            if not compiles(made):
                continue
            torch._dynamo.reset()
            torch._dynamo.config.fail_on_recompile_limit_hit = True
        for kind, detail in one(made, tally, device, compiled):
            shown[kind] += 1
            line = f"{kind}: {made.replay}  {detail}"
            if shown[kind] <= SHOWN and options["shrink"]:
                line += f"\n    shrunk: {shrink.described(smallest(made, kind, device, compiled))}"
            tally.failures.append(line)
    tally.seconds = time.perf_counter() - start
    if (left := len(tally.failures) - MOST) > 0:
        tally.failures[MOST:] = [f"… and {left:,} failures that are not listed"]
    return tally.to_json()


def smallest(made: Case, kind: str, device: str, compiled: bool = False) -> Case:
    """The case shrunk while it fails in the same way: an outcome, or a broken law."""

    def fails(other: Case) -> bool:
        if kind in laws.LAWS:
            return isinstance(laws.broken(other, kind, device), str)
        return check.verdict(other, device, compiled).outcome == kind

    return shrink.shrunk(made, fails)


def replay(seed: int, index: int, device: str, compiled: bool) -> int:
    """One case again, with all its laws, shrunk where it fails."""
    made, failures = case(seed, index), 0
    print(shrink.described(made))
    verdict = check.verdict(made, device, compiled)
    print(f"{verdict.outcome} {verdict.detail} (error {verdict.ratio:.2g} of the bound)")
    kinds = [verdict.outcome] if verdict.outcome in check.FAILED else []
    for name in laws.NAMES:
        found = laws.broken(made, name, device)
        if found is not None:
            print(f"law {name}: {'holds' if found is True else found}")
        kinds += [name] if isinstance(found, str) else []
    for kind in kinds:
        failures += 1
        print(f"{kind}, shrunk: {shrink.described(smallest(made, kind, device, compiled))}")
    return failures


def dry(cases: int, seed: int) -> Tally:
    """Draws levels alone, to see how often each pair comes."""
    tally, uniform = Tally(), random.Random(seed).random
    for _ in range(cases):
        levels, refused = draw(uniform)
        tally.cases += 1
        if refused is not None:
            tally.refused["|".join(refused)] += 1
            continue
        at = [PLACES[level] for level in levels.items()]
        tally.pairs[np.ix_(at, at)] += 1
    return tally


def main(cases: int = 20_000, seed: int = 1, **options: Any) -> Tally:
    """Runs a number of cases in shards, and returns the tally."""
    shards = options.get("shards", 1)
    common = {
        "device": "cpu",
        "compiled": False,
        "shrink": True,
        "seconds": float("inf"),
        "shortest": 0,
        "longest": 1000,
        **options,
    }
    jobs = [{**common, "seed": seed, "first": i, "end": cases, "step": shards} for i in range(shards)]
    total, start = Tally(), time.perf_counter()
    if shards == 1:
        parts = list(map(shard, jobs))
    else:
        with ProcessPoolExecutor(shards, multiprocessing.get_context("spawn")) as pool:  # tells when a shard is killed
            parts = list(pool.map(shard, jobs))
    for part in parts:
        total.merge(Tally.from_json(part))
    total.seconds = time.perf_counter() - start
    total.about = {"seed": [seed], "device": [common["device"]]}
    return total


def command(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--shards", type=int, default=max(1, len(os.sched_getaffinity(0))))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--compile", action="store_true", help="under torch.compile(fullgraph=True)")
    parser.add_argument("--replay", metavar="SEED:INDEX")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop a shard after this long")
    parser.add_argument("--shortest", type=int, default=0, help="leave out cases of a smaller L")
    parser.add_argument("--longest", type=int, default=1000, help="leave out cases of a larger L, which are dear")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--dry", action="store_true", help="draw levels alone")
    parser.add_argument("--json", type=Path, help="where to write the tally")
    given = parser.parse_args(argv)
    os.environ["OMP_NUM_THREADS"] = "1"  # the shards run side by side
    torch.set_num_threads(1)
    if given.replay:
        seed, index = map(int, given.replay.split(":"))
        return min(1, replay(seed, index, given.device, given.compile))
    if given.dry:
        tally = dry(given.cases, given.seed)
        print(tally.summary(), f"rarest refusal: {tally.rarest_refusal()}", sep="\n")
        return 0
    chosen = {"shards": given.shards, "device": given.device, "compiled": given.compile}
    chosen |= {"shortest": given.shortest, "longest": given.longest}
    tally = main(given.cases, given.seed, **chosen, seconds=given.seconds, shrink=not given.no_shrink)
    if given.json:
        given.json.write_text(json.dumps(tally.to_json()), encoding="utf-8")
    print(*tally.failures[:200], sep="\n")
    print(tally.summary())
    print(
        f"{tally.seconds:.0f} s, {1e3 * tally.seconds * given.shards / max(1, tally.cases):.1f} ms per case and shard"
    )
    complaints = tally.complaints()
    print(*complaints, sep="\n")
    return 1 if complaints else 0
