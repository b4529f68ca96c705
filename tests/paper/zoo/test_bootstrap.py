from itertools import pairwise

import numpy as np
import pytest
import torch
from citations import accuracy, citations
from torch_geometric.data import Data

from panconv.paper.zoo import METHODS, bootstrap
from panconv.paper.zoo.bootstrap import bootstrapped, surest, train
from panconv.paper.zoo.classical import labels, operator

HOW = METHODS["bootstrap"].settings


def plain(S, hot, alpha, steps):
    scores = hot
    for _ in range(steps):
        scores = alpha * (S @ scores) + (1 - alpha) * hot
    return scores


def test_without_rounds_it_is_the_diffusion():
    data = citations()
    S, (_, hot) = operator(data, "D^−½AD^−½"), labels(data)
    base = plain(S, hot, 0.8, 6)
    (scores,) = bootstrapped(S, hot, {**HOW, "alpha": 0.8, "steps": 6, "rounds": 0})
    assert np.allclose(scores, base)
    predicted = train(data, {**HOW, "alpha": 0.8, "steps": 6, "rounds": 0}, [0])[0].numpy()
    assert np.array_equal(predicted[base.any(1)], base.argmax(1)[base.any(1)])


def test_a_round_is_the_diffusion_of_the_seeds_and_of_the_surest():
    data = citations(inside=0.1, between=0.03)
    S, (_, hot) = operator(data, "D^−½AD^−½"), labels(data)
    how = {**HOW, "alpha": 0.8, "steps": 6, "rounds": 3, "growth": 0.1, "trust": 0.5, "lead": "score"}
    rounds = list(bootstrapped(S, hot, how))
    for done, (before, after) in enumerate(pairwise(rounds), 1):
        nodes, found = surest(before, ~hot.any(1), done * 0.1 * 90, True)
        assert len(nodes) > 7 * done
        more = hot.copy()
        more[nodes, found] = 0.5
        assert np.allclose(after, plain(S, more, 0.8, 6))
    assert len(rounds) == 4


@pytest.mark.parametrize("option", [{}, {"hold": True}, {"balance": True}, {"lead": "share"}], ids=str)
def test_every_round_starts_from_the_given_seeds_and_the_surest_of_the_round_before(option):
    """One step per round, so that the seeds of a round are doubted in the next."""
    data = citations(inside=0.1, between=0.03)
    S, (given, hot) = operator(data, "D^−½AD^−½"), labels(data)
    hot[given[:3]] = 0  # classes with unlike numbers of seeds
    hot[given[0], 2] = 1
    how = {**HOW, "alpha": 0.9, "steps": 1, "rounds": 3, "growth": 0.2}
    rounds, usual = (list(bootstrapped(S, hot, {**how, **more})) for more in (option, {}))
    seeds, taken_back = hot, 0
    for done, scores in enumerate(rounds, 1):
        expected = 0.9 * (S @ seeds) + 0.1 * seeds
        if option.get("hold"):
            expected[seeds.any(1)] = seeds[seeds.any(1)]
        if option.get("balance"):
            expected = expected / seeds.sum(0)
        assert np.allclose(scores, expected)
        total = expected.sum(1, keepdims=True)
        lead = expected / np.where(total > 0, total, 1) if option.get("lead") else expected
        nodes, found = surest(lead, ~hot.any(1), done * 0.2 * 90, True)
        before, seeds = seeds, hot.copy()
        seeds[nodes, found] = 1
        taken_back += int((before > seeds).sum())
    assert len(rounds) == 4
    assert taken_back or option.get("hold")  # what is held cannot be doubted
    assert not option or not np.allclose(rounds[-1], usual[-1])


def test_the_round_is_the_first_of_those_that_would_be_most_right_on_validation(monkeypatch):
    """Nodes 0 and 1 are known, 2 and 3 are for validation, both of class 1; what is said of node 4 tells the round."""
    first, second, none = [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]
    rounds = [
        [first, second, first, second, first],  # one right
        [first, second, second, none, second],  # both, since a node not reached gets the commonest class
        [first, second, second, second, first],  # both, later
        [first, second, first, first, first],  # none
    ]
    monkeypatch.setattr(bootstrap, "bootstrapped", lambda *_: iter(np.array(rounds)))
    split = torch.tensor([0, 0, 1, 1, 2])
    data = Data(x=torch.eye(5), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1, 1, 1, -1]))
    data.train_mask, data.val_mask = split == 0, split == 1
    assert train(data, HOW, [0]).tolist() == [[0, 1, 1, 1, 1]]


def test_edges_in_one_direction_carry_labels_both_ways():
    data = citations()
    both = train(data, HOW, [0])
    i, j = data.edge_index
    data.edge_index = data.edge_index[:, i < j]
    assert torch.equal(train(data, HOW, [0]), both)


def test_the_new_seeds_lead_by_the_largest_margin_of_their_class():
    rng = np.random.default_rng(0)
    scores, free = rng.random((200, 4)) ** 2 * [2, 1, 1, 1], rng.random(200) < 0.8
    scores[:5] = 0  # not reached
    best, margin = scores.argmax(1), np.diff(np.sort(scores, 1)[:, -2:], axis=1).ravel()
    for as_found in (True, False):
        nodes, found = surest(scores, free, 40, as_found)
        assert np.array_equal(found, best[nodes])
        assert free[nodes].all()
        assert (nodes >= 5).all()
        for c in range(4):
            mine, others = nodes[found == c], np.setdiff1d(np.flatnonzero(free & (best == c)), nodes)
            share = (best[5:] == c).mean() if as_found else 0.25
            assert len(mine) == int(40 * share)
            assert margin[mine].min() >= margin[others].max()


@pytest.mark.parametrize("graph", ["cora", "pubmed"])
def test_seeds_of_its_own_help_where_few_are_given(graph):
    data = citations(size=100, inside=0.05, between=0.006)
    how = {**METHODS["bootstrap"].on(graph), "growth": 0.05, "steps": 3}
    once, many = (accuracy(train(data, {**how, "rounds": rounds}, range(2)), data) for rounds in (0, 20))
    assert many > once + 0.1


def test_a_node_that_nothing_reaches_gets_the_commonest_class():
    data = citations()
    data.edge_index = data.edge_index[:, :0]
    predicted = train(data, HOW, [0, 1])
    known = data.train_mask
    assert torch.equal(predicted[:, known], data.y[known].expand(2, -1))
    assert len(predicted[:, ~known].unique()) == 1
