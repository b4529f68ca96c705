"""Training: ten trials side by side against ten PyG runs, many trials at once, and on a GPU the whole of Table 3."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

import table3
import trials
from goals import TABLE3_SECONDS, TRAINING
from measure import OURS
from records import Record, Setup

TITLE = "Training"


def measure(setup: Setup) -> Iterator[Record]:
    device = setup.device.type
    common = {"benchmark": "training", "dtype": "float32"}
    graphs = setup.pick(quick=("cora",), cpu=trials.GRAPHS, cuda=trials.GRAPHS)
    epochs, rounds = setup.pick(quick=(2, 1), cpu=(10, 1), cuda=(200, 1))
    with contextlib.redirect_stdout(io.StringIO()):  # what the scripts print, the table says
        for found in trials.measure(graphs, epochs, rounds, device):
            record = {**common, "graph": found["graph"], "what": found["operation"]}
            yield {**record, "who": OURS, "ms": found["ours_ms"]}
            peer = {**record, "who": "PyG GCN, one after another", "ms": found["peer_ms"], "ratio": found["ratio"]}
            goal = None if setup.quick else TRAINING.get((device, found["graph"]))
            yield peer if goal is None else {**peer, "goal": goal, "met": found["ratio"] >= goal}
        if setup.on_gpu and not setup.quick:
            found = trials.many(1000, device)
            yield {**common, "graph": "cora", "what": found["operation"], "who": OURS, "ms": found["ours_ms"]}
            *_, whole = table3.measure(device)
            seconds = whole["ours_ms"] / 1e3
            record = {**common, "graph": "all three", "what": "Table 3, 24 cells of ten trials, and its grid search"}
            record |= {"who": OURS, "ms": whole["ours_ms"], "goal": TABLE3_SECONDS, "met": seconds < TABLE3_SECONDS}
            yield record
