"""The one search: many settings side by side, the best of them again, the choice, and what it is worth on fresh seeds.

It serves whatever a `Trainer` trains. Validation alone decides; the labels of the test nodes are handed over with the
last stage and not before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch_geometric.data import Data

from panconv.base.checks import checked_count, checked_device, checked_positive, checked_seed, kind_of, shown
from panconv.records.ranking import Point, ranked
from panconv.records.record import PAN, Record, Results, Task
from panconv.records.schema import SPLITS
from panconv.training.halving import RUNGS
from panconv.training.pans import Pans, loaded, named_graph
from panconv.training.parts import checked_masks
from panconv.training.runner import Step, Trainer, run
from panconv.training.spaces import SPACES, Space, checked_space

SETTINGS = 32  # that are tried where neither their number nor the time is said
# The first seed of each stage, to which the search's own is added: no two stages share one.
_APART = 100_000
TRYING, AGAIN, FRESH = _APART, 2 * _APART, 3 * _APART
_MOST_SEED = 2**31  # of a search, so that all others are below 2^32
_MOST_SETTINGS = 10_000  # within a budget


class Searcher(Trainer, Protocol):
    """A trainer whose settings can be searched."""

    def vectors(self, model: str) -> Collection[str]:
        """Names that may differ between settings side by side; none where only seeds may."""

    def spelt(self, drawn: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """What is drawn from a space, as the operator and the settings of a task."""


@dataclass(frozen=True)
class Found:
    """What a search found."""

    choice: Point
    ranking: list[Point]  # the finalists, best first, by their reruns
    fresh: list[Record]  # of the choice, tested, with seeds that chose nothing
    records: list[Record] = field(repr=False)  # of all stages


def search(
    data: str | Data,
    space: str | Space | dict[Any, Any] = "random-propagation",
    model: str = PAN,
    *,
    settings: int | None = None,
    seeds: int = 2,
    finalists: int = 10,
    reruns: int = 10,
    fresh: int = 10,
    budget: float | None = None,
    seed: int = 0,
    split: str | None = None,
    halving: Sequence[float] = RUNGS,
    results: Results | None = None,
    device: str = "cpu",
    command: str = "",
    callback: Callable[[Step], None] | None = None,
    trainer: Searcher | None = None,
) -> Found:
    """Draws settings from a space, tries them side by side, reruns the best, chooses, and tests the choice alone.

    Settings are tried with `seeds` seeds, where the worse ones end early (`panconv.training.halving`); the best
    `finalists` are trained again, to their end, with `reruns` other seeds; the highest mean validation accuracy of
    these is the choice, and a tie goes to the lower loss; the choice is trained with `fresh` seeds more, whose models
    alone are tested. The same call with the same results goes on where it stopped.

    Args:
        data: the name of a graph, as `load` takes it, or a PyG `Data` as `fit` takes it.
        space: one of `panconv.training.spaces.SPACES` by its name, or a `Space`, or its values as a dict.
        model: "pan", or what the trainer's tasks name.
        settings: how many to try; None for 32, or with a budget for as many as fit.
        seeds, finalists, reruns, fresh: as above; fresh = 0 for no test.
        budget: about so many seconds of training: half of it is for trying settings, at least one, the other half
            for the rest, of which there is less where it would take longer.
        seed: of what is drawn, and of all trainings.
        split: "public", "random" or "given"; None for the graph's own.
        halving: the shares of the epochs after which the worse half may end; () for never.
        results: a folder of records to go on from and to add to; for a graph with a name.
        device: where to train.
        command: what to write into the records as their origin.
        callback: called with a `Step` from time to time.
        trainer: how models of that name are trained; None for PAN's.
    """
    name, graph = named_graph(data, results)
    space = checked_space(space, SPACES)
    counts = {"seeds": seeds, "finalists": finalists, "reruns": reruns}
    for argument, value in counts.items():
        checked_count(value, argument, most=_APART)
    checked_count(fresh, "fresh", least=0, most=_APART)
    checked_device(device)
    limit = _limit(settings, budget)
    if checked_seed(seed) >= _MOST_SEED:
        raise ValueError(f"seed must be below 2^31, so that those of the trainings are below 2^32, got {shown(seed)}")
    graph = None if graph is None else _with_masks(graph)
    if trainer is None and model != PAN:
        raise ValueError(f"model must be {PAN!r} where no trainer is given, got {shown(model)}: give its trainer too")
    stages = _Stages(
        dataset=name,
        model=model,
        split=_checked_split(split, name, graph),
        trainer=Pans(graph) if trainer is None else trainer,
        seed=seed,
        how={"results": results, "device": device, "command": command, "callback": callback},
    )
    tried = stages.tried(space, limit, seeds, budget, _checked_rungs(halving))
    best = ranked(tried)[: stages.affordable(tried, finalists, reruns, fresh, budget)]
    again = stages.again(best, AGAIN, reruns, tested=False)
    ranking = ranked(again)
    last = stages.again(ranking[:1], FRESH, fresh, tested=True)
    return Found(ranking[0], ranking, last, [*tried, *again, *last])


@dataclass(frozen=True)
class _Stages:
    """What all stages of a search share."""

    dataset: str
    model: str
    split: str
    trainer: Searcher
    seed: int
    how: dict[str, Any]  # what else the runner is told

    def tried(self, space: Space, limit: int, seeds: int, budget: float | None, rungs: Sequence[float]) -> list[Record]:
        """The first stage: settings as they are drawn, all at once, or within half of a budget: one, two, four … at a
        time, up to a group, since what a setting takes is known only once one has been trained.

        The time is that of the records, so that a search that goes on spends what it would have spent at once.
        """
        records: list[Record] = []
        start, vectors = 0, self.trainer.vectors(self.model)
        count = limit if budget is None else 1
        while count:
            drawn = space.settings(range(start, start + count), self.seed, vectors)
            asked = [self.trainer.spelt(each) for each in drawn]
            asked = [(operator, {**how, **_halved(how, rungs if vectors else ())}) for operator, how in asked]
            new = self._run(asked, TRYING, seeds, tested=False)
            records, start = records + new, start + count
            fitting = limit if budget is None else (budget / 2 - _seconds(records)) / (_seconds(new) / count or 1e-9)
            count = max(0, min(limit - start, start, space.group, int(fitting)))
        return records

    def affordable(self, tried: list[Record], finalists: int, reruns: int, fresh: int, budget: float | None) -> int:
        """How many finalists there is time for, if each training takes as long as those before; at least two."""
        each = _seconds(tried) / len(tried)
        if budget is None or not each:
            return finalists
        left = (budget - _seconds(tried)) / each - fresh
        return min(finalists, max(2, int(left // reruns)))

    def again(self, points: Sequence[Point], first: int, trials: int, tested: bool) -> list[Record]:
        """Points trained to their end, with the seeds from `first` on."""
        whole = [{name: value for name, value in each.settings.items() if name != "halving"} for each in points]
        operators = [each.operator or None for each in points]
        return self._run(list(zip(operators, whole, strict=True)), first, trials, tested)

    def _run(
        self, asked: Sequence[tuple[dict[str, Any] | None, dict[str, Any]]], first: int, trials: int, tested: bool
    ) -> list[Record]:
        seeds = range(first + self.seed, first + self.seed + trials)
        tasks = [
            Task(self.dataset, self.model, operator, self.split, how, seed, tested)
            for operator, how in asked
            for seed in seeds
        ]
        return run(tasks, trainer=self.trainer, **self.how)


def _halved(settings: dict[str, Any], rungs: Sequence[float]) -> dict[str, Any]:
    """The setting that asks for halving, in epochs; nothing where a model is not trained by epochs."""
    epochs = sorted({max(1, round(share * settings["epochs"])) for share in rungs}) if "epochs" in settings else []
    return {"halving": epochs} if epochs else {}


def _seconds(records: Sequence[Record]) -> float:
    return sum(record.seconds for record in records)


def _limit(settings: Any, budget: Any) -> int:
    """How many settings are tried at most."""
    if budget is not None:
        checked_positive(budget, "budget")
    if settings is not None:
        return checked_count(settings, "settings", most=_MOST_SETTINGS)
    return SETTINGS if budget is None else _MOST_SETTINGS


def _checked_rungs(halving: Any) -> Sequence[float]:
    if not isinstance(halving, (list, tuple)):
        raise TypeError(f"halving must be shares of the epochs, such as (0.25, 0.5), or (), got {kind_of(halving)}")
    if wrong := [each for each in halving if not isinstance(each, float) or not 0 < each < 1]:
        raise ValueError(f"halving must be shares of the epochs, above 0 and below 1, got {shown(wrong[0])}")
    return halving


def _checked_split(split: Any, name: str, graph: Data | None) -> str:
    """The split by its name; where none is said, that of the graph's masks."""
    if split is None:
        data = loaded(name) if graph is None else graph
        return "given" if data.train_mask.dim() == 2 else "public"
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, or None, got {shown(split)}")
    return split


def _with_masks(data: Data) -> Data:
    """A graph whose parts are masks, where they were node numbers."""
    if getattr(data, "train_mask", None) is not None:
        return data
    shown = copy.copy(data)
    masks = checked_masks(data, data.num_nodes, None)
    for name in ("train_idx", "val_idx", "valid_idx", "test_idx"):
        if name in shown:
            del shown[name]
    for part, mask in masks.items():
        shown[f"{part}_mask"] = mask
    return shown
