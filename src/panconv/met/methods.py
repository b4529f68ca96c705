"""The table of the methods, and what goes with what: which weights and which paths a method can take."""

from __future__ import annotations

from typing import NamedTuple

from panconv.base.checks import as_integer
from panconv.paths import PathFamily
from panconv.weights import PathWeights


class Method(NamedTuple):
    """A row of the table: which base's paths, how each length is scaled, how the sum is scaled, natural weights."""

    base: str  # one of `panconv.graph.BASES`
    per_length: str | None  # D_n: None, "row" (D_n⁻¹ on the left) or "sym" (D_n^−½ on both sides)
    overall: str | None  # Z: None, "row" or "sym"
    weights: str  # the weights taken where none are named

    @property
    def divides(self) -> bool:
        """Whether something is divided by: D_n or Z."""
        return self.per_length is not None or self.overall is not None


METHODS: dict[int, Method] = {
    1: Method("A", None, "row", "boltzmann"),
    2: Method("A", None, "sym", "boltzmann"),
    3: Method("A", "row", None, "free"),
    4: Method("A+I", "row", None, "free"),
    5: Method("Â", None, None, "free"),
    6: Method("A", "sym", None, "free"),
    7: Method("Â", None, "row", "boltzmann"),
    # The multi-step generic random walk (the paper's Section 3), beside the paper's own seven: in eq. 10,
    8: Method("D⁻¹A", None, None, "free"),
    9: Method("D^−½AD^−½", None, None, "free"),
    # and in eq. 9.
    10: Method("D^−½AD^−½", None, "row", "boltzmann"),
    11: Method("D⁻¹A", None, "row", "boltzmann"),
}


def checked_method(method: int) -> int:
    """The method itself, if it is a row of the table."""
    if as_integer(method) not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(str, METHODS))}, got {method!r}")
    return int(method)


def checked_memory(memory: str | None) -> str | None:
    """How much memory an operator may take for its gradients."""
    if memory not in (None, "low"):
        raise ValueError(f"memory must be 'low' or None, got {memory!r}")
    return memory


def natural_weights(method: int, family: PathFamily | type[PathFamily]) -> str:
    """The kind of weights taken where none are named."""
    return family.natural_weights or METHODS[method].weights


def check_paths(method: int, family: PathFamily | type[PathFamily]) -> None:
    """Refuses a method that has no meaning for a family of paths."""
    if family.methods is not None and method not in family.methods:
        raise ValueError(
            f"method {method} does not go with effective lengths, which are no numbers of steps: use method "
            f"{' or '.join(map(str, family.methods))}"
        )


def check_similar(method: int) -> None:
    """Refuses a method whose M is similar to no symmetric matrix, whatever the graph."""
    if METHODS[checked_method(method)].per_length == "row":
        raise ValueError(
            f"method {method} scales the rows of each length by themselves, so M is similar to no symmetric matrix: "
            "use a method other than 3 and 4"
        )


def check_one_trial(weights: PathWeights) -> None:
    """Refuses weights of several trials where there can be one operator only."""
    if weights().dim() == 2:
        raise ValueError(
            f"weights must be those of one trial, (L+1,), got shape {tuple(weights().shape)}: choose a column"
        )


def check_compatible(method: int, weights: PathWeights) -> None:
    """Refuses weights that would be trained through zero where the method divides by their sum."""
    trained = any(p.requires_grad for p in weights.parameters())
    if METHODS[method].overall and trained and not weights.positive:
        raise ValueError(
            f"method {method} divides by the partition function, which {type(weights).__name__} weights may drive "
            "through zero: use Boltzmann weights (weights='boltzmann'), which stay positive"
        )
