"""A row of a table: a figure with its spread, what it took, and how far it is from another row's."""

from __future__ import annotations

from panconv.records.interval import Mean, interval


class Compared:
    """Base of rows that have a mean and a deviation, in percent, over some trainings, and changes over another row."""

    mean: float
    std: float
    seconds: float
    changes: tuple[float, ...]  # over the other row, training by training

    @property
    def count(self) -> int:
        """How many the figure is a mean over."""
        raise NotImplementedError

    @property
    def figure(self) -> str:
        return f"{self.mean:.1f}" + (f" ± {self.std:.1f}" if self.count > 1 else "")

    @property
    def time(self) -> str:
        """Its seconds, in two digits or all there are before the point."""
        return f"{self.seconds:.0f}" if self.seconds >= 10 else f"{self.seconds:.2g}"

    @property
    def change(self) -> Mean | None:
        """The mean change, with its 95 % interval."""
        return interval(self.changes) if self.changes else None

    @property
    def difference(self) -> str:
        if self.change is None:
            return ""
        return f"{self.change}" if len(self.changes) > 1 else f"{self.change.mean:+.1f}"
