"""What beats MKL's sparse product on the CPU: A·x, orders of the nodes, the gradient of A's values, and Σ wₙAⁿx.

    python benchmarks/cpu_product.py [--threads 2] [--parts product order entries series] [--graphs cora … communities]

Everything of a table is timed in turn, in one process; a ratio above 1 is faster than the first column. What it found:

- `torch.embedding_bag` with per-sample weights *is* CSR × dense (rows are bags, columns indices, values weights), by a
  vectorised kernel. In float32 it is two to four times faster than MKL's CSR
  product from 24 columns on, up to 1.5 times at 16 on small graphs (2.5 and more on large ones), and on a par below 8;
  with int32 and int64 alike. In float64 it has no such kernel, and MKL stays ahead.
- COO is far behind CSR, a column-major x and SciPy are behind too, and int64 is at best level with int32.
- Adding within the product (`addmm`) saves a tenth or nothing with MKL; with the bag a separate `add_` costs as little,
  and a bag over [A, wI] and [h; x], which adds as it gathers, is no faster.
- An output beyond the allocator's threshold is fresh memory on each call, whose page faults cost up to a quarter of
  the bag's time on one thread, and at times nothing, by the state of the allocator. `out=` avoids them with MKL, but
  the bag has none.
- An order of the nodes pays where there is locality to find: reverse Cuthill–McKee speeds up a shuffled graph with
  communities by a half or more at 64 columns, and a power law not at all. Bringing x in and y out costs about what an
  operator with L = 3 gains, so it is for whoever numbers the nodes, once, and not for the operator.
- Blocks of 32 columns taken through the whole series pay once x outgrows the last cache: by a tenth at one and a
  half times its size, by a third and more at three times. Below they lose.
- The gradient of the values: `torch.sparse.sampled_addmm` takes int32 CSR, is 6 to 25 times faster than gathering both
  sides in float32 at 16 and 64 columns (2 to 5 times at one column), and makes no nnz × F temporary.
- The whole operator, forward and backward with trained weights: Horner's scheme with in-place sums, and a backward of
  L products that keeps no terms, is 3 to 14 times faster than a loop of CSR products under autograd. That loop loses
  mostly in its backward, where autograd multiplies by the transpose of a CSR matrix ("MKL of the transpose"), and by
  sums out of place. On Cora a quarter of what is left is autograd's own.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import torch
from graphs import citations, communities, power_law
from measure import machine, median_ms, peak_mib
from scipy.sparse import csgraph, csr_matrix
from torch import Tensor

from panconv import MET, Adjacency, Walks
from panconv.graph.csr import CSR, rows_of

L = 3
NAMES = ("cora", "citeseer", "pubmed", "power law", "communities")
Functions = dict[str, Callable[[], object]]


def graph(name: str, N: int = 200_000, entries: int = 4_000_000) -> Adjacency:
    cpu = torch.device("cpu")
    if name in NAMES[:3]:
        return citations(name, cpu).adj
    return (power_law(N, entries, cpu) if name == "power law" else communities(N, entries, cpu, ordered=False)).adj


def torch_csr(a: CSR, index: torch.dtype = torch.int32) -> Tensor:
    N = a.crow.numel() - 1
    return torch.sparse_csr_tensor(a.crow.to(index), a.col.to(index), a.value, (N, N), check_invariants=False)


def bag(a: CSR, x: Tensor) -> Tensor:
    """A·x: each row is a bag of rows of x."""
    return torch.embedding_bag(x, a.col, a.crow, False, 0, False, a.value, True)[0]


def products(a: CSR, F: int) -> Functions:
    N = a.crow.numel() - 1
    x, y, out = torch.randn(N, F), torch.randn(N, F), torch.empty(N, F)
    narrow, wide, coo = torch_csr(a), torch_csr(a, torch.int64), torch_csr(a, torch.int64).to_sparse_coo()
    scipy, by_column = csr_matrix((a.value.numpy(), a.col.numpy(), a.crow.numpy()), (N, N)), x.t().contiguous().t()
    blocks = [block.contiguous() for block in x.split(32, 1)]
    torch.testing.assert_close(bag(a, x), narrow @ x, rtol=1e-4, atol=1e-5)
    return {
        "MKL int32": lambda: narrow @ x,
        "bag": lambda: bag(a, x),
        "bag, unweighted": lambda: torch.embedding_bag(x, a.col, a.crow, False, 0, False, None, True)[0],
        "bag, blocks of 32": lambda: [bag(a, block) for block in blocks],
        "bag, add_": lambda: bag(a, x).add_(y, alpha=0.5),
        "MKL int64": lambda: wide @ x,
        "MKL of the transpose": lambda: narrow.t() @ x,
        "MKL out=": lambda: torch.mm(narrow, x, out=out),
        "MKL addmm out=": lambda: torch.addmm(y, narrow, x, beta=0.5, out=out),
        "MKL, add_": lambda: (narrow @ x).add_(y, alpha=0.5),
        "MKL column-major": lambda: narrow @ by_column,
        "torch reduce": lambda: torch.sparse.mm(narrow, x, reduce="sum"),
        "COO": lambda: coo @ x,
        "SciPy": lambda: scipy @ x.numpy(),
        "clone": lambda: x.clone(),
        "copy": lambda: out.copy_(x),
    }


def orders(a: CSR, F: int) -> Functions:
    """The bag on reordered nodes, and what bringing x in and y out costs; prints the time to find each order."""
    N, x = a.crow.numel() - 1, torch.randn(a.crow.numel() - 1, F)
    matrix = csr_matrix((a.value.numpy(), a.col.numpy(), a.crow.numpy()), (N, N))
    functions: Functions = {"as given": lambda: bag(a, x)}
    finders = {
        "Cuthill–McKee": lambda: csgraph.reverse_cuthill_mckee(matrix, symmetric_mode=True),
        "degree": lambda: np.argsort(-np.diff(matrix.indptr), kind="stable"),
    }
    for name, find in finders.items():
        began = time.perf_counter()
        order = find().astype(np.int64)
        moved = matrix[order][:, order]
        moved.sort_indices()
        print(f"  {name}: found and applied in {1e3 * (time.perf_counter() - began):.0f} ms")
        b = CSR(*(torch.from_numpy(v) for v in (moved.indptr.astype("i4"), moved.indices.astype("i4"), moved.data)))
        there, back = torch.from_numpy(order), torch.from_numpy(np.argsort(order))
        functions[name] = lambda b=b: bag(b, x)
        functions[f"{name}, x and y moved"] = lambda there=there, back=back: x[there][back]
    return functions


def entries(a: CSR, F: int) -> Functions:
    """<g[row], x[col]> of each stored entry."""
    N = a.crow.numel() - 1
    g, x, row = torch.randn(N, F), torch.randn(N, F), rows_of(a.crow, a.col.numel())
    row32, empty = row.int(), torch_csr(a._replace(value=torch.zeros_like(a.value)))
    backward = torch.ops.aten._embedding_bag_per_sample_weights_backward

    def chunked(elements: int = 2**18) -> Tensor:
        parts = zip(row.split(max(elements // F, 1)), a.col.split(max(elements // F, 1)), strict=True)
        return torch.cat([torch.linalg.vecdot(g[r], x[c]) for r, c in parts])

    functions: Functions = {
        "gather": lambda: (g[row] * x[a.col]).sum(-1),
        "sampled_addmm": lambda: torch.sparse.sampled_addmm(empty, g, x.t(), beta=0.0).values(),
        "chunked gather": chunked,
        "bag's backward": lambda: backward(g, x, a.col, a.crow, row32, 0, -1),
        "einsum": lambda: torch.einsum("ef,ef->e", g[row], x[a.col]),
    }
    for function in functions.values():
        torch.testing.assert_close(function(), functions["gather"](), rtol=1e-3, atol=1e-3)
    return functions


def forward(multiply: Callable[[Tensor], Tensor], w: list[float], x: Tensor) -> Tensor:
    h = x * w[-1]
    for weight in w[-2::-1]:
        h = multiply(h).add_(x, alpha=weight)
    return h


def backward(multiply: Callable[[Tensor], Tensor], w: list[float], x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of x and w from uₙ = Aᵀuₙ₋₁, on a symmetric graph."""
    total, dots = g * w[0], [torch.dot(g.view(-1), x.view(-1))]
    for weight in w[1:]:
        g = multiply(g)
        total.add_(g, alpha=weight)
        dots.append(torch.dot(g.view(-1), x.view(-1)))
    return total, torch.stack(dots)


class Series(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, x, multiply, width):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(w, x)
        ctx.multiply, ctx.width = multiply, width
        blocks = [forward(multiply, w.tolist(), block.contiguous()) for block in x.split(width, 1)]
        return blocks[0] if len(blocks) == 1 else torch.cat(blocks, 1)

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        w, x = ctx.saved_tensors
        pairs = zip(x.split(ctx.width, 1), g.split(ctx.width, 1), strict=True)
        parts = [backward(ctx.multiply, w.tolist(), p.contiguous(), q.contiguous()) for p, q in pairs]
        total = parts[0][0] if len(parts) == 1 else torch.cat([part[0] for part in parts], 1)
        return torch.stack([part[1] for part in parts]).sum(0), total, None, None


def loop(A: Tensor, k: Tensor, x: Tensor) -> Tensor:
    """As one writes it."""
    out = k[0] * x
    for n in range(1, L + 1):
        x = A @ x
        out = out + k[n] * x
    return out


def series(a: CSR, F: int, adj: Adjacency) -> Functions:
    """Σ wₙ Âⁿ x forward and backward, to gradients of w and x."""
    N = a.crow.numel() - 1
    x, g = torch.randn(N, F, requires_grad=True), torch.randn(N, F)
    k = torch.full((L + 1,), 0.25, requires_grad=True)
    narrow, wide, M = torch_csr(a), torch_csr(a, torch.int64), MET(Walks(adj, L), "free", method=5)

    def run(apply: Callable[[], Tensor]) -> tuple[Tensor | None, Tensor | None]:
        x.grad = k.grad = None
        apply().backward(g)
        return x.grad, k.grad

    functions: Functions = {
        "loop, int64": lambda: run(lambda: loop(wide, k, x)),
        "loop, int32": lambda: run(lambda: loop(narrow, k, x)),
        "panconv": lambda: run(lambda: M @ x),
        "series, MKL": lambda: run(lambda: Series.apply(k, x, lambda h: narrow @ h, F)),
        "series, bag": lambda: run(lambda: Series.apply(k, x, lambda h: bag(a, h), F)),
        "series, bag, blocks of 32": lambda: run(lambda: Series.apply(k, x, lambda h: bag(a, h), 32)),
        f"{2 * L} bags alone": lambda: [bag(a, g) for _ in range(2 * L)],
    }
    for name in ("series, MKL", "series, bag", "series, bag, blocks of 32"):
        torch.testing.assert_close(functions[name](), functions["loop, int64"](), rtol=1e-3, atol=1e-2)
    return functions


def widths(part: str, N: int) -> Iterator[int]:
    yield from (16, 64)
    if part in ("product", "series") and N < 100_000:
        yield 160  # ten trials of 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--parts", nargs="+", default=["product", "order", "entries", "series"])
    parser.add_argument("--graphs", nargs="+", default=NAMES, choices=NAMES)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    warnings.filterwarnings("ignore", message="Sparse")
    print(f"Median ms (ratio to the first). {machine()}")
    for name in options.graphs:
        adj = graph(name)
        a, _ = adj.base("Â").operands(torch.float32)
        N = adj.num_nodes
        for part in options.parts:
            for F in widths(part, N):
                print(f"\n{part}: {name}, {N} nodes, {a.col.numel()} stored entries, F = {F}")
                make = {"product": products, "order": orders, "entries": entries}.get(part)
                functions = make(a, F) if make else series(a, F, adj)
                ms = median_ms(functions, rounds=5 if N > 100_000 else 25, warmup=1)
                first = next(iter(ms.values()))
                for key, value in ms.items():
                    memory = f"  peak {peak_mib(functions[key]):8.1f} MiB" if part in ("entries", "series") else ""
                    print(f"  {key:32} {value:10.3f}  {first / value:6.2f}×{memory}", flush=True)


if __name__ == "__main__":
    main()
