import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn.pool.select.topk import topk

from panconv.nn.top_nodes import top_nodes

graphs_with_scores = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), max_size=25)


@given(graphs_with_scores, st.sampled_from([0.1, 0.3, 0.5, 0.7, 1.0]), st.none() | st.integers(1, 4))
def test_the_best_of_each_graph(pairs, ratio, number):
    graph, score = (
        (torch.tensor(part, dtype=torch.long) for part in zip(*pairs, strict=True))
        if pairs
        else [torch.empty(0, dtype=torch.long)] * 2
    )
    found = top_nodes(score.float(), score.float(), graph, ratio, number).tolist()
    expected = []
    for g in sorted(set(graph.tolist())):
        nodes = [i for i in range(len(pairs)) if pairs[i][0] == g]
        k = number or math.ceil(round(ratio * len(nodes), 9))
        expected += sorted(nodes, key=lambda i: (-pairs[i][1], i))[:k]
    assert found == expected


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.7, 0.99])
def test_as_pyg_where_no_scores_are_equal(ratio):
    score, graph = torch.randperm(200).float(), torch.randint(5, (200,))
    assert torch.equal(top_nodes(score, score, graph, ratio), topk(score, ratio, graph))
    assert torch.equal(top_nodes(score, score, graph, ratio, 7), topk(score, 7, graph))


def test_equal_scores_are_told_apart_by_what_is_below():
    score, below = torch.ones(4), torch.tensor([1.0, 3.0, 2.0, 3.0])  # as tanh is 1 for all that is large
    assert top_nodes(score, below, torch.zeros(4, dtype=torch.long), 0.75).tolist() == [1, 3, 2]


def test_a_share_is_rounded_up_as_on_paper():
    for ratio, n, k in ((0.07, 100, 7), (0.55, 100, 55), (0.7, 10, 7), (1 / 3, 3, 1), (0.5, 5, 3), (0.01, 1, 1)):
        assert top_nodes(torch.zeros(n), torch.zeros(n), torch.zeros(n, dtype=torch.long), ratio).numel() == k
