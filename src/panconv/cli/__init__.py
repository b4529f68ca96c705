"""panconv … on the command line."""

from __future__ import annotations

import os
import sys
import warnings
from importlib.metadata import version
from typing import Annotated, Any

import typer

from panconv.cli import cores as cores  # first of all: what it settles, torch reads when it is loaded
from panconv.cli.grid import grid
from panconv.cli.operators import operators
from panconv.cli.report import report
from panconv.cli.reproduce import reproduce
from panconv.cli.spectrum import spectrum
from panconv.cli.temperature import temperature
from panconv.cli.thermodynamics import thermodynamics
from panconv.cli.train import data, train
from panconv.cli.walks import communities, links
from panconv.cli.zoo import zoo

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Path-integral graph convolution: a node averages over every path that reaches it, weighted by its length.",
)
app.command(no_args_is_help=True)(train)
app.command(no_args_is_help=True)(grid)
app.command(no_args_is_help=True)(reproduce)
app.command(no_args_is_help=True)(temperature)
app.command(no_args_is_help=True)(thermodynamics)
app.command()(operators)
app.command()(zoo)
app.command(no_args_is_help=True)(spectrum)
app.command(no_args_is_help=True)(links)
app.command(no_args_is_help=True)(communities)
app.command()(report)
app.command()(data)
# The parser's own complaints. Typer may carry its parser inside or import click: either way this name reaches it.
_UsageError: Any = typer.BadParameter.__bases__[0]


def main() -> None:
    """The program: a user's mistake is one line on standard error and exit code 2."""
    warnings.showwarning = lambda message, *_, **__: print(f"panconv: {message}", file=sys.stderr)
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except typer.Abort:
        sys.exit(130)
    except _UsageError as error:
        _refuse(error.format_message(), error)
    except (ValueError, TypeError, OSError) as error:
        _refuse(str(error), error)


def _refuse(message: str, error: Exception) -> None:
    if os.environ.get("PANCONV_DEBUG"):
        raise error
    if message:  # without one, the help was asked for and shown
        print(f"panconv: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2 if message else 0)


def _version(asked: bool) -> None:
    if asked:
        print(version("panconv"))
        raise typer.Exit()


@app.callback()
def _program(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None: ...
