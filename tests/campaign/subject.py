"""What panconv makes of a case: the graph in its container, the operator, and the quantity that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

import panconv
from campaign.cases import LD, Case
from panconv.met.reference.problem import Array, Problem
from panconv.paths import PATHS

DTYPES = {name: getattr(torch, name) for name in ("float64", "float32", "float16", "bfloat16")}

BESIDE = np.asarray(-np.inf, LD)  # stands for a gradient that is NaN in an entry that the direction has no part in


class Subject:
    """The tensors and the operator of a case, on a device."""

    def __init__(self, case: Case, device: str = "cpu", compiled: bool = False) -> None:
        self.problem, self.device, self.compiled = case.problem, device, compiled
        self.transposed = case.transposed and case.problem.quantity in ("dw", "dedge", "double")
        p = case.problem
        names = {name for name, _ in p.directions}
        self.weight: Tensor | None = None
        if p.edge_weight is not None:
            self.weight = torch.from_numpy(p.edge_weight).to(DTYPES[str(p.edge_dtype)]).to(device)
            self.weight.requires_grad_("edge" in names)
        self.adj = _adjacency(p, case.container, self.weight, device)
        self.path_weights = _path_weights(p, case.given, device)
        options = {"width": p.width} if p.family == "effective" and p.width is not None else {}
        self.M = panconv.MET(PATHS[p.family](self.adj, p.L, **options), self.path_weights, p.method, case.memory)

    def tensor(self, values: Array, requires_grad: bool = False) -> Tensor:
        """Features in their dtype, or what is dotted with them."""
        made = torch.from_numpy(np.asarray(values, np.float64)).to(DTYPES[self.problem.dtype]).to(self.device)
        return made.requires_grad_(requires_grad)

    def value(self) -> Array:
        """The quantity, in 80 bits."""
        p = self.problem
        if p.quantity == "to_sparse":
            return _array(self.M.to_sparse(DTYPES[p.dtype]).to_dense())
        if p.quantity in ("M", "M.T"):
            return _array(self._apply(self.M if p.quantity == "M" else self.M.T, self.tensor(p.x)))
        if p.quantity == "terms":
            return _array(torch.stack(list(self.M.terms(self.tensor(p.x)))))
        assert p.g is not None
        x = self.tensor(p.x, p.quantity == "dx" or "x" in [name for name, _ in p.directions])
        if self.transposed:
            s = (self._apply(self.M.T, self.tensor(p.g)).double() * x.double()).sum()
        else:
            s = (self._apply(self.M, x).double() * self.tensor(p.g).double()).sum()
        if p.quantity == "dx":
            return _array(_gradient(s, x))
        return self._along(s, x)

    def _along(self, s: Tensor, x: Tensor) -> Array:
        """The derivative along one direction, or along two."""
        inputs = {"x": x, "w": next(self.path_weights.parameters(), None), "edge": self.weight}
        beyond = False  # a first derivative beyond its input's dtype may have a second, or none: never a wrong one
        if len(self.problem.directions) == 2:
            (name, d), second = self.problem.directions
            first = _gradient(s, inputs[name], create_graph=True)
            beyond = bool(first.isinf().any() & ~first.isnan().any())
            s = (first.double() * torch.from_numpy(np.asarray(_laid(name, d), np.float64)).to(self.device)).sum()
        else:
            (second,) = self.problem.directions
        name, d = second
        along, gradient = _laid(name, d), _array(_gradient(s, inputs[name]))
        if np.isnan(gradient[along != 0]).any():
            return np.asarray(np.inf if beyond else np.nan, LD)
        if np.isnan(gradient).any():
            return BESIDE
        if np.isinf(gradient[along != 0]).any():
            return np.asarray(np.inf, LD)  # beyond the dtype of the edge weights: two such may have either sign
        # Along a direction that it has no part in, an infinite gradient is nothing.
        return np.asarray((gradient[along != 0] * along[along != 0]).sum(), LD)

    def _apply(self, M: Any, x: Tensor) -> Tensor:
        if not self.compiled:
            return M @ x
        if self.problem.family in ("shortest", "self_avoiding") or self.problem.alpha != 1:
            M.apply(x)  # formed paths are built before they are compiled
        return torch.compile(M.apply, fullgraph=True, backend="aot_eager")(x)


def evaluate(case: Case, device: str = "cpu", compiled: bool = False) -> Array:
    """The quantity of a case as panconv computes it."""
    return Subject(case, device, compiled).value()


def _array(tensor: Tensor) -> Array:
    return tensor.detach().cpu().double().numpy().astype(LD)


def _laid(name: str, d: Array) -> Array:
    """A direction as the parameter is laid out: trials come first there."""
    return d.T if name == "w" else d


def _gradient(s: Tensor, of: Tensor | None, create_graph: bool = False) -> Tensor:
    """The gradient, which is 0 where s does not depend on it."""
    assert of is not None
    if not s.requires_grad:
        return torch.zeros_like(of)
    return torch.autograd.grad(s, of, create_graph=create_graph, materialize_grads=True)[0]


def _path_weights(p: Problem, given: str, device: str) -> Any:
    """The path weights, holding the problem's numbers exactly if they hold what they were given."""
    values: Any = torch.from_numpy(np.asarray(p.weights, np.float64))
    if p.kind == "power-law":
        law = panconv.PowerLaw(p.L, p.alpha, torch.ones_like(values.to(DTYPES.get(given, torch.float64))))
        with torch.no_grad():  # log T itself: its exponential, given as T, would be rounded
            law.log_temperature.copy_(values)
        return law.to(device)
    values = values.tolist() if given == "numbers" else values.to(DTYPES[given])
    if p.kind == "boltzmann":
        return panconv.Boltzmann(values, p.temperature).to(device)
    return (panconv.Free if p.kind == "free" else panconv.Fixed)(values).to(device)


def _adjacency(p: Problem, container: str, weight: Tensor | None, device: str) -> panconv.Adjacency:
    """The graph in its container, read by panconv."""
    N, edges = p.num_nodes, torch.from_numpy(np.ascontiguousarray(p.edges)).to(device)
    if container.startswith("edge_index"):
        return panconv.Adjacency.from_edge_index(edges, weight, N)
    if container.startswith("torch"):
        value = torch.ones(edges.size(1), device=device) if weight is None else weight
        matrix = torch.sparse_coo_tensor(edges.flip(0), value, (N, N))
        if "CSR" in container or "CSC" in container:
            matrix = matrix.to_sparse_csr() if "CSR" in container else matrix.to_sparse_csc()
        return panconv.Adjacency.of(matrix)
    source, target = p.edges
    data = np.ones(p.edges.shape[1], np.float32) if p.edge_weight is None else p.edge_weight.astype(p.edge_dtype)
    if "COO" in container:
        found: Any = sp.coo_matrix((data, (target, source)), shape=(N, N))
    else:  # row by row, so that repeated entries stay
        order = np.argsort(target, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=N))])
        found = sp.csr_matrix((data[order], source[order], indptr), shape=(N, N))
    return panconv.Adjacency.of(found).to(device)
