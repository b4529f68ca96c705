"""The linear head beside scikit-learn's `LogisticRegressionCV`, on the same path features of Pubmed.

    python benchmarks/linear_head.py [--graph pubmed] [--shares 0.01 0.6] [--splits 3] [--L 3]

Both sides choose their penalty by five folds and then learn from all labels; ours also chooses what each length weighs.
They run in turn in one process with as many threads as torch is given here, on splits that are drawn anew. What is left
of the labels measures both: held-out log loss and accuracy. Medians over the splits are printed, and the ratio of
seconds, which are those of the CPU, so that a busy machine changes neither side.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss

from panconv import PathFeatures, load
from panconv.estimator.folds import folds_of
from panconv.estimator.linear import fit_linear
from panconv.estimator.penalties import Task


class Outcome(NamedTuple):
    """What one side took and reached."""

    seconds: float
    log_loss: float
    accuracy: float


def ours(blocks: list[np.ndarray], y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Outcome:
    began = time.process_time()
    targets = torch.eye(int(y.max()) + 1)[torch.from_numpy(y[train])]
    task = Task(targets, torch.ones(len(train), dtype=torch.float64), folds_of(5, y[train], True), "softmax")
    head = fit_linear((block[train] for block in blocks), task)
    seconds = time.process_time() - began
    return judged(seconds, head.decision(block[test] for block in blocks).softmax(1).numpy(), y[test])


def theirs(blocks: list[np.ndarray], y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Outcome:
    began = time.process_time()
    model = LogisticRegressionCV(cv=5, scoring="neg_log_loss", l1_ratios=(0,), use_legacy_attributes=False)
    model.fit(np.hstack([block[train] for block in blocks]), y[train])
    seconds = time.process_time() - began
    return judged(seconds, model.predict_proba(np.hstack([block[test] for block in blocks])), y[test])


def judged(seconds: float, p: np.ndarray, y: np.ndarray) -> Outcome:
    return Outcome(seconds, log_loss(y, p, labels=range(p.shape[1])), float((p.argmax(1) == y).mean()))


def path_blocks(graph: str, L: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The path features of a graph, a block per length, and its classes."""
    data = load(graph)
    features = PathFeatures(data, L=L, scale=False).fit_transform(np.arange(data.num_nodes))
    return np.split(features, L + 1, axis=1), data.y.numpy()


def sides(blocks: list[np.ndarray], y: np.ndarray, share: float, split: int) -> Iterator[tuple[str, Outcome]]:
    """Both sides on one split, drawn by its number."""
    order = np.random.default_rng(split).permutation(len(y))
    parts = np.split(order, [round(share * len(y))])
    yield "panconv", ours(blocks, y, *parts)
    yield "scikit-learn", theirs(blocks, y, *parts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="pubmed")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.6])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--L", type=int, default=3)
    chosen = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", module="sklearn")  # that its iterations did not converge
    blocks, y = path_blocks(chosen.graph, chosen.L)
    columns = sum(block.shape[1] for block in blocks)
    print(f"{chosen.graph}, {columns} columns, {torch.get_num_threads()} threads")
    for share in chosen.shares:
        found: dict[str, list[Outcome]] = {"panconv": [], "scikit-learn": []}
        for split in range(chosen.splits):
            for name, outcome in sides(blocks, y, share, split):
                found[name].append(outcome)
        for name, outcomes in found.items():
            seconds, loss, accuracy = (statistics.median(column) for column in zip(*outcomes, strict=True))
            print(f"{share:.0%} labels, {name}: {seconds:.2f} s, log loss {loss:.4f}, accuracy {accuracy:.2%}")
        pairs = zip(found["scikit-learn"], found["panconv"], strict=True)
        ratio = statistics.median(other.seconds / own.seconds for other, own in pairs)
        print(f"{share:.0%} labels: {ratio:.1f} times faster")


if __name__ == "__main__":
    main()
