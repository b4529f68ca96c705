"""The names of `checks` and `screen` under which two commands still know them."""

from panconv.cli.checks import LONGEST as LONGEST
from panconv.cli.checks import canonical as canonical
from panconv.cli.checks import command_line as command_line
from panconv.cli.checks import count as check_count
from panconv.cli.checks import device as check_device
from panconv.cli.checks import numbers as numbers
from panconv.cli.checks import open_results as open_results
from panconv.cli.checks import outputs as check_outputs
from panconv.cli.checks import whole_numbers as whole_numbers
from panconv.cli.screen import Batches as Batches
from panconv.cli.screen import console as console
from panconv.cli.screen import drawn as drawn
from panconv.cli.screen import out as out
from panconv.cli.screen import say as say
from panconv.cli.screen import title as title
from panconv.cli.screen import words as words
from panconv.cli.screen import write_json as write_json

__all__ = ["check_count", "check_device", "check_outputs"]
