"""What the paper says: Abstract and introduction. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims import judges, others
from panconv.paper.claims.claim import IN_PART, Claim, by_test

SECTION = "Abstract and introduction"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "involves every path linking the message sender and receiver with learnable weights depending on the path "
        "length",
        "M·x is the sum over all walks, counted one by one, on random graphs; the weights have gradients",
        "tests/paths/test_walks.py::test_terms_count_every_walk; "
        "tests/met/test_operator.py::test_gradients_of_weights_and_edges",
        by_test("equal to an enumeration, for graphs of every kind"),
    ),
    Claim(
        SECTION,
        "which corresponds to the maximal entropy random walk",
        "hot and long, the rows of M (method 1) are the stationary law of that walk's eigenvector; M with a cutoff "
        "is not its transition matrix",
        "tests/met/test_thermodynamics.py::test_a_hot_operator_of_long_paths_is_of_rank_one; "
        "tests/walkers/test_walk.py::test_the_maximal_entropy_walk_is_its_formula",
        by_test("both weigh all paths of one length alike; the same matrix only in the limit", IN_PART),
    ),
    Claim(
        SECTION,
        "PAN generalizes the graph Laplacian to a new transition matrix",
        "I minus the symmetrically normalised Laplacian of A+I is M at L = 1, E = 0 (method 2)",
        "tests/met/test_operator.py::test_method_2_of_length_1_is_gcn",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "Most previous graph convolutional network architectures can be adapted to our framework",
        "each model on an operator, a graph or a walk in Table 2 trains on M as it trains on its own, ten times",
        "panconv reproduce table2 --met --out results",
        others.runs_on_m(others.ADAPTED),
    ),
    Claim(
        SECTION,
        "great learnability and fast convergence rate",
        "at equal scale and decay PAN reaches 95 % of its final validation accuracy in fewer epochs than GCN (95 % "
        "interval by seed); learnability has no rule",
        "panconv reproduce scale",
        judges.faster_at_equal_scale,
    ),
    Claim(
        SECTION,
        "achieve state-of-the-art performance on benchmark tasks",
        "no other model of Table 2, run by us, is clearly ahead over the three graphs (95 % interval by seed), and "
        "all are clearly behind",
        "panconv reproduce table2 --out results",
        others.state_of_the_art,
    ),
    Claim(
        SECTION,
        "Laplacian based methods essentially rely on message passing between directly connected nodes; D⁻¹A is the "
        "transition matrix of a random walk",
        "the generic walk's step is D⁻¹A: its rows sum to 1, equal over the edges of a node",
        "tests/walkers/test_walk.py::test_the_generic_walk_follows_the_edges",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "Many direct space based methods can be viewed as generalizations of GRW that enable one to do a biased "
        "average of the neighbors",
        "attention on edges, GAT's, starts as the generic walk's D⁻¹A",
        "tests/nn/test_pan_edge_attention.py::test_it_starts_as_the_generic_walk",
        by_test("exact, of the one that is a layer here"),
    ),
    Claim(
        SECTION,
        "we can continuously tune our model from a fully localized one (i.e., MLP) to a global structure based model",
        "M is I as T goes to 0; as T grows every node looks further; hot and long it is of rank one",
        "tests/met/test_operator.py::test_low_temperature_is_the_identity; "
        "tests/met/test_thermodynamics.py::test_the_hotter_the_further; "
        "tests/met/test_thermodynamics.py::test_a_hot_operator_of_long_paths_is_of_rank_one",
        by_test("exact in both limits"),
    ),
    Claim(
        SECTION,
        "many current models can be seen as special cases of the presented framework; numerous variations of MET can "
        "be developed",
        "GCN is method 5 with k = (0, 1), SGC with k = (0, …, 0, 1), an MLP with k = (1)",
        "tests/nn/test_pan_conv.py::test_special_cases",
        by_test("equal to rounding; eleven methods, four families of paths"),
    ),
]
