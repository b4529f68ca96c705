"""What each turn of a preset brings: one thing is changed at a time. `panconv reproduce ablation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from panconv.best.ladder import BEST, at_infinite_temperature, row
from panconv.best.study import Row, Study
from panconv.met.methods import METHODS
from panconv.paper.published import GRAPHS
from panconv.records.ranking import Point
from panconv.training.presets import entries, preset
from panconv.training.recipe import Recipe
from panconv.weights import weights_from

TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0)
ALPHAS = (1.0, 1.5, 2.0, 3.0)
LENGTHS = (1, 2, 4, 6, 8, 10, 15, 20)
NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
FAMILIES = ("shortest", "self_avoiding")
_SHORT = 3  # the length at which families of paths are compared: longer ones that are formed do not fit memory
_START = 8.0  # the temperature that training starts from where the preset has none
_WARM = f"T = {_START:g}"

Change = Callable[[Recipe], Recipe]


def _met(recipe: Recipe, **changes: Any) -> Recipe:
    """The preset with another operator. What is averaged needs rows that Z divides."""
    changed = replace(recipe, operator={**recipe.operator, **changes})
    divided = METHODS[changed.operator["method"]].overall == "row"
    return changed if divided or not recipe.setting("averaged") else changed.but(averaged=False)


def _law(recipe: Recipe, **changes: Any) -> Recipe:
    """The preset's power law, changed; from T = ∞ it starts warm."""
    weights = recipe.operator["weights"]
    law = weights if isinstance(weights, dict) else {"kind": "power-law", "alpha": 1.0, "temperature": _START}
    if changes.get("trained") and METHODS[recipe.operator["method"]].divides:
        recipe = recipe.but(nearest=None)  # whose entries are divided by a sum that training moves
    return _met(recipe, weights={**law, "trained": False, "normalized": True, **changes})


def _length(L: int) -> Change:
    def change(recipe: Recipe) -> Recipe:
        longer = _met(recipe, L=L)
        return longer if isinstance(recipe.operator["weights"], dict) else at_infinite_temperature(longer)

    return change


def _trained_numbers(recipe: Recipe) -> Recipe:
    """Every k(n) trained, from those of the preset; not where Z divides, which they could drive through zero."""
    if METHODS[recipe.operator["method"]].overall:
        return recipe
    k = weights_from(recipe.operator["weights"], recipe.operator["L"])()
    return _met(recipe, weights={"kind": "free", "k": k.tolist()})


def _w_first(recipe: Recipe) -> Recipe:
    """At all nodes, and without a norm of the propagated features, which are never there."""
    if not recipe.setting("propagate"):
        return recipe
    return recipe.but(propagate=False, averaged=False, norm_input=None, nearest=None, nodes=None)


def _m_first(recipe: Recipe) -> Recipe:
    """At some nodes at a time: at all of them a trial takes minutes on a CPU."""
    if recipe.setting("propagate"):
        return recipe
    return recipe.but(propagate=True, norm_input=recipe.setting("norm"), nearest=32, nodes=300)


def _by_rows(**changes: Any) -> Change:
    """What a step looks at, where it does not look at everything."""
    return lambda recipe: recipe if recipe.setting("nodes") is None else recipe.but(**changes)


def _without_norm(recipe: Recipe) -> Recipe:
    return recipe.but(norm=None, norm_input=None)


def _normed(recipe: Recipe) -> Recipe:
    """Batch norm behind every hidden layer, where there is one."""
    return recipe if _hidden(recipe) is not recipe else recipe.but(norm="batch")


def _hidden(recipe: Recipe) -> Recipe:
    """A matrix behind the first one, where there is but that."""
    return recipe if recipe.setting("jk") is not None or recipe.setting("layers") > 1 else recipe.but(jk="last")


# By the name of a row. Families of paths are compared at a length of their own, with the walks of that length.
_WALKS, _SUMS = f"walks, L = {_SHORT}", "sums over the nodes left"
CHANGES: dict[str, Change] = {
    **{f"T = {T:g}": lambda recipe, T=T: _law(recipe, temperature=T) for T in TEMPERATURES},  # type: ignore[misc]
    "T = ∞": at_infinite_temperature,
    "T trained": lambda recipe: _law(recipe, trained=True),
    **{f"α = {alpha:g}": lambda recipe, alpha=alpha: _law(recipe, alpha=alpha) for alpha in ALPHAS},  # type: ignore[misc]
    "α trained": lambda recipe: _law(recipe, trained="alpha"),
    "T and α trained": lambda recipe: _law(recipe, trained="both"),
    "k(n) trained": _trained_numbers,
    **{f"L = {L}": _length(L) for L in LENGTHS},
    **{f"method {method}": lambda recipe, method=method: _met(recipe, method=method) for method in NUMBERS},  # type: ignore[misc]
    _WALKS: _length(_SHORT),
    **{
        f"{family.replace('_', '-')} paths, L = {_SHORT}": lambda recipe, family=family: _met(
            _length(_SHORT)(recipe), paths=family
        )  # type: ignore[misc]
        for family in FAMILIES
    },
    "two layers": lambda recipe: recipe.but(layers=2, jk=None),
    "W first, all nodes": _w_first,
    "M first, 300 nodes, 32 nearest": _m_first,
    "no batch norm": _without_norm,
    "batch norm, layer by layer": _normed,
    "kept: highest accuracy": lambda recipe: recipe.but(keep="accuracy"),
    "kept: both": lambda recipe: recipe.but(keep="both"),
    "kept: the last": lambda recipe: recipe.but(keep="last"),
    **{f"{draws} draws": lambda recipe, draws=draws: recipe.but(draws=draws) for draws in (2, 8)},  # type: ignore[misc]
    **{f"{nodes} nodes": _by_rows(nodes=nodes) for nodes in (100, 1000)},
    **{f"{k} nearest": _by_rows(nearest=k) for k in (8, 128)},
    "no ramp": lambda recipe: recipe.but(ramp=0) if recipe.setting("ramp") else recipe,
    _SUMS: lambda recipe: recipe.but(averaged=False),
    "all labels at each step": lambda recipe: recipe.but(labelled=None),
    "no limit to gradients": lambda recipe: recipe.but(clip=None),
    "a hidden layer": _hidden,
    "no consistency": lambda recipe: recipe.but(consistency=0.0),
    "no dropped nodes": lambda recipe: recipe.but(drop_nodes=0.0),
    "no random propagation": lambda recipe: recipe.but(draws=1, consistency=0.0, drop_nodes=0.0),
}


def _same(one: Recipe, other: Recipe) -> bool:
    """Whether two recipes say the same, whatever they leave unsaid."""
    names = one.settings.keys() | other.settings.keys()
    return one.operator == other.operator and all(one.setting(name) == other.setting(name) for name in names)


def _rows(graph: str, _: Mapping[str, Point]) -> list[Row]:
    """The preset, and all that differs from it."""
    if graph not in entries():
        return []
    best = preset(graph)
    recipes = {BEST: best}
    for name, change in CHANGES.items():
        changed = change(best)
        if name == _WALKS or not any(_same(changed, each) for each in recipes.values()):
            recipes[name] = changed
    against = {BEST: "", **{name: _WALKS for name in recipes if "paths" in name}}
    if best.setting("averaged"):  # what cannot be averaged is compared with what is not
        against |= {name: _SUMS for name in recipes if name != _SUMS and not recipes[name].setting("averaged")}
    if not isinstance(best.operator["weights"], dict):  # at T = ∞ there is no α: the rows of α are at a temperature
        against |= {name: _WARM for name in recipes if "α" in name}
    return [row(name, graph, recipe, against.get(name, BEST)) for name, recipe in recipes.items()]


ABLATION = Study("What each turn brings", GRAPHS, _rows)
