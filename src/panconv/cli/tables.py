"""The table of `screen` under the name by which one command still knows it."""

from panconv.cli.screen import table as table
