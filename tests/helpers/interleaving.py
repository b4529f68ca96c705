"""Another call in between: what a second thread can do to a first one, tried at every line, in one thread."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def interrupted(call: Callable[[], Any], module: str, at: int, other: Callable[[], Any]) -> tuple[Any, bool]:
    """What `call` gives where `other` comes in before the line of number `at` that it runs in a module.

    Returns:
        what it gave, and whether there was such a line
    """
    lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if frame.f_globals.get("__name__") != module:
            return None
        if event == "line":
            lines += 1
            if lines == at + 1:
                sys.settrace(None)
                other()
                sys.settrace(trace)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        result = call()
    finally:
        sys.settrace(before)
    return result, lines > at
