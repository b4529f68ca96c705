"""Other ways to the same result, each written as its own users would write it.

All start from PyG's edge_index and take Â from PyG's `gcn_norm`, so that what they give checks what panconv gives.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from graphs import Graph
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.conv.gcn_conv import gcn_norm

Function = Callable[[], object]

# ---------------------------------------------------------------------- the matrix


def csr_of(edge_index: Tensor, weight: Tensor, N: int, index: torch.dtype = torch.int64) -> Tensor:
    """A torch CSR matrix A[receiver, sender]; int64 is what torch makes by itself."""
    matrix = torch.sparse_coo_tensor(edge_index.flip(0), weight, (N, N)).coalesce().to_sparse_csr()
    if index == torch.int64:
        return matrix
    return torch.sparse_csr_tensor(
        matrix.crow_indices().to(index), matrix.col_indices().to(index), matrix.values(), (N, N)
    )


# ---------------------------------------------------------------------- one product


class GatherScatter(MessagePassing):
    """x[source] · w, summed at the target: PyG's own way with an edge_index."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x, weight=weight)

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight.view(-1, 1) * x_j


def products(graph: Graph, x: Tensor) -> dict[str, Callable[[], Callable[[], Tensor]]]:
    """For each peer a function that prepares its product, which may fail, and returns it."""
    makers = {
        "torch CSR (int64)": lambda: _torch_product(graph, x, torch.int64),
        "torch CSR (int32)": lambda: _torch_product(graph, x, torch.int32),
        "PyG gather-scatter": lambda: _gather_scatter(graph, x),
    }
    if x.is_cuda:
        makers["CuPy"] = lambda: _cupy_product(graph, x)
    if not x.is_cuda:
        makers["SciPy"] = lambda: _scipy_product(graph, x)
    return makers


def _torch_product(graph: Graph, x: Tensor, index: torch.dtype) -> Callable[[], Tensor]:
    edge_index, weight = graph.normalised
    A = csr_of(edge_index, weight.to(x.dtype), graph.num_nodes, index)
    return lambda: A @ x


def _gather_scatter(graph: Graph, x: Tensor) -> Callable[[], Tensor]:
    layer, (edge_index, weight) = GatherScatter(), graph.normalised
    weight = weight.to(x.dtype)
    return lambda: layer(x, edge_index, weight)


def _cupy_product(graph: Graph, x: Tensor) -> Callable[[], Tensor]:
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    if x.dtype != torch.float32:
        raise TypeError(f"CuPy has no {str(x.dtype).removeprefix('torch.')} matrices")
    A = csr_of(*graph.normalised, graph.num_nodes, torch.int32)
    parts = (cupy.from_dlpack(part.contiguous()) for part in (A.values(), A.col_indices(), A.crow_indices()))
    matrix = csr_matrix(tuple(parts), shape=tuple(A.shape))
    columns = cupy.asfortranarray(cupy.from_dlpack(x))  # the order its product wants; it would copy every time
    return lambda: torch.from_dlpack(matrix @ columns)


def _scipy_product(graph: Graph, x: Tensor) -> Callable[[], Tensor]:
    from scipy.sparse import csr_matrix

    A = csr_of(*graph.normalised, graph.num_nodes, torch.int32)
    parts = (part.numpy() for part in (A.values(), A.col_indices(), A.crow_indices()))
    matrix, dense = csr_matrix(tuple(parts), shape=tuple(A.shape)), x.numpy()
    return lambda: torch.from_numpy(matrix @ dense)


# ---------------------------------------------------------------------- the whole operator, Σ k(n) Âⁿ x


class Operator(nn.Module):
    """Σ k(n) Âⁿ x with trained k(n), prepared from a graph by `prepare` and applied by `forward`."""

    def __init__(self, L: int) -> None:
        super().__init__()
        self.k = nn.Parameter(torch.full((L + 1,), 1 / (L + 1)))

    def prepare(self, graph: Graph) -> Operator:
        """From the edge_index on: normalisation, and whatever form the scheme wants."""
        raise NotImplementedError


class CSRLoop(Operator):
    """A loop of torch's CSR products; autograd does the rest."""

    def __init__(self, L: int, index: torch.dtype) -> None:
        super().__init__(L)
        self.index = index

    def prepare(self, graph: Graph) -> CSRLoop:
        edge_index, weight = gcn_norm(graph.edge_index, num_nodes=graph.num_nodes)
        self.A = csr_of(edge_index, weight, graph.num_nodes, self.index)
        return self

    def step(self, x: Tensor) -> Tensor:
        return self.A @ x

    def forward(self, x: Tensor) -> Tensor:
        total = self.k[0] * x
        for n in range(1, len(self.k)):
            x = self.step(x)
            total = total + self.k[n] * x
        return total


class SymmetricLoop(CSRLoop):
    """The same by someone who knows that Â is symmetric, and spares torch the transpose in the backward."""

    def step(self, x: Tensor) -> Tensor:
        return _SymmetricProduct.apply(self.A, x)


class _SymmetricProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A, x):
        ctx.A = A
        return A @ x

    @staticmethod
    def backward(ctx, g):
        return None, ctx.A @ g


class Propagate(Operator):
    """GPRGNN's scheme: K steps of PyG's propagate, hidden += γ_k x."""

    def __init__(self, L: int) -> None:
        super().__init__(L)
        self.layer = GatherScatter()

    def prepare(self, graph: Graph) -> Propagate:
        self.edge_index, self.norm = gcn_norm(graph.edge_index, num_nodes=graph.num_nodes)
        return self

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.k[0] * x
        for n in range(1, len(self.k)):
            x = self.layer(x, self.edge_index, self.norm)
            hidden = hidden + self.k[n] * x
        return hidden


class ExplicitPowers(CSRLoop):
    """Every Âⁿ formed on each forward, sparse times sparse, and multiplied by x."""

    def forward(self, x: Tensor) -> Tensor:
        total = self.k[0] * x
        for n, power in enumerate(self.powers(), start=1):
            total = total + self.k[n] * (power @ x)
        return total

    def powers(self) -> list[Tensor]:
        found = [self.A]
        with torch.no_grad():
            while len(found) < len(self.k) - 1:
                found.append(self.A @ found[-1])
        return found[: len(self.k) - 1]


class SummedPowers(ExplicitPowers):
    """The same as PyG's PANConv has it: the weighted powers are summed to one sparse matrix first, then multiplied."""

    def forward(self, x: Tensor) -> Tensor:
        N = x.size(0)
        diagonal = torch.arange(N, device=x.device).expand(2, N)
        powers = [power.to_sparse_coo().coalesce() for power in self.powers()]
        index = torch.cat([diagonal, *(power.indices() for power in powers)], dim=1)
        weighted = [self.k[n] * power.values() for n, power in enumerate(powers, start=1)]
        value = torch.cat([self.k[0].expand(N), *weighted])
        return torch.sparse.mm(torch.sparse_coo_tensor(index, value, (N, N)).coalesce(), x)


def entries_of_power(graph: Graph, n: int, sample: int = 32) -> int:
    """About how many entries Âⁿ has: the nodes reached by n steps from a sample of nodes."""
    g = torch.Generator().manual_seed(0)
    N = graph.num_nodes
    chosen = torch.randperm(N, generator=g)[:sample].to(graph.device)
    reached = torch.zeros(N, len(chosen), device=graph.device)
    reached[chosen, torch.arange(len(chosen), device=graph.device)] = 1
    A = csr_of(*graph.normalised, N)
    for _ in range(n):
        reached = (A @ reached > 0).float()
    return round(float(reached.sum()) / len(chosen) * N)
