"""The studies by name, as `panconv reproduce` takes them."""

from __future__ import annotations

from panconv.best.ablation import ABLATION
from panconv.best.contests import HETEROPHILOUS, TUNED_ALIKE
from panconv.best.depth import DEPTH
from panconv.best.elsewhere import ELSEWHERE
from panconv.best.ladder import LADDER
from panconv.best.study import Study

STUDIES: dict[str, Study] = {
    "best": LADDER,
    "elsewhere": ELSEWHERE,
    "ablation": ABLATION,
    "depth": DEPTH,
    "heterophilous": HETEROPHILOUS,
    "alike": TUNED_ALIKE,
}
