"""Graphs: the built-in ones, readers for a user's own, and batches of nodes of a large one."""

from panconv.data.builtin import DATASETS as DATASETS
from panconv.data.edge_source import EdgeSource as EdgeSource
from panconv.data.graph import Graph as Graph
from panconv.data.load import load as load
from panconv.data.read import read as read
from panconv.data.seed_loader import SeedLoader as SeedLoader
