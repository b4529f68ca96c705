"""The linear head beside scikit-learn's `LogisticRegressionCV`, on the same path features of Pubmed.

    python benchmarks/linear_head.py [--graph pubmed] [--shares 0.01 0.6] [--splits 3] [--L 3]

Both sides choose their penalty by five folds and then learn from all labels; ours also chooses what each length weighs.
They run in turn in one process with as many threads as torch is given here, on splits that are drawn anew. What is left
of the labels measures both: held-out log loss and accuracy. Medians over the splits are printed, and the ratio of time.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Sequence
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
    began = time.perf_counter()
    targets = torch.eye(int(y.max()) + 1)[torch.from_numpy(y[train])]
    task = Task(targets, torch.ones(len(train), dtype=torch.float64), folds_of(5, y[train], True), "softmax")
    head = fit_linear((block[train] for block in blocks), task)
    seconds = time.perf_counter() - began
    return judged(seconds, head.decision(block[test] for block in blocks).softmax(1).numpy(), y[test])


def theirs(blocks: list[np.ndarray], y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Outcome:
    began = time.perf_counter()
    model = LogisticRegressionCV(cv=5, scoring="neg_log_loss", l1_ratios=(0,), use_legacy_attributes=False)
    model.fit(np.hstack([block[train] for block in blocks]), y[train])
    seconds = time.perf_counter() - began
    return judged(seconds, model.predict_proba(np.hstack([block[test] for block in blocks])), y[test])


def judged(seconds: float, p: np.ndarray, y: np.ndarray) -> Outcome:
    return Outcome(seconds, log_loss(y, p, labels=range(p.shape[1])), float((p.argmax(1) == y).mean()))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="pubmed")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.6])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--L", type=int, default=3)
    chosen = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", module="sklearn")  # that its iterations did not converge
    data = load(chosen.graph)
    y = data.y.numpy()
    features = PathFeatures(data, L=chosen.L, scale=False).fit_transform(np.arange(len(y)))
    blocks = np.split(features, chosen.L + 1, axis=1)
    print(f"{chosen.graph}, {features.shape[1]} columns, {torch.get_num_threads()} threads")
    for share in chosen.shares:
        found: dict[str, list[Outcome]] = {"panconv": [], "scikit-learn": []}
        for split in range(chosen.splits):
            order = np.random.default_rng(split).permutation(len(y))
            parts = np.split(order, [round(share * len(y))])
            found["panconv"].append(ours(blocks, y, *parts))
            found["scikit-learn"].append(theirs(blocks, y, *parts))
        for name, outcomes in found.items():
            seconds, loss, accuracy = (statistics.median(column) for column in zip(*outcomes, strict=True))
            print(f"{share:.0%} labels, {name}: {seconds:.2f} s, log loss {loss:.4f}, accuracy {accuracy:.2%}")
        pairs = zip(found["scikit-learn"], found["panconv"], strict=True)
        ratio = statistics.median(other.seconds / own.seconds for other, own in pairs)
        print(f"{share:.0%} labels: {ratio:.1f} times faster")


if __name__ == "__main__":
    main()
