"""Graphs: the built-in ones, and readers for a user's own."""

from panconv.data.builtin import DATASETS as DATASETS
from panconv.data.load import load as load
