"""The program without a process of its own: many commands in the time of one, and what was raised besides."""

import contextlib
import io
import os
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import torch_geometric  # noqa: F401  which warns of torch.jit.script as it is first imported, where pytest shows it

import panconv
from panconv import cli

PACKAGE = Path(panconv.__file__).parent


class Done(NamedTuple):
    code: int
    stdout: str
    stderr: str
    refused: BaseException | None  # what the line was made of

    @property
    def returncode(self):
        return self.code


def call(*arguments, cwd):
    """Runs `panconv` with these arguments; raises what would be a traceback."""
    stdout, stderr, refused, before = io.StringIO(), io.StringIO(), [], os.getcwd()

    def refuse(message, error, then=cli._refuse):
        refused.append(error)
        then(message, error)

    with contextlib.ExitStack() as stack:
        stack.callback(os.chdir, before)
        stack.enter_context(mock.patch.object(cli, "_refuse", refuse))
        stack.enter_context(mock.patch.dict(os.environ, {"COLUMNS": "80"}))
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))
        warnings.simplefilter("default")
        os.chdir(cwd)
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as done:
            code = done.code
    return Done(code, stdout.getvalue(), stderr.getvalue(), refused[0] if refused else None)


def is_clear(error):
    """Whether an exception was raised by us, with words of ours, and not deep inside some library."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = PACKAGE in Path(frames[-1].filename).parents
    return ours or type(error).__module__.startswith(("click", "typer")) or isinstance(error, (OSError, MemoryError))
