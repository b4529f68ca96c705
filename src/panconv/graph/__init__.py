"""A graph as everything here takes it: validated once, sorted, with its bases and degrees."""

from panconv.graph import pytree as _pytree  # noqa: F401  makes a pytree of `Adjacency`
from panconv.graph.adjacency import Adjacency
from panconv.graph.bases import BASES
from panconv.graph.batching import block_diagonal
from panconv.graph.picking import picked

__all__ = ["BASES", "Adjacency", "block_diagonal", "picked"]
