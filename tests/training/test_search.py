import json
import math
import time
from dataclasses import dataclass, field, replace

import pytest
import torch
from two_communities import small

from panconv import fit, load
from panconv.data import splits
from panconv.records.ranking import ranked
from panconv.records.record import Record, Results, pan_task
from panconv.training import pans, recipe
from panconv.training.runner import Diverged, missing
from panconv.training.search import AGAIN, FRESH, TRYING, search
from panconv.training.space import Choice, Range, Space

FLAT = {"method": 5, "L": 1, "weights": [0.0, 1.0], "hidden": 4, "layers": 2, "dropout": 0.0, "patience": 99}
# An operator that all but deletes the features learns nothing.
STEPS = Space({**FLAT, "epochs": 12, "weight_decay": 0.0, "lr": 0.05, "weights": Choice(([0.0, 1e-6], [0.0, 1.0]))})


@dataclass
class Ranked:
    """A trainer without training: a setting is worth x, and a seed adds a little of its own."""

    seconds: float = 1.0
    free: tuple[str, ...] = ("x",)
    batches: list = field(default_factory=list)

    def check(self, task):
        pass

    def beside(self, task):
        return replace(task, settings={}).alike()

    def at_once(self, task, device):
        return 999

    def vectors(self, model):
        return self.free

    def spelt(self, drawn):
        return None, drawn

    def train(self, tasks, device, command, tell):
        self.batches.append(tasks)
        tell(1.0)
        return [self._record(task, device, command) for task in tasks]

    def _record(self, task, device, command):
        value = task.settings["x"] + 0.01 * math.sin(task.seed * 7.7 + task.settings["x"])
        return Record(
            **vars(task),
            test_accuracy=1 - value if task.tested else None,  # the worse the better, if it were looked at
            val_accuracy=min(max(value, 0), 1),
            seconds=self.seconds,
            device=device,
            versions={},
            command=command,
        )


XS = Space({"x": Range(0.1, 0.9), "epochs": 40})


def told(trainer, **options):
    named = {"settings": 12, "seeds": 2, "finalists": 3, "reruns": 4, "fresh": 5, **options}
    return search("cora", XS, "mine", trainer=trainer, split="public", **named)


def test_the_stages():
    trainer, steps = Ranked(), []
    found = told(trainer, seed=1, callback=steps.append, command="panconv search")
    tried, again, fresh = (
        [each for each in found.records if each.seed // TRYING == stage // TRYING] for stage in (TRYING, AGAIN, FRESH)
    )
    assert [len(tried), len(again), len(fresh)] == [24, 12, 5]
    assert found.fresh == fresh
    assert len(found.records) == 41
    assert sorted({each.seed for each in tried}) == [TRYING + 1, TRYING + 2]
    assert sorted({each.seed for each in again}) == [AGAIN + 1 + i for i in range(4)]
    assert [each.seed for each in fresh] == [FRESH + 1 + i for i in range(5)]
    assert not any(each.tested for each in tried + again)
    assert all(each.tested for each in fresh)
    assert all(each.settings["halving"] == [10, 20] for each in tried)
    assert not any("halving" in each.settings for each in again + fresh)
    best = sorted({each.settings["x"] for each in tried})[-3:]
    assert {each.settings["x"] for each in again} == set(best)
    assert [point.settings["x"] for point in found.ranking] == best[::-1]
    assert found.choice == found.ranking[0] == ranked(again)[0]
    assert found.choice.trials == 4
    assert {each.settings["x"] for each in fresh} == {best[-1]}
    assert {each.command for each in found.records} == {"panconv search"}
    assert sum(step.done == 1 for step in steps) == len(trainer.batches)


def test_finalists_are_told_apart_by_their_reruns_alone():
    """Luck with the first seeds is worth nothing: the two are swapped by the seeds that follow."""
    lucky = Ranked()
    record = lucky._record

    def with_luck(task, *others):
        value = record(task, *others)
        luck = 0.3 if task.seed < AGAIN and task.settings["x"] < 0.5 else 0.0
        return replace(value, val_accuracy=min(1.0, value.val_accuracy + luck))

    lucky._record = with_luck
    space = Space({"x": Choice((0.45, 0.6)), "epochs": 40})
    found = search("cora", space, "mine", trainer=lucky, split="public", settings=16, finalists=2, fresh=0)
    assert ranked([each for each in found.records if each.seed < AGAIN])[0].settings["x"] == 0.45
    assert found.choice.settings["x"] == 0.6
    assert found.fresh == []


def test_the_same_search_again_trains_nothing(tmp_path):
    results, whole = Results(tmp_path), told(Ranked())
    stopped = Ranked()
    train = stopped.train

    def killed(tasks, *others):
        if len(stopped.batches) == 1:
            raise KeyboardInterrupt
        return train(tasks, *others)

    stopped.train = killed
    with pytest.raises(KeyboardInterrupt):
        told(stopped, results=results)
    assert len(results.read()) == 24  # the first stage is over
    going_on = Ranked()
    assert told(going_on, results=results).choice == whole.choice
    assert sum(map(len, going_on.batches)) == 17
    idle = Ranked()
    found = told(idle, results=results)
    assert idle.batches == []
    assert [each.key() for each in found.records] == [each.key() for each in whole.records]
    assert missing(found.records, results.read()) == 0


def test_more_settings_are_drawn_near_the_best():
    plain, found = told(Ranked()), told(Ranked(), near=8)
    tried = {each.settings["x"] for each in found.records if each.seed < AGAIN}
    first = {each.settings["x"] for each in plain.records if each.seed < AGAIN}
    near = tried - first
    assert first <= tried
    assert 2 <= len(near) <= 8
    best = sorted(first)[-4:]
    assert all(min(abs(x - parent) for parent in best) <= 0.101 for x in near)  # an eighth of the range, 0.1 … 0.9
    assert found.choice.val_accuracy >= plain.choice.val_accuracy
    with pytest.raises(ValueError, match="near goes with a number of settings, not with a budget, got near=2"):
        told(Ranked(), near=2, budget=9.0)


def test_a_budget_is_spent_on_as_many_settings_as_fit(tmp_path):
    def tried(budget, seconds=1.0, **options):
        trainer = Ranked(seconds)
        found = told(trainer, budget=budget, **options)
        return sum(each.seed < AGAIN for each in found.records) // 2, found

    assert tried(100, settings=None)[0] == 25  # 1, 1, 2, 4, 8, 8 and 1 of 2 seeds, which cost 50 seconds
    assert tried(100, seconds=0.25, settings=None)[0] == 100
    assert tried(100, settings=10)[0] == 10  # both are limits
    few, found = tried(1, settings=None)
    assert few == 1  # one setting at least
    assert len(found.ranking) == 1
    # What a stopped search has spent is read from its records: with them it ends where it would have ended.
    first = tried(100, settings=None, results=Results(tmp_path))[1]
    again = tried(100, settings=None, results=Results(tmp_path))[1]
    assert again == first


@pytest.mark.parametrize(
    ("budget", "halving", "expected"),
    [
        (66, (), (3, 10, 2)),  # 66 − 32 s are left: three finalists with ten reruns, and two fresh seeds
        (40, (), (2, 9, 1)),  # 20 s are left
        (8, (), (2, 2, 1)),  # 4 s: the least there may be
        (0.1, (), (1, 1, 1)),  # one setting has been tried, and is compared with none
        (200, (), (9, 10, 2)),  # all of it: 92 trainings in 100 s
        (66, (0.25, 0.5), (2, 7, 1)),  # to its end a training takes twice as long as beside those that were halved
    ],
)
def test_where_the_time_is_short_there_is_less_of_all_that_follows(tmp_path, budget, halving, expected):
    def counts(results=None):
        how = {"budget": budget, "settings": None, "reruns": 10, "finalists": 9, "fresh": 2, "halving": halving}
        found = told(trainer := Ranked(), results=results, **how)
        return (len(found.ranking), found.choice.trials, len(found.fresh)), sum(map(len, trainer.batches))

    assert counts()[0] == expected
    whole = counts(Results(tmp_path))[1]
    assert counts(Results(tmp_path)) == (expected, 0)  # again: the same, from the records
    for path in sorted(tmp_path.iterdir())[::2]:
        path.unlink()
    half, trained = counts(Results(tmp_path))  # stopped somewhere: the same too
    assert half == expected
    assert 0 < trained < whole


def test_a_finalist_that_takes_long_counts_and_a_slow_setting_that_is_none_does_not():
    def finalists(slow):
        trainer = Ranked()
        record = trainer._record

        def timed(task, *others):
            return replace(record(task, *others), seconds=8.0 if slow(task.settings["x"]) else 1.0)

        trainer._record = timed
        found = told(trainer, budget=90, settings=8, finalists=4, halving=())
        return len(found.ranking), found.choice.trials

    best = max(each.settings["x"] for each in told(Ranked(), settings=8).records)
    assert finalists(lambda x: x < 0.2) == (4, 4)
    assert finalists(lambda x: x == best) == (2, 2)


def test_within_a_budget_settings_that_can_train_side_by_side_do():
    def shapes(space, budget=1000.0):
        trainer = Ranked()
        search("cora", space, "mine", trainer=trainer, split="public", budget=budget, settings=40, seeds=1, fresh=0)
        first = [batch for batch in trainer.batches if batch[0].seed < AGAIN]
        return [len(batch) for batch in first]

    assert shapes(replace(XS, group=8)) == [1, 1, 2, 4, 8, 8, 8, 8]
    points = ({"x": 0.15, "epochs": 40}, {"x": 0.25, "epochs": 40})
    assert shapes(replace(XS, group=8, points=points)) == [1, 1, 2, 4, 2, 8, 8, 8, 6]
    assert shapes(replace(XS, group=8, points=points[:1])) == [1, 1, 2, 4, 1, 8, 8, 8, 7]
    assert shapes(replace(XS, group=8), budget=50.0) == [1, 1, 2, 4, 8, 8, 1]


@pytest.mark.parametrize("budget", [None, 1000.0])
def test_a_setting_that_is_drawn_again_is_tried_once(budget):
    space, trainer = Space({"x": Choice((0.3, 0.6)), "epochs": 40}), Ranked()
    found = search("cora", space, "mine", trainer=trainer, split="public", budget=budget, settings=500, reruns=3)
    tried = [each for each in found.records if each.seed < AGAIN]
    assert sorted((each.settings["x"], each.seed - TRYING) for each in tried) == [
        *((0.3, 0), (0.3, 1)),
        *((0.6, 0), (0.6, 1)),
    ]
    assert [point.trials for point in found.ranking] == [3, 3]
    assert sum(map(len, trainer.batches)) == len(found.records)


def test_what_fails_costs_its_time_so_that_a_budget_ends():
    trainer = Ranked()

    def diverged(tasks, *_):
        trainer.batches.append(tasks)
        time.sleep(0.01)
        raise Diverged("no trial ever had a finite loss")

    trainer.train = diverged
    with pytest.raises(Diverged):  # of the test, which all is for
        told(trainer, budget=0.1, settings=None)
    assert len(trainer.batches) < 30


def test_the_records_are_read_once(tmp_path, monkeypatch):
    reads, read = [], Results.read
    monkeypatch.setattr(Results, "read", lambda self: reads.append(self) or read(self))
    told(Ranked(), budget=60, settings=None, results=Results(tmp_path))
    assert len(reads) == 1


def test_what_a_later_group_would_be_refused_for_is_refused_at_once():
    trainer = Ranked()

    def check(task):
        if task.settings["x"] < 0:
            raise ValueError("x must be positive")

    trainer.check = check
    wrong = Space({"epochs": 40}, either=({"x": 0.5}, {"x": -1.0}))
    with pytest.raises(ValueError, match="x must be positive"):
        search("cora", wrong, "mine", trainer=trainer, split="public", budget=100.0)
    assert trainer.batches == []


def test_a_model_whose_settings_cannot_differ_side_by_side_is_not_halved_and_drawn_freely():
    found = told(Ranked(free=()))
    assert not any("halving" in each.settings for each in found.records)
    assert len({each.settings["x"] for each in found.records}) == 12


# ---------------------------------------------------------------------- PAN


def test_a_known_better_setting_is_found_and_tested():
    found = search(small(), STEPS, settings=16, finalists=2, reruns=3, fresh=3, halving=())
    assert found.choice.weights == [0.0, 1.0]
    assert found.ranking[1].val_accuracy < found.choice.val_accuracy
    assert [each.tested for each in found.fresh] == [True] * 3
    accuracy = sum(each.test_accuracy for each in found.fresh) / 3
    assert accuracy > 0.8
    alone = recipe.Recipe.of(found.fresh[1]).fit(small(), [found.fresh[1].seed])
    assert found.fresh[1].test_accuracy == pytest.approx(alone.test_accuracy[0], abs=1e-6)


def test_shuffled_test_labels_change_no_choice():
    space = Space({**FLAT, "epochs": 5, "weight_decay": 0.0, "lr": 0.03, "weights": Choice(([0.0, 1.0], [1.0, 0.3]))})
    data = small()
    shuffled = data.clone()
    test = data.test_mask.nonzero().squeeze(1)
    shuffled.y[test] = 1 - data.y[test]
    options = {"settings": 16, "finalists": 2, "reruns": 2, "fresh": 2, "halving": ()}
    a, b = (search(each, space, **options) for each in (data, shuffled))
    assert a.ranking == b.ranking
    chosen = [[(each.key(), each.val_loss) for each in found.records] for found in (a, b)]
    assert chosen[0] == chosen[1]
    for one, other in zip(a.fresh, b.fresh, strict=True):
        assert one.test_accuracy + other.test_accuracy == pytest.approx(1)  # these alone are looked at


def test_what_is_not_tested_has_no_test_labels_in_reach(monkeypatch):
    seen = []

    def looked(model, data, **options):
        seen.append((data.y.clone(), "test_mask" in data))
        return fit(model, data, **options)

    monkeypatch.setattr(recipe, "fit", looked)
    data = small()
    tasks = [pan_task("a Data object", 5, [0.0, 1.0], 1, QUICK, 0, tested=tested) for tested in (False, True)]
    blind, open_ = (pans.train_batch([task], data=data)[0][0] for task in tasks)
    known = data.train_mask | data.val_mask
    (y, there), (all_of_y, and_here) = seen
    assert y.eq(-1).equal(~known)
    assert y[known].equal(data.y[known])
    assert not there
    assert and_here
    assert all_of_y.equal(data.y)
    assert (blind.test_accuracy, blind.val_loss) == (None, open_.val_loss)
    assert open_.test_accuracy is not None
    assert int(data.y.min()) == 0  # ours is as it was


QUICK = {"hidden": 4, "layers": 2, "lr": 0.03, "dropout": 0.0, "weight_decay": 0.0, "epochs": 5, "patience": 9}


def test_node_numbers_in_place_of_masks():
    data = small()
    numbered = data.clone()
    for part in ("train", "val", "test"):
        numbered[f"{part}_idx"] = data[f"{part}_mask"].nonzero().squeeze(1)
        del numbered[f"{part}_mask"]
    options = {"settings": 1, "finalists": 1, "reruns": 1, "fresh": 1, "halving": ()}
    assert search(numbered, STEPS, **options).ranking == search(data, STEPS, **options).ranking


def test_classes_in_a_column():
    options = {"settings": 2, "finalists": 1, "reruns": 1, "fresh": 1, "halving": ()}
    data = small()
    data.y = data.y.unsqueeze(1)
    assert search(data, STEPS, **options).ranking == search(small(), STEPS, **options).ranking


def test_without_test_nodes_there_is_no_test(monkeypatch):
    data = small()
    del data.test_mask
    options = {"settings": 1, "finalists": 1, "reruns": 1, "halving": ()}
    assert search(data, STEPS, fresh=0, **options).fresh == []
    some = data.clone()
    some.test_mask = torch.zeros(40, 2, dtype=torch.bool)
    some.train_mask, some.val_mask = (mask.unsqueeze(1).expand(-1, 2) for mask in (data.train_mask, data.val_mask))
    some.test_mask[2, 0] = True  # in the one split, and not in the other
    monkeypatch.setattr(recipe, "fit", lambda *_, **__: pytest.fail("it is trained"))
    for graph in (data, some):
        with pytest.raises(
            ValueError, match=r"no test nodes in its split .* got fresh=2: give it some, or say fresh=0"
        ):
            search(graph, STEPS, fresh=2, **options)


def test_random_splits_need_no_masks(monkeypatch):
    monkeypatch.setattr(splits, "_TRAIN_PER_CLASS", 5)
    monkeypatch.setattr(splits, "_VAL", 10)
    options = {"settings": 1, "finalists": 1, "reruns": 1, "fresh": 2, "halving": (), "split": "random"}
    bare, numbered = small(), small()
    for part in ("train", "val", "test"):
        del bare[f"{part}_mask"], numbered[f"{part}_mask"]
        numbered[f"{part}_idx"] = torch.arange(3)
    expected = search(small(), STEPS, **options)
    assert {each.split for each in expected.records} == {"random"}
    for data in (bare, numbered):
        assert search(data, STEPS, **options).ranking == expected.ranking
    with pytest.raises(ValueError, match=r"data\.train_mask is missing"):
        search(bare, STEPS, **{**options, "split": None})
    monkeypatch.setattr(splits, "_VAL", 30)  # which leaves none
    with pytest.raises(ValueError, match="no test nodes in its split 'random'"):
        search(bare, STEPS, **options)


def test_splits_that_a_graph_brings_are_taken_by_seed():
    data = small()
    masks = [data[f"{part}_mask"] for part in ("train", "val", "test")]
    order = torch.randperm(40, generator=torch.Generator().manual_seed(1))
    for part, mask in zip(("train", "val", "test"), masks, strict=True):
        data[f"{part}_mask"] = torch.stack([mask, mask[order]], 1)
    found = search(data, STEPS, settings=1, seeds=3, finalists=1, reruns=2, fresh=2, halving=())
    assert {each.split for each in found.records} == {"given"}
    for record in found.fresh:
        alone = data.clone()
        for part in ("train", "val", "test"):
            alone[f"{part}_mask"] = data[f"{part}_mask"][:, record.seed % 2]
        again = recipe.Recipe.of(record).fit(alone, [record.seed])
        assert record.test_accuracy == pytest.approx(again.test_accuracy[0], abs=1e-6)


def test_under_halving_the_worse_settings_end_early(monkeypatch):
    ended = {}

    def looked(model, data, **options):
        result = fit(model, data, **options)
        ended.setdefault(data.get("test_mask") is not None or "cut" not in options, []).extend(result.stopped_epoch)
        return result

    monkeypatch.setattr(recipe, "fit", looked)
    found = search(
        small(),
        STEPS.with_values(epochs=40, lr=Choice((1e-6, 0.05)), weights=[0.0, 1.0]),
        settings=8,
        finalists=2,
        reruns=2,
        fresh=2,
    )
    assert found.choice.settings["lr"] == 0.05
    assert set(ended[True]) == {40}  # all that counts goes to its end


def test_a_search_by_name_is_recorded_and_goes_on(tmp_path, monkeypatch):
    space = STEPS.with_values(epochs=2, lr=0.05)
    options = {"settings": 1, "seeds": 1, "finalists": 1, "reruns": 1, "fresh": 1, "results": Results(tmp_path)}
    read = []
    monkeypatch.setattr(pans, "load", lambda *names, **_: read.append(names) or small(sparse=True))
    pans.loaded.cache_clear()
    found = search("cora", space, **options)
    assert len(read) == 1
    monkeypatch.setattr(recipe, "fit", lambda *_, **__: pytest.fail("it is trained again"))
    assert search("cora", space, **options).choice == found.choice
    pans.loaded.cache_clear()
    lines = [json.loads(line) for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert sorted((line["seed"] // TRYING, line["tested"]) for line in lines) == [(1, False), (2, False), (3, True)]
    assert load("cora").num_nodes == 2708


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": 3}, "data must be the name of a graph or a PyG Data, got int"),
        ({"space": "cold"}, "space must be one of random-propagation"),
        ({"model": "gcn"}, "model must be 'pan' where no trainer is given, got 'gcn'"),
        ({"settings": 0}, "settings must be an integer of at least 1"),
        ({"seeds": 0}, "seeds must be an integer of at least 1"),
        ({"finalists": 1.5}, "finalists must be an integer"),
        ({"reruns": 10**6}, "reruns must be an integer of at least 1 and at most"),
        ({"fresh": -1}, "fresh must be an integer of at least 0"),
        ({"budget": 0}, "budget must be positive and finite, got 0"),
        ({"seed": 2**31}, "seed must be below"),
        ({"split": "mine"}, "split must be one of public, random, given"),
        ({"halving": 0.5}, "halving must be shares of the epochs"),
        ({"halving": (2.0,)}, "halving must be shares of the epochs, above 0 and below 1, got 2.0"),
        ({"device": "tpu9"}, "device must be one that torch has here"),
        ({"space": {**FLAT, "epochs": 2, "lr": 0.1}}, "settings has no 'weight_decay'"),
        ({"space": {name: FLAT[name] for name in FLAT if name != "L"}}, "the space has no 'L'"),
        ({"space": STEPS.with_values(weights={"kind": "power-law", "temperature": -1.0})}, "temperature"),
        ({"results": Results("nowhere")}, "results go with a graph that has a name"),
    ],
)
def test_bad_searches(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        search(**{"data": small(), "space": STEPS, "halving": (), **options})
