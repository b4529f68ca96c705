from itertools import pairwise, product
from math import exp, isnan, prod

import networkx as nx
import numpy as np
import pytest
import torch

from panconv import MET, Adjacency, Walks
from panconv.data.small_worlds import ring_with_hub
from panconv.paper.studies.influence import (
    FOLLOWERS,
    OPERATORS,
    How,
    Sent,
    distances,
    followers_round,
    influence_round,
    over_seeds,
    study,
    with_followers,
)
from panconv.testing import close

ROW = {(each.walk, each.divided): row for row, each in enumerate(OPERATORS)}


def edges_of(graph):
    edges = torch.tensor(list(graph.edges)).reshape(-1, 2).T
    return torch.cat([edges, edges.flip(0)], 1)


def matrices(graph, how):
    """Every operator as a matrix."""
    adj = Adjacency.from_edge_index(edges_of(graph), num_nodes=len(graph))
    sent = Sent(adj, how, torch.arange(len(graph)))
    return {(each.walk, each.divided): each.send(sent) for each in OPERATORS}


def path_by_path(graph, L, simple):
    """Every operator, from each path's own factor: at which of its nodes it is divided, and by what."""
    N = len(graph)
    A = nx.to_numpy_array(graph, nodelist=range(N))
    degree, (values, vectors) = A.sum(0), np.linalg.eigh(A)
    growth, psi = values[-1], abs(vectors[:, -1])
    factor = {
        ("generic", "receiver"): lambda p: prod(1 / degree[to] for to in p[1:]),
        ("generic", "sender"): lambda p: prod(1 / degree[of] for of in p[:-1]),
        ("generic", "both"): lambda p: prod((degree[a] * degree[b]) ** -0.5 for a, b in pairwise(p)),
        ("maximal-entropy", "receiver"): lambda p: psi[p[0]] / psi[p[-1]] / growth ** (len(p) - 1),
        ("maximal-entropy", "sender"): lambda p: psi[p[-1]] / psi[p[0]] / growth ** (len(p) - 1),
        ("maximal-entropy", "both"): lambda p: growth ** (1 - len(p)),
        ("paths", "nowhere"): lambda p: 1,
    }
    found = {name: torch.zeros(N, N, dtype=torch.float64) for name in factor}
    for n in range(L + 1):
        for p in product(range(N), repeat=n + 1):
            if all(A[to, of] for of, to in pairwise(p)) and (not simple or len(set(p)) == len(p)):
                for name, of_path in factor.items():
                    found[name][p[-1], p[0]] += exp(-n) * of_path(p)
    Z = found["paths", "nowhere"].sum(1)
    found["M", "receiver"] = found["paths", "nowhere"] / Z[:, None]
    found["M", "sender"] = found["paths", "nowhere"] / Z
    found["M", "both"] = found["paths", "nowhere"] / (Z[:, None] * Z).sqrt()
    return found


@pytest.mark.parametrize("paths", ["walks", "self_avoiding"])
def test_every_operator_path_by_path(paths):
    graph = nx.Graph([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (4, 5)])
    found, expected = matrices(graph, How(3, paths=paths)), path_by_path(graph, 3, paths != "walks")
    assert found.keys() == expected.keys()
    for name in found:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-7, atol=1e-9, msg=str(name))


@pytest.mark.parametrize("m", [1, 5, 60])
def test_a_star_by_hand(m):
    w = [exp(-n) for n in range(3)]
    found = {name: value[1, 0] for name, value in matrices(nx.star_graph(m), How(2)).items()}  # the centre at a leaf
    leaf, centre = w[0] + w[1] + w[2] * m, w[0] + w[1] * m + w[2] * m  # Z: the other leaves are two steps away
    assert float(found["paths", "nowhere"]) == pytest.approx(w[1])
    assert float(found["generic", "receiver"]) == pytest.approx(w[1])
    assert float(found["generic", "both"]) == pytest.approx(w[1] / m**0.5)
    assert float(found["generic", "sender"]) == pytest.approx(w[1] / m)
    assert float(found["M", "receiver"]) == pytest.approx(w[1] / leaf)  # falls with the degree of the sender
    assert float(found["M", "both"]) == pytest.approx(w[1] / (leaf * centre) ** 0.5)
    assert float(found["M", "sender"]) == pytest.approx(w[1] / centre)
    # Of the maximal entropy walk λ = √m and the centre has ψ = √m times a leaf's.
    assert float(found["maximal-entropy", "receiver"]) == pytest.approx(w[1])
    assert float(found["maximal-entropy", "both"]) == pytest.approx(w[1] / m**0.5)
    assert float(found["maximal-entropy", "sender"]) == pytest.approx(w[1] / m)


def test_what_followers_do_not_change():
    ring, N, f, L = ring_with_hub(80, neighbours=4, seed=3, links=0), 80, 7, 5
    before = Adjacency.from_edge_index(ring, num_nodes=N)
    after = Adjacency.from_edge_index(with_followers(ring, N, f), num_nodes=N + f)
    far = distances(before, torch.tensor([0]), L).flatten()
    one, other = (torch.eye(adj.num_nodes, dtype=torch.float64)[:, 0] for adj in (before, after))
    old, new = (torch.stack(list(Walks(adj, L).terms(x))) for adj, x in ((before, one), (after, other)))
    for d in range(1, L + 1):
        at = (far == d).nonzero().flatten()
        assert len(at)
        # The walks that go straight to a node, or with a step to spare, are as many as before …
        close(new[: d + 2, at], old[: d + 2, at])
        if d + 2 <= L:  # … those with two to spare may first call on a follower
            close(new[d + 2, at], old[d + 2, at] + f * old[d, at])
    # Without long paths M knows nothing of the sender's degree; with them a receiver hears its followers too.
    for length, same in ((1, True), (2, False)):
        rows = [MET(Walks(adj, length), [1.0] * (length + 1), 1).T.to_dense()[0, :N] for adj in (before, after)]
        neighbours = (far == 1).nonzero().flatten()
        assert torch.allclose(rows[0][neighbours], rows[1][neighbours]) == same


@pytest.mark.parametrize("paths", ["shortest", "self_avoiding"])
def test_followers_on_paths_that_never_come_back(paths):
    counts = (1, 20)
    found = followers_round(60, 5, counts, How(3, paths=paths))
    degree = float((ring_with_hub(60, links=0, seed=5)[0] == 0).sum())
    for d, (name, power) in product(range(3), {"receiver": 0, "both": -0.5, "sender": -1}.items()):
        assert found[ROW["generic", name]][d] == pytest.approx([((degree + f) / degree) ** power for f in counts])
        assert found[ROW["paths", "nowhere"]][d] == pytest.approx([1, 1])
    assert found[ROW["M", "receiver"]][2] == pytest.approx([1, 1])  # their paths to there are longer than L
    assert all(after < 0.9 for after in (found[ROW["M", "receiver"]][0][1], found[ROW["M", "receiver"]][1][1]))


def test_a_hub_beside_ordinary_nodes():
    # A wheel without its rim, and a path of three: the hub has 4 links, an ordinary node 1.
    graph = nx.disjoint_union(nx.star_graph(4), nx.path_graph(3))
    found = influence_round(edges_of(graph), 8, How(2))
    assert (found.hub_degree, found.ordinary_degree) == (4, 1)
    w1, w2 = exp(-1), exp(-2)
    sent = found.found[ROW["generic", "sender"]]
    assert sent.hub == pytest.approx([w1 / 4, float("nan")], nan_ok=True)  # nothing is two steps away from the hub
    assert sent.ordinary == pytest.approx([w1, (4 * w2 / 4 + 2 * w2 / 2) / 6])
    assert all(map(isnan, sent.same))  # no leaf has another beside it


def test_at_one_receiver_Z_cancels():
    found = influence_round(ring_with_hub(80, links=20), 80, How(3)).found
    assert found[ROW["M", "receiver"]].same == pytest.approx(found[ROW["paths", "nowhere"]].same)
    assert found[ROW["M", "receiver"]].hub != pytest.approx(found[ROW["paths", "nowhere"]].hub)


def test_the_study_over_seeds():
    found = study(30, [3, 4], How(2))
    by_hand = [influence_round(ring_with_hub(30, links=3, seed=seed), 30, How(2)).found[2] for seed in (3, 4)]
    (of,) = [each for each in found.plain()["graphs"]["ring"]["operators"] if each["formula"] == "AD⁻¹"]
    for d in range(2):
        ratios = [each.hub[d] / each.ordinary[d] for each in by_hand]
        assert of["ratio"][d]["mean"] == pytest.approx(np.mean(ratios))
        assert of["ratio"][d]["std"] == pytest.approx(np.std(ratios, ddof=1))
    followers = found.plain()["followers"]
    assert len(followers["counts"]) == len(FOLLOWERS)
    alone = followers_round(30, 3, FOLLOWERS, How(2)), followers_round(30, 4, FOLLOWERS, How(2))
    assert followers["operators"][2]["relative"][1][-1]["mean"] == pytest.approx(np.mean([a[2][1][-1] for a in alone]))
    assert over_seeds([float("nan"), 2.0]) == (2.0, 0.0)
