import numpy as np
import torch

from panconv.estimator.folds import Folds, folds_of
from panconv.estimator.linear import fit_linear
from panconv.estimator.nested import without_say
from panconv.estimator.penalties import Task


def task_of(y, folds):
    targets = torch.eye(int(y.max()) + 1, dtype=torch.float64)[torch.from_numpy(y)]
    return Task(targets, torch.ones(len(y)).double(), folds, "softmax")


def test_a_row_is_told_by_what_the_rows_of_other_folds_choose():
    """Two things to choose from; the rows of each fold prefer the one, those of the others the other."""
    fold = np.arange(9) % 3
    test = torch.from_numpy(fold[:, None] == np.arange(3))
    task = task_of(np.arange(9) % 2, Folds(~test, test))

    def pick(weight):
        assert weight[test[:, asked[-1]]].sum() == 0
        assert weight.sum() == 6
        asked.append(asked[-1] + 1)
        return torch.full((9, 2), float(asked[-1])).double()

    asked = [0]
    assert without_say(pick, task)[:, 0].tolist() == (fold + 1).tolist()


def test_rows_that_two_folds_hold_out_are_told_by_both_and_others_by_none():
    test = torch.tensor([[True, True], [True, False], [False, True], [False, False]])
    task = task_of(np.array([0, 1, 0, 1]), Folds(~test, test))
    answers = iter([torch.full((4, 2), 1.0), torch.full((4, 2), 3.0)])
    found = without_say(lambda weight: next(answers).double(), task)[:, 0]
    assert found[:3].tolist() == [2, 1, 3]
    assert found[3].isnan()


def test_a_single_fold_has_no_others_to_ask():
    test = torch.tensor([[True], [True], [False]])
    task = task_of(np.array([0, 1, 0]), Folds(~test, test))
    assert without_say(lambda weight: weight.unsqueeze(1).expand(3, 2), task)[:2].tolist() == [[1, 1], [1, 1]]


def test_the_best_of_many_guesses_is_no_better_than_a_guess():
    """Chosen by the rows that it is judged by it looks better; without their say it does not."""
    random = np.random.default_rng(0)
    y = np.arange(120) % 2
    task = task_of(y, folds_of(5, y, True))
    guesses = [torch.from_numpy(random.normal(size=(120, 2))) for _ in range(100)]
    right = torch.stack([guess.argmax(1) == torch.from_numpy(y) for guess in guesses]).double()

    def pick(weight):
        return guesses[int((right @ weight).argmax())]

    found = (each.argmax(1) == torch.from_numpy(y) for each in (pick(task.weight), without_say(pick, task)))
    flattered, honest = (float(each.double().mean()) for each in found)
    assert flattered > 0.6
    assert abs(honest - 0.5) < 0.1


def test_each_fold_makes_the_choice_that_its_others_alone_would_make():
    random = np.random.default_rng(0)
    y = np.arange(120) % 3
    blocks = [random.normal(size=(120, 8)) + 0.4 * np.eye(3)[y] @ random.normal(size=(3, 8)) for _ in range(3)]
    task = task_of(y, folds_of(5, y, True))
    head = fit_linear(blocks, task)
    scores = head.unflattered(task)
    for k in range(5):
        test = task.folds.test[:, k]
        own = head.picked(task.weight * ~test)
        assert torch.equal(scores[test], own.scores[test])
    assert head.picked(task.weight) is head.chosen
