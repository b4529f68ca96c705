"""Folds and shares of a set of graphs: scikit-learn's where they are its, exact parts, and the same for every run."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, StratifiedKFold

from panconv.data import graph_folds, graph_split

Y = torch.tensor([0] * 30 + [1] * 20 + [2] * 10)[torch.randperm(60, generator=torch.Generator().manual_seed(0))]


def together(parts):
    """How many parts each graph is in, (G, S)."""
    return torch.stack([mask.int() for mask in parts]).sum(0)


@pytest.mark.parametrize(("y", "splitter"), [(Y, StratifiedKFold), (torch.rand(33), KFold)])
def test_test_parts_are_those_of_scikit_learn(y, splitter):
    parts = graph_folds(y, 5, seed=7)
    for k, (_, held) in enumerate(splitter(5, shuffle=True, random_state=7).split(y, y)):
        assert parts.test[:, k].nonzero().squeeze(1).tolist() == held.tolist()
    assert (parts.test.sum(1) == 1).all()
    assert (together(parts) == 1).all()
    assert not torch.equal(parts.test, graph_folds(y, 5, seed=8).test)
    assert all(map(torch.equal, parts, graph_folds(y, 5, seed=7)))


@settings(max_examples=30)
@given(st.lists(st.integers(6, 12), min_size=1, max_size=4), st.integers(2, 4), st.floats(0.2, 0.5), st.integers(0, 99))
def test_the_validation_part_has_its_share_of_each_class(counts, folds, val, seed):
    y = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    y = y[torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))]
    parts = graph_folds(y, folds, seed, val)
    assert (together(parts) == 1).all()
    for k in range(folds):
        rest, chosen = ~parts.test[:, k], parts.val[:, k]
        assert abs(int(chosen.sum()) - val * int(rest.sum())) <= 0.5 + 1e-9
        for c in range(len(counts)):
            assert abs(int((chosen & (y == c)).sum()) - val * int((rest & (y == c)).sum())) < 1
    if min(counts) > 8:
        assert not torch.equal(parts.val, graph_folds(y, folds, seed + 1, val).val)


def test_numbers_have_a_share_too_and_names_do_not_matter():
    parts = graph_folds(torch.rand(40), folds=4, val=0.2)
    assert [mask.sum(0).tolist() for mask in parts] == [[24] * 4, [6] * 4, [10] * 4]
    for a, b in zip(graph_folds(Y), graph_folds(np.where(Y > 0, Y.numpy() + 5, 0)), strict=True):
        assert torch.equal(a, b)


def test_runs_by_themselves():
    parts = graph_folds(Y, 5)
    assert (parts.runs, parts.run(3).runs, parts.of_runs([3]).runs) == (5, None, 1)
    assert all(torch.equal(one, mask[:, 3]) for one, mask in zip(parts.run(3), parts, strict=True))
    assert all(torch.equal(some, mask[:, [4, 0]]) for some, mask in zip(parts.of_runs([4, 0]), parts, strict=True))


def test_shares_at_random():
    parts = graph_split(Y, runs=6, seed=3)
    assert [mask.sum(0).tolist() for mask in parts] == [[48] * 6, [6] * 6, [6] * 6]
    assert (together(parts) == 1).all()
    for few, mask in zip(graph_split(Y, runs=2, seed=3), parts, strict=True):
        assert torch.equal(few, mask[:, :2])  # run by run the same, however many there are
    assert len({tuple(column.tolist()) for column in parts.test.T}) == 6
    assert not torch.equal(parts.test, graph_split(Y, runs=6, seed=4).test)
    assert [int(mask.sum()) for mask in graph_split(torch.rand(15000), runs=1)] == [12000, 1500, 1500]
    often = graph_split(torch.rand(10), (0.5, 0.3, 0.2), runs=4000)
    assert often.train.float().mean(1).sub(0.5).abs().max() < 0.05  # every graph as often


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: graph_folds(Y, 11), "folds must be at most 10, as many as class 2 has graphs, got 11: take fewer"),
        (lambda: graph_folds(torch.rand(4), 5), "folds must be at most 4, as many as there are graphs, got 5"),
        (lambda: graph_folds(Y, 1), "folds must be an integer of at least 2, got 1"),
        (lambda: graph_folds(Y, seed=2**32), "seed must be an integer of at least 0 and at most 4,294,967,295"),
        (lambda: graph_folds(Y, val=1.0), "val must be a share .* above 0 and below 1, got 1.0"),
        (lambda: graph_folds(Y, val="a"), "val must be a share"),
        (lambda: graph_folds(Y, val=0.001), "val = 0.001 of 54 graphs leaves none to choose by"),
        (lambda: graph_folds(Y, val=0.999), "or none to train on"),
        (lambda: graph_folds(torch.ones(4, 2)), "y must be a tensor"),
        (lambda: graph_split(Y, (0.8, 0.2)), "shares must be three numbers above 0 that add up to 1"),
        (lambda: graph_split(Y, (0.8, 0.1, 0.2)), "shares must be three numbers"),
        (lambda: graph_split(Y, (0.8, 0.2, 0.0)), "shares must be three numbers"),
        (lambda: graph_split(Y[:6]), "of 6 graphs leave a part empty"),
        (lambda: graph_split(Y, runs=0), "runs must be an integer of at least 1"),
        (lambda: graph_split(Y, seed=-1), "seed must be an integer of at least 0"),
    ],
)
def test_bad_input_is_named_in_one_line(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as error:
        call()
    assert "\n" not in str(error.value)
