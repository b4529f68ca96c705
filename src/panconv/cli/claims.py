"""panconv claims."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from panconv.cli import checks, screen
from panconv.cli.options import RESULTS, json_of

_COLUMNS = ("the paper says", "ours", "verdict")
_INK = {"came out": "green", "did not come out": "red", "came out in part": "yellow"}


def claims(
    results: Annotated[Path, typer.Option(metavar="DIR", help="The folder of records.")] = RESULTS,
    containing: Annotated[str | None, typer.Option(metavar="WORDS", help="Only claims with these words.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Also the rule and the command of each.")] = False,
    json_file: Annotated[Path | None, json_of("every line")] = None,
) -> None:
    """The ledger of the paper: every claim, our figure, and whether it came out, judged from a folder of records.

    Example: panconv claims --results docs/results --containing entropy
    """
    from panconv.paper.claims.claim import Evidence
    from panconv.paper.claims.ledger import LEDGER, judged

    checks.outputs(None, json_file)
    asked = [claim for claim in LEDGER if containing is None or containing.lower() in claim.words.lower()]
    if not asked:
        raise ValueError(f"--containing names {containing!r}, which is in no claim of the paper: use fewer words")
    found = judged(asked, Evidence.of(results))
    for section in dict.fromkeys(claim.section for claim in asked):
        shown = screen.table(_COLUMNS, section, texts=_COLUMNS)
        for claim, said in found:
            if claim.section == section:
                rule = f"\n{claim.rule}\n{claim.how}" if rules else ""
                words = Text.assemble(claim.words, (rule, "dim"))
                shown.add_row(words, said.figure, Text(said.verdict, style=_INK.get(said.verdict, "dim")))
        screen.out.print(shown)
    counts = Counter(each.verdict for _, each in found)
    tally = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    screen.out.print(f"{len(found)} claim{'s' * (len(found) > 1)}: {tally}")
    fields = ("section", "words", "rule", "how")
    lines = [{**{name: getattr(claim, name) for name in fields}, **vars(each)} for claim, each in found]
    screen.write_json(json_file, lines, "claims")
