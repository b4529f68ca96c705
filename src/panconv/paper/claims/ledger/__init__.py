"""The ledger: every claim of the paper, section by section, in its own words. Never imports torch."""

from collections.abc import Sequence

from panconv.paper.claims.claim import OPEN, Claim, Evidence, Judged, MissingRecords
from panconv.paper.claims.ledger import appendix, conclusions, experiments, introduction, model, related

_SECTIONS = (introduction, model, related, experiments, conclusions, appendix)
LEDGER: list[Claim] = [claim for section in _SECTIONS for claim in section.CLAIMS]


def judged(claims: Sequence[Claim], evidence: Evidence) -> list[tuple[Claim, Judged]]:
    """Each claim with what came of it; one whose trainings have no records cannot be decided."""
    return [(claim, _judged(claim, evidence)) for claim in claims]


def _judged(claim: Claim, evidence: Evidence) -> Judged:
    try:
        return claim.judge(evidence)
    except MissingRecords as error:
        return Judged(f"no records yet: {claim.how} (missing: {error})", OPEN, missing=True)
