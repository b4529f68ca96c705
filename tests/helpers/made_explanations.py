"""Explanations of a score whose parts are known: Σₙ kₙ (Aⁿ x w)ᵢ, every path of it enumerated."""

import numpy as np

from panconv.estimator.explaining import Explanation, Part, PathPart


def largest(parts):
    return sorted((part for part in parts if part.value), key=lambda part: -abs(part.value))


def explained(A, X, w, k, node, ids, top=8, label="churn", probability=0.87, bias=0.1):
    """Of a graph A (N, N) of 0 and 1, features X (N, F), weights w of features and k of lengths."""
    worth = X @ w
    reach, ends, lengths, features = np.eye(len(A))[node], np.zeros(len(A)), [], np.zeros(X.shape[1])
    for weight in k:
        ends += weight * reach * worth
        features += weight * (reach @ X) * w
        lengths.append(float(weight * reach @ worth))
        reach = reach @ A
    walks, paths = [[node]], []
    for n, weight in enumerate(k):
        paths += [PathPart(tuple(ids[i] for i in walk), float(weight * worth[walk[-1]])) for walk in walks]
        if n + 1 < len(k):
            walks = [[*walk, j] for walk in walks for j in np.flatnonzero(A[walk[-1]])]
    return Explanation(
        node=ids[node],
        label=label,
        score=bias + sum(lengths),
        probability=probability,
        bias=bias,
        lengths=tuple(lengths),
        ends=tuple(largest(Part(name, float(value)) for name, value in zip(ids, ends, strict=True))),
        features=tuple(largest(Part(f"feature {j}", float(value)) for j, value in enumerate(features))),
        paths=tuple(largest(paths)[:top]),
    )


def town(N=60, F=12, seed=0, degree=3.0):
    """A random graph with signed features: A, X, w."""
    random = np.random.default_rng(seed)
    A = np.triu(random.random((N, N)) < degree / N, 1)
    return (A | A.T).astype(float), random.normal(size=(N, F)), random.normal(size=F)
