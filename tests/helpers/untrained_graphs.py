"""Records of contests that never were."""

from panconv.records.record import Record
from panconv.training.runner import Diverged


class Told:
    """A trainer without training: what a task gives is a function of it."""

    def __init__(self, val=lambda task: 0.5, test=lambda task: 0.6, lost=lambda task: False):
        self.val, self.test, self.lost, self.trained = val, test, lost, []

    def check(self, task):
        pass

    def beside(self, task):
        return task.alike()

    def at_once(self, task, device):
        return 99

    def train(self, tasks, device, command, tell):
        if any(map(self.lost, tasks)):
            raise Diverged("no trial ever had a finite loss")
        self.trained += tasks
        return [
            Record(
                **vars(task),
                test_accuracy=self.test(task) if task.tested else None,
                val_accuracy=self.val(task),
                val_loss=1.0,
                **{"seconds": 2.0, "device": device, "versions": {}, "command": command, "best_epoch": 1},
            )
            for task in tasks
        ]
