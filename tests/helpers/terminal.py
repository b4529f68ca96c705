"""The program as a user runs it: a process of its own."""

import os
import subprocess
import sys


def run(*arguments, cwd, **environment):
    return subprocess.run(command(*arguments), capture_output=True, text=True, cwd=cwd, env=surroundings(environment))


def command(*arguments):
    return [sys.executable, "-m", "panconv.cli", *map(str, arguments)]


def surroundings(more=None):
    return {**os.environ, "COLUMNS": "80", **(more or {})}
