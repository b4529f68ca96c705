"""What the paper says: Section 3: related work. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims import others, reach, studies
from panconv.paper.claims.claim import IN_PART, Claim, by_test

SECTION = "Section 3: related work"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "The maximal entropy random walk has already shown excellent performance on link prediction",
        "its best AUC over up to six steps is clearly above that of the generic walk, on each graph (ten rounds, 95 "
        "% interval)",
        "panconv links GRAPH --steps 6 --json results/merw/links-GRAPH.json",
        studies.predicts_links,
    ),
    Claim(
        SECTION,
        "or community detection tasks",
        "its communities have clearly more modularity and agreement with the classes (NMI) than the generic walk's, "
        "on each graph",
        "panconv communities GRAPH --json results/merw/communities-GRAPH.json",
        studies.finds_communities,
    ),
    Claim(
        SECTION,
        "most graph Laplacian based models [N-GCN, DCNN, spectral networks, ChebNet, GCN, MoNet, Graph-CNN, GWNN] "
        "can be adapted to our framework by replacing the graph Laplacian with the MET matrix M",
        "each trains on M, ten times; the spectral network is SpectralConv, a layer on M's eigenstates",
        "panconv reproduce table2 --met --out results; panconv zoo ngcn cora citeseer pubmed --met --out results",
        others.runs_on_m(others.LAPLACIAN),
    ),
    Claim(
        SECTION,
        "a change from the GRW model or its modified versions which sample random walks by local information … to a "
        "global information based parameter-free random walk",
        "DeepWalk, LINE and node2vec train on the maximal entropy walk, ten times",
        "panconv reproduce table2 --met --out results; panconv zoo line cora citeseer pubmed --set "
        "walk=maximal-entropy --out results",
        others.runs_on_the_walk,
    ),
    Claim(
        SECTION,
        "This mechanism is similar to the attention mechanism … Σ fₙ(A, X) Aⁿ … preserves a compact form",
        "a layer with fₙ of both ends of a path equals the sum over single paths; so does attention on edges, (F∘A)ⁿ",
        "tests/nn/test_pan_attention.py::test_both_ends_of_every_single_path; "
        "tests/nn/test_pan_edge_attention.py::test_a_path_weighs_the_product_of_the_attention_to_its_steps",
        by_test("equal to an enumeration; one recurrence, no Aⁿ"),
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
        "The optimal order r of the series depends on the intrinsic properties of the graph",
        "no length of 0 … 6 may be the best by validation on all three graphs (95 % interval by seed)",
        "panconv reproduce lengths",
        reach.length_depends_on_the_graph,
    ),
    Claim(
        SECTION,
        "which is represented by temperature T. Incorporating more terms is analogous to having more particles "
        "excited to higher energy level at higher temperature",
        "the mean path length grows with T",
        "tests/met/test_thermodynamics.py::test_the_hotter_the_further",
        by_test("on random graphs, at every node"),
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
        "In the high-temperature limit, all factors become effectively one, and the summation is dominated by the "
        "term with the largest power",
        "long paths and a high temperature: M tends to rank one in each component, that of the Perron vector; on a "
        "bipartite one the parity of the length stays",
        "tests/met/test_thermodynamics.py::test_a_hot_operator_of_long_paths_is_of_rank_one; "
        "tests/met/test_thermodynamics.py::test_on_a_bipartite_graph_the_parity_of_the_length_stays",
        by_test("in the limit; not on bipartite graphs, nor on Â, where no length outweighs another", IN_PART),
    ),
    Claim(
        SECTION,
        "Aⁿ = Σᵢ λᵢⁿ ψᵢψᵢᵀ (eq. 11); we may only keep the leading order term with the unique largest eigenvalue λ₁",
        "the Perron vector of each component against dense eigenvectors; it is unique within a component that is not "
        "bipartite",
        "tests/spectral/test_perron.py::test_each_component_against_dense_eigh",
        by_test("equal to rounding, component by component"),
    ),
    Claim(
        SECTION,
        "We then reach a prototype of the high temperature model X⁽ʰ⁺¹⁾=(I+ψ₁ψ₁ᵀ)X⁽ʰ⁾W⁽ʰ⁾",
        "the operator is the identity plus the Perron projection of each component",
        "tests/spectral/test_high_temperature.py::test_identity_plus_the_perron_projection_of_each_component",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "Empirically, a moderate order of one to three seems to perform better than both extremes",
        "the L of 1 … 3 that validation chooses is clearly ahead of L = 0 and of the prototype on the test nodes (95 "
        "% interval by seed)",
        "panconv reproduce lengths; panconv zoo high_temperature cora citeseer pubmed --out results",
        reach.beats_both_extremes,
    ),
    Claim(
        SECTION,
        "the same, against longer paths",
        "every length of 0 … 6 that may be the best by validation (95 % interval by seed) is one to three",
        "panconv reproduce lengths",
        reach.moderate_length,
    ),
    Claim(
        SECTION,
        "by choosing L=1 and E(0)=E(1)=0, model (10) is essentially the GCN model",
        "method 2, eq. 9 in its symmetric form, is Â; so is eq. 10 on regular graphs alone",
        "tests/met/test_operator.py::test_in_which_sense_length_1_is_gcn_on_a_star; "
        "tests/met/test_operator.py::test_method_2_of_length_1_is_gcn",
        by_test("exact for method 2; eq. 10 is up to ½ away, on a large star", IN_PART),
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
        "By replacing A in (10) or (9) with D⁻¹A or D^−½AD^−½, we can easily transform our model to a multi-step GRW "
        "version",
        "methods 8 to 11 are the formulas on these bases",
        "tests/met/test_operator.py::test_every_method_and_every_kind_of_weights_is_its_formula",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "which is indeed the format of LanczosNet",
        "with all steps and no network, LanczosConv is the powers of M, of methods 9 and 10 too",
        "tests/nn/test_lanczos_conv.py::test_all_steps_and_no_network_are_powers_of_m",
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
