"""Six models of others on their usual operator and on M: `run` trains what has no record yet and returns the table."""

from panconv.paper.studies.operators.table import run as run
