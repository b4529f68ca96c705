"""Numbers as a page has them."""

from __future__ import annotations

import math


def plain(value: float) -> str:
    """A number with the digits that matter, and a real minus.

    >>> plain(1.2345), plain(-0.00123), plain(12345.6), plain(0.0)
    ('1.23', '−0.0012', '12,346', '0.00')
    """
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    text = f"{size:.2f}" if size < 100 else f"{size:,.0f}"
    text = f"{size:.2g}" if 0 < size < 0.01 else text
    return f"−{text}" if value < 0 else text


def signed(value: float) -> str:
    """The same with its sign, whichever it is.

    >>> signed(0.31), signed(-2.0)
    ('+0.31', '−2.00')
    """
    return f"+{plain(value)}" if value > 0 else plain(value)


def percent(share: float, digits: int = 1) -> str:
    """A share in percent.

    >>> percent(0.875), percent(float("nan"))
    ('87.5 %', '–')
    """
    return f"{100 * share:.{digits}f} %" if math.isfinite(share) else "–"


def counted(count: int, what: str) -> str:
    """How many there are of something.

    >>> counted(1, "node"), counted(2708, "node"), counted(2, "class")
    ('1 node', '2,708 nodes', '2 classes')
    """
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}{'es' if what.endswith('s') else 's'}"
