"""What the choice among linear heads is worth, and how much figures flatter that come from the folds it is made on.

    python benchmarks/choosing.py [--graphs homophilous,cora] [--splits 12] [--first 100] [--json FILE]

Per split the candidates that `head="auto"` weighs are fitted to the same labels and judged on the nodes without one;
beside them stands the one that was chosen. Splits are counted from 100 on: none is one of benchmarks/estimators.py.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import torch
from contests import CITATIONS, PLANTED, Split, split_of

from panconv.estimator.calibration import log_loss, temperature
from panconv.estimator.folds import folds_of
from panconv.estimator.labels import class_labels
from panconv.estimator.lost import Lost
from panconv.estimator.nodes import Nodes
from panconv.estimator.penalties import Task
from panconv.estimator.terms import Paths
from panconv.estimator.weighed import ALONE, OTHERS, Weighed, best_linear, linear_head

ASKED = Paths(3)  # of "linear", as the estimators have it
GRAPHS = tuple(name for name in (*PLANTED, *CITATIONS) if name != "no features")  # which has nothing to weigh
CANDIDATES = {**ALONE, "linear": ASKED, **OTHERS}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS[:-2]))
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--planted-nodes", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    names = asked.graphs.split(",")
    if unknown := [name for name in names if name not in GRAPHS]:
        parser.error(f"--graphs must be some of {', '.join(GRAPHS)}, got {unknown[0]!r}")
    numbers = range(asked.first, asked.first + asked.splits)
    found = {name: [measured(split_of(name, each, asked.planted_nodes), each) for each in numbers] for name in names}
    print(table(found))
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


def measured(split: Split, seed: int) -> dict[str, Any]:
    """Of a split: the accuracy of each candidate and of the choice, and what the folds say beyond the test."""
    contest = split.contest
    nodes, labels = Nodes.of(contest.edge_index, contest.x), class_labels(contest.y, True)
    folds = folds_of(5, labels.y[labels.known], True, seed)
    task = Task(labels.targets, torch.ones(len(labels.rows), dtype=torch.float64), folds, "softmax")
    heads = {name: linear_head(paths, nodes, labels.rows, task) for name, paths in CANDIDATES.items()}
    best = best_linear(ASKED, nodes, labels.rows, task)
    tested = {name: judged(head, nodes, split, task) for name, head in {**heads, "chosen": best}.items()}
    accuracy = {name: each["accuracy"] for name, each in tested.items()}
    beyond = {name: tested[name]["beyond"] for name in ("linear", "chosen")}
    return {"seed": seed, "chosen": best.name, "accuracy": accuracy, "out of fold less test": beyond}


def judged(head: Weighed, nodes: Nodes, split: Split, task: Task) -> dict[str, Any]:
    """Accuracy in percent on the nodes without a label; and of accuracy and log loss how much more the folds say."""
    scores = head.model.decision(nodes)
    T = temperature(head.scores, task.targets, task.weight)
    truth = torch.eye(scores.size(1), dtype=torch.float64)[torch.from_numpy(split.truth[split.test]).long()]
    test = scores[torch.from_numpy(split.test)]
    accuracy = 100 * float((test.argmax(1) == truth.argmax(1)).double().mean())
    told = 100 * float((head.scores.argmax(1) == task.targets.argmax(1)).double().mean())
    lost = float(log_loss(test / T, truth, torch.ones(len(test), dtype=torch.float64)))
    return {"accuracy": accuracy, "beyond": [told - accuracy, Lost.of(head.scores, task).mean - lost]}


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """Two tables, a row per graph."""
    lines = [f"| accuracy (%) | {' | '.join(CANDIDATES)} | chosen | less the best column |", "|---" * 7 + "|"]
    for name, splits in found.items():
        by = {each: np.array([one["accuracy"][each] for one in splits]) for each in (*CANDIDATES, "chosen")}
        best = max(CANDIDATES, key=lambda each: float(by[each].mean()))
        means = " | ".join(f"{values.mean():.1f}" for values in by.values())
        lines.append(f"| {name} | {means} | {_spread(by['chosen'] - by[best])} |")
    lines += [
        "",
        "| out of fold less test | linear: accuracy | log loss | chosen: accuracy | log loss |",
        "|---" * 5 + "|",
    ]
    for name, splits in found.items():
        cells = [
            _spread(np.array([one["out of fold less test"][which][place] for one in splits]), digits)
            for which in ("linear", "chosen")
            for place, digits in ((0, 1), (1, 2))
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    count = len(next(iter(found.values())))
    return "\n".join([*lines, "", f"{count} splits; ± is the standard error of a mean."])


def _spread(values: np.ndarray, digits: int = 1) -> str:
    error = statistics.stdev(values.tolist()) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{values.mean():+.{digits}f} ± {error:.{digits}f}"


if __name__ == "__main__":
    main()
