import networkx as nx
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, graphs
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from undirected import undirected_edges

from panconv import load
from panconv.tasks.link_splits import _nth_missing, _pair, split_links


def links(edge_index):
    return {(min(u, v), max(u, v)) for u, v in edge_index.T.tolist() if u != v}


@given(graphs(min_nodes=5), st.floats(0.05, 0.9), st.integers(0, 5))
def test_a_split_is_a_split(graph, fraction, seed):
    whole, N = links(graph.edge_index), graph.num_nodes
    K = min(max(round(fraction * len(whole)), 1), len(whole) - 1)
    if len(whole) < 2 or N * (N - 1) // 2 - len(whole) < K:
        with pytest.raises(ValueError, match=r"the graph has \d+ (links|pairs without a link)"):
            split_links(graph.edge_index, fraction, seed, N)
        return
    split = split_links(graph.edge_index, fraction, seed, N)
    left, out, none = links(split.edge_index), links(split.positives), links(split.negatives)
    assert split.num_nodes == N
    assert split.positives.shape == split.negatives.shape == (2, K)
    assert len(out) == len(none) == K  # none twice, no self-loops
    assert left | out == whole
    assert not left & out
    assert not none & whole
    edges = split.edge_index
    loops = {u for u, v in graph.edge_index.T.tolist() if u == v}
    assert set(edges[0, edges[0] == edges[1]].tolist()) == loops
    assert {(v, u) for u, v in edges.T.tolist()} == {(u, v) for u, v in edges.T.tolist()}


def test_every_link_and_every_other_pair_has_the_same_chance():
    taken = torch.zeros(6, 6, dtype=torch.double)
    for seed in range(1000):
        split = split_links(undirected_edges(nx.cycle_graph(6)), 0.34, seed)
        for u, v in torch.cat([split.positives, split.negatives], 1).T.tolist():
            taken[u, v] += 1 / 1000
    for pairs, chance in ((nx.cycle_graph(6).edges, 2 / 6), (nx.complement(nx.cycle_graph(6)).edges, 2 / 9)):
        for u, v in pairs:
            assert float(taken[u, v]) == pytest.approx(chance, abs=6 * (chance * (1 - chance) / 1000) ** 0.5)


def test_a_large_graph_by_rejection_and_repeatable():
    data = load("cora")
    one, two, other = (split_links(data, 0.1, seed) for seed in (1, 1, 2))
    assert one.positives.shape == (2, 528)
    assert all(torch.equal(a, b) for a, b in zip(one[:3], two[:3], strict=True))
    assert not torch.equal(one.positives, other.positives)
    assert not links(one.negatives) & links(data.edge_index)
    assert len(links(one.negatives)) == 528
    mean = float(one.negatives.double().mean())
    assert mean == pytest.approx(2707 / 2, abs=6 * 2708 / (12 * 2 * 528) ** 0.5)


def test_pairs_are_numbered_one_by_one():
    number = torch.arange(5000)
    low, high = _pair(number).tolist()
    assert list(zip(high, low, strict=True)) == [(v, u) for v in range(1, 101) for u in range(v)][:5000]
    far = torch.tensor([v * (v - 1) // 2 + u for v in (10**6, 94_906_267, 10**9) for u in (0, 1, v - 1)])
    assert _pair(far)[1].tolist() == [v for v in (10**6, 94_906_267, 10**9) for _ in range(3)]
    gaps = _nth_missing(torch.tensor([0, 1, 4, 6]), torch.arange(5))
    assert gaps.tolist() == [2, 3, 5, 7, 8]


def test_bad_input():
    for fraction in (0, 1, -0.5, 2, float("nan")):
        with pytest.raises(ValueError, match="fraction must be above 0 and below 1"):
            split_links(TRIANGLE_AND_TAIL, fraction)
    with pytest.raises(ValueError, match="seed must be an integer of at least 0, got -1"):
        split_links(TRIANGLE_AND_TAIL, 0.5, -1)
    with pytest.raises(ValueError, match="the graph has 1 links"):
        split_links(torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(ValueError, match="the graph has 0 pairs without a link, but 1 are to be set against"):
        split_links(undirected_edges(nx.complete_graph(4)), 0.2)
    assert split_links(Data(edge_index=TRIANGLE_AND_TAIL, num_nodes=9)).num_nodes == 9
