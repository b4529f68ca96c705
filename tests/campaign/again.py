"""The failures of a tally run again, after what they showed was mended, and counted by what comes of them now.

python -m campaign.again FILE.json …
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np

from campaign import check, laws
from campaign.cases import Case, case
from campaign.tally import BROKEN, PLACES, Tally

_FAILURE = re.compile(r"(?P<kind>.+?): make fuzz REPLAY=(?P<seed>\d+):(?P<index>\d+)")


def again(tally: Tally) -> Tally:
    """The same tally, with each listed failure moved to the outcome that it has now."""
    left = []
    for line in tally.failures:
        found = _FAILURE.match(line)
        assert found, f"no failure that can be run again: {line}"
        kind, made = found["kind"], case(int(found["seed"]), int(found["index"]))
        still = _law(tally, kind, made) if kind in laws.LAWS else _case(tally, kind, made)
        left += [line] * still
    tally.mended += len(tally.failures) - len(left)
    tally.failures = left
    return tally


def _law(tally: Tally, name: str, made: Case) -> bool:
    found = laws.broken(made, name)
    if isinstance(found, str):
        return True
    tally.laws[name]["broken"] -= 1
    tally.laws[name]["held"] += found is True
    for level in made.levels.items():
        tally.levels["|".join(level)][BROKEN] -= 1
    return False


def _case(tally: Tally, outcome: str, made: Case) -> bool:
    now = check.verdict(made).outcome
    if now in check.FAILED:
        return True
    counters = [tally.outcomes, *([] if made.signed else [tally.unsigned])]
    if made.refused is None:
        counters += [tally.levels["|".join(level)] for level in made.levels.items()]
        at = [PLACES[level] for level in made.levels.items()]
        tally.right[np.ix_(at, at)] += now == check.RIGHT
    else:
        tally.refused["|".join(made.refused)] += now == check.REFUSED
    for counter in counters:
        counter[outcome] -= 1
        counter[now] += 1
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the failures of tallies again.")
    parser.add_argument("files", nargs="+", type=Path)
    for file in parser.parse_args().files:
        tally = again(Tally.from_json(json.loads(file.read_text(encoding="utf-8"))))
        file.write_text(json.dumps(tally.to_json()), encoding="utf-8")
        print(f"{file}: {tally.mended} mended, {len(tally.failures)} still fail")


if __name__ == "__main__":
    main()
