"""What the paper says: Section 3: related work. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims import judges, others
from panconv.paper.claims.claim import Claim, by_test

SECTION = "Section 3: related work"
_ON_M = "panconv reproduce table2 --met"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "most graph Laplacian based models [N-GCN, DCNN, spectral networks, ChebNet, GCN, MoNet, Graph-CNN, GWNN] can "
        "be adapted to our framework by replacing the graph Laplacian with the MET matrix M",
        "each trains on M (the spectral network is `SpectralConv`)",
        _ON_M,
        others.runs_on_m(others.LAPLACIAN),
    ),
    Claim(
        SECTION,
        "a change from the GRW model or its modified versions which sample random walks by local information … to a "
        "global information based parameter-free random walk",
        "each embedding by walks trains on the maximal entropy walk",
        _ON_M,
        others.runs_on_m(others.WALKS),
    ),
    Claim(
        SECTION,
        "one can easily concatenate the aggregated information of neighbors like GraphSAGE or GAT",
        "with concat the terms of M stand side by side before W",
        "tests/nn/test_pan_conv.py::test_concat_is_the_terms_side_by_side_before_w",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "in the low-temperature limit, M=I, the model is reduced to the MLP model",
        "M is the identity at T → 0, for every method that divides by Z",
        "tests/met/test_operator.py::test_low_temperature_is_the_identity",
        by_test("exact in the limit"),
    ),
    Claim(
        SECTION,
        "a prototype of the high temperature model X⁽ʰ⁺¹⁾=(I+ψ₁ψ₁ᵀ)X⁽ʰ⁾W⁽ʰ⁾ (eq. 11)",
        "the operator is the identity plus the Perron projection of each component",
        "tests/spectral/test_high_temperature.py::test_identity_plus_the_perron_projection_of_each_component",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "Empirically, a moderate order of one to three seems to perform better than both extremes",
        "on each graph validation chooses L from 1 to 3 among 0 … 6, and it beats both ends on the test nodes (95 % "
        "interval by seed)",
        "panconv reproduce lengths",
        judges.moderate_length,
    ),
    Claim(
        SECTION,
        "we can easily transform our model to a multi-step GRW version",
        "methods 8 to 11 are the formulas on D⁻¹A and D^−½AD^−½",
        "tests/met/test_operator.py::test_every_method_and_every_kind_of_weights_is_its_formula",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "Lanczos algorithm may be directly applied to the MET matrix once it is symmetrically normalized",
        "an orthonormal basis in which M is tridiagonal",
        "tests/spectral/test_lanczos.py::test_an_orthonormal_basis_in_which_m_is_tridiagonal",
        by_test("to rounding"),
    ),
]
