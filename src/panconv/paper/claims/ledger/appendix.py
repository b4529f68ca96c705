"""What the paper says: Appendix. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims import judges
from panconv.paper.claims.claim import Claim

SECTION = "Appendix"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "The results of Methods 1–7 are shown in Table 3 (our settings)",
        "every cell within ±1.5 of the paper's; “in part”: more than half",
        "panconv reproduce table3",
        judges.table3,
    ),
    Claim(
        SECTION,
        "the same by the letter of the paper, whose settings leave four things unsaid",
        "every cell within ±1.5 in the nearest version; “in part”: more than half",
        "panconv reproduce stated",
        judges.stated,
    ),
    Claim(
        SECTION,
        "the highest accuracies for all these datasets are achieved at k⁽ʰ⁾(0)=0, k⁽ʰ⁾(1)=k⁽ʰ⁾(2)",
        "on each graph the best by validation of 27 points shared by the layers has that form; undecided where the "
        "best of that form is not clearly behind (95 % interval by seed)",
        "panconv reproduce table3; panconv reproduce table1 --methods pan",
        judges.optimum_of_k,
    ),
    Claim(
        SECTION,
        "the same with a k⁽ʰ⁾(n) for each layer, as the notation has it",
        "the same of 324 points",
        "panconv reproduce per-layer",
        judges.optimum_per_layer,
    ),
    Claim(
        SECTION,
        "the scale of k(n), which the paper does not state: ours is 1",
        "no rule: test accuracy at half and twice the scale, three trials each",
        "panconv reproduce table3",
        judges.scale_of_k,
    ),
    Claim(
        SECTION,
        "Method 2 also appears to be a strong candidate",
        "among the best three of the seven trained methods on each graph (95 % interval by seed)",
        "panconv reproduce table3",
        judges.method2_is_strong,
    ),
]
