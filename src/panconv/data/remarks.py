"""What a reader has to say of what it read: the names it guessed, and what was not as it should be."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Remarks:
    """Guesses and mendings, a line each.

    Args:
        strict: whether what could be mended is refused instead.
    """

    strict: bool = False
    guessed: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)

    def guess(self, what: str) -> None:
        self.guessed.append(what)

    def mend(self, what: str, how: str) -> None:
        """Something is not as it should be, and can be mended in one way: refused where strict, else said."""
        if self.strict:
            raise ValueError(f"{what}; mend it, or read without strict, which means: {how}")
        self.mended.append(f"{what}: {how}")


def short(value: object) -> str:
    """A cell in a message."""
    text = str(value)
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


def counted(count: int, one: str) -> str:
    """1 cell, 2 cells."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"
