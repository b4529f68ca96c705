"""What the paper says: Section 5: conclusions. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims.claim import OPEN, Claim, by_test

SECTION = "Section 5: conclusions"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "realizes the attention-like mechanism while preserves the simple form similar to GCN",
        "a layer is one sparse product per length and one matrix",
        "tests/test_cost.py::test_a_product_per_length_and_no_more",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "our framework can easily accommodate other types of walks including many previous models",
        "every method takes every family of paths",
        "tests/paths/test_formed.py::test_every_method_takes_them",
        by_test("equal to an enumeration"),
    ),
    Claim(
        SECTION,
        "our method achieves state-of-the-art performance very efficiently",
        "no rule: the paper states no time and no cost",
        "tests/test_cost.py::test_products_of_a_training_epoch",
        by_test("ours are in docs/speed.md", OPEN),
    ),
    Claim(
        SECTION,
        "Many extensions of the present work can be expected, including those for graph classification tasks",
        "no rule: the paper has none; batches of graphs do run",
        "tests/nn/test_pan_conv.py::test_in_a_batch_graphs_do_not_meet",
        by_test("graphs in a batch do not meet", OPEN),
    ),
]
