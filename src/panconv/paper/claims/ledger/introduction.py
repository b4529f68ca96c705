"""What the paper says: Abstract and introduction. Never imports torch."""

from __future__ import annotations

from panconv.paper.claims import judges, others
from panconv.paper.claims.claim import Claim, by_test

SECTION = "Abstract and introduction"
_ON_M = "panconv reproduce table2 --met"

CLAIMS: list[Claim] = [
    Claim(
        SECTION,
        "involves every path linking the message sender and receiver with learnable weights depending on the path "
        "length",
        "M·x is the sum over all walks, counted one by one, on random graphs; the weights have gradients",
        "tests/paths/test_walks.py::test_terms_count_every_walk",
        by_test("equal to an enumeration, for graphs of every kind"),
    ),
    Claim(
        SECTION,
        "which corresponds to the maximal entropy random walk",
        "all paths of one length between two nodes are equally likely, and no walk has more entropy",
        "tests/walkers/test_walk.py::test_no_walk_has_more_entropy",
        by_test("the entropy rate is log λ₁, above that of every other walk tried"),
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
        "each model on an operator, a graph or a walk in Table 2 trains on M as it trains on its own",
        _ON_M,
        others.runs_on_m(others.ADAPTED),
    ),
    Claim(
        SECTION,
        "have great learnability and fast convergence rate",
        "as for Figure 2: PAN reaches 95 % of its final validation accuracy in fewer epochs than GCN (95 % interval by "
        "seed)",
        "panconv reproduce figure2",
        judges.converges_faster,
    ),
    Claim(
        SECTION,
        "D⁻¹A is known as the transition matrix of a particle doing a random walk on the graph",
        "the generic walk's step is D⁻¹A, its rows sum to 1",
        "tests/walkers/test_walk.py::test_the_generic_walk_follows_the_edges",
        by_test("exact"),
    ),
    Claim(
        SECTION,
        "we can continuously tune our model from a fully localized one (i.e., MLP) to a global structure based model",
        "M is I as T goes to 0; as T grows every node looks further",
        "tests/met/test_operator.py::test_low_temperature_is_the_identity",
        by_test("exact in the limit"),
    ),
    Claim(
        SECTION,
        "achieve state-of-the-art performance on benchmark tasks",
        "no other model of Table 2, run by us, has the higher mean over the three graphs",
        "panconv reproduce table2",
        others.state_of_the_art,
    ),
]
