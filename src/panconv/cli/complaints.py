"""What the parser has to say of a command line, with what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from panconv.base.near import nearest


def complaint(error: Any) -> str:
    """The message of a usage error on one line: a misspelt option or command by its likely name."""
    message: str = error.format_message()
    command: Any = getattr(getattr(error, "ctx", None), "command", None)
    if (option := re.match(r"No such option:? '?(--?[\w-]+)", message)) and command is not None:
        known = [name for each in command.params for name in each.opts if name.startswith("--")]
        return _unknown("option", option[1], [*known, "--help"])
    if (name := re.match(r"No such command '(.+?)'", message, re.DOTALL)) and hasattr(command, "commands"):
        return _unknown("command", name[1], command.commands)
    return message


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f"there is no {kind} {name!r}: " + (f"did you mean {near!r}?" if near else "--help lists those there are")
