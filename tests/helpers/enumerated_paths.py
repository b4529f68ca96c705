"""Every single path to a node of a small graph, one by one, from the reference's matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from graphs import dense_base, problem_of

from panconv import METHODS
from panconv.met.reference import answer


def dense_terms(A, weights, method, family):
    """The terms of M by length, (L+1, N, N), by the reference."""
    N = len(A)
    question = problem_of(A, weights, method, family)
    question = replace(question, quantity="terms", x=np.eye(N, dtype=np.longdouble))
    return answer(question).value.astype(np.float64)


def all_paths(A, row, L, method, family):
    """All node sequences from a node on, (row,) among them, with the product of the base's entries along each."""
    B = dense_base(A, METHODS[method].base).numpy()
    found, ends = {}, [((row,), 1.0)]
    far = {row: 0}
    for n in range(L + 1):
        found |= dict(ends)
        grown = [((*path, j), weight * B[path[-1], j]) for path, weight in ends for j in np.flatnonzero(B[path[-1]])]
        if family == "shortest":
            new = {int(path[-1]) for path, _ in grown} - far.keys()
            far |= dict.fromkeys(new, n + 1)
            grown = [each for each in grown if far[int(each[0][-1])] == n + 1]
        elif family == "self_avoiding":
            grown = [each for each in grown if len(set(each[0])) == len(each[0])]
        ends = grown
    return {tuple(map(int, path)): weight for path, weight in found.items()}


def factors(A, row, weights, method, family):
    """What each path hears its end with, the product of its edges among it. Weights of edges are positive."""
    terms = dense_terms(A, weights, method, family)
    products = all_paths(A, row, len(weights) - 1, method, family)
    total = np.zeros(terms.shape[:1] + terms.shape[2:])
    for path, product in products.items():
        total[len(path) - 1, path[-1]] += product
    ends = {path: (len(path) - 1, path[-1]) for path in products}
    return {path: terms[n, row, j] / total[n, j] * products[path] for path, (n, j) in ends.items()}


def apart(A, row, weights, method, family, sent):
    """What each path adds, where those of n steps to j are heard of with sent[n, j]."""
    values = {path: by * sent[len(path) - 1, path[-1]] for path, by in factors(A, row, weights, method, family).items()}
    return {path: value for path, value in values.items() if value}


def assert_best(found, every, top):
    """The paths that were found are the best of all, whichever of those that add the same."""
    sizes = sorted((abs(value) for value in every.values()), reverse=True)
    assert len({path for path, _ in found}) == len(found) == min(top, len(every))
    np.testing.assert_allclose([abs(value) for _, value in found], sizes[:top], rtol=1e-9)
    for path, value in found:
        np.testing.assert_allclose(value, every[path], rtol=1e-9)
