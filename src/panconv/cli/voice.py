"""How much the program says: --quiet and --verbose, in front of the command or behind it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

OPTIONS = ("--quiet", "-q", "--verbose", "-v")
_library = logging.getLogger("panconv")


class _Voice:
    """What was asked for; one per process, since the console is."""

    quiet = False
    verbose = False
    handler: logging.Handler | None = None


def in_front(arguments: Sequence[str]) -> list[str]:
    """The arguments with these options moved to where the program takes them, in front of the command."""
    end = arguments.index("--") if "--" in arguments else len(arguments)  # behind it there are no options
    typed, rest = arguments[:end], arguments[end:]
    return [*(each for each in typed if each in OPTIONS), *(each for each in typed if each not in OPTIONS), *rest]


def settle(quiet: bool = False, verbose: bool = False) -> None:
    """Says results and errors alone, or also what the library logs; and neither, unless it is asked for."""
    if quiet and verbose:
        raise ValueError("--quiet and --verbose ask for opposite things: leave one of them out")
    if _Voice.handler is not None:
        _library.removeHandler(_Voice.handler)
        _library.setLevel(logging.NOTSET)
    _Voice.quiet, _Voice.verbose, _Voice.handler = quiet, verbose, None
    if verbose:
        _Voice.handler = logging.StreamHandler(sys.stderr)
        _Voice.handler.addFilter(lambda record: not getattr(record, "warned", False))  # a warning says it already
        _Voice.handler.setFormatter(_OneLine("panconv: %(message)s"))
        _library.addHandler(_Voice.handler)
        _library.setLevel(logging.DEBUG)


def is_quiet() -> bool:
    """Whether results and errors alone are shown."""
    return _Voice.quiet


def is_verbose() -> bool:
    """Whether what the library logs is shown too."""
    return _Voice.verbose


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from panconv.cli.screen import one_line  # which asks this module what to show

        return one_line(super().format(record))
