"""What the paper says: Section 3: related work. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims import judges, others, studies
from panconv.paper.claims.claim import Claim, by_test

SECTION = "Section 3: related work"
_ON_M = "panconv reproduce table2 --met"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "The maximal entropy random walk has already shown excellent performance on link prediction",
        "its best AUC over t = 2 … 6 steps is at least that of the generic walk, on each graph (spread over ten "
        "rounds)",
        "panconv links",
        studies.predicts_links,
    ),
    Claim(
        SECTION,
        "or community detection tasks",
        "its communities have at least the modularity and the agreement with the classes (NMI) of the generic "
        "walk's, on each graph",
        "panconv communities",
        studies.finds_communities,
    ),
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
        "the L of 1 … 3 that validation chooses beats L = 0 and the prototype of the hot limit (95 % interval by seed)",
        "panconv reproduce lengths",
        judges.beats_both_extremes,
    ),
    Claim(
        SECTION,
        "the same, against longer paths",
        "on each graph the length that validation chooses among 0 … 6 is one to three",
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
    Claim(
        SECTION,
        "Σ fₙ(A, X) Aⁿ, it then performs the attention mechanism but preserves a compact form",
        "a layer with fₙ of both ends of a path equals the sum over single paths; so does attention on edges, (F∘A)ⁿ",
        "tests/nn/test_pan_attention.py::test_both_ends_of_every_single_path",
        by_test("equal to an enumeration; one recurrence, no Aⁿ"),
    ),
    Claim(
        SECTION,
        "by choosing L=1 and E(0)=E(1)=0, model (10) is essentially the GCN model",
        "method 2, eq. 9 in its symmetric form, is Â; eq. 10 with k = (½, ½) is not",
        "tests/met/test_operator.py::test_in_which_sense_length_1_is_gcn_on_a_star",
        by_test("exact for method 2; eq. 10 is up to ½ away, on a large star"),
    ),
    Claim(
        SECTION,
        "The trick of adding self-loops is automatically realized in higher powers of A",
        "the diagonal of A² is the degree: a node that has an edge hears itself after two steps",
        "tests/paths/test_walks.py::test_a_second_step_leads_back",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "which is indeed the format of LanczosNet",
        "with all steps and no network, LanczosConv is the powers of M",
        "tests/nn/test_lanczos_conv.py::test_all_steps_and_no_network_are_powers_of_m",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "many current models can be seen as special cases of the presented framework",
        "GCN is method 5 with k = (0, 1), SGC with k = (0, …, 0, 1), an MLP with k = (1)",
        "tests/nn/test_pan_conv.py::test_special_cases",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "The optimal order r of the series depends on the intrinsic properties of the graph",
        "the length that validation chooses among 0 … 6 is not the same on all three graphs",
        "panconv reproduce lengths",
        judges.length_depends_on_the_graph,
    ),
    Claim(
        SECTION,
        "Incorporating more terms is analogous to having more particles excited to higher energy level at higher "
        "temperature",
        "the mean path length grows with T",
        "tests/met/test_thermodynamics.py::test_the_hotter_the_further",
        by_test("on random graphs, at every node"),
    ),
    Claim(
        SECTION,
        "In the high-temperature limit, all factors become effectively one, and the summation is dominated by the "
        "term with the largest power",
        "long paths and a high temperature: M tends to a matrix of rank one in each component, that of the Perron "
        "vector",
        "tests/met/test_thermodynamics.py::test_a_hot_operator_of_long_paths_is_of_rank_one",
        by_test("in the limit"),
    ),
]
