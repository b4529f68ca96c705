"""Edges of many graphs as a file lists them, made into an `edge_index`: each once and both ways, without self-loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from panconv.data.remarks import Remarks, counted


def edges_both_ways(
    source: np.ndarray,  # (E,) node numbers
    target: np.ndarray,  # (E,)
    num_nodes: int,
    remarks: Remarks,
    where: Callable[[int], str],  # an edge in words
) -> Tensor:
    """An `edge_index` (2, E), by source and then target. What is not so in the file is mended, and said."""
    row = np.arange(len(source))
    loops = source == target
    if loops.any():
        what = f"{where(int(loops.argmax()))}: {counted(int(loops.sum()), 'edge')} from a node to itself"
        remarks.mend(what, "left out, since every node hears itself by its path of length 0")
        source, target, row = source[~loops], target[~loops], row[~loops]
    key, first = np.unique(source * num_nodes + target, return_index=True)
    if len(key) < len(source):
        again = np.ones(len(source), bool)
        again[first] = False
        what = f"{where(int(row[again].min()))}: {counted(int(again.sum()), 'edge')} that stood there before"
        remarks.mend(what, "counted once")
    back = key % num_nodes * num_nodes + key // num_nodes
    alone = ~np.isin(back, key, assume_unique=True)
    if alone.any():
        what = f"{where(int(row[first[alone]].min()))}: {counted(int(alone.sum()), 'edge')} in one direction alone"
        remarks.mend(what, "read as both, since the graphs are undirected")
        key = np.sort(np.concatenate([key, back[alone]]))
    return torch.from_numpy(np.stack([key // num_nodes, key % num_nodes]))
