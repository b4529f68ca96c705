import time

import torch

from panconv.training.deadline import Deadline

BEST = torch.tensor([1, 3])


def test_all_end_when_the_time_has_come_and_each_has_an_epoch_to_go_back_to():
    now = time.perf_counter()
    assert Deadline(now - 1)(5, {}, BEST).tolist() == [False, False]
    assert Deadline(now - 1)(5, {}, torch.tensor([0, 3])) is None
    assert Deadline(now + 100)(5, {}, BEST) is None
    longer = Deadline(time.perf_counter() + 0.1, to_come=1000)
    time.sleep(0.01)
    assert longer(5, {}, BEST).tolist() == [False, False]


def test_until_then_another_rule_decides():
    asked = []

    def rule(*given):
        asked.append(given)
        return torch.tensor([True, False])

    assert Deadline(time.perf_counter() + 100, rule=rule)(7, {"a": BEST}, BEST).tolist() == [True, False]
    assert asked == [(7, {"a": BEST}, BEST)]
