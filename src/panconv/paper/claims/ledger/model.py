"""What the paper says: Section 2: the model. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims import judges, studies
from panconv.paper.claims.claim import IN_PART, Claim, by_test

SECTION = "Section 2: the model"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "φᵢ = 1/Zᵢ Σⱼ φⱼ Σ exp(−E[l]/T) (eqs. 1, 3, 4, 6, 7)",
        "each method's operator equals its formula, evaluated densely by code that shares no line with it",
        "tests/met/test_operator.py::test_every_method_and_every_kind_of_weights_is_its_formula",
        by_test("equal to rounding on random graphs; 3.2 million cases in docs/reliability.md"),
    ),
    Claim(
        SECTION,
        "low temperature corresponds to a low-pass filter, while high temperature corresponds to a high-pass one",
        "read as frequencies: the gain of the normalised Laplacian's eigenvectors is highest at the low end when "
        "cold, at the high end when hot (methods 1, 2, 5; L = 2)",
        "panconv filters cora --method M --json results/filters/cora-M.json",
        studies.passes_by_frequency,
    ),
    Claim(
        SECTION,
        "the same, read as path lengths, the energy levels of eq. 2",
        "cold, most of the shares k(n; i) are at n = 0; hot, at n = L",
        "panconv filters cora --json results/filters/cora-2.json",
        studies.passes_by_length,
    ),
    Claim(
        SECTION,
        "there is no need to learn the fictitious temperature or energy separately",
        "a constant added to all energies, or a common factor of energies and T, changes nothing",
        "tests/met/test_extremes.py::test_a_common_offset_of_the_energies_cancels_exactly; "
        "tests/weights/test_kinds.py::test_energies_and_temperature_share_a_factor",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "information quality usually decays as the path … becomes longer; presumably, the energy E(n) is an "
        "increasing function of n",
        "where k(n) is trained (method 5) from equal starts, it ends in decreasing order in every layer",
        "panconv reproduce table3",
        judges.weights_decay,
    ),
    Claim(
        SECTION,
        "the hopping is equiprobable among all the paths that have the same length, which maximizes the Shannon "
        "entropy of the probability distribution of paths globally",
        "by enumeration: equal probability of all paths of one length between two given nodes (between any, only on "
        "regular graphs), and no walk has a higher entropy rate",
        "tests/walkers/test_walk.py::test_all_paths_of_one_length_between_two_nodes_are_equally_likely; "
        "tests/walkers/test_walk.py::test_no_walk_has_more_entropy",
        by_test("exact, given both ends", IN_PART),
    ),
    Claim(
        SECTION,
        "For a weighted graph … the effective length of the path can be defined as a summation of the inverse of "
        "weights along the path",
        "every walk, enumerated, counts with exp(−E(l_eff)/T)",
        "tests/paths/test_effective.py::test_every_walk_counts_with_its_own_length",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "k(n; i) = 1/Zᵢ Σⱼ g(i, j; n) exp(−E(n)/T) (eq. 2)",
        "the shares of the lengths equal the formula",
        "tests/met/test_operator.py::test_path_weights_are_eq_2",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "k(n; i) [need not] be a decreasing function, since g(i, j; n) grows exponentially in general",
        "hot, the shares grow with n",
        "panconv filters cora --json results/filters/cora-2.json",
        studies.shares_grow,
    ),
    Claim(
        SECTION,
        "It would be valid to apply a cutoff as long as E(n) ≫ nT ln λ₁ for large n",
        "for E(n) = n^α the tail beyond L is bounded from λ₁ where it converges, and refused where it does not; held "
        "against long sums",
        "tests/spectral/test_cutoff.py::test_the_tail_lies_between_the_bounds_and_they_between_a_known_factor",
        by_test("the bound holds; panconv thermodynamics prints it. With E(n) = n it converges below T = 1/ln λ₁"),
    ),
    Claim(
        SECTION,
        "g(i, j; n) = Aⁿᵢⱼ (eq. 5)",
        "the recurrence's terms are the powers of A",
        "tests/paths/test_walks.py::test_matrices_are_the_powers",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "it realizes maximal entropy under the microcanonical ensemble",
        "by enumeration: at a fixed mean energy, the canonical ensemble, no other weights of the single paths have "
        "more entropy; at a fixed length, the microcanonical one, all weigh the same",
        "tests/met/test_thermodynamics.py::test_no_other_weights_of_the_paths_have_more_entropy_at_the_same_mean_energy"
        "; tests/met/test_thermodynamics.py::test_every_quantity_against_the_single_paths",
        by_test("of 80 random distributions none"),
    ),
    Claim(
        SECTION,
        "for paths with constraints such as shortest paths or self-avoiding paths, Aⁿ can be replaced by another "
        "matrix G(n)",
        "every such path, enumerated, is counted, and every method takes them",
        "tests/paths/test_formed.py::test_every_path_is_counted; "
        "tests/paths/test_formed.py::test_every_method_takes_them",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "the eigenstates satisfy Mψ = λψ (eq. 8); one can define graph convolution based on the new basis",
        "the states of every method against dense eigenvectors; SpectralConv with all states and g(λ) = λ is M·X·W",
        "tests/spectral/test_eigs.py::test_any_graph_any_method_against_dense; "
        "tests/nn/test_spectral_conv.py::test_all_states_and_g_of_lambda_are_m_x_w",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "circumventing the diagonalization of the matrix M, and directly multiply it (eq. 9)",
        "the layer is MXW + b by one product per length, and nothing of the size of Aⁿ is formed",
        "tests/nn/test_pan_conv.py::test_layer_is_mxw_plus_b_either_way_round; "
        "tests/test_cost.py::test_a_product_per_length_and_no_more",
        by_test("equal to rounding; L products"),
    ),
    Claim(
        SECTION,
        "Applying M to the input X is essentially a weighted average among neighbors",
        "the rows of M sum to 1 where it divides by Z or D_n on the left",
        "tests/met/test_operator.py::test_row_sums",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "This simplification circumvents normalizing the summation by Z and eases the training process (eq. 10)",
        "under one set of settings, the paper's, methods without Z have the higher mean and the smaller spread, with "
        "features scaled and as they are",
        "panconv reproduce stated",
        judges.z_is_harder,
    ),
    Claim(
        SECTION,
        "this simplified model can only be equal to (9) when the graph is regular",
        "equal on regular graphs; on others no k(n) makes it so",
        "tests/met/test_operator.py::test_eq_10_is_eq_9_on_regular_graphs_alone; "
        "tests/met/test_operator.py::test_eq_10_and_eq_9_on_longer_paths",
        by_test("exact; on irregular graphs for L = 1 without loops, for longer L on a star"),
    ),
    Claim(
        SECTION,
        "an analog can be drawn between the model (10) and traditional CNNs",
        "on a torus method 3 equals conv2d with a kernel written out, for three kinds of path",
        "tests/paper/figures/test_lattice.py::test_on_a_torus_the_layer_is_a_convolution_of_images",
        by_test("equal to rounding"),
    ),
    Claim(
        SECTION,
        "one can still associate the filter elements (i.e., k(n)) with the neighbors by the scalar quantity “distance”",
        "each k(n) of a lattice's filter lies at distance n: of shortest paths; of walks k(2) also lies on the node "
        "itself",
        "tests/paper/figures/test_lattice.py::test_on_a_torus_the_layer_is_a_convolution_of_images",
        by_test("for shortest paths; by walks the centre has k(2) too", IN_PART),
    ),
    Claim(
        SECTION,
        "(b) and (c) happen to be the same for L=2 (Figure 1)",
        "on the square lattice shortest and self-avoiding paths agree for L = 2 and differ for L = 3",
        "tests/paths/test_formed.py::test_on_a_square_lattice_they_agree_for_two_steps_and_not_for_three",
        by_test("exact"),
    ),
]
