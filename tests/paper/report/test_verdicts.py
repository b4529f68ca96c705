from report_records import demo

from panconv.paper.claims.claim import CAME_OUT, IN_PART, NOT, OPEN, Claim, Evidence, Judged
from panconv.paper.claims.ledger import LEDGER
from panconv.paper.report.page import page
from panconv.paper.report.verdicts import KINDS, judged_by, verdicts


def line(how, figure, verdict, missing=False):
    said = Judged(figure, verdict, missing)
    return Claim("Section 1", "so it is", "it is so", how, lambda _: said), said


def test_claims_are_counted_by_what_the_records_decide():
    made = [
        line("panconv reproduce figure2", "3 against 2", CAME_OUT),
        line("panconv reproduce table3", "2 against 3", NOT),
        line("panconv reproduce table3", "1 and 2", NOT),
        line("panconv reproduce table3", "no rule", OPEN),
        line("panconv reproduce law", "no records yet: panconv reproduce law", OPEN, missing=True),
        line("tests/met/test_operator.py::test_row_sums", "exact", CAME_OUT),
    ]
    found = verdicts(made)
    assert found.counts == [
        ("good", "came out", 1),
        ("bad", "did not come out", 2),
        ("open", "cannot be decided", 1),
    ]
    assert [found.held, found.waiting] == [made[5:], made[4:5]]
    assert set(KINDS) == {CAME_OUT, IN_PART, NOT, OPEN}


def test_the_page_has_the_ledger(tmp_path):
    found = judged_by(Evidence(demo(), tmp_path))
    assert len(found.decided) + len(found.held) + len(found.waiting) == len(LEDGER)
    decided = {claim.how for claim, _ in found.decided}
    assert decided == {"panconv reproduce figure2", "panconv reproduce table1 --methods pan"}
    text = page(demo(), found)
    text = text[text.index('<section id="claims">') :]
    for _, words, count in found.counts:
        assert f"<strong>{count}</strong> {words}" in text
    shown, folded = text.split("<details>", 1)
    assert shown.count('class="verdict"') == len(found.decided)
    assert "no records yet" not in shown
    assert "no records yet" in folded
    assert '<section id="claims">' not in page(demo())
