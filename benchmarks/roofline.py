"""How many bytes one sparse product has to move: the limit is these bytes over the bandwidth of the memory."""

from __future__ import annotations

from typing import NamedTuple


class Product(NamedTuple):
    """Y = A·X with A (N, N) in CSR."""

    nodes: int  # N
    entries: int  # stored entries of A
    F: int  # columns of X
    item: int  # bytes of an element of X and of Y
    value: int  # bytes of a stored value; 0 where the entries are all alike and none is stored
    index: int  # bytes of a column number and of a row pointer

    def matrix(self) -> int:
        """Row pointers, column numbers and values, each read once."""
        return (self.nodes + 1) * self.index + self.entries * (self.index + self.value)

    def per_edge(self) -> int:
        """No cache at all: a row of X is read for every stored entry. Y is written once."""
        return self.matrix() + (self.entries + self.nodes) * self.F * self.item

    def per_node(self) -> int:
        """A perfect cache: each row of X is read once. Nothing can move less."""
        return self.matrix() + 2 * self.nodes * self.F * self.item

    def fractions(self, ms: float, bandwidth: float) -> dict[str, float]:
        """Achieved bytes per second over the copy bandwidth, by both counts.

        By the first count more than 1 says that the cache serves rows; by the second 1 is the limit.
        """
        seconds = 1e-3 * ms
        return {
            "of_copy_per_edge": self.per_edge() / seconds / bandwidth,
            "of_copy_per_node": self.per_node() / seconds / bandwidth,
        }
