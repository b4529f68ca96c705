"""The ledger of the paper's claims, as the page shows it. Never imports torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from panconv.paper.claims.claim import Claim, Evidence, Judged

KINDS = {"came out": "good", "came out in part": "part", "did not come out": "bad", "cannot be decided": "open"}


@dataclass(frozen=True)
class Verdicts:
    """The claims that these records decide, those that tests hold whatever the records, and those without records."""

    decided: list[tuple[Claim, Judged]]
    held: list[tuple[Claim, Judged]]
    waiting: list[tuple[Claim, Judged]]

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """How many of those that the records decide came out, and how many did not: a kind, its words, the number."""
        found = Counter(said.verdict for _, said in self.decided)
        return [(kind, words, found[words]) for words, kind in KINDS.items() if found[words]]


def verdicts(judged: Sequence[tuple[Claim, Judged]]) -> Verdicts:
    found = Verdicts([], [], [])
    for claim, said in judged:
        (found.held if claim.held else found.waiting if said.missing else found.decided).append((claim, said))
    return found


def judged_by(evidence: Evidence) -> Verdicts:
    """All claims of the paper, judged by these records."""
    from panconv.paper.claims.ledger import LEDGER, judged  # whose judges read the tables of this package

    return verdicts(judged(LEDGER, evidence))
