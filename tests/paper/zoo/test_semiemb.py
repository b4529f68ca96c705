from types import SimpleNamespace

import pytest
import torch
from citations import accuracy, citations

from panconv.graph import Adjacency
from panconv.paper.zoo import METHODS, semiemb
from panconv.paper.zoo.semiemb import Nets, Pairs, embedding_loss, fitted_nets, train

HOW = {**METHODS["semiemb"].settings, "hidden": 16, "steps": 100, "pairs": 50, "embedding": 1.0, "margin": 1.0}


def test_the_pairs_are_edges_and_no_edges():
    data = citations()
    A = Adjacency.of(data.edge_index)
    pairs = Pairs(A, [7, 8])
    near, (far, apart) = pairs.near(3, 400), pairs.far(3, 400)
    dense = A.to_dense() > 0
    i, j = far.unbind(1)
    assert near.shape == far.shape == (2, 2, 400)
    assert bool(dense[near[:, 0], near[:, 1]].all())
    assert torch.equal(apart, ~dense[i, j] & (i != j))
    assert 0.8 < float(apart.float().mean()) < 1
    assert torch.equal(Pairs(A, [8]).near(3, 400)[0], near[1])
    assert not torch.equal(pairs.near(4, 400), near)


def test_an_edge_in_one_direction_makes_neighbours_both_ways():
    data = citations()
    i, j = data.edge_index
    once = Pairs(Adjacency.of(data.edge_index[:, i < j]), [7])
    both = Pairs(Adjacency.of(data.edge_index), [7])
    assert torch.equal(once.far(3, 2000)[1], both.far(3, 2000)[1])
    assert bool((Adjacency.of(data.edge_index).to_dense()[tuple(once.near(3, 400).unbind(1))] > 0).all())


def test_neighbours_are_pulled_and_others_pushed_up_to_the_margin():
    here, there = torch.zeros(1, 1, 2), torch.tensor([[[0.6, 0.8]]])  # 1 apart
    yes = torch.ones(1, 1, dtype=torch.bool)
    assert embedding_loss(there, 5 * there, yes, 1.0).item() == pytest.approx(1.0)  # ‖·‖² and nothing beyond the margin
    assert embedding_loss(here, there, yes, 3.0).item() == pytest.approx(4.0)  # (3 − 1)²
    assert embedding_loss(here, there, ~yes, 3.0).item() == 0
    distance = here.clone().requires_grad_()
    embedding_loss(here, distance, yes, 1.0).backward()
    assert bool(torch.isfinite(distance.grad).all())


def test_the_hidden_layer_becomes_an_embedding_of_the_graph():
    data = citations()
    i, j = data.edge_index
    ratio = []
    for embedding in (0.0, 1.0):
        nets, _ = fitted_nets(data, {**HOW, "embedding": embedding}, [0, 1], "cpu")
        with torch.no_grad():
            h = nets.hidden(data.x)  # (S, N, hidden)
        ratio.append(float((h[:, i] - h[:, j]).norm(dim=-1).mean() / torch.cdist(h, h).mean()))
    assert ratio[1] < ratio[0] - 0.1


def test_with_features_that_say_nothing_the_edges_do_it_all():
    data = citations()
    data.x = torch.eye(90)
    right = [accuracy(train(data, {**HOW, "embedding": e, "steps": 200}, range(2)), data) for e in (0.0, 1.0)]
    assert right[0] < 0.5 < 0.8 < right[1]


def test_a_trial_is_what_it_is_alone():
    data = citations()
    both, second = fitted_nets(data, HOW, [3, 4], "cpu")[1], fitted_nets(data, HOW, [4], "cpu")[1]
    for a, b in zip(both, second, strict=True):
        assert torch.allclose(a[1], b[0], atol=1e-4)


def test_no_edges_is_legal_and_progress_is_told():
    data = citations()
    data.edge_index = data.edge_index[:, :0]
    told = []
    assert train(data, {**HOW, "steps": 15}, [0], tell=told.append).shape == (1, 90)
    assert told == [pytest.approx(10 / 15), 1.0]


def test_the_embedding_is_of_the_hidden_layer_alone(monkeypatch):
    """With the labels switched off nothing tells the output matrix anything: it stays as it started."""
    mute = SimpleNamespace(cross_entropy=lambda scores, y: 0 * scores.sum())
    monkeypatch.setattr(semiemb, "F", mute)
    data = citations()
    nets, _ = fitted_nets(data, {**HOW, "weight_decay": 0.0, "steps": 5}, [0, 1], "cpu")
    start = Nets(60, 16, 3, [0, 1], torch.device("cpu"))
    moved = [not torch.equal(a, b) for a, b in zip(nets.parameters, start.parameters, strict=True)]
    assert moved == [True, True, False, False]


def test_what_is_kept_is_the_step_that_was_best_on_validation():
    """A run of n steps is the beginning of a longer one: the best look of the long run is the end of a short one."""
    data, looks = citations(), (10, 20, 30, 40, 50)
    val = data.val_mask
    ends, merits = [], []
    for steps in looks:
        nets, _ = fitted_nets(data, {**HOW, "steps": steps}, [0], "cpu")
        with torch.no_grad():
            scores = nets.scores(nets.hidden(data.x))[0]
        surprise = torch.nn.functional.cross_entropy(scores[val], data.y[val])
        merits.append((int((scores.argmax(1) == data.y)[val].sum()), -float(surprise)))  # of equals the surer one
        ends.append((nets.parameters, scores.argmax(1)))
    best = merits.index(max(merits))
    assert 0 < best < len(looks) - 1
    _, kept = fitted_nets(data, {**HOW, "steps": 50}, [0], "cpu")
    for a, b in zip(kept, ends[best][0], strict=True):
        assert torch.equal(a, b)
    predicted = train(data, {**HOW, "steps": 50}, [0])[0]
    assert torch.equal(predicted, ends[best][1])
    assert not torch.equal(predicted, ends[-1][1])


def test_features_in_double_precision_are_read_as_single():
    data, wide = citations(), citations()
    wide.x = wide.x.double()
    assert torch.equal(train(data, {**HOW, "steps": 5}, [0]), train(wide, {**HOW, "steps": 5}, [0]))
