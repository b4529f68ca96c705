"""panconv … on the command line."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

import panconv
from panconv.cli import cores as cores  # first of all: what it settles, torch reads when it is loaded
from panconv.cli import voice
from panconv.cli.claims import claims
from panconv.cli.complaints import complaint
from panconv.cli.data import data
from panconv.cli.describe import describe
from panconv.cli.explain import explain
from panconv.cli.filters import filters
from panconv.cli.fit import fit
from panconv.cli.graphs import graphs
from panconv.cli.grid import grid
from panconv.cli.influence import influence
from panconv.cli.operators import operators
from panconv.cli.predict import predict
from panconv.cli.report import report
from panconv.cli.reproduce import reproduce
from panconv.cli.screen import one_line
from panconv.cli.search import search
from panconv.cli.similar import similar
from panconv.cli.spectrum import spectrum
from panconv.cli.temperature import temperature
from panconv.cli.thermodynamics import thermodynamics
from panconv.cli.train import train
from panconv.cli.walks import communities, links
from panconv.cli.zoo import zoo

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Path-integral graph convolution: a node averages over every path that reaches it, weighted by its length.",
)
for command in (
    *(fit, predict, explain),
    *(train, search, grid, graphs, reproduce, temperature, thermodynamics, operators),
    *(zoo, spectrum, filters, links, communities, similar, influence, report, claims, data, describe),
):
    app.command(no_args_is_help=command not in (train, graphs, operators, zoo, influence, report, claims, data))(
        command
    )
# The parser's own complaints. Typer may carry its parser inside or import click: either way this name reaches it.
_UsageError: Any = typer.BadParameter.__bases__[0]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The program: any failure, the user's or the machine's, becomes one line and an exit code.

    Args:
        arguments: as they are typed after `panconv`; None for those of the process.
    """
    warnings.showwarning = _warn
    voice.settle()
    typed = sys.argv[1:] if arguments is None else [*arguments]
    if any(each in voice.OPTIONS for each in typed):
        arguments = voice.in_front(typed)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without ±, a path that is no text
    try:
        sys.exit(app(arguments, prog_name="panconv", standalone_mode=False) or 0)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except _UsageError as error:
        _refuse(complaint(error), error)
    except RecursionError as error:
        _refuse("something is nested too deep to be read", error)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not _is_of_memory(error):
            raise  # a mistake of ours: whoever reports it needs to see where
        asked = re.search(r"allocate ([\d.]+ ?\w*)", str(error))
        _refuse("there is not enough memory for this" + (f": {asked[1]} in one piece" if asked else ""), error)
    except (ValueError, TypeError, OSError) as error:
        _refuse(str(error) or type(error).__name__, error)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    if not voice.is_quiet():
        print(f"panconv: {one_line(str(message))}", file=sys.stderr)


def _is_of_memory(error: RuntimeError) -> bool:
    """Whether torch ran out of memory, for which it has no exception of its own on a CPU."""
    return type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)


def _refuse(message: str, error: BaseException) -> NoReturn:
    if os.environ.get("PANCONV_DEBUG"):
        raise error
    if message:  # without one, the help was asked for and shown
        print(f"panconv: {one_line(message)}", file=sys.stderr)
    sys.exit(2 if message else 0)


def _version(asked: bool) -> None:
    if asked:
        print(panconv.__version__)
        raise typer.Exit()


@app.callback()
def _program(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say results and errors alone.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also say what was chosen, and how long it took.")
    ] = False,
) -> None:
    voice.settle(quiet, verbose)
