"""Many threads on one layer, and many graphs through one layer: nothing mixed up, nothing kept.

python tests/fuzzers/fuzz_threads.py --cases 100000 --seed 0
"""

from __future__ import annotations

import argparse
import copy
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psutil
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from panconv import Adjacency, PANConv
from panconv.compute.features import SparseRows
from panconv.nn import Dropout, Linear, Stacked

THREADS = 4


class Case(NamedTuple):
    """A call and what it must give."""

    inputs: tuple[Any, ...]
    expected: Tensor


def graphs(seed: int, count: int = 6, width: int = 3) -> list[tuple[Any, ...]]:
    """Inputs of a layer: small graphs, some of one size, some weighted, as edges or as a sparse matrix."""
    g = torch.Generator().manual_seed(seed)
    made: list[tuple[Any, ...]] = []
    for i in range(count):
        N = 5 + 2 * (i // 3)  # three of each size: only then can one pass for another
        edges = torch.randint(N, (2, 3 * N), generator=g)
        x, weight = torch.randn(N, width, generator=g), torch.rand(3 * N, generator=g) + 0.5
        matrix = sp.coo_matrix((weight.numpy(), (edges[1].numpy(), edges[0].numpy())), shape=(N, N))
        made.append([(x, edges), (x, edges, weight), (x, matrix)][i % 3])
    return made


def mixed_up(function: Callable[..., Tensor], cases: list[Case], calls: int, seed: int) -> tuple[int, list[str]]:
    """How many calls by `THREADS` threads at once gave another result than expected, and the errors that were raised.

    Args:
        function: the layer that the threads share.
        cases: what it is called with.
        calls: by each thread.
        seed: of the order in which a thread takes the cases.
    """
    wrong, errors = [0] * THREADS, []
    start = threading.Barrier(THREADS)

    def work(thread: int) -> None:
        order = torch.randint(len(cases), (calls,), generator=torch.Generator().manual_seed(seed * THREADS + thread))
        start.wait()
        for i in order.tolist():
            try:
                wrong[thread] += not torch.equal(function(*cases[i].inputs), cases[i].expected)
            except Exception as error:  # noqa: PERF203
                errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
    with switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return sum(wrong), errors


@contextmanager
def switching_often() -> Iterator[None]:
    """Python's threads take turns as often as they can, so that whatever can come between does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def prepared_layer(seed: int) -> tuple[Callable[..., Tensor], list[Case]]:
    """A layer called with raw edges, which it prepares."""
    conv = PANConv(3, 2, L=1)
    return conv, [Case(inputs, copy.deepcopy(conv)(*inputs).detach()) for inputs in graphs(seed)]


def dropout(seed: int) -> tuple[Callable[..., Tensor], list[Case]]:
    """Keyed dropout, which keeps the hash of the positions of the last size."""
    layer = Dropout(0.5)
    layer.keys = torch.tensor(seed)
    inputs = [(torch.ones(n, 2),) for n in (3, 4, 5)]
    return layer, [Case(x, copy.deepcopy(layer)(*x)) for x in inputs]


def sparse_features(seed: int) -> tuple[Callable[..., Tensor], list[Case]]:
    """Sparse features in two dtypes, of which they keep the last."""
    rows = SparseRows.of(torch.eye(4).to_sparse())
    weights = [(torch.ones(4, 2, dtype=dtype),) for dtype in (torch.float32, torch.float64)]
    return rows.__matmul__, [Case(W, torch.ones(4, 2, dtype=W[0].dtype)) for W in weights]


def stacked(seed: int) -> tuple[Callable[..., Tensor], list[Case]]:
    """Trials that share one module."""
    model = Stacked(lambda: nn.Linear(2, 2), 2, 2, trials=2)
    inputs = [(torch.randn(n, 2),) for n in (3, 4)]
    return model, [Case(x, model(*x).detach()) for x in inputs]


SHARED = {f.__name__: f for f in (prepared_layer, dropout, sparse_features, stacked)}


def first_calls(rounds: int) -> int:
    """How many lazy layers, first called by all threads at once, gave what their parameters do not."""
    wrong, x = 0, torch.randn(4, 64)
    for _ in range(rounds):
        layer, outputs, start = Linear(-1, 64), [torch.empty(0)] * THREADS, threading.Barrier(THREADS)

        def call(thread: int, layer: Any = layer, outputs: Any = outputs, start: Any = start) -> None:
            start.wait()
            outputs[thread] = layer(x)

        threads = [threading.Thread(target=call, args=(thread,)) for thread in range(THREADS)]
        with switching_often():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        wrong += not all(torch.equal(out, x @ layer.weight) for out in outputs)
    return wrong


def grown(fresh: int, warm: int) -> tuple[int, int]:
    """The bytes and the tensors that are more after so many fresh graphs through one layer, beyond a few before."""
    conv, process = PANConv(3, 2, L=2, method=2), psutil.Process()

    def go(count: int) -> tuple[int, int]:
        for _ in range(count):
            edges = torch.randint(40, (2, 200))
            conv(torch.randn(40, 3), edges, torch.rand(200)).sum().backward()
            conv(torch.randn(40, 3), Adjacency.of(edges, num_nodes=40))
        gc.collect()
        return process.memory_info().rss, sum(issubclass(type(thing), Tensor) for thing in gc.get_objects())

    before, after = go(warm), go(fresh)
    return after[0] - before[0], after[1] - before[1]


def main(cases: int, seed: int = 0) -> int:
    """So many calls on shared layers, and so many fresh graphs; prints what it found and returns the failures."""
    torch.set_num_threads(1)
    failures = 0
    for name, make in SHARED.items():
        torch.manual_seed(seed)
        wrong, errors = mixed_up(*make(seed), calls=max(1, cases // THREADS), seed=seed)
        failures += wrong + len(errors)
        print(f"{name}: {wrong} of {cases} wrong, {len(errors)} errors {set(errors) or ''}", flush=True)
    firsts = max(1, cases // 100)
    wrong, (bytes_more, tensors) = first_calls(firsts), grown(cases, warm=min(cases, 1000))
    print(f"first calls: {wrong} of {firsts} wrong")
    print(f"{cases} fresh graphs: {bytes_more / 2**20:+.1f} MiB, {tensors:+d} tensors")
    return failures + wrong + (bytes_more > 2**24) + (tensors > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    sys.exit(main(**vars(parser.parse_args())) > 0)
