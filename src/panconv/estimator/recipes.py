"""The deep head's recipes: the presets that are weighed, and within a budget what the project's one search finds."""

from __future__ import annotations

import time
from typing import Any

from panconv.estimator.deep import DeepTraining, Held
from panconv.estimator.lost import Lost, least
from panconv.estimator.penalties import Task
from panconv.training.models import PAN
from panconv.training.pans import Pans
from panconv.training.recipe import Recipe
from panconv.training.search import search
from panconv.training.spaces import SPACES

USUAL = "pan"  # what the first preset is called
# By the preset that does best: where more settings are looked for.
_SPACE_OF = {"general": "random-propagation", "heterophilous": "heterophilous"}
SEARCHED = "pan, searched"
_EXPLAINABLE = "batch"  # the norm in place of layer norm, whose scores no explanation can take apart
_SHARE = 0.5  # of the time that is left, for a search; the other half is for training its choice as the presets are
_LEAST = 6  # times as long as a preset took, or a search is not begun: it would try next to nothing


def held_recipes(
    training: DeepTraining,
    task: Task,
    epochs: int | None,
    presets: tuple[str, ...],
    end: float | None,
    searching: bool,
) -> dict[str, Held]:
    """What recipes come to on labels that their seeds did not see, by the names of their heads.

    `SEARCHED` is not judged as strictly as the presets are: over the seeds, the labels that it is judged by are those
    that it was chosen by (`Held`), so its loss is somewhat too low beside theirs.

    Args:
        training: of the labels.
        task: the same labels.
        epochs: of each at most; None for its own.
        presets: in their order; without an end all are tried, with one those that there is time for.
        end: by `time.perf_counter`; None for no limit.
        searching: whether what is left of the time goes into a search.
    """
    found: dict[str, Held] = {}
    for name in presets:
        if found and end is not None and not _time_for(end, 2 * max(each.seconds for each in found.values())):
            break
        recipe = PAN.preset(name)
        recipe = recipe.but(norm=_EXPLAINABLE) if recipe.setting("norm") == "layer" else recipe
        found[_called(name)] = training.held(recipe if epochs is None else recipe.but(epochs=epochs), end)
    if searching and end is not None and task.loss == "softmax":
        best = least({name: Lost.of(each.scores, task, each.elsewhere) for name, each in found.items()})
        if _time_for(end, _LEAST * found[best].seconds):
            space = next(_SPACE_OF[name] for name in presets if _called(name) == best)
            found[SEARCHED] = training.held(_searched(training, space, epochs, end), end)
    return found


def _searched(training: DeepTraining, space: str, epochs: int | None, end: float) -> Recipe:
    """The choice of the one search on the parts to learn from and to stop by of each seed."""
    now = time.perf_counter()
    seconds = _SHARE * (end - now)
    data, S = training.split(), len(training.seeds)
    drawn = SPACES[space] if epochs is None else SPACES[space].with_values(epochs=epochs)
    drawn = drawn.with_values(norm=_EXPLAINABLE) if space == "heterophilous" else drawn
    how: dict[str, Any] = {"seeds": 2, "finalists": 4, "reruns": S, "fresh": 0, "budget": seconds}
    how |= {"device": training.nodes.device, "trainer": Pans(data, end=now + seconds)}
    found = search(data, drawn, split="given", **how, seed=training.seeds[0])
    settings = {name: value for name, value in found.choice.settings.items() if name != "halving"}
    return Recipe(found.choice.operator, settings)


def _time_for(end: float, seconds: float) -> bool:
    return time.perf_counter() + seconds < end


def _called(preset: str) -> str:
    return USUAL if preset == "general" else f"{USUAL}, {preset}"
