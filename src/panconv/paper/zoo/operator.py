"""The graph or the matrix that a method works on, made once, before its trials run side by side.

Inside `Stacked` a layer cannot keep what it computes from the graph for the next epoch, so it is given the result.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_remaining_self_loops

from panconv.compute.spmm import spmm
from panconv.graph import Adjacency
from panconv.graph.csr import CSR
from panconv.paper.zoo.stack import How, edges
from panconv.transforms import METTransform


def graph(data: Data, device: str = "cpu") -> Adjacency:
    """The graph of the data, with its weights if it has any."""
    weight = getattr(data, "edge_weight", None)
    return Adjacency.of(data.edge_index, None if weight is None else weight.detach(), data.x.size(0)).to(device)


def with_loops(data: Data) -> Data:
    """The same graph without weights and with the edge (i, i) of each node, once: for the methods of attention."""
    looped = copy.copy(data)  # shallow
    looped.edge_index, _ = add_remaining_self_loops(data.edge_index, num_nodes=data.num_nodes)
    looped.edge_weight = None
    return looped


def operator(data: Data, how: How, base: str, device: str = "cpu") -> Adjacency:
    """A base of the graph, such as ``"D⁻¹A"``; the weights as they stand where ``how["normalize"]`` is False."""
    return graph(data, device).base(base if how["normalize"] else "A")


def operands(data: Data, how: How, base: str, device: str = "cpu") -> tuple[CSR, CSR]:
    """The operator and its transpose, as `spmm` takes them."""
    return operator(data, how, base, device).operands(torch.float32)


def renormalized(data: Data, how: How, device: str = "cpu") -> tuple[CSR, CSR]:
    """Â and its transpose as GCN makes them of weights: where M has a self-loop it keeps it, others get one of 1."""
    edge_index, weight = edges(graph(data))  # where a repeated edge is one edge
    if how.get("normalize", True):
        edge_index, weight = gcn_norm(edge_index, weight, data.num_nodes)
    return Adjacency.of(edge_index, weight, data.num_nodes).to(device).operands(torch.float32)


def powers(matrix: tuple[CSR, CSR], x: Tensor, K: int) -> Iterator[Tensor]:
    """X, P·X, …, Pᴷ·X, from P and its transpose."""
    yield x
    for _ in range(K):
        yield (x := spmm(*matrix, x))


def dropped(data: Data, operator: How) -> float:
    """The share of |M| that the top-k of an entry of the menu takes from a graph's M."""
    transform = METTransform(operator["L"], operator["method"], operator["weights"], ("top_k", operator["top_k"]))
    transform(data)
    assert transform.dropped is not None
    return transform.dropped.share
