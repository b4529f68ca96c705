import networkx as nx
import pytest
import torch
from undirected import undirected_edges

from panconv.paper.studies.communities import community_round, connected_part, score, summary
from panconv.paper.studies.links import link_round, mean_and_std
from panconv.tasks import auc, link_scores, nmi, split_links

PLANTED = undirected_edges(nx.planted_partition_graph(3, 30, 0.4, 0.02, seed=0))


def test_a_round_of_links_is_the_functions_it_is_made_of():
    curves = link_round(PLANTED, 90, 0.2, 3, seed=4)
    split = split_links(PLANTED, 0.2, 4, 90)
    pairs = torch.cat([split.positives, split.negatives], 1)
    truth = torch.arange(pairs.size(1)) < split.positives.size(1)
    for kind in ("generic", "maximal-entropy"):
        for t in (1, 2, 3):
            for name, superposed in ((kind, False), (f"{kind}, superposed", True)):
                scores = link_scores(split.edge_index, pairs, kind, t, superposed)
                assert curves[name][t - 1] == pytest.approx(auc(scores, truth), abs=1e-9)
    mean, std = mean_and_std([{"a": [1.0, 5.0]}, {"a": [3.0, 5.0]}])["a"][0]
    assert (mean, std) == (2, pytest.approx(2**0.5))


def test_communities_are_scored_on_the_largest_component():
    y = torch.cat([torch.arange(3).repeat_interleave(30), torch.tensor([0, 1])])
    part = connected_part(torch.cat([PLANTED, torch.tensor([[90, 91], [91, 90]])], 1), y)
    assert part.adj.num_nodes == 90
    found = community_round(part, 3, 3, seed=0)
    assert found["generic"].nmi > 0.9
    assert found["maximal-entropy"].largest == pytest.approx(1 / 3, abs=0.05)
    truth = score(part, part.y)
    assert truth.nmi == nmi(part.y, part.y)
    assert truth.modularity == pytest.approx(
        nx.community.modularity(nx.Graph(PLANTED.T.tolist()), [set(range(c, c + 30)) for c in (0, 30, 60)])
    )
    assert summary([found])["generic"]["nmi"] == (found["generic"].nmi, 0.0)
