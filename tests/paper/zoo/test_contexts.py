import torch

from panconv.paper.zoo.contexts import Contexts

PATHS = torch.arange(60).reshape(2, 10, 3)  # of two trials, no node twice
KNOWN, Y = torch.tensor([3, 50, 7, 8, 20, 21]), torch.tensor([1, 0, 1, 0, 2, 2])


def contexts(seed=(0, 1), positives=0.25):
    trials = torch.tensor(seed)
    return Contexts(PATHS[trials], KNOWN, Y, 60, positives, trials)


def test_walks_are_whole_and_of_the_trial():
    walks, noise = contexts().on_walks(500, step=3)
    assert walks.shape == noise.shape == (2, 500, 3)
    for trial in range(2):
        known = {tuple(walk) for walk in PATHS[trial].tolist()}
        assert {tuple(walk) for walk in walks[trial].tolist()} == known
        assert noise[trial].unique().tolist() == list(range(60))  # any node, none left out


def test_pairs_of_labelled_nodes_share_a_class_where_the_sign_is_positive():
    node, other, sign = contexts().by_class(3000, step=0)
    by_node = torch.full((60,), -1)
    by_node[KNOWN] = Y
    assert bool((by_node[node] >= 0).all() and (by_node[other] >= 0).all())
    assert torch.equal(by_node[node] == by_node[other], sign > 0)
    assert abs(float((sign > 0).float().mean()) - 0.25) < 0.03
    pairs = set(zip(node.flatten().tolist(), other.flatten().tolist(), strict=True))
    assert len(pairs) == 36  # every pair has a chance


def test_a_trial_draws_what_it_would_alone_and_another_step_other_pairs():
    alone, both = contexts((1,)), contexts()
    for a, b in zip(
        (*alone.on_walks(9, 1), *alone.by_class(9, 1)), (*both.on_walks(9, 1), *both.by_class(9, 1)), strict=True
    ):
        assert torch.equal(a[0], b[1])
    assert not torch.equal(both.on_walks(9, 1)[0], both.on_walks(9, 2)[0])


def test_with_one_class_alone_pairs_of_two_classes_are_left_out():
    two = Contexts(PATHS, KNOWN, Y, 60, 0.25, torch.tensor([0, 1])).by_class(400, step=0)
    one = Contexts(PATHS, KNOWN, torch.full((6,), 1), 60, 0.25, torch.tensor([0, 1])).by_class(400, step=0)
    assert torch.equal(one[2], two[2].clamp(min=0))  # sign 0, and the others are as many as before
    paired = one[2] > 0
    assert paired.any()
    for nodes in one[:2]:
        assert nodes[paired].unique().tolist() == KNOWN.sort().values.tolist()
