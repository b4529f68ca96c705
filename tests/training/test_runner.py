import time
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest
import torch

from panconv.records.record import Record, Results, Task
from panconv.training.runner import Diverged, batched, known, run


@dataclass
class Fake:
    """A trainer without training, of which at most `size` run at once and at most `memory` can."""

    size: int = 999
    memory: int = 999
    diverges: bool = False
    batches: list = field(default_factory=list)

    def check(self, task):
        pass

    def beside(self, task):
        return task.dataset

    def at_once(self, task, device):
        return self.size

    def train(self, tasks, device, command, tell):
        if len(tasks) > self.memory:
            raise torch.OutOfMemoryError("CUDA out of memory")
        if self.diverges:
            time.sleep(0.1)
            raise Diverged("no trial ever had a finite loss")
        self.batches.append(tasks)
        made = {"device": device, "versions": {}, "command": command, "seconds": 1.0}
        return [Record(**vars(task), test_accuracy=None, val_accuracy=0.5, **made) for task in tasks]


def tasks(settings, seeds):
    return [Task("cora", "mine", None, "public", {"x": x}, seed, False) for x in range(settings) for seed in seeds]


def shape(batches):
    """By batch, how many trainings there are of each setting."""
    return [Counter(task.settings["x"] for task in batch) for batch in batches]


def test_the_seeds_of_a_setting_train_together_where_they_fit():
    found = batched(tasks(5, (0, 1)), Fake(size=5))
    assert shape(found) == [{0: 2, 1: 2}, {2: 2, 3: 2}, {4: 2}]
    by_seed = sorted(tasks(4, (0, 1, 2)), key=lambda task: task.seed)
    assert shape(batched(by_seed, Fake(size=7))) == [{0: 3, 1: 3}, {2: 3, 3: 3}]
    some = tasks(4, (0, 1, 2))[2:]  # what is left of a run that was stopped
    assert shape(batched(some, Fake(size=4))) == [{0: 1, 1: 3}, {2: 3}, {3: 3}]
    assert [len(batch) for batch in batched(tasks(2, range(4)), Fake(size=3))] == [3, 3, 2]  # where none fits


def test_what_is_too_much_for_the_memory_is_trained_in_halves_of_whole_settings(tmp_path):
    trainer, steps, todo = Fake(memory=5), [], tasks(5, (0, 1))
    found = run(todo, Results(tmp_path), trainer=trainer, callback=steps.append)
    assert [record.key() for record in found] == [task.key() for task in todo]
    assert shape(trainer.batches) == [{0: 2, 1: 2}, {2: 2}, {3: 2, 4: 2}]
    assert (steps[-1].batch, steps[-1].batches) == (2, 3)
    assert len(Results(tmp_path).read()) == 10
    alone = Fake(memory=2)
    run(tasks(1, range(4)), trainer=alone)  # one setting in halves of its seeds
    assert [len(batch) for batch in alone.batches] == [2, 2]
    with pytest.raises(torch.OutOfMemoryError):
        run(tasks(2, (0,)), trainer=Fake(memory=0))


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    trainer = Fake()
    trainer.train = lambda *_: (_ for _ in ()).throw(RuntimeError("something else"))
    with pytest.raises(RuntimeError, match="something else"):
        run(tasks(2, (0, 1)), trainer=trainer)


def test_trainings_that_diverge_have_the_time_that_they_took():
    found = run(tasks(1, (0, 1)), trainer=Fake(diverges=True))
    assert [record.best_epoch for record in found] == [0, 0]
    assert all(0.04 < record.seconds < 2 for record in found)
    with pytest.raises(Diverged):
        run([replace(task, tested=True) for task in tasks(1, (0,))], trainer=Fake(diverges=True))


def test_records_that_were_read_before_are_not_read_again(tmp_path, monkeypatch):
    results = Results(tmp_path)
    run(tasks(1, (0, 1)), results, trainer=Fake())
    found = known(results)
    monkeypatch.setattr(Results, "read", lambda self: pytest.fail("the folder is read again"))
    trainer = Fake()
    run(tasks(2, (0, 1)), results, trainer=trainer, found=found)
    assert shape(trainer.batches) == [{1: 2}]
    assert len(found) == 4  # with what is new
    run(tasks(2, (0, 1)), results, trainer=trainer, found=found)
    assert len(trainer.batches) == 1
