"""What came of the cases, counted per level, per pair of levels and per law; shards add up.

python -m campaign.tally --write docs/reliability.md FILE.json …
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from campaign.cases import Case
from campaign.check import FAILED, ILL, PASSED, REFUSED, RIGHT
from campaign.laws import NAMES
from campaign.levels import COSTLY, FACTORS, LEGAL, MUST_REFUSE, Pair
from panconv.met.reference.problem import Array

PLACES = {(f, a): i for i, (f, a) in enumerate((f, a) for f in FACTORS for a in FACTORS[f])}
ENOUGH = 3000  # cases for each legal pair, in a full run of FULL cases
FULL = 1_000_000
MOST_ILL = 0.01
BROKEN = "broken law"
START, END = "<!-- tally -->", "<!-- end of tally -->"


class Tally:
    """Counts that merge over shards. A pair of levels that must be refused counts apart from the legal ones."""

    def __init__(self) -> None:
        self.cases, self.seconds = 0, 0.0
        self.asked, self.seen = 0, 0  # indices that were to be looked at, and that were before the time was up
        self.either = 0  # cases in which both a value and a refusal are right
        self.mended = 0  # failures that were run again after a mend, and passed (`campaign.again`)
        self.outcomes: Counter[str] = Counter()
        self.unsigned: Counter[str] = Counter()  # outside the strata in which numbers may cancel
        self.levels: dict[str, Counter[str]] = {}
        self.pairs = np.zeros((len(PLACES), len(PLACES)), np.int64)
        self.right = np.zeros_like(self.pairs)
        self.refused: Counter[str] = Counter()
        self.laws: dict[str, Counter[str]] = {}
        self.failures: list[str] = []
        self.about: dict[str, list[Any]] = {}  # the seeds and devices of the runs that were added up

    def add(self, case: Case, outcome: str, either: bool = False) -> None:
        """Counts a case; a block-diagonal one is one case."""
        self.cases += 1
        self.either += either
        self.outcomes[outcome] += 1
        if not case.signed:
            self.unsigned[outcome] += 1
        if case.refused is not None:
            self.refused["|".join(case.refused)] += outcome == REFUSED
            return
        for level in case.levels.items():
            self.levels.setdefault("|".join(level), Counter())[outcome] += 1
        at = [PLACES[level] for level in case.levels.items()]
        self.pairs[np.ix_(at, at)] += 1
        if outcome == RIGHT:
            self.right[np.ix_(at, at)] += 1

    def add_law(self, case: Case, name: str, held: bool) -> None:
        self.laws.setdefault(name, Counter())["held" if held else "broken"] += 1
        for level in case.levels.items() if not held else ():
            self.levels.setdefault("|".join(level), Counter())[BROKEN] += 1

    def merge(self, other: Tally) -> Tally:
        for number in ("cases", "asked", "seen", "either", "mended"):
            setattr(self, number, getattr(self, number) + getattr(other, number))
        self.seconds = max(self.seconds, other.seconds)
        for counter in ("outcomes", "unsigned", "refused"):
            getattr(self, counter).update(getattr(other, counter))
        for mine, its in ((self.levels, other.levels), (self.laws, other.laws)):
            for key, counts in its.items():
                mine.setdefault(key, Counter()).update(counts)
        self.pairs, self.right = self.pairs + other.pairs, self.right + other.right
        self.failures += other.failures
        for key, value in other.about.items():
            self.about.setdefault(key, [])
            self.about[key] += [one for one in value if one not in self.about[key]]
        return self

    # ------------------------------------------------------------------ what it says

    @property
    def failed(self) -> int:
        broken = sum(counts["broken"] for counts in self.laws.values())
        return sum(self.outcomes[name] for name in FAILED) + broken

    @property
    def share_ill(self) -> float:
        """The share of ill-conditioned cases outside the signed strata."""
        return self.unsigned[ILL] / max(1, sum(self.unsigned.values()))

    def rarest(self, counts: Array | None = None) -> tuple[int, Pair]:
        """The legal pair of levels with the fewest cases."""
        counts = self.pairs if counts is None else counts
        return min((int(counts[PLACES[p[:2]], PLACES[p[2:]]]), p) for p in LEGAL)

    def rarest_refusal(self) -> tuple[int, str]:
        return min((self.refused["|".join(pair)], "|".join(pair)) for pair in MUST_REFUSE)

    def complaints(self) -> list[str]:
        """Why the run is no proof; empty where it is one."""
        found = [f"{self.failed} failures"] if self.failed else []
        if not self.cases:
            found.append("no case was run")
        if self.seen < self.asked:
            found.append(f"the time was up after {self.seen:,} of {self.asked:,} cases that were asked for")
        if self.cases >= 20_000 and self.laws:
            found += [f"the law {name!r} was never met" for name in NAMES if name not in self.laws]
        if self.cases >= 2000 and self.share_ill > MOST_ILL:
            found.append(f"{self.share_ill:.2%} of the cases outside the signed strata are ill-conditioned")
        if self.asked >= FULL:
            for count, pair in (self.rarest(), self.rarest_refusal()):
                if count < ENOUGH:
                    found.append(f"{count} cases of {pair}, fewer than {ENOUGH}")
        return found

    # ------------------------------------------------------------------ in and out

    def to_json(self) -> dict[str, Any]:
        plain = {key: value for key, value in self.__dict__.items() if key not in ("pairs", "right")}
        return {**plain, "pairs": self.pairs.tolist(), "right": self.right.tolist()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Tally:
        tally = cls()
        numbers = ("cases", "asked", "seen", "either", "mended", "seconds")
        tally.__dict__.update(
            {key: data.get(key, 0) for key in numbers}, failures=data["failures"], about=data["about"]
        )
        for key in ("outcomes", "unsigned", "refused"):
            setattr(tally, key, Counter(data[key]))
        tally.levels = {key: Counter(counts) for key, counts in data["levels"].items()}
        tally.laws = {key: Counter(counts) for key, counts in data["laws"].items()}
        tally.pairs, tally.right = np.array(data["pairs"]), np.array(data["right"])
        return tally

    def summary(self) -> str:
        """A few lines for the terminal."""
        lines = [f"{self.cases:,} cases: " + ", ".join(f"{n:,} {name}" for name, n in self.outcomes.most_common())]
        laws = ", ".join(f"{name} {counts['held']:,}" for name, counts in sorted(self.laws.items()))
        lines += [f"laws that held: {laws}"] if laws else []
        (fewest, pair), (right, other) = self.rarest(), self.rarest(self.right)
        lines.append(f"rarest of {len(LEGAL):,} legal pairs: {fewest:,} cases of {_named(pair)}")
        lines.append(f"rarest among those compared with a value: {right:,} of {_named(other)}")
        lines.append(f"ill-conditioned outside the signed strata: {self.share_ill:.2%}")
        lines.append(f"value or refusal, both right: {self.either / max(1, self.cases):.2%}")
        return "\n".join(lines)

    def markdown(self) -> str:
        """The tables of docs/reliability.md."""
        run = "; ".join(f"{key} {', '.join(map(str, value))}" for key, value in self.about.items())
        lines = [f"{self.cases:,} cases ({run}).", "", "| outcome | cases |", "|---|---|"]
        lines += [f"| {name} | {self.outcomes[name]:,} |" for name in (*PASSED, *FAILED)]
        lines += ["", f"Ill-conditioned outside the signed strata: {self.share_ill:.2%}.", ""]
        lines += [f"So near a threshold that a value and a refusal are both right: {self.either / self.cases:.2%}.", ""]
        if self.mended:
            lines += [
                f"Failures that were found, mended and run again, and are counted as they came out: {self.mended}.",
                "",
            ]
        lines += ["| law | held | broken |", "|---|---|---|"]
        lines += [f"| {name} | {c['held']:,} | {c['broken']:,} |" for name, c in sorted(self.laws.items())]
        lines += ["", *self._about_pairs(), ""]
        lines += ["| factor | level | cases | right | refused | failures | 3/(right + refused) |"]
        lines += ["|---|---|---|---|---|---|---|"]
        for factor, names in FACTORS.items():
            lines += [self._row(factor, name) for name in names]
        return "\n".join(lines)

    def _about_pairs(self) -> list[str]:
        (fewest, pair), (refused, which) = self.rarest(), self.rarest_refusal()
        dear = "; ".join(f"{f} {'/'.join(a)} with {g} {'/'.join(b)}" for f, a, g, b, _ in COSTLY)
        return [
            f"Pairs of levels: {len(LEGAL):,} are legal, the rarest ({_named(pair)}) with {fewest:,} cases.",
            f"Pairs that must be refused: {len(MUST_REFUSE)}, the rarest ({which.replace('|', ' ')}) with {refused:,}.",
            f"Left out as too dear: {dear}.",
            "Interactions of three levels and more are not tested as such.",
        ]

    def _row(self, factor: str, name: str) -> str:
        counts = self.levels.get(f"{factor}|{name}", Counter())
        n = sum(counts.values()) - counts[BROKEN]
        failures = sum(counts[outcome] for outcome in (*FAILED, BROKEN))
        judged = counts[RIGHT] + counts[REFUSED]
        bound = f"{3 / judged:.1e}" if judged and not failures else "—"
        return f"| {factor} | {name} | {n:,} | {counts[RIGHT]:,} | {counts[REFUSED]:,} | {failures:,} | {bound} |"


def _named(pair: Pair) -> str:
    return f"{pair[0]} {pair[1]} with {pair[2]} {pair[3]}"


def write(page: Path, tally: Tally) -> None:
    """Puts the tables between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    assert START in text, f"{page} has no {START}"
    found = re.sub(f"{START}.*{END}", lambda _: f"{START}\n{tally.markdown()}\n{END}", text, flags=re.DOTALL)
    page.write_text(found, encoding="utf-8")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Add up the tallies of shards.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", type=Path, help="a page with the marks of a tally")
    options = parser.parse_args(argv)
    total = Tally()
    for file in options.files:
        total.merge(Tally.from_json(json.loads(file.read_text(encoding="utf-8"))))
    print(total.summary(), *total.failures[:20], *total.complaints(), sep="\n")
    if options.write:
        write(options.write, total)


if __name__ == "__main__":
    main()
