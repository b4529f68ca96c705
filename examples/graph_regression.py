"""How many triangles does a graph have? Numbers of whole graphs, learned beside the answer that is known.

Points in a square that hear who is near, and pairs drawn at random: both have the same degrees, the first many
triangles. A node is told its degree, which alone does not tell; how paths of several steps run says more than one step
does.

python examples/graph_regression.py
"""

from __future__ import annotations

from typing import Any

from panconv import PANGraph, fit
from panconv.data import GraphBatches, counted_graphs, graph_split

MODELS: dict[str, dict[str, Any]] = {
    "no edges": {"conv": "none"},
    "GIN": {"conv": "gin"},
    "PAN": {"L": 3},
}


def main(count: int = 1000, epochs: int = 40, target: str = "triangles") -> dict[str, float]:
    graphs = counted_graphs(target, count)
    print(graphs)
    parts, found = graph_split(graphs.y, runs=1).run(0), {}
    for name, options in MODELS.items():
        model = PANGraph(graphs.num_features, 32, 1, num_layers=3, readout="mean", **options)
        loaders = GraphBatches.for_fit(graphs, parts, batch_size=64)
        how = {"lr": 0.005, "weight_decay": 0.0, "epochs": epochs, "metric": "r2", "keep": "metric"}
        result = fit(model, **loaders, seeds=[0], **how)
        found[name] = result.test_metric[0]
        print(f"{name}: {found[name]:.3f} of the variance is explained, {result.seconds:.1f} s")
    return found


if __name__ == "__main__":
    main()
