"""A short menu of what a baseline may be given in place of its own operator, graph or walk. No torch here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from panconv.paper.zoo.method import Method


@dataclass(frozen=True)
class Operator:
    """An M of the menu."""

    method: int
    L: int
    weights: tuple[float, ...]
    top_k: int
    normalize: bool = True  # False: the method is told to take M as it stands

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "weights": list(self.weights)}


MENU = (
    Operator(2, 2, (1, 1, 1), 32),
    Operator(1, 2, (1, 0.3, 0.1), 32),
    Operator(5, 2, (0, 0.5, 0.5), 32),  # the paper's own choice, k(0) = 0 and k(1) = k(2)
    Operator(2, 2, (1, 0.5, 0.25), 8),
    Operator(7, 3, (1, 1, 1, 1), 64),
)
# For a method with the switch. A row-stochastic M (methods 1 and 7) comes through a normalisation nearly as it is.
AS_IT_STANDS = (Operator(2, 2, (1, 1, 1), 32, False), Operator(5, 2, (0, 0.5, 0.5), 32, False))
_SYMMETRIC = (2, 5, 6)
SWITCHES = ("walk", "normalize")  # of an entry's fields, those that are else settings of a method
WALK = {"walk": "maximal-entropy"}


def menu(method: Method) -> list[dict[str, Any]]:
    """What a method's M is chosen from; empty where M has no place in it."""
    if method.met is None:
        return []
    if method.met == "walk":
        return [dict(WALK)]
    offered = MENU + AS_IT_STANDS * ("normalize" in method.settings)
    return [each.plain() for each in offered if not method.symmetric or each.method in _SYMMETRIC]


def in_words(operator: dict[str, Any]) -> str:
    if "walk" in operator:
        return f"{operator['walk'].replace('-', ' ')} walk"
    weights = " ".join(f"{w:g}" for w in operator["weights"])
    as_it_stands = "" if operator["normalize"] else ", as it stands"
    return f"method {operator['method']}, w = {weights}, top {operator['top_k']}{as_it_stands}"
